//go:build cgo

package sqlite

import (
	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stEpisode    = named("episode")
	stOutcomes   = named("outcomes")
	stCandidates = named("candidates")
	stCandidate  = named("candidate")
	stLostTo     = named("lost_to")
)

// episode reads one episode.
func (r *reader) episode() error {
	p, err := r.one(stEpisode, r.tenant, r.q.Episode)
	if err != nil || p == nil {
		return err
	}
	r.page.Episodes = []sgam.Episode{p.from(0).Episode()}
	return nil
}

// outcomes lists durable outcomes in the order in which they were decided. A page looks at a bounded number of them,
// however few have the statuses that are asked for.
func (r *reader) outcomes() error {
	after, err := cursor.Parse(r.q.After, []int64{0, -1}, 0)
	if err != nil {
		return err
	}
	looked := 0
	err = r.each(func(p *running) error {
		looked++
		r.page.Next = cursor.At(p.int(0), p.int(1)).String()
		if o := p.from(0).OutcomeRecord(); passes(r.q.Statuses, o.Outcome) {
			r.page.Outcomes = append(r.page.Outcomes, o)
		}
		return nil
	}, stOutcomes, r.tenant, after.Numbers[0], after.Numbers[1], int64(r.limit()))
	if looked < r.limit() {
		r.page.Next = ""
	}
	return err
}

// candidates lists what was held, settled ones included, in the order in which they were submitted.
func (r *reader) candidates() error {
	if !r.q.Memory.IsZero() {
		c, err := r.candidate(r.q.Memory)
		if err == nil && c != nil && passes(r.q.Statuses, c.Status) {
			r.page.Candidates = []sgam.Candidate{c.Candidate}
		}
		return err
	}
	after, err := cursor.Parse(r.q.After, []int64{0, -1}, 0)
	if err != nil {
		return err
	}
	looked := 0
	err = r.each(func(p *running) error {
		looked++
		r.page.Next = cursor.At(p.int(0), p.int(1)).String()
		if !passes(r.q.Statuses, sgam.Outcome(p.text(3))) {
			return nil
		}
		c, err := r.candidate(p.memory(2))
		if err == nil && c == nil {
			err = damaged("candidate %s", p.memory(2))
		}
		if err == nil {
			r.page.Candidates = append(r.page.Candidates, c.Candidate)
		}
		return err
	}, stCandidates, r.tenant, after.Numbers[0], after.Numbers[1], int64(r.limit()))
	if looked < r.limit() {
		r.page.Next = ""
	}
	return err
}

// held is a stored candidate and the fact that it became, 0 for none.
type held struct {
	sgam.Candidate
	fact int64
}

// candidate reads one candidate by its memory id, nil when there is none.
func (s *session) candidate(id sgam.MemoryID) (*held, error) {
	p, err := s.one(stCandidate, s.tenant, id[:])
	if err != nil || p == nil {
		return nil, err
	}
	c := &held{fact: p.int(11), Candidate: sgam.Candidate{
		Memory: p.memory(2), Status: sgam.Outcome(p.text(3)), Episode: p.text(5), Kind: sgam.EpisodeKind(p.text(6)),
		SourceID: p.text(7), Delta: p.bytes(8), Principal: p.text(9), KnownAt: p.instant(10),
	}}
	if c.Slot, err = s.slotKey(p.int(4)); err != nil {
		return nil, err
	}
	err = s.each(func(lost *running) error {
		c.LostTo = append(c.LostTo, lost.memory(0))
		return nil
	}, stLostTo, s.tenant, p.int(0), p.int(1))
	return c, err
}
