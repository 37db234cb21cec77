//go:build cgo

package sqlite

import (
	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/columns"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stSlotsInOrder     = named("slots_in_order")
	stAllSegments      = named("all_segments")
	stAllConfirmations = named("all_confirmations")
	stAllSupersessions = named("all_supersessions")
	stAllPoints        = named("all_points")
)

// dumps lists slots with all their layers. A page ends early when its slots are large.
func (r *reader) dumps() error {
	const most = 10_000 // facts and segments of a page, but for a single slot that has more
	after, err := cursor.Parse(r.q.After, []int64{0}, 0)
	if err != nil {
		return err
	}
	var slots []int64
	err = r.each(func(p *running) error {
		slots = append(slots, p.int(0))
		return nil
	}, stSlotsInOrder, r.tenant, after.Numbers[0], int64(r.limit())+1)
	if err != nil {
		return err
	}
	size := 0
	for i, id := range slots {
		if i == r.limit() || size >= most {
			r.page.Next = cursor.At(slots[i-1]).String()
			return nil
		}
		dump, err := r.dump(id)
		if err != nil {
			return err
		}
		size += len(dump.Facts) + len(dump.Segments)
		r.page.Dumps = append(r.page.Dumps, *dump)
	}
	return nil
}

func (r *reader) dump(id int64) (*sgam.SlotDump, error) {
	key, err := r.slotKey(id)
	if err != nil {
		return nil, err
	}
	log, err := r.log(key, id)
	if err != nil {
		return nil, err
	}
	d := &sgam.SlotDump{SlotLog: log}
	for _, layer := range []struct {
		of  *statement
		add func(columns.Columns)
	}{
		{stAllSegments, func(c columns.Columns) { d.Segments = append(d.Segments, c.Segment()) }},
		{stAllConfirmations, func(c columns.Columns) { d.Confirmations = append(d.Confirmations, c.Confirmation()) }},
		{stAllSupersessions, func(c columns.Columns) { d.Supersessions = append(d.Supersessions, c.Supersession()) }},
		{stAllPoints, func(c columns.Columns) { d.Points = append(d.Points, c.Point()) }},
	} {
		if err := r.each(func(p *running) error { layer.add(p.from(0)); return nil }, layer.of, r.tenant, id); err != nil {
			return nil, err
		}
	}
	return d, nil
}
