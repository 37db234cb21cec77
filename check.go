package sgam

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

// VerifyError is one finding of [Ledger.Verify]. It names no values.
type VerifyError struct {
	Tenant string
	// Attribute is the attribute's name; Slot numbers the slot in the order in which the engine lists them.
	Attribute string
	Slot      int
	// Layer is "facts", "segments", "confirmations", "supersessions" or "points".
	Layer string
	// Detail says what was found, by fact numbers and times.
	Detail string
}

func (e *VerifyError) Error() string {
	return fmt.Sprintf("sgam: verify tenant %q, attribute %q, slot %d, %s: %s", e.Tenant, e.Attribute, e.Slot, e.Layer, e.Detail)
}

// Verify lets the ledger prove itself: for every slot it replays the facts and compares the result with the derived
// layers, and it checks the invariants of the rectangles by themselves. It yields a [*VerifyError] for each finding,
// another error when it cannot go on, and nothing when all is well.
func (l *Ledger) Verify(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		for name, err := range l.Tenants(ctx) {
			if err != nil {
				yield(err)
				return
			}
			t, err := l.Tenant(name)
			if err != nil {
				yield(err)
				return
			}
			for err := range t.Verify(ctx) {
				if !yield(err) {
					return
				}
			}
		}
	}
}

// Verify is [Ledger.Verify] of one tenant.
func (t *Tenant) Verify(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		q := &Query{Kind: QueryLedger, Known: Forever}
		slot := 0
		for dump, err := range walkTenant(ctx, t, q, func(p *Page) []SlotDump { return p.Dumps }) {
			if err != nil {
				yield(err)
				return
			}
			slot++
			_, _, name := t.l.typeOf(dump.Slot.Attribute)
			for _, f := range dump.check() {
				f.Tenant, f.Attribute, f.Slot = t.id.name, name, slot
				if !yield(f) {
					return
				}
			}
		}
	}
}

// check holds every layer of one slot against a replay of its facts.
func (d *SlotDump) check() []*VerifyError {
	var found []*VerifyError
	report := func(layer, format string, args ...any) {
		found = append(found, &VerifyError{Layer: layer, Detail: fmt.Sprintf(format, args...)})
	}
	for i := 1; i < len(d.Facts); i++ {
		if a, b := d.Facts[i-1], d.Facts[i]; a.Number >= b.Number || a.KnownAt > b.KnownAt {
			report("facts", "fact %d is out of order", b.Number)
		}
	}
	d.checkRectangles(report)
	want := rebuild(d.SlotLog)
	compare(report, "segments", want.Segments, d.Segments, func(a, b StoredSegment) int {
		return cmp.Or(cmp.Compare(a.Known.From, b.Known.From), cmp.Compare(a.Valid.From, b.Valid.From), cmp.Compare(a.Fact, b.Fact))
	})
	compare(report, "confirmations", want.Confirmations, d.Confirmations, func(a, b StoredConfirmation) int {
		return cmp.Or(cmp.Compare(a.Known.From, b.Known.From), cmp.Compare(a.New, b.New), cmp.Compare(a.Old, b.Old), cmp.Compare(a.Valid.From, b.Valid.From))
	})
	compare(report, "supersessions", want.Supersessions, d.Supersessions, func(a, b StoredSupersession) int {
		return cmp.Or(cmp.Compare(a.New, b.New), cmp.Compare(a.Old, b.Old), cmp.Compare(a.Valid.From, b.Valid.From))
	})
	counted := slices.DeleteFunc(slices.Clone(d.Points), func(p StoredPoint) bool { return p.Facts == 0 })
	compare(report, "points", want.Points, counted, func(a, b StoredPoint) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Number, b.Number))
	})
	return found
}

// checkRectangles needs no replay: rectangles are not empty, and no two of them share a point of the plane.
func (d *SlotDump) checkRectangles(report func(layer, format string, args ...any)) {
	byStart := slices.Clone(d.Segments)
	slices.SortFunc(byStart, func(a, b StoredSegment) int { return cmp.Compare(a.Valid.From, b.Valid.From) })
	var active []StoredSegment
	for _, s := range byStart {
		if s.Valid.empty() || s.Known.empty() {
			report("segments", "the rectangle of fact %d at %s × %s is empty", s.Fact, s.Valid, s.Known)
		}
		if (s.ClosedBy == 0) != (s.Known.To == Forever) {
			report("segments", "the rectangle of fact %d at %s × %s does not say what closed it", s.Fact, s.Valid, s.Known)
		}
		active = slices.DeleteFunc(active, func(a StoredSegment) bool { return a.Valid.To <= s.Valid.From })
		for _, a := range active {
			if a.Known.Overlaps(s.Known) {
				report("segments", "rectangles of facts %d and %d overlap at %s × %s", a.Fact, s.Fact, s.Valid, s.Known)
			}
		}
		active = append(active, s)
	}
}

// compare reports the rows that only one of the two sides has.
func compare[T comparable](report func(layer, format string, args ...any), layer string, want, got []T, order func(a, b T) int) {
	slices.SortFunc(want, order)
	got = slices.Clone(got)
	slices.SortFunc(got, order)
	has := make(map[T]int, len(got))
	for _, g := range got {
		has[g]++
	}
	for _, w := range want {
		if has[w]--; has[w] < 0 {
			report(layer, "missing %v", w)
		}
	}
	for _, g := range got {
		if has[g] > 0 {
			has[g]--
			report(layer, "not derived from the facts: %v", g)
		}
	}
}

// rebuild derives every layer of a slot from its facts, call by call.
func rebuild(log SlotLog) *SlotDump {
	b := rebuilder{out: &SlotDump{SlotLog: log}, slot: emptySlot(log.Slot), set: emptySlot(SlotKey{}), open: map[Instant]int{}}
	own, set := log.Facts, log.Set
	for len(own)+len(set) > 0 {
		known := Forever
		if len(own) > 0 {
			known = own[0].KnownAt
		}
		if len(set) > 0 {
			known = min(known, set[0].KnownAt)
		}
		var mine, others []LoggedFact
		mine, own = cutCall(own, known)
		others, set = cutCall(set, known)
		b.call(known, mine, others)
	}
	for i, at := range b.slot.points {
		if i > 0 && b.slot.points[i-1].At == at.At && b.slot.points[i-1].Number == at.Number {
			continue
		}
		b.out.Points = append(b.out.Points, StoredPoint{Point: at, Live: b.slot.live(at)})
	}
	return b.out
}

// cutCall cuts the facts of one call off the front of a log.
func cutCall(facts []LoggedFact, known Instant) (call, rest []LoggedFact) {
	n := 0
	for n < len(facts) && facts[n].KnownAt == known {
		n++
	}
	return facts[:n], facts[n:]
}

// rebuilder grows the layers of one slot.
type rebuilder struct {
	out       *SlotDump
	slot, set *workSlot
	own       []LoggedFact // so far
	others    []LoggedFact
	open      map[Instant]int // open segments in out.Segments, by start
}

func (b *rebuilder) call(known Instant, mine, others []LoggedFact) {
	isWithdraw := func(f LoggedFact) bool { return !f.states() }
	var c Change
	if slices.ContainsFunc(mine, isWithdraw) || slices.ContainsFunc(others, isWithdraw) {
		added := slices.Concat(mine, others)
		slices.SortFunc(added, func(x, y LoggedFact) int { return cmp.Compare(x.Number, y.Number) })
		for i := range added {
			if added[i].Slot != b.out.Slot {
				added[i].Slot.Member = ""
			}
		}
		rewind(SlotLog{Slot: b.out.Slot, Facts: b.own, Set: b.others, Open: b.slot.Open}, added, &c)
		b.own, b.others = append(b.own, mine...), append(b.others, others...)
		b.slot = replay(SlotLog{Slot: b.out.Slot, Facts: b.own, Set: b.others})
		b.set = replay(SlotLog{Facts: b.others})
		b.record(known, &c)
		b.settle(known)
		return
	}
	merged := slices.Concat(mine, others) // a part stands before the statement that it carries out
	slices.SortStableFunc(merged, func(x, y LoggedFact) int { return cmp.Compare(x.decidedAt(), y.decidedAt()) })
	for _, f := range merged {
		if f.Slot != b.out.Slot {
			b.set.plan(proposal{f, b.set.reach(f.Op, f.Asserted, nil)})
			continue
		}
		var set *workSlot
		if b.out.Slot.Member != "" {
			set = b.set
		}
		b.slot.plan(proposal{f, b.slot.reach(f.Op, f.Asserted, set)})
	}
	b.own, b.others = append(b.own, mine...), append(b.others, others...)
	b.slot.changes(&c)
	b.record(known, &c)
	b.settle(known)
}

// record applies a change to the layers, as an engine does.
func (b *rebuilder) record(known Instant, c *Change) {
	for _, x := range c.Closed {
		i := b.open[x.ValidFrom]
		b.out.Segments[i].Known.To, b.out.Segments[i].ClosedBy = known, x.ClosedBy
		delete(b.open, x.ValidFrom)
	}
	for _, o := range c.Opened {
		b.open[o.Valid.From] = len(b.out.Segments)
		b.out.Segments = append(b.out.Segments, StoredSegment{Valid: o.Valid, Known: Span{known, Forever}, Fact: o.Fact, OpenedBy: o.OpenedBy})
	}
	if len(c.Unconfirm) > 0 {
		for i := range b.out.Confirmations {
			if x := &b.out.Confirmations[i]; x.Known.To == Forever {
				x.Known.To = known
			}
		}
	}
	for _, x := range c.Confirmed {
		b.out.Confirmations = append(b.out.Confirmations, StoredConfirmation{Valid: x.Valid, Known: Span{known, Forever}, New: x.New, Old: x.Old})
	}
	for _, x := range c.Superseded {
		b.out.Supersessions = append(b.out.Supersessions, StoredSupersession{New: x.New, Old: x.Old, How: x.How, Valid: x.Valid, KnownAt: known})
	}
}

// settle makes what the call left the stored state of the next one.
func (b *rebuilder) settle(known Instant) {
	w := b.slot
	w.closing, w.displaced, w.confirmed, w.added = nil, nil, nil, nil
	w.Open = make([]OpenSegment, len(w.pieces))
	for i := range w.pieces {
		p := &w.pieces[i]
		from := known
		if k, ok := b.open[p.valid.From]; ok {
			from = b.out.Segments[k].Known.From
		}
		w.Open[i] = OpenSegment{Valid: p.valid, KnownFrom: from, Fact: *p.fact}
		p.stored, p.opened = &w.Open[i], 0
	}
	w.points = joinPoints(w.points)
}

// joinPoints adds up the points of one instant and number, in order.
func joinPoints(points []Point) []Point {
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Number, b.Number))
	})
	joined := points[:0]
	for _, p := range points {
		if n := len(joined); n > 0 && joined[n-1].At == p.At && joined[n-1].Number == p.Number {
			joined[n-1].Facts += p.Facts
			continue
		}
		joined = append(joined, p)
	}
	return joined
}
