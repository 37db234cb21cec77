package postgres

import (
	"context"
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
	"github.com/sgam-ledger/sgam/internal/ritree"
)

var (
	stPoint    = named("point")
	stForms    = named("forms")
	stEpochsAt = named("epochs_at")
)

// points answers a point query: all of its slots in one round trip.
func (r *reader) points(ctx context.Context) error {
	for _, key := range r.q.Slots {
		r.point(key)
	}
	if !r.q.Encodings {
		return nil
	}
	return r.run(ctx)
}

// point asks for one slot at one point of the plane, and for the tenant's last commit.
func (r *reader) point(key sgam.SlotKey) {
	floor, nodes := sgam.Beginning, ritree.Open()
	if r.q.Now {
		floor = sgam.Forever
	}
	if r.q.Known != sgam.Forever {
		nodes = ritree.At(r.q.Known)
	}
	r.add(func(p row) error {
		r.page.LastKnown, r.page.Registry = p.instant(0), p.int(1)
		if p.null(5) {
			return nil
		}
		row := sgam.Row{Slot: key, Number: p.int(5)}
		if err := p.from(6).Fact(&row); err != nil {
			return err
		}
		row.Fact.Valid = p.span(2).Interval()
		row.Fact.Known = sgam.Interval{From: p.instant(4).Time()}
		r.page.Rows = append(r.page.Rows, row)
		return nil
	}, stPoint, r.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member), r.q.Valid, floor, r.q.Known, nodes)
}

// slotRef is a slot in a list, with the numbers that order it.
type slotRef struct {
	key     sgam.SlotKey
	subject int64
}

// cursor is where a list goes on after the slot.
func (f *slotRef) cursor() cursor.Cursor {
	return cursor.Cursor{Numbers: []int64{f.subject, int64(f.key.Attribute)}, Names: []string{string(f.key.Scope), f.key.Member}}
}

// segment decodes a segment with its slot and its fact. A view never looks past its own known time, so there the belief
// has no end; the last result is the known interval as it is stored.
func (r row) segment() (sgam.Row, slotRef, sgam.Span, error) {
	ref := slotRef{key: r.slot(0), subject: r.int(5)}
	out := sgam.Row{Slot: ref.key, OpenedBy: r.memory(10), ClosedBy: r.memory(11), Number: r.int(12)}
	err := r.from(13).Fact(&out)
	known := r.span(8)
	out.Fact.Valid, out.Fact.Known = r.span(6).Interval(), sgam.Interval{From: known.From.Time()}
	return out, ref, known, err
}

// forms adds to the rows of the page what lenses made of their facts, and the epochs of their memory types.
func (r *reader) forms(ctx context.Context) error {
	if err := r.run(ctx); err != nil {
		return err
	}
	at := map[int64][]int{}
	var facts, attributes []int64
	for i := range r.page.Rows {
		row := &r.page.Rows[i]
		at[row.Number] = append(at[row.Number], i)
		facts, attributes = append(facts, row.Number), append(attributes, int64(row.Slot.Attribute))
	}
	if len(facts) == 0 {
		return nil
	}
	slices.Sort(facts)
	slices.Sort(attributes)
	r.add(func(p row) error {
		e, err := p.from(1).Form()
		for _, i := range at[p.int(0)] {
			r.page.Rows[i].Encodings = append(r.page.Rows[i].Encodings, e)
		}
		return err
	}, stForms, r.tenant, slices.Compact(facts), r.known())
	r.add(func(p row) error {
		r.page.Epochs = append(r.page.Epochs, p.from(0).Epoch())
		return nil
	}, stEpochsAt, r.tenant, slices.Compact(attributes), r.known())
	return nil
}
