package rivals

import (
	"slices"

	"github.com/sgam-ledger/sgam"
)

// model is the meaning of a history, without any database: what is believed of each slot, in order, and all that was.
type model struct {
	n      int
	slots  map[int64][]Rectangle // that stand
	closed []Rectangle
}

func newModel() *model { return &model{slots: map[int64][]Rectangle{}} }

// apply takes the next operation.
func (m *model) apply(op Operation) {
	m.n++
	var kept, replaced []Rectangle
	for _, r := range m.slots[op.Slot] {
		if !r.Valid.Overlaps(op.Valid) {
			kept = append(kept, r)
			continue
		}
		replaced = append(replaced, r)
		if r.From < m.n {
			closed := r
			closed.To = m.n
			m.closed = append(m.closed, closed)
		}
		for _, left := range []sgam.Span{{From: r.Valid.From, To: op.Valid.From}, {From: op.Valid.To, To: r.Valid.To}} {
			if left.From < left.To {
				kept = append(kept, m.standing(op.Slot, left, r.Value))
			}
		}
	}
	switch op.Kind {
	case Begin, Change, Correct, Put:
		kept = append(kept, m.standing(op.Slot, op.Valid, op.Value))
	case Update:
		for _, r := range replaced {
			common := sgam.Span{From: max(r.Valid.From, op.Valid.From), To: min(r.Valid.To, op.Valid.To)}
			kept = append(kept, m.standing(op.Slot, common, op.Value))
		}
	case Void:
	}
	slices.SortFunc(kept, byPlace)
	m.slots[op.Slot] = kept
}

func (m *model) standing(slot int64, valid sgam.Span, value string) Rectangle {
	return Rectangle{Slot: slot, Valid: valid, From: m.n, To: standing, Value: value}
}

// rectangles are all that the history left.
func (m *model) rectangles() []Rectangle {
	all := slices.Clone(m.closed)
	for _, list := range m.slots {
		all = append(all, list...)
	}
	return all
}

// at is what was believed after an operation about an instant of a slot, empty when nothing was.
func (m *model) at(slot int64, valid sgam.Instant, n int) string {
	in := func(r Rectangle) bool { return r.Slot == slot && r.Valid.Contains(valid) && r.From <= n && n < r.To }
	for _, list := range [][]Rectangle{m.slots[slot], m.closed} {
		if i := slices.IndexFunc(list, in); i >= 0 {
			return list[i].Value
		}
	}
	return ""
}
