//go:build cgo

package sqlite

import (
	"fmt"
	"sort"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/callpage"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stCallsAfter     = named("calls_after")
	stFactsUntil     = named("facts_until")
	stEpisodeCall    = named("episode_call")
	stCallEpisodes   = named("call_episodes")
	stCallFacts      = named("call_facts")
	stCallForms      = named("call_forms")
	stCallNumbers    = named("call_numbers")
	stCallQuarantine = named("call_quarantine")
	stCallOutcomes   = named("call_outcomes")
	stCallCandidates = named("call_candidates")
)

// callReader puts the calls of one page together, layer by layer.
type callReader struct {
	*reader
	callpage.Page
	since sgam.Instant
	slots map[int64]*sgam.SlotKey // in which they may have given value numbers, nil while the name is not known
}

// calls lists calls with what each of them brought.
func (r *reader) calls(tenant string) error {
	after, err := cursor.Parse(r.q.After, []int64{int64(r.q.Since)}, 0)
	if err != nil {
		return err
	}
	c := &callReader{reader: r, since: sgam.Instant(after.Numbers[0]), slots: map[int64]*sgam.SlotKey{}}
	if err := c.list(); err != nil || len(c.Calls) == 0 {
		return err
	}
	for _, layer := range []func() error{
		c.forms, func() error { return c.episodes(tenant) }, c.facts, c.numbers, c.quarantine, c.outcomes, c.candidates, c.versions,
	} {
		if err := layer(); err != nil {
			return err
		}
	}
	r.page.Calls = c.Calls
	if c.More {
		r.page.Next = cursor.At(int64(c.KnownUntil())).String()
	}
	return nil
}

// list finds the calls themselves.
func (c *callReader) list() error {
	return c.each(func(p *running) error {
		if len(c.Calls) == 0 && p.int(0) > 1 {
			before, err := c.one(stFactsUntil, c.tenant, p.int(0)-1)
			if err != nil {
				return err
			}
			if before == nil {
				return damaged("call %d", p.int(0)-1)
			}
			c.Before = before.int(0)
		}
		call := sgam.StoredCall{Seq: p.int(0), Principal: p.text(3), Change: sgam.Change{Known: p.instant(1)}}
		c.Take(call, p.int(2), c.limit())
		return nil
	}, stCallsAfter, c.tenant, int64(c.since), int64(c.limit())+1)
}

// forms adds what lenses made.
func (c *callReader) forms() error {
	return c.each(func(p *running) error {
		at, err := c.Forming(p.instant(3))
		if err != nil || at == nil {
			return err
		}
		if p.null(1) {
			return callpage.Erased(fmt.Sprintf("fact %d", p.int(6)))
		}
		c.slots[p.int(7)] = nil
		e, err := p.from(0).Form()
		at.Encodings = append(at.Encodings, sgam.NewEncoding{Fact: p.int(6), Encoding: e})
		return err
	}, stCallForms, c.tenant, int64(c.since), int64(c.KnownUntil()))
}

// episodes adds the episodes. They are numbered in the order of the calls that brought them.
func (c *callReader) episodes(tenant string) error {
	state, err := c.load(tenant)
	if err != nil {
		return err
	}
	from, err := c.firstEpisode(state.nextEpisode, c.First())
	if err != nil {
		return err
	}
	to, err := c.firstEpisode(state.nextEpisode, c.Until()+1)
	if err != nil {
		return err
	}
	return c.each(func(p *running) error {
		if !p.null(1) {
			return callpage.Erased("an episode")
		}
		at := c.At(p.int(0))
		at.Digests = append(at.Digests, string(p.bytes(2)))
		at.Episodes = append(at.Episodes, p.from(3).Episode())
		return nil
	}, stCallEpisodes, c.tenant, from, to)
}

// firstEpisode is the number of the first episode that a call or a later one brought, the next free number if none did.
func (c *callReader) firstEpisode(next, seq int64) (int64, error) {
	var failed error
	n := sort.Search(int(next-1), func(i int) bool {
		if failed != nil {
			return true
		}
		p, err := c.one(stEpisodeCall, c.tenant, int64(i)+1)
		if err == nil && p == nil {
			err = damaged("episode %d", i+1)
		}
		if failed = err; failed != nil {
			return true
		}
		return p.int(0) >= seq
	})
	return int64(n) + 1, failed
}

func (c *callReader) facts() error {
	return c.each(func(p *running) error {
		key, err := c.key(&slotRef{scope: p.text(21), subject: p.int(22), attribute: p.int(23), member: string(p.bytes(24))})
		if err != nil {
			return err
		}
		c.slots[p.int(25)] = &key
		f, erased, err := p.from(0).NewFact(key)
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

// numbers adds the value numbers that the calls gave.
func (c *callReader) numbers() error {
	for id, key := range c.slots {
		if key == nil {
			found, err := c.slotKey(id)
			if err != nil {
				return err
			}
			key = &found
		}
		err := c.each(func(p *running) error {
			at := c.At(p.int(0))
			at.Numbers = append(at.Numbers, sgam.NumberedValue{Slot: *key, Digest: string(p.bytes(1)), Number: p.int(2)})
			return nil
		}, stCallNumbers, c.tenant, id, c.First(), c.Until())
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *callReader) quarantine() error {
	return c.each(func(p *running) error {
		at, err := c.KnownAt(p.instant(0))
		if err == nil {
			at.Quarantined = append(at.Quarantined, p.from(1).Quarantined())
		}
		return err
	}, stCallQuarantine, c.tenant, int64(c.since), int64(c.KnownUntil()))
}

func (c *callReader) outcomes() error {
	return c.each(func(p *running) error {
		p.from(0).Outcome(c.At(p.int(0)))
		return nil
	}, stCallOutcomes, c.tenant, c.First(), c.Until())
}

func (c *callReader) candidates() error {
	return c.each(func(p *running) error {
		if p.null(5) {
			return callpage.Erased("a candidate")
		}
		key, err := c.key(&slotRef{scope: p.text(6), subject: p.int(7), attribute: p.int(8), member: string(p.bytes(9))})
		if err != nil {
			return err
		}
		held := sgam.NewCandidate{
			Ordinal: int(p.int(1)), Memory: p.memory(2), Status: sgam.Outcome(p.text(3)), Episode: p.text(4), Delta: p.bytes(5), Slot: key,
		}
		err = c.each(func(lost *running) error {
			held.LostTo = append(held.LostTo, lost.memory(0))
			return nil
		}, stLostTo, c.tenant, p.int(0), p.int(1))
		at := c.At(p.int(0))
		at.Candidates = append(at.Candidates, held)
		return err
	}, stCallCandidates, c.tenant, c.First(), c.Until())
}

// versions adds epochs and migrations. A tenant has few of them.
func (c *callReader) versions() error {
	here := func(known sgam.Instant) bool { return known > c.since && known <= c.KnownUntil() }
	return c.perType(func(id int64, name string) error {
		err := c.each(func(p *running) error {
			e := p.epoch(name)
			if !here(e.KnownFrom) {
				return nil
			}
			at, err := c.KnownAt(e.KnownFrom)
			if err == nil {
				at.Epochs = append(at.Epochs, e)
			}
			return err
		}, stEpochsOfType, c.tenant, id)
		if err != nil {
			return err
		}
		return c.each(func(p *running) error {
			if !here(p.instant(3)) {
				return nil
			}
			at, err := c.KnownAt(p.instant(3))
			if err == nil {
				at.Migration = &sgam.MigrationRecord{Type: name, Serial: p.int(0), State: p.text(1), Body: p.bytes(2)}
			}
			return err
		}, stMigrationsOfType, c.tenant, id)
	})
}
