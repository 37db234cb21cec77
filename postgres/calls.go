package postgres

import (
	"context"
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/callpage"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stCallsAfter     = named("calls_after")
	stFirstEpisode   = named("first_episode")
	stCallEpisodes   = named("call_episodes")
	stCallFacts      = named("call_facts")
	stCallForms      = named("call_forms")
	stCallNumbers    = named("call_numbers")
	stCallQuarantine = named("call_quarantine")
	stCallOutcomes   = named("call_outcomes")
	stCallCandidates = named("call_candidates")
	stCallEpochs     = named("call_epochs")
	stCallMigrations = named("call_migrations")
)

// callReader puts the calls of one page together, layer by layer.
type callReader struct {
	*reader
	callpage.Page
	since sgam.Instant
}

// calls lists calls with what each of them brought.
func (r *reader) calls(ctx context.Context) error {
	after, err := cursor.Parse(r.q.After, []int64{int64(r.q.Since)}, 0)
	if err != nil {
		return err
	}
	c := &callReader{reader: r, since: sgam.Instant(after.Numbers[0])}
	c.queueCalls()
	if err := r.run(ctx); err != nil || len(c.Calls) == 0 {
		return err
	}
	c.queueForms()
	if err := r.run(ctx); err != nil {
		return err
	}
	var from, to int64
	r.add(func(p row) error { from = p.int(0); return nil }, stFirstEpisode, r.tenant, c.First())
	r.add(func(p row) error { to = p.int(0); return nil }, stFirstEpisode, r.tenant, c.Until()+1)
	if err := r.run(ctx); err != nil {
		return err
	}
	c.queueEpisodes(from, to)
	c.queueFacts()
	c.queueNumbers()
	c.queueOutcomes()
	c.queueCandidates()
	c.queueVersions()
	if err := r.run(ctx); err != nil {
		return err
	}
	r.page.Calls = c.Calls
	if c.More {
		r.page.Next = cursor.At(int64(c.KnownUntil())).String()
	}
	return nil
}

// queueCalls asks for the calls themselves.
func (c *callReader) queueCalls() {
	c.add(func(p row) error {
		if len(c.Calls) == 0 {
			c.Before = p.int(4)
		}
		call := sgam.StoredCall{Seq: p.int(0), Principal: p.text(3), Change: sgam.Change{Known: p.instant(1)}}
		c.Take(call, p.int(2), c.limit())
		return nil
	}, stCallsAfter, c.tenant, c.since, c.limit()+1)
}

// queueForms asks for what lenses made.
func (c *callReader) queueForms() {
	c.add(func(p row) error {
		at, err := c.Forming(p.instant(4))
		if err != nil || at == nil {
			return err
		}
		if p.null(2) {
			return callpage.Erased(fmt.Sprintf("fact %d", p.int(0)))
		}
		e, err := p.from(1).Form()
		at.Encodings = append(at.Encodings, sgam.NewEncoding{Fact: p.int(0), Encoding: e})
		return err
	}, stCallForms, c.tenant, c.since, c.KnownUntil())
}

func (c *callReader) queueEpisodes(from, to int64) {
	c.add(func(p row) error {
		if !p.null(1) {
			return callpage.Erased("an episode")
		}
		at := c.At(p.int(0))
		at.Digests = append(at.Digests, p.text(2))
		at.Episodes = append(at.Episodes, p.from(3).Episode())
		return nil
	}, stCallEpisodes, c.tenant, from, to)
}

func (c *callReader) queueFacts() {
	c.add(func(p row) error {
		f, erased, err := p.from(4).NewFact(p.slot(0))
		if err == nil && erased {
			err = callpage.Erased(fmt.Sprintf("fact %d", f.Number))
		}
		if err != nil {
			return err
		}
		at, err := c.KnownAt(f.KnownAt)
		if err == nil {
			at.Facts = append(at.Facts, f)
		}
		return err
	}, stCallFacts, c.tenant, c.Before, c.Newest())
}

// queueNumbers asks for the value numbers that the calls gave, to values of their facts or to forms of older ones.
func (c *callReader) queueNumbers() {
	formed := []int64{}
	for i := range c.Calls {
		for j := range c.Calls[i].Change.Encodings {
			formed = append(formed, c.Calls[i].Change.Encodings[j].Fact)
		}
	}
	c.add(func(p row) error {
		at := c.At(p.int(0))
		at.Numbers = append(at.Numbers, sgam.NumberedValue{Slot: p.slot(3), Digest: p.text(1), Number: p.int(2)})
		return nil
	}, stCallNumbers, c.tenant, formed, c.First(), c.Until(), c.Before, c.Newest())
}

func (c *callReader) queueOutcomes() {
	c.add(func(p row) error {
		p.from(0).Outcome(c.At(p.int(0)))
		return nil
	}, stCallOutcomes, c.tenant, c.First(), c.Until())
}

func (c *callReader) queueCandidates() {
	c.add(func(p row) error {
		if p.null(5) {
			return callpage.Erased("a candidate")
		}
		at := c.At(p.int(0))
		at.Candidates = append(at.Candidates, sgam.NewCandidate{
			Ordinal: int(p.int(1)), Memory: p.memory(2), Status: sgam.Outcome(p.text(3)), Episode: p.text(4), Delta: p.bytes(5), Slot: p.slot(6),
			LostTo: p.memories(10),
		})
		return nil
	}, stCallCandidates, c.tenant, c.First(), c.Until())
}

// queueVersions asks for quarantine, epochs and migrations.
func (c *callReader) queueVersions() {
	c.add(func(p row) error {
		at, err := c.KnownAt(p.instant(0))
		if err == nil {
			at.Quarantined = append(at.Quarantined, p.from(1).Quarantined())
		}
		return err
	}, stCallQuarantine, c.tenant, c.since, c.KnownUntil())
	c.add(func(p row) error {
		at, err := c.KnownAt(p.instant(1))
		if err == nil {
			at.Epochs = append(at.Epochs, p.from(0).Epoch())
		}
		return err
	}, stCallEpochs, c.tenant, c.since, c.KnownUntil())
	c.add(func(p row) error {
		at, err := c.KnownAt(p.instant(4))
		if err == nil {
			at.Migration = &sgam.MigrationRecord{Type: p.text(0), Serial: p.int(1), State: p.text(2), Body: p.bytes(3)}
		}
		return err
	}, stCallMigrations, c.tenant, c.since, c.KnownUntil())
}
