package rivals

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// edge is where the belief about some valid time changed: what was believed before an operation, and after it. Nothing is
// believed where the value is empty.
//
// Systems cut the same region into different rectangles. The edges of a history are the same however it is cut, since
// neighbours with the same change are joined and what did not change is left out, and they say what was believed everywhere.
type edge struct {
	slot          int64
	n             int
	valid         sgam.Span
	before, after string
}

func (e edge) String() string {
	return fmt.Sprintf("slot %d, operation %d, [%d, %d): %q became %q", e.slot, e.n, e.valid.From, e.valid.To, e.before, e.after)
}

var errOverlap = errors.New("two values in one place")

// edges are the edges of rectangles, in order of operations and valid time. It fails with errOverlap.
func edges(rectangles []Rectangle) ([]edge, error) {
	type moment struct {
		slot int64
		n    int
	}
	type turn struct{ ends, begins []Rectangle }
	turns := map[moment]*turn{}
	at := func(slot int64, n int) *turn {
		m := moment{slot, n}
		if turns[m] == nil {
			turns[m] = &turn{}
		}
		return turns[m]
	}
	for _, r := range rectangles {
		t := at(r.Slot, r.From)
		t.begins = append(t.begins, r)
		if r.To != standing {
			t = at(r.Slot, r.To)
			t.ends = append(t.ends, r)
		}
	}
	moments := slices.SortedFunc(maps.Keys(turns), func(a, b moment) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.slot, b.slot)) })
	var all []edge
	for _, m := range moments {
		found, err := turned(turns[m].ends, turns[m].begins)
		if err != nil {
			return nil, fmt.Errorf("slot %d, operation %d: %w", m.slot, m.n, err)
		}
		for _, e := range found {
			e.slot, e.n = m.slot, m.n
			all = append(all, e)
		}
	}
	return all, nil
}

// turned are the edges between what ends and what begins with one operation.
func turned(ends, begins []Rectangle) ([]edge, error) {
	for _, list := range [][]Rectangle{ends, begins} {
		slices.SortFunc(list, byPlace)
		for i := 1; i < len(list); i++ {
			if list[i-1].Valid.To > list[i].Valid.From {
				return nil, errOverlap
			}
		}
	}
	var bounds []sgam.Instant
	for _, r := range slices.Concat(ends, begins) {
		bounds = append(bounds, r.Valid.From, r.Valid.To)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	var found []edge
	for i := 1; i < len(bounds); i++ {
		e := edge{valid: sgam.Span{From: bounds[i-1], To: bounds[i]}, before: within(ends, bounds[i-1]), after: within(begins, bounds[i-1])}
		if e.before == e.after {
			continue
		}
		if last := len(found) - 1; last >= 0 && found[last].valid.To == e.valid.From && found[last].before == e.before && found[last].after == e.after {
			found[last].valid.To = e.valid.To
			continue
		}
		found = append(found, e)
	}
	return found, nil
}

// within is the value of the rectangle that holds an instant. The list is in order, and none overlaps.
func within(list []Rectangle, at sgam.Instant) string {
	i, _ := slices.BinarySearchFunc(list, at, func(r Rectangle, at sgam.Instant) int {
		if r.Valid.To <= at {
			return -1
		}
		return 1
	})
	if i < len(list) && list[i].Valid.Contains(at) {
		return list[i].Value
	}
	return ""
}

func byPlace(a, b Rectangle) int { return cmp.Compare(a.Valid.From, b.Valid.From) }

// errDiffer says that two systems do not hold the same.
var errDiffer = errors.New("they do not hold the same")

// same fails with errDiffer, and the first edge that one has and the other has not, unless two lists of rectangles say the same.
func same(one, other []Rectangle) error {
	a, err := edges(one)
	if err != nil {
		return err
	}
	b, err := edges(other)
	if err != nil {
		return err
	}
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Errorf("%w: only one has %s", errDiffer, b[i])
		case i >= len(b):
			return fmt.Errorf("%w: only one has %s", errDiffer, a[i])
		case a[i] != b[i]:
			return fmt.Errorf("%w: %s; and %s", errDiffer, a[i], b[i])
		}
	}
	return nil
}
