package ledgertest

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// snapshot resolves everything that a call names.
func (t *tenant) snapshot(call *sgam.Call, whole bool) *sgam.Snapshot {
	s := &sgam.Snapshot{LastKnown: t.lastKnown, LastSeq: t.lastSeq, LastFact: int64(len(t.facts))}
	for _, target := range call.Targets {
		standing := t.standing(target, whole)
		if target.Members {
			for _, key := range t.members(target.Slot) {
				member := target
				member.Slot, member.Digests, member.Members = key, nil, false
				standing.Members = append(standing.Members, t.standing(member, whole))
			}
		}
		s.Slots = append(s.Slots, standing)
	}
	for _, key := range call.Keys {
		var found *sgam.StoredOutcome
		if i, ok := t.byKey[key]; ok {
			o := &t.outcomes[i]
			found = &sgam.StoredOutcome{Payload: o.Payload, Receipt: t.receipt(o)}
		}
		s.Outcomes = append(s.Outcomes, found)
	}
	for _, id := range call.Episodes {
		var found *sgam.EpisodeRef
		if e, ok := t.episodes[id]; ok {
			found = &sgam.EpisodeRef{Kind: e.Kind, OccurredAt: sgam.Instant(e.OccurredAt.UnixMicro()), Digest: e.digest}
		}
		s.Episodes = append(s.Episodes, found)
	}
	for i := range t.candidates {
		if c := &t.candidates[i]; !call.Candidate.IsZero() && c.Memory == call.Candidate {
			found := cloneCandidate(c.Candidate)
			s.Candidate = &found
		}
	}
	if call.Withdraw != nil {
		t.selection(call.Withdraw, s)
	}
	t.look(call, s)
	return s
}

// standing is the open state of one slot in a window.
func (t *tenant) standing(target sgam.Target, whole bool) sgam.Standing {
	at := t.slot(target.Slot)
	s := sgam.Standing{Slot: target.Slot, Window: target.Window, Next: sgam.Forever, NextNumber: at.lastNumber + 1}
	for _, digest := range target.Digests {
		s.Numbers = append(s.Numbers, at.numbers[digest].number)
	}
	switch {
	case whole:
		s.Window = sgam.Span{From: sgam.Beginning, To: sgam.Forever}
	case target.Points == sgam.NextPoint:
		s.Next = at.changePoint(target.Window.From)
		s.Window.To = min(s.Window.To, s.Next)
	}
	s.Open = t.openSegments(target.Slot, s.Window, target.Strength)
	for _, p := range at.points {
		asked := p.Live || p.Number == 0 || slices.Contains(s.Numbers, p.Number)
		if whole || target.Points == sgam.AllPoints && s.Window.Contains(p.At) && asked {
			s.Points = append(s.Points, p.Point)
		}
	}
	return s
}

// changePoint is the first start of an open segment, or live point, after an instant.
func (s *slot) changePoint(after sgam.Instant) sgam.Instant {
	next := sgam.Forever
	for _, g := range s.segments {
		if open(g.Known) && g.Valid.From > after {
			next = min(next, g.Valid.From)
		}
	}
	for _, p := range s.points {
		if p.Live && p.At > after {
			next = min(next, p.At)
		}
	}
	return next
}

// openSegments are the open segments that overlap a window, in order of valid time.
func (t *tenant) openSegments(key sgam.SlotKey, window sgam.Span, strength bool) []sgam.OpenSegment {
	var out []sgam.OpenSegment
	at := t.slot(key)
	first, last := map[int64]sgam.Instant{}, map[int64]sgam.Instant{}
	for _, g := range at.segments {
		if !open(g.Known) {
			continue
		}
		if have, ok := first[g.Fact]; !ok || g.Valid.From < have {
			first[g.Fact] = g.Valid.From
		}
		if have, ok := last[g.Fact]; !ok || g.Valid.From > have {
			last[g.Fact] = g.Valid.From
		}
	}
	for _, g := range at.segments {
		if !open(g.Known) || !g.Valid.Overlaps(window) {
			continue
		}
		o := sgam.OpenSegment{
			Valid: g.Valid, KnownFrom: g.Known.From, Fact: t.logged(g.Fact), FirstOpen: first[g.Fact], LastOpen: last[g.Fact],
		}
		for _, c := range at.confirmations {
			if strength && open(c.Known) && c.Old == g.Fact {
				by := t.logged(c.New)
				o.Backing = append(o.Backing, sgam.Backing{
					Evidence: sgam.Evidence{Confidence: by.Confidence, Kind: by.Kind}, Valid: c.Valid,
					Elsewhere: slices.ContainsFunc(at.segments, func(s sgam.StoredSegment) bool {
						return open(s.Known) && s.Fact == g.Fact && s.Valid.Overlaps(c.Valid) && !s.Valid.Overlaps(window)
					}),
				})
			}
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b sgam.OpenSegment) int { return cmp.Compare(a.Valid.From, b.Valid.From) })
	return out
}

// logged is a copy of a fact as the planner sees it.
func (t *tenant) logged(number int64) sgam.LoggedFact {
	f := t.fact(number).LoggedFact
	f.Confidence = cloneNumber(f.Confidence)
	return f
}

func cloneNumber(n *float64) *float64 {
	if n == nil {
		return nil
	}
	own := *n
	return &own
}

func cloneCandidate(c sgam.Candidate) sgam.Candidate {
	c.Delta = bytes.Clone(c.Delta)
	c.LostTo = slices.Clone(c.LostTo)
	return c
}

// selection fills in what a withdrawal needs: the selected facts, the log of each slot they are in and of the members
// of each set slot, and the candidates that the withdrawal declines or has to name.
func (t *tenant) selection(sel *sgam.Selector, s *sgam.Snapshot) {
	from := func(episode string, kind sgam.EpisodeKind, source string) bool {
		return sel.Episode != "" && episode == sel.Episode || sel.SourceID != "" && kind == sel.SourceKind && source == sel.SourceID
	}
	var keys []sgam.SlotKey
	for i := range t.facts {
		f := &t.facts[i]
		if f.ID != sel.Memory && !slices.Contains(sel.Facts, f.Number) && !from(f.Episode, f.Kind, t.episodes[f.Episode].SourceID) {
			continue
		}
		s.Selected = append(s.Selected, t.logged(f.Number))
		keys = append(keys, f.Slot)
		if f.Slot.Member == "" {
			keys = append(keys, t.members(f.Slot)...)
		}
	}
	slices.SortFunc(keys, compareSlots)
	keys = slices.Compact(keys)
	for _, key := range keys {
		s.Logs = append(s.Logs, t.log(key))
	}
	for i := range t.candidates {
		c := &t.candidates[i].Candidate
		own := from(c.Episode, c.Kind, c.SourceID)
		disputed := c.Status == sgam.Disputed && slices.ContainsFunc(s.Selected, func(f sgam.LoggedFact) bool {
			return slices.Contains(c.LostTo, f.ID)
		})
		if own || disputed {
			s.Held = append(s.Held, cloneCandidate(*c))
		}
	}
}

// log is what the replay of one slot needs.
func (t *tenant) log(key sgam.SlotKey) sgam.SlotLog {
	out := sgam.SlotLog{Slot: key, Open: t.openSegments(key, sgam.Span{From: sgam.Beginning, To: sgam.Forever}, false)}
	for _, n := range t.slot(key).facts {
		out.Facts = append(out.Facts, t.logged(n))
	}
	if key.Member != "" {
		set := key
		set.Member = ""
		for _, n := range t.slot(set).facts {
			out.Set = append(out.Set, t.logged(n))
		}
	}
	return out
}

// receipt is what the outcome's delta was answered, as it stands now.
func (t *tenant) receipt(o *storedOutcome) sgam.Receipt {
	r := sgam.Receipt{
		Outcome: o.Outcome, Memory: o.Memory, Known: o.known.Time(), Assumed: o.Assumed, Code: o.Code, Principal: o.Principal,
	}
	number := o.Fact
	for i := range t.candidates {
		if c := &t.candidates[i]; c.Memory == o.Memory && number == 0 {
			r.Outcome, r.LostTo, number = c.Status, slices.Clone(c.LostTo), c.fact
		}
	}
	if number == 0 {
		return r
	}
	f := t.fact(number)
	reach := f.Reach.Interval()
	r.Memory, r.Known, r.Supersedes, r.Reach = f.ID, f.KnownAt.Time(), t.id(f.Supersedes), &reach
	if f.Reach.To < f.Asserted.To {
		cut := sgam.Span{From: f.Reach.To, To: f.Asserted.To}.Interval()
		r.Clipped = &cut
	}
	for i := range t.facts {
		if part := &t.facts[i]; part.Number == number || part.PartOf == number {
			r.Displaced = append(r.Displaced, t.displaced(part)...)
			for _, id := range t.confirmed(part) {
				if !slices.Contains(r.Confirms, id) {
					r.Confirms = append(r.Confirms, id)
				}
			}
			if part.PartOf == number {
				r.Parts = append(r.Parts, part.ID)
			}
		}
	}
	return r
}

// displaced lists the regions that other facts lost to a fact.
func (t *tenant) displaced(f *sgam.NewFact) []sgam.Displacement {
	var out []sgam.Displacement
	for _, s := range t.slot(f.Slot).supersessions {
		if s.New == f.Number {
			out = append(out, sgam.Displacement{Memory: t.id(s.Old), By: f.ID, How: s.How, Valid: s.Valid.Interval()})
		}
	}
	return out
}

// confirmed lists the facts that already said the same when a fact was recorded.
func (t *tenant) confirmed(f *sgam.NewFact) []sgam.MemoryID {
	var out []sgam.MemoryID
	for _, c := range t.slot(f.Slot).confirmations {
		if id := t.id(c.Old); c.New == f.Number && c.Known.From == f.KnownAt && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// compareSlots orders slots by scope, subject, attribute and member, the set slot before its members.
func compareSlots(a, b sgam.SlotKey) int {
	return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Attribute, b.Attribute),
		cmp.Compare(a.Member, b.Member))
}
