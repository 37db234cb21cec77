//go:build cgo

package sqlite

import (
	"fmt"

	"github.com/sgam-ledger/sgam"
)

// countPoints moves the counts of assertion points. A point that counts nothing goes.
func (w *writer) countPoints() error {
	for _, x := range w.change.Points {
		at, err := w.slot(x.Slot)
		if err != nil {
			return err
		}
		if x.Delta > 0 {
			if err := w.exec(stCountPoint, w.tenant, at.id, x.Number, int64(x.At), x.Delta, flag(x.Live)); err != nil {
				return err
			}
			continue
		}
		p, err := w.one(stUncountPoint, w.tenant, at.id, x.Number, int64(x.At), x.Delta, flag(x.Live))
		if err != nil {
			return err
		}
		if p == nil {
			return fmt.Errorf("sgam: sqlite: there is no point at %s", x.At)
		}
		if p.int(0) > 0 {
			continue
		}
		if err := w.exec(stDropPoint, w.tenant, at.id, x.Number, int64(x.At)); err != nil {
			return err
		}
	}
	return nil
}

// turnPoints makes the points of each region live whose number is believed there now, and the others dead.
func (w *writer) turnPoints() error {
	left := w.leftOvers()
	for _, x := range w.change.Believed {
		if left(x) {
			continue
		}
		at, err := w.slot(x.Slot)
		if err != nil {
			return err
		}
		from, to := int64(x.Valid.From), int64(x.Valid.To)
		if err := w.exec(stKillPoints, w.tenant, at.id, from, to, x.Number); err != nil {
			return err
		}
		if x.Number < 0 {
			continue
		}
		if err := w.exec(stRaisePoints, w.tenant, at.id, from, to, x.Number); err != nil {
			return err
		}
	}
	return nil
}

// leftOvers reports whether a region is what was left of a closed segment. The same number was believed there before,
// so its points are as they should be; to look at them all would make a write cost what its slot has seen.
func (w *writer) leftOvers() func(sgam.Region) bool {
	for i := range w.change.Believed {
		// Where nothing is believed for a while, points die that the next region has to raise again.
		if w.change.Believed[i].Number < 0 {
			return func(sgam.Region) bool { return false }
		}
	}
	type start struct {
		slot sgam.SlotKey
		from sgam.Instant
	}
	closed := map[start]bool{}
	for i := range w.change.Closed {
		closed[start{w.change.Closed[i].Slot, w.change.Closed[i].ValidFrom}] = true
	}
	before := map[sgam.SlotKey][]sgam.Region{}
	gather := func(list []sgam.Standing) {
		for i := range list {
			key := list[i].Slot
			for j := range list[i].Open {
				o := &list[i].Open[j]
				if closed[start{key, o.Valid.From}] {
					before[key] = append(before[key], sgam.Region{Valid: o.Valid, Number: o.Fact.Value})
				}
			}
		}
	}
	gather(w.snapshot.Slots)
	for i := range w.snapshot.Slots {
		gather(w.snapshot.Slots[i].Members)
	}
	return func(x sgam.Region) bool {
		for _, was := range before[x.Slot] {
			if was.Number == x.Number && was.Valid.From <= x.Valid.From && x.Valid.To <= was.Valid.To {
				return true
			}
		}
		return false
	}
}
