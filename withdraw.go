package sgam

import (
	"context"
	"slices"
)

// Withdrawal names what to take back: exactly one of a memory, an episode, or a source.
type Withdrawal struct {
	// Memory is one fact, or one withdrawal: withdrawing a withdrawal reinstates.
	Memory MemoryID
	// Episode is everything that one episode said.
	Episode string
	// SourceKind and SourceID are everything that one source said.
	SourceKind EpisodeKind
	SourceID   string
	// Reason is kept as the provenance of the withdrawal.
	Reason string
	// AcceptClock lets this call pass MaxForwardJump.
	AcceptClock bool
}

// Withdraw takes statements back as if they had never been made (rule R8): the record was wrong, poisoned or misheard.
// What they had cut back grows again, and a fact that only confirmed them becomes the owner. What was believed in
// between stays readable at its known times. Doing it twice is a duplicate; an id that names nothing is ErrNotFound.
func (t *Tenant) Withdraw(ctx context.Context, w Withdrawal) (Receipt, error) {
	if err := t.mayWrite(ctx, false); err != nil {
		return Receipt{}, err
	}
	sel, err := w.selector()
	if err != nil {
		return Receipt{}, err
	}
	if fe := checkText("reason", w.Reason); fe != nil {
		return Receipt{}, fe
	}
	var r Receipt
	err = t.l.store.Write(ctx, t.id, &Call{Principal: t.principal, Withdraw: sel}, func(s *Snapshot) (*Change, error) {
		known, err := t.l.knownTime(s.LastKnown, Beginning, w.AcceptClock)
		if err != nil {
			return nil, err
		}
		d := withdrawal{t: t, reason: w.Reason, snap: s, change: &Change{Known: known}, next: s.LastFact + 1}
		r, err = d.decide()
		if err != nil || r.Outcome == Duplicate {
			return nil, err
		}
		return d.change, nil
	})
	return t.told("", r, err)
}

func (w Withdrawal) selector() (*Selector, error) {
	named := 0
	for _, set := range []bool{!w.Memory.IsZero(), w.Episode != "", w.SourceID != "" || w.SourceKind != ""} {
		if set {
			named++
		}
	}
	if named != 1 {
		return nil, fault("withdraw", "one_of", "exactly one of a memory, an episode, a source")
	}
	if (w.SourceID == "") != (w.SourceKind == "") {
		return nil, fault("source", "required", "both the kind and the id of the source")
	}
	if fe := checkName("episode", w.Episode, true); fe != nil {
		return nil, fe
	}
	if fe := checkName("source_id", w.SourceID, true); fe != nil {
		return nil, fe
	}
	if w.SourceKind != "" && !w.SourceKind.known() {
		return nil, fault("source_kind", "enum", kinds)
	}
	return &Selector{Memory: w.Memory, Episode: w.Episode, SourceKind: w.SourceKind, SourceID: w.SourceID}, nil
}

// withdrawal is one withdraw call while it is decided.
type withdrawal struct {
	t      *Tenant
	reason string
	snap   *Snapshot
	change *Change
	next   int64
}

func (d *withdrawal) decide() (Receipt, error) {
	targets := d.targets()
	r := Receipt{Outcome: Applied, Known: d.change.Known.Time(), Principal: d.t.principal}
	gone := map[MemoryID]bool{}
	for _, f := range d.snap.Selected {
		gone[f.ID] = true
	}
	for _, held := range d.snap.Held {
		lost := slices.ContainsFunc(held.LostTo, func(id MemoryID) bool { return gone[id] })
		switch {
		case held.Status == Pending && !lost:
			r.DeclinedPending = append(r.DeclinedPending, held.Memory)
			d.change.Settled = append(d.change.Settled, SettledCandidate{Memory: held.Memory, Status: Declined})
		case held.Status == Disputed:
			r.StillDisputed = append(r.StillDisputed, held.Memory)
		}
	}
	switch {
	case len(targets)+len(r.DeclinedPending) > 0:
	case len(d.snap.Selected)+len(d.snap.Held) > 0:
		return Receipt{Outcome: Duplicate, Earlier: Applied, Principal: d.t.principal, StillDisputed: r.StillDisputed}, nil
	default:
		return Receipt{}, ErrNotFound
	}
	if err := d.write(targets, &r); err != nil {
		return Receipt{}, err
	}
	for _, c := range d.snap.Held {
		if slices.Contains(r.DeclinedPending, c.Memory) {
			_, _, name := d.t.l.typeOf(c.Slot.Attribute)
			d.change.Outcomes = append(d.change.Outcomes, NewOutcome{
				Ordinal: len(d.change.Outcomes), Outcome: Declined, Op: Withdraw, Attribute: name, Principal: d.t.principal, Memory: c.Memory,
			})
		}
	}
	return r, nil
}

// targets are the selected facts that still count, and the parts by which they were carried out.
func (d *withdrawal) targets() []LoggedFact {
	out := map[int64]bool{}
	all := map[int64]LoggedFact{}
	for _, log := range d.snap.Logs {
		for number := range withdrawn(log.Facts) {
			out[number] = true
		}
		for _, f := range log.Facts {
			all[f.Number] = f
		}
	}
	chosen := map[int64]bool{}
	for _, f := range d.snap.Selected {
		chosen[f.Number] = true
	}
	for _, f := range all {
		if chosen[f.PartOf] {
			chosen[f.Number] = true
		}
	}
	var targets []LoggedFact
	for number := range chosen {
		if f, ok := all[number]; ok && !out[number] {
			targets = append(targets, f)
		}
	}
	slices.SortFunc(targets, func(a, b LoggedFact) int { return int(a.Number - b.Number) })
	return targets
}

// write appends a withdraw fact for each target, and the difference that it makes to each slot.
func (d *withdrawal) write(targets []LoggedFact, r *Receipt) error {
	byTarget := map[int64]int64{}
	var facts []LoggedFact
	for i, target := range targets {
		id, err := d.t.l.newMemoryID()
		if err != nil {
			return err
		}
		f := LoggedFact{
			Number: d.next, ID: id, Slot: target.Slot, Op: Withdraw, Asserted: target.Asserted, KnownAt: d.change.Known,
			Target: target.Number, PartOf: byTarget[target.PartOf],
		}
		d.next++
		byTarget[target.Number] = f.Number
		facts = append(facts, f)
		r.Withdrawn = append(r.Withdrawn, target.ID)
		if i == 0 {
			r.Memory = id
		} else {
			r.Parts = append(r.Parts, id)
		}
		typ, version, name := d.t.l.typeOf(target.Slot.Attribute)
		d.change.Facts = append(d.change.Facts, NewFact{
			LoggedFact: f, MemoryType: typ, SchemaVersion: version, Principal: d.t.principal, Reach: target.Asserted,
			Provenance: Provenance{Reasoning: d.reason}, Ordinal: i,
		})
		d.change.Outcomes = append(d.change.Outcomes, NewOutcome{
			Ordinal: i, Outcome: Applied, Fact: f.Number, Op: Withdraw, Attribute: name, Principal: d.t.principal, Memory: id,
		})
	}
	ids := map[int64]MemoryID{}
	for _, log := range d.snap.Logs {
		for _, f := range log.Facts {
			ids[f.Number] = f.ID
		}
	}
	for _, f := range facts {
		ids[f.Number] = f.ID
	}
	for _, log := range d.snap.Logs {
		rewind(log, facts, d.change)
	}
	for _, s := range d.change.Superseded {
		r.Displaced = append(r.Displaced, Displacement{Memory: ids[s.Old], By: ids[s.New], How: s.How, Valid: s.Valid.Interval()})
	}
	return nil
}

// withdrawn tells which facts of a log do not count: those that a withdraw takes back which itself still counts.
func withdrawn(log []LoggedFact) map[int64]bool {
	out := map[int64]bool{}
	for i := len(log) - 1; i >= 0; i-- {
		if log[i].Op == Withdraw && !out[log[i].Number] {
			out[log[i].Target] = true
		}
	}
	return out
}

// replay folds the facts of one slot that count, in order, into an empty slot. The statements about the whole set, when
// the slot is a member, bound its reach as they did then.
func replay(log SlotLog) *workSlot {
	w, set := emptySlot(log.Slot), emptySlot(SlotKey{})
	own, others := withdrawn(log.Facts), withdrawn(log.Set)
	k := 0
	for _, f := range log.Facts {
		for ; k < len(log.Set) && log.Set[k].Number < f.decidedAt(); k++ {
			if s := log.Set[k]; s.states() && !others[s.Number] {
				set.plan(proposal{s, set.reach(s.Op, s.Asserted, nil)})
			}
		}
		if f.states() && !own[f.Number] {
			w.plan(proposal{f, w.reach(f.Op, f.Asserted, set)})
		}
	}
	return w
}

func emptySlot(key SlotKey) *workSlot {
	return newWorkSlot(Standing{Slot: key, Window: Span{Beginning, Forever}, Next: Forever, NextNumber: 1}, nil)
}

// decidedAt is the fact before which the reach was decided: a statement about all members is decided for each of them
// before it is folded into the set slot.
func (f *LoggedFact) decidedAt() int64 {
	if f.PartOf != 0 {
		return f.PartOf
	}
	return f.Number
}

// states reports whether the fact says something about the slot's value, rather than about another fact.
func (f *LoggedFact) states() bool { return f.Op != Withdraw }

// rewind appends to a change what new withdrawals make of one slot: the difference between what stands and a replay
// without what they take back.
func rewind(log SlotLog, added []LoggedFact, c *Change) {
	was := withdrawn(log.Facts)
	after := SlotLog{Slot: log.Slot, Facts: slices.Clone(log.Facts), Set: slices.Clone(log.Set)}
	causes := map[int64]int64{} // by the fact taken back
	set := log.Slot
	set.Member = ""
	var first int64
	for _, f := range added {
		switch f.Slot {
		case log.Slot:
			after.Facts = append(after.Facts, f)
		case set:
			after.Set = append(after.Set, f)
		default:
			continue
		}
		causes[f.Target] = f.Number
		if first == 0 {
			first = f.Number
		}
	}
	if first == 0 {
		return
	}
	now := withdrawn(after.Facts)
	w := replay(after)
	w.rewound(log.Open, func(owner int64) int64 {
		if by, ok := causes[owner]; ok {
			return by
		}
		return first
	}, c)
	for i := range log.Facts {
		f := &log.Facts[i]
		if !f.states() || was[f.Number] == now[f.Number] {
			continue
		}
		delta := int64(1)
		if now[f.Number] {
			delta = -1
		}
		p := Point{f.Asserted.From, f.Value, 1}
		c.Points = append(c.Points, PointChange{log.Slot, p.At, p.Number, delta, w.live(p)})
	}
}

// rewound appends the difference between the stored open segments and the replayed ones.
func (w *workSlot) rewound(open []OpenSegment, cause func(owner int64) int64, c *Change) {
	type key struct {
		valid Span
		fact  int64
	}
	stands := map[key]bool{}
	for i := range w.pieces {
		stands[key{w.pieces[i].valid, w.pieces[i].fact.Number}] = true
	}
	stored := map[key]bool{}
	for i := range open {
		o := &open[i]
		k := key{o.Valid, o.Fact.Number}
		stored[k] = true
		if stands[k] {
			continue
		}
		by := cause(o.Fact.Number)
		c.Closed = append(c.Closed, ClosedSegment{w.Slot, o.Valid.From, o.KnownFrom, by})
		c.Believed = append(c.Believed, Region{w.Slot, o.Valid, -1})
		for _, lost := range w.lostBy(o) {
			d := displacement{by, o.Fact.Number, lost}
			c.Superseded = append(c.Superseded, Supersession{w.Slot, by, d.old, w.how(d), lost})
		}
	}
	for i := range w.pieces {
		p := &w.pieces[i]
		if stored[key{p.valid, p.fact.Number}] {
			continue
		}
		c.Opened = append(c.Opened, OpenedSegment{w.Slot, p.valid, p.fact.Number, cause(0)})
		c.Believed = append(c.Believed, Region{w.Slot, p.valid, p.fact.Value})
	}
	c.Unconfirm = append(c.Unconfirm, Unconfirmation{w.Slot})
	c.Confirmed = append(c.Confirmed, w.confirmed...)
}

// lostBy lists the parts of a stored segment that its fact no longer holds.
func (w *workSlot) lostBy(o *OpenSegment) []Span {
	var lost []Span
	from := o.Valid.From
	for i := range w.pieces {
		p := &w.pieces[i]
		if p.fact.Number != o.Fact.Number || !p.valid.Overlaps(o.Valid) {
			continue
		}
		if from < p.valid.From {
			lost = append(lost, Span{from, p.valid.From})
		}
		from = p.valid.To
	}
	if from < o.Valid.To {
		lost = append(lost, Span{from, o.Valid.To})
	}
	return lost
}
