package ledgertest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// staged is a change that has been checked and applied to copies of what it touches. Nothing of the tenant has changed
// until commit, and commit cannot fail.
type staged struct {
	*tenant
	change     *sgam.Change
	principal  string
	facts      []sgam.NewFact
	touched    map[sgam.SlotKey]*slot
	candidates []storedCandidate
}

// stage applies a change to copies, and refuses whatever the layers do not allow: a known time that does not move, an
// empty or overlapping rectangle, a write to what is written once, a reference to what is not there.
func (t *tenant) stage(c *sgam.Change, principal string) (*staged, error) {
	if c.Known <= t.lastKnown {
		return nil, fmt.Errorf("known time %s is not after %s", c.Known, t.lastKnown)
	}
	s := &staged{
		tenant: t, change: c, principal: principal, touched: map[sgam.SlotKey]*slot{}, candidates: slices.Clone(t.candidates),
	}
	steps := []func() error{
		s.addEpisodes, s.addFacts, s.closeSegments, s.openNew, s.confirm, s.supersede, s.count, s.number, s.hold, s.checkOutcomes,
		s.checkOpen, s.checkVersions,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *staged) commit() {
	t := s.tenant
	t.lastKnown = s.change.Known
	t.lastSeq++
	t.calls = append(t.calls, storedCall{s.change.Known, s.principal})
	t.facts = append(t.facts, s.facts...)
	for i := range s.facts {
		t.byID[s.facts[i].ID] = s.facts[i].Number
	}
	for key, at := range s.touched {
		t.slots[key] = at
	}
	for i, e := range s.change.Episodes {
		t.episodes[e.ID] = storedEpisode{cloneEpisode(e), s.change.Digests[i], s.change.Known, i}
	}
	t.candidates = s.candidates
	s.commitVersions()
	for _, o := range s.change.Outcomes {
		if o.Key != "" {
			t.byKey[o.Key] = len(t.outcomes)
		}
		t.outcomes = append(t.outcomes, storedOutcome{o, s.change.Known})
	}
}

// touch is the copy of a slot that the change works on.
func (s *staged) touch(key sgam.SlotKey) *slot {
	at := s.touched[key]
	if at == nil {
		have := s.slot(key)
		at = &slot{
			facts: slices.Clone(have.facts), segments: slices.Clone(have.segments), confirmations: slices.Clone(have.confirmations),
			supersessions: slices.Clone(have.supersessions), points: slices.Clone(have.points), numbers: map[string]storedNumber{},
			lastNumber: have.lastNumber,
		}
		for digest, n := range have.numbers {
			at.numbers[digest] = n
		}
		s.touched[key] = at
	}
	return at
}

func cloneEpisode(e sgam.Episode) sgam.Episode {
	e.Body, e.Metadata = bytes.Clone(e.Body), bytes.Clone(e.Metadata)
	e.OccurredAt = sgam.Instant(e.OccurredAt.UnixMicro()).Time()
	return e
}

func cloneFact(f sgam.NewFact) sgam.NewFact {
	f.Encoded, f.Confidence = bytes.Clone(f.Encoded), cloneNumber(f.Confidence)
	return f
}

func (s *staged) addEpisodes() error {
	if len(s.change.Episodes) != len(s.change.Digests) {
		return errors.New("episodes and their digests are not parallel")
	}
	fresh := map[string]bool{}
	for _, e := range s.change.Episodes {
		if _, taken := s.episodes[e.ID]; taken || fresh[e.ID] {
			return errors.New("an episode is stored twice")
		}
		fresh[e.ID] = true
	}
	return nil
}

// known reports whether an episode is stored, or is with this change.
func (s *staged) known(episode string) bool {
	_, stored := s.episodes[episode]
	return stored || slices.ContainsFunc(s.change.Episodes, func(e sgam.Episode) bool { return e.ID == episode })
}

func (s *staged) addFacts() error {
	ids := map[sgam.MemoryID]bool{}
	for _, f := range s.change.Facts {
		number := int64(len(s.tenant.facts)+len(s.facts)) + 1
		switch {
		case f.Number != number:
			return fmt.Errorf("fact number %d where %d is next", f.Number, number)
		case f.ID.IsZero() || s.byID[f.ID] != 0 || ids[f.ID]:
			return fmt.Errorf("memory id %s is none, or taken", f.ID)
		case f.KnownAt != s.change.Known:
			return fmt.Errorf("fact %d has another known time than its call", f.Number)
		case f.Op != sgam.Withdraw && !s.known(f.Episode):
			return fmt.Errorf("fact %d has no episode", f.Number)
		case f.Value != 0 && f.Encoded == nil, f.Value == 0 && f.Encoded != nil && f.Slot.Member == "":
			return fmt.Errorf("fact %d has a value without a number, or a number without a value", f.Number)
		case (f.Op == sgam.Withdraw) != (f.Target != 0) || f.Target >= number || f.PartOf >= number || f.Supersedes >= number:
			return fmt.Errorf("fact %d refers to what does not exist", f.Number)
		case f.Asserted.From >= f.Asserted.To || f.Reach.From >= f.Reach.To:
			return fmt.Errorf("fact %d asserts or reaches an empty interval", f.Number)
		}
		ids[f.ID] = true
		s.facts = append(s.facts, cloneFact(f))
		at := s.touch(f.Slot)
		if f.Value > at.lastNumber+1 {
			return fmt.Errorf("fact %d has value number %d where %d is next", number, f.Value, at.lastNumber+1)
		}
		at.facts, at.lastNumber = append(at.facts, number), max(at.lastNumber, f.Value)
	}
	return nil
}

// at is a fact of the tenant or of this change.
func (s *staged) at(number int64) (*sgam.NewFact, error) {
	stored := int64(len(s.tenant.facts))
	switch {
	case number >= 1 && number <= stored:
		return s.fact(number), nil
	case number > stored && number <= stored+int64(len(s.facts)):
		return &s.facts[number-stored-1], nil
	}
	return nil, fmt.Errorf("there is no fact %d", number)
}

// inSlot checks that facts exist and belong to a slot.
func (s *staged) inSlot(key sgam.SlotKey, numbers ...int64) error {
	for _, n := range numbers {
		f, err := s.at(n)
		if err != nil {
			return err
		}
		if f.Slot != key {
			return fmt.Errorf("fact %d is of another slot", n)
		}
	}
	return nil
}

func (s *staged) closeSegments() error {
	for _, c := range s.change.Closed {
		at := s.touch(c.Slot)
		i := slices.IndexFunc(at.segments, func(g sgam.StoredSegment) bool {
			return g.Valid.From == c.ValidFrom && g.Known.From == c.KnownFrom
		})
		if i < 0 || !open(at.segments[i].Known) || at.segments[i].ClosedBy != 0 {
			return fmt.Errorf("the segment from %s, known from %s, is not there or closed", c.ValidFrom, c.KnownFrom)
		}
		if _, err := s.at(c.ClosedBy); err != nil {
			return err
		}
		if c.KnownFrom >= s.change.Known {
			return errors.New("a segment would be empty in known time")
		}
		at.segments[i].Known.To, at.segments[i].ClosedBy = s.change.Known, c.ClosedBy
	}
	return nil
}

func (s *staged) openNew() error {
	for _, o := range s.change.Opened {
		if err := s.inSlot(o.Slot, o.Fact); err != nil {
			return err
		}
		if _, err := s.at(o.OpenedBy); err != nil {
			return err
		}
		if o.Valid.From >= o.Valid.To {
			return errors.New("a segment would be empty in valid time")
		}
		at := s.touch(o.Slot)
		at.segments = append(at.segments, sgam.StoredSegment{
			Valid: o.Valid, Known: sgam.Span{From: s.change.Known, To: sgam.Forever}, Fact: o.Fact, OpenedBy: o.OpenedBy,
		})
	}
	return nil
}

func (s *staged) confirm() error {
	for _, u := range s.change.Unconfirm {
		at := s.touch(u.Slot)
		for i := range at.confirmations {
			if c := &at.confirmations[i]; open(c.Known) {
				c.Known.To = s.change.Known
			}
		}
	}
	for _, c := range s.change.Confirmed {
		if err := s.inSlot(c.Slot, c.New, c.Old); err != nil {
			return err
		}
		if c.Valid.From >= c.Valid.To {
			return errors.New("a confirmation would be empty")
		}
		at := s.touch(c.Slot)
		at.confirmations = append(at.confirmations, sgam.StoredConfirmation{
			Valid: c.Valid, Known: sgam.Span{From: s.change.Known, To: sgam.Forever}, New: c.New, Old: c.Old,
		})
	}
	return nil
}

func (s *staged) supersede() error {
	for _, x := range s.change.Superseded {
		if err := s.inSlot(x.Slot, x.Old); err != nil {
			return err
		}
		if _, err := s.at(x.New); err != nil {
			return err
		}
		if x.Valid.From >= x.Valid.To {
			return errors.New("a displaced region is empty")
		}
		at := s.touch(x.Slot)
		at.supersessions = append(at.supersessions, sgam.StoredSupersession{
			New: x.New, Old: x.Old, How: x.How, Valid: x.Valid, KnownAt: s.change.Known,
		})
	}
	return nil
}

// count moves the points, and marks those alive whose value is the one believed there.
func (s *staged) count() error {
	for _, p := range s.change.Points {
		at := s.touch(p.Slot)
		i := slices.IndexFunc(at.points, func(q sgam.StoredPoint) bool { return q.At == p.At && q.Number == p.Number })
		if i < 0 {
			i = len(at.points)
			at.points = append(at.points, sgam.StoredPoint{Point: sgam.Point{At: p.At, Number: p.Number}})
		}
		at.points[i].Facts += p.Delta
		at.points[i].Live = p.Live
		if at.points[i].Facts < 0 {
			return fmt.Errorf("a point at %s counts fewer than no facts", p.At)
		}
	}
	for _, r := range s.change.Believed {
		for i := range s.touch(r.Slot).points {
			if p := &s.touched[r.Slot].points[i]; r.Valid.Contains(p.At) {
				p.Live = p.Number == r.Number
			}
		}
	}
	for _, at := range s.touched {
		at.points = slices.DeleteFunc(at.points, func(p sgam.StoredPoint) bool { return p.Facts == 0 })
	}
	return nil
}

func (s *staged) number() error {
	for _, n := range s.change.Numbers {
		at := s.touch(n.Slot)
		if n.Number < 1 || n.Number > at.lastNumber || at.numbers[n.Digest].number != 0 {
			return fmt.Errorf("value number %d is no fact's of the slot, or the value has one", n.Number)
		}
		at.numbers[n.Digest] = storedNumber{n.Number, s.change.Known}
	}
	return nil
}

func (s *staged) hold() error {
	for _, c := range s.change.Candidates {
		if !s.known(c.Episode) {
			return errors.New("a candidate has no episode")
		}
		held := sgam.Candidate{
			Memory: c.Memory, Status: c.Status, Slot: c.Slot, Episode: c.Episode, Delta: bytes.Clone(c.Delta),
			LostTo: slices.Clone(c.LostTo), Principal: s.principalOf(c), KnownAt: s.change.Known,
		}
		held.Kind, held.SourceID = s.source(c.Episode)
		s.candidates = append(s.candidates, storedCandidate{Candidate: held, ordinal: c.Ordinal, held: c.Status})
	}
	for _, x := range s.change.Settled {
		i := slices.IndexFunc(s.candidates, func(c storedCandidate) bool { return c.Memory == x.Memory })
		if i < 0 || s.candidates[i].Status != sgam.Pending && s.candidates[i].Status != sgam.Disputed {
			return fmt.Errorf("candidate %s is not held", x.Memory)
		}
		if x.Fact != 0 {
			if _, err := s.at(x.Fact); err != nil {
				return err
			}
		}
		at := &s.candidates[i]
		at.Status, at.fact, at.settled = x.Status, x.Fact, s.change.Known
	}
	return nil
}

// principalOf is who submitted a candidate: its outcome says so.
func (s *staged) principalOf(c sgam.NewCandidate) string {
	for _, o := range s.change.Outcomes {
		if o.Memory == c.Memory {
			return o.Principal
		}
	}
	return ""
}

func (s *staged) source(episode string) (sgam.EpisodeKind, string) {
	for _, e := range s.change.Episodes {
		if e.ID == episode {
			return e.Kind, e.SourceID
		}
	}
	e := s.episodes[episode]
	return e.Kind, e.SourceID
}

func (s *staged) checkOutcomes() error {
	keys := map[string]bool{}
	for _, o := range s.change.Outcomes {
		if o.Fact != 0 {
			if _, err := s.at(o.Fact); err != nil {
				return err
			}
		}
		if o.Key == "" {
			continue
		}
		if _, taken := s.byKey[o.Key]; taken || keys[o.Key] {
			return errors.New("an idempotency key is stored twice")
		}
		keys[o.Key] = true
	}
	return nil
}

// checkOpen checks that at most one segment of a slot is open at any instant.
func (s *staged) checkOpen() error {
	for _, at := range s.touched {
		var believed []sgam.Span
		for _, g := range at.segments {
			if open(g.Known) {
				believed = append(believed, g.Valid)
			}
		}
		slices.SortFunc(believed, func(a, b sgam.Span) int { return cmp.Compare(a.From, b.From) })
		for i := 1; i < len(believed); i++ {
			if believed[i].From < believed[i-1].To {
				return fmt.Errorf("open segments %s and %s overlap", believed[i-1], believed[i])
			}
		}
	}
	return nil
}
