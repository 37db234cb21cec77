package postgres

import (
	"github.com/sgam-ledger/sgam"
)

var (
	stCountPoint   = named("count_point")
	stUncountPoint = named("uncount_point")
	stKillPoints   = named("kill_points")
	stRaisePoints  = named("raise_points")
)

// countPoints moves the counts of assertion points.
func (w *writer) countPoints() error {
	for _, x := range w.change.Points {
		st := stCountPoint
		if x.Delta <= 0 {
			st = stUncountPoint
		}
		w.put(st, w.tenant, w.slots[x.Slot].id, x.Number, x.At, x.Delta, x.Live)
	}
	return nil
}

// turnPoints makes the points of each region live whose number is believed there now, and the others dead.
func (w *writer) turnPoints(s *sgam.Snapshot) error {
	left, fresh := leftOvers(s, w.change), w.freshPoints()
	for _, x := range w.change.Believed {
		if left(x) {
			continue
		}
		id := w.slots[x.Slot].id
		if only, of := fresh[x.Slot]; of && only == x.Number {
			continue
		}
		w.put(stKillPoints, w.tenant, id, x.Valid.From, x.Valid.To, x.Number)
		if x.Number >= 0 {
			w.put(stRaisePoints, w.tenant, id, x.Valid.From, x.Valid.To, x.Number)
		}
	}
	return nil
}

// freshPoints are the slots that the call makes and whose points are all of one number and live: nothing is to be turned
// there.
func (w *writer) freshPoints() map[sgam.SlotKey]int64 {
	const several = -1
	only := make(map[sgam.SlotKey]int64, len(w.fresh))
	for _, s := range w.fresh {
		only[s.key] = 0
	}
	for _, p := range w.change.Points {
		number, fresh := only[p.Slot]
		switch {
		case !fresh:
		case !p.Live, number != 0 && number != p.Number:
			only[p.Slot] = several
		default:
			only[p.Slot] = p.Number
		}
	}
	return only
}

// leftOvers reports whether a region is what was left of a closed segment. The same number was believed there before,
// so its points are as they should be; to look at them all would make a write cost what its slot has seen.
func leftOvers(s *sgam.Snapshot, c *sgam.Change) func(sgam.Region) bool {
	for i := range c.Believed {
		// Where nothing is believed for a while, points die that the next region has to raise again.
		if c.Believed[i].Number < 0 {
			return func(sgam.Region) bool { return false }
		}
	}
	type start struct {
		slot sgam.SlotKey
		from sgam.Instant
	}
	closed := map[start]bool{}
	for i := range c.Closed {
		closed[start{c.Closed[i].Slot, c.Closed[i].ValidFrom}] = true
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
	gather(s.Slots)
	for i := range s.Slots {
		gather(s.Slots[i].Members)
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
