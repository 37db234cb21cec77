package sgam

import (
	"cmp"
	"slices"
)

// How says what became of a displaced fact (rule R6).
type How string

// What a displaced fact still holds after the call: nothing (Replaced), time before the displaced region (Ended), time
// after it (StartMoved), or both (Split).
const (
	Replaced   How = "replaced"
	Ended      How = "ended"
	StartMoved How = "start_moved"
	Split      How = "split"
)

// proposal is one statement on its way into a slot.
type proposal struct {
	fact  LoggedFact
	reach Span
}

// piece is one believed rectangle of the working state, open in known time.
type piece struct {
	valid  Span
	fact   *LoggedFact
	opened int64        // the fact that cut it this way
	stored *OpenSegment // set while it stands exactly as stored
}

// displacement is one region that a fact lost to another.
type displacement struct {
	by, old int64
	valid   Span
}

// workSlot is the open state of one slot while a call is folded into it.
type workSlot struct {
	Standing
	pieces    []piece
	points    []Point // in order of At
	closing   map[Instant]ClosedSegment
	displaced []displacement
	confirmed []Confirmation
	added     []Point // of this call
	reaches   map[int64]bounds
	backing   map[int64][]Backing // of each fact, by confirmations of this call too
	numbers   map[string]int64
	fresh     []NumberedValue
}

// bounds are the starts of the first and the last open segment of a fact, as stored.
type bounds struct{ first, last Instant }

func newWorkSlot(s Standing, digests []string) *workSlot {
	w := &workSlot{Standing: s, reaches: map[int64]bounds{}, backing: map[int64][]Backing{}, numbers: map[string]int64{}, points: slices.Clone(s.Points)}
	slices.SortFunc(w.points, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	w.pieces = make([]piece, len(s.Open), len(s.Open)+2)
	for i := range s.Open {
		o := &s.Open[i]
		w.pieces[i] = piece{valid: o.Valid, fact: &o.Fact, stored: o}
		w.backing[o.Fact.Number] = o.Backing
		w.reaches[o.Fact.Number] = bounds{o.FirstOpen, o.LastOpen}
	}
	for i, d := range digests {
		if s.Numbers[i] != 0 {
			w.numbers[d] = s.Numbers[i]
		}
	}
	return w
}

// peek is number without giving one.
func (w *workSlot) peek(digest string) int64 {
	if n, ok := w.numbers[digest]; ok {
		return n
	}
	return w.NextNumber
}

// number gives the value of a digest its number in this slot, a new one when the slot never held the value. Then the same
// value in other forms has it too, unless a form says already which value it is.
func (w *workSlot) number(digest string, others []string) int64 {
	if n, ok := w.numbers[digest]; ok {
		return n
	}
	n := w.NextNumber
	w.NextNumber++
	w.alias(append([]string{digest}, others...), n)
	return n
}

// alias gives digests that have none a number.
func (w *workSlot) alias(digests []string, number int64) {
	for _, d := range digests {
		if _, ok := w.numbers[d]; !ok {
			w.numbers[d] = number
			w.fresh = append(w.fresh, NumberedValue{w.Slot, d, number})
		}
	}
}

// at returns the piece that holds at an instant, nil when nothing does.
func (w *workSlot) at(i Instant) *piece {
	k, found := slices.BinarySearchFunc(w.pieces, i, func(p piece, i Instant) int {
		switch {
		case p.valid.To <= i:
			return -1
		case p.valid.From > i:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &w.pieces[k]
}

// changePoint is the slot's next change-point after an instant (rule R3): the start of an open segment, or the asserted
// valid_from of a fact whose value is the one believed there now.
func (w *workSlot) changePoint(after Instant) Instant {
	next := w.Next
	k, _ := slices.BinarySearchFunc(w.pieces, after, func(p piece, i Instant) int {
		if p.valid.From <= i {
			return -1
		}
		return 1
	})
	if k < len(w.pieces) {
		next = min(next, w.pieces[k].valid.From)
	}
	k, _ = slices.BinarySearchFunc(w.points, after, func(p Point, i Instant) int {
		if p.At <= i {
			return -1
		}
		return 1
	})
	for ; k < len(w.points) && w.points[k].At < next; k++ {
		if w.live(w.points[k]) {
			return w.points[k].At
		}
	}
	return next
}

func (w *workSlot) live(p Point) bool {
	holds := w.at(p.At)
	return p.Facts > 0 && holds != nil && holds.fact.Value == p.Number
}

// reach is how far a statement reaches (rule R3). The change-points of a set slot are those of its members too.
func (w *workSlot) reach(op Op, asserted Span, set *workSlot) Span {
	end := asserted.To
	if op == Assert || op == End {
		end = min(end, w.changePoint(asserted.From))
		if set != nil {
			end = min(end, set.changePoint(asserted.From))
		}
	}
	return Span{asserted.From, end}
}

// different calls yield for each piece in the reach that holds another value, until it returns false.
func (w *workSlot) different(reach Span, value int64, yield func(*piece) bool) {
	for i := range w.pieces {
		p := &w.pieces[i]
		if p.valid.From >= reach.To {
			return
		}
		if p.valid.Overlaps(reach) && p.fact.Value != value && !yield(p) {
			return
		}
	}
}

// plan turns what stands and what is proposed into what ends and begins (rules R4 and R5). It reads no clock, no store,
// no global. It reports whether anything was left to write; if not, the statement only confirms.
func (w *workSlot) plan(p proposal) bool {
	first, _ := slices.BinarySearchFunc(w.pieces, p.reach.From, func(q piece, i Instant) int {
		if q.valid.To <= i {
			return -1
		}
		return 1
	})
	last := first
	var next []piece
	wrote := false
	from := p.reach.From // where the next piece of the new fact would start
	fill := func(to Instant) {
		if from < to {
			next = append(next, piece{valid: Span{from, to}, fact: &p.fact, opened: p.fact.Number})
			wrote = true
		}
	}
	for ; last < len(w.pieces) && w.pieces[last].valid.From < p.reach.To; last++ {
		q := w.pieces[last]
		over := q.valid.intersect(p.reach)
		if q.fact.Value == p.fact.Value {
			fill(over.From)
			from = over.To
			next = append(next, q)
			w.backing[q.fact.Number] = append(slices.Clip(w.backing[q.fact.Number]), Backing{Evidence{p.fact.Confidence, p.fact.Kind}, over, false})
			w.confirmed = append(w.confirmed, Confirmation{w.Slot, p.fact.Number, q.fact.Number, over})
			continue
		}
		if q.valid.From < over.From {
			next = append(next, w.cut(q, Span{q.valid.From, over.From}, p.fact.Number))
		}
		if q.valid.To > over.To {
			fill(over.To)
			from = over.To
			next = append(next, w.cut(q, Span{over.To, q.valid.To}, p.fact.Number))
		}
		w.close(q, p.fact.Number)
		w.displaced = append(w.displaced, displacement{p.fact.Number, q.fact.Number, over})
	}
	if from < p.reach.To {
		// A right remainder can only be the last of next, and then from has reached the end.
		fill(p.reach.To)
	}
	w.pieces = slices.Replace(w.pieces, first, last, next...)
	w.addPoint(Point{p.fact.Asserted.From, p.fact.Value, 1})
	return wrote
}

// cut is what sticks out of a displaced piece: it stays with the old fact.
func (w *workSlot) cut(q piece, valid Span, by int64) piece {
	return piece{valid: valid, fact: q.fact, opened: by}
}

// close notes that a stored segment ends in known time. The first statement that touched it is the cause.
func (w *workSlot) close(q piece, by int64) {
	if q.stored == nil {
		return
	}
	if w.closing == nil {
		w.closing = map[Instant]ClosedSegment{}
	}
	w.closing[q.stored.Valid.From] = ClosedSegment{w.Slot, q.stored.Valid.From, q.stored.KnownFrom, by}
}

func (w *workSlot) addPoint(p Point) {
	w.added = append(w.added, p)
	k, _ := slices.BinarySearchFunc(w.points, p.At, func(q Point, i Instant) int {
		if q.At < i {
			return -1
		}
		return 1
	})
	w.points = slices.Insert(w.points, k, p)
}

// how judges a displaced fact by what it still holds after the call (rule R6).
func (w *workSlot) how(d displacement) How {
	b, stored := w.reaches[d.old]
	before := stored && b.first < w.Window.From
	after := stored && b.last >= w.Window.To
	for i := range w.pieces {
		if w.pieces[i].fact.Number != d.old {
			continue
		}
		before = before || w.pieces[i].valid.From < d.valid.From
		after = after || w.pieces[i].valid.From >= d.valid.To
	}
	switch {
	case before && after:
		return Split
	case before:
		return Ended
	case after:
		return StartMoved
	}
	return Replaced
}

// supersedes is the fact that lost the new fact's valid_from, else the earliest displaced one, else 0 (rule R6).
func (w *workSlot) supersedes(fact int64, from Instant) int64 {
	var old int64
	earliest := Forever
	for _, d := range w.displaced {
		if d.by != fact {
			continue
		}
		if d.valid.Contains(from) {
			return d.old
		}
		if d.valid.From < earliest {
			old, earliest = d.old, d.valid.From
		}
	}
	return old
}

// changes appends what the fold did to a change: the difference between what was stored and what stands now, so that a
// segment that came and went inside the call is never written.
func (w *workSlot) changes(c *Change) {
	starts := make([]Instant, 0, len(w.closing))
	for start := range w.closing {
		starts = append(starts, start)
	}
	slices.Sort(starts)
	for _, start := range starts {
		c.Closed = append(c.Closed, w.closing[start])
	}
	for i := range w.pieces {
		p := &w.pieces[i]
		if p.stored != nil {
			continue
		}
		c.Opened = append(c.Opened, OpenedSegment{w.Slot, p.valid, p.fact.Number, p.opened})
		c.Believed = append(c.Believed, Region{w.Slot, p.valid, p.fact.Value})
	}
	c.Confirmed = append(c.Confirmed, w.confirmed...)
	for _, d := range w.displaced {
		c.Superseded = append(c.Superseded, Supersession{w.Slot, d.by, d.old, w.how(d), d.valid})
	}
	for _, p := range w.added {
		c.Points = append(c.Points, PointChange{w.Slot, p.At, p.Number, p.Facts, w.live(Point{p.At, p.Number, 1})})
	}
	c.Numbers = append(c.Numbers, w.fresh...)
}
