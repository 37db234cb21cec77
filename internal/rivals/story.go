package rivals

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Scale says how long the history of an arena is.
type Scale struct {
	Slots      int // beside the hot one
	Versions   int // of the hot slot
	Rectangles int // of all of it, at least
}

// ScaleOf is a history of so many rectangles.
func ScaleOf(rectangles int) Scale {
	return Scale{Slots: rectangles / 20, Versions: rectangles / 20, Rectangles: rectangles}
}

// Full is how many rectangles the bars are told for.
const Full = 80_000

// Brief is few enough for every run of the tests. Its ratios say nothing.
const Brief = 600

// hot is the slot with many versions; the others are 1, 2, 3 and so on.
const hot = 0

// longest is the longest portion of a correction.
const longest = 3 * 24 * time.Hour

// story is a history as an application writes one: values begin, most change from now on, some are corrected in the past, and
// now and then it turns out that there was none. An operation is about what happened shortly before.
type story struct {
	*model
	ops   []Operation
	count int // of rectangles
	rand  *rand.Rand
}

// tell makes the history of a scale, always the same one.
func tell(s Scale) *story {
	t := &story{model: newModel(), rand: draws(1)}
	for slot := range int64(s.Slots + 1) {
		t.next(Operation{Kind: Begin, Slot: slot, Valid: sgam.Span{From: t.now() - t.hours(24), To: sgam.Forever}})
	}
	left := s.Versions
	for t.count < s.Rectangles {
		slot := 1 + t.rand.Int64N(int64(s.Slots))
		if left > 0 && t.rand.IntN(7) == 0 {
			slot, left = hot, left-1
		}
		t.next(t.about(slot))
	}
	for ; left > 0; left-- {
		t.next(t.about(hot))
	}
	return t
}

// next adds an operation, whose value is its own.
func (t *story) next(op Operation) {
	if op.Kind != Void {
		op.Value = fmt.Sprintf("City of Number %d", t.n+1)
	}
	t.ops = append(t.ops, op)
	t.count -= len(t.closed) + len(t.slots[op.Slot])
	t.apply(op)
	t.count += len(t.closed) + len(t.slots[op.Slot])
}

// now is when the next operation is known.
func (t *story) now() sgam.Instant { return instant(knownAt(t.n + 1)) }

// hours is a time of up to so many hours.
func (t *story) hours(n int) sgam.Instant { return t.within(time.Duration(n) * time.Hour) }

// within is a time of up to a duration, and at least two microseconds.
func (t *story) within(d time.Duration) sgam.Instant {
	return 2 + sgam.Instant(t.rand.Int64N(max(1, d.Microseconds()-2)))
}

// about is the next operation of a slot: six in ten are changes from now on, three are corrections, one is an absence.
func (t *story) about(slot int64) Operation {
	switch t.rand.IntN(10) {
	case 6, 7, 8:
		return Operation{Kind: Correct, Slot: slot, Valid: t.portion(slot)}
	case 9:
		return Operation{Kind: Void, Slot: slot, Valid: t.portion(slot)}
	}
	return Operation{Kind: Change, Slot: slot, Valid: sgam.Span{From: max(t.now()-t.hours(1), t.last(slot).Valid.From+1), To: sgam.Forever}}
}

// last is what is believed of the newest valid time of a slot.
func (t *story) last(slot int64) Rectangle {
	stand := t.slots[slot]
	return stand[len(stand)-1]
}

// portion is a part of the past of a slot in all of which there is a value: within one rectangle that stands, or reaching into the
// one behind it.
func (t *story) portion(slot int64) sgam.Span {
	stand := t.slots[slot]
	i := t.rand.IntN(len(stand))
	from, end := stand[i].Valid.From, min(stand[i].Valid.To, max(t.now(), stand[i].Valid.From+2))
	if i+1 < len(stand) && stand[i+1].Valid.From == end && t.rand.IntN(3) == 0 {
		end += min(t.within(longest), stand[i+1].Valid.To-end)
	}
	from += sgam.Instant(t.rand.Int64N(int64(end - from)))
	return sgam.Span{From: from, To: from + min(t.within(longest), end-from)}
}
