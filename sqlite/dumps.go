//go:build cgo

package sqlite

import (
	"github.com/sgam-ledger/sgam"
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
	segments, err := r.rectangles(stAllSegments, r.tenant, id)
	if err != nil {
		return nil, err
	}
	for _, g := range segments {
		d.Segments = append(d.Segments, sgam.StoredSegment{
			Valid: g.valid, Known: g.known, Fact: g.fact, OpenedBy: g.openedBy, ClosedBy: g.closedBy,
		})
	}
	err = r.each(func(p *running) error {
		c := sgam.StoredConfirmation{Valid: p.span(0), Known: sgam.Span{From: p.instant(2), To: sgam.Forever}, New: p.int(4), Old: p.int(5)}
		if !p.null(3) {
			c.Known.To = p.instant(3)
		}
		d.Confirmations = append(d.Confirmations, c)
		return nil
	}, stAllConfirmations, r.tenant, id)
	if err != nil {
		return nil, err
	}
	err = r.each(func(p *running) error {
		d.Supersessions = append(d.Supersessions, sgam.StoredSupersession{
			New: p.int(0), Old: p.int(1), How: sgam.How(p.text(2)), Valid: p.span(3), KnownAt: p.instant(5),
		})
		return nil
	}, stAllSupersessions, r.tenant, id)
	if err != nil {
		return nil, err
	}
	err = r.each(func(p *running) error {
		d.Points = append(d.Points, sgam.StoredPoint{
			Point: sgam.Point{At: p.instant(0), Number: p.int(1), Facts: p.int(2)}, Live: p.int(3) == 1,
		})
		return nil
	}, stAllPoints, r.tenant, id)
	return d, err
}
