// Package points tells where a change turns the assertion points of slots from live to dead, or back.
package points

import "github.com/sgam-ledger/sgam"

// Turned are the regions in which points have to be turned when a change is written that was decided on a snapshot. What was
// left of a closed segment is not among them: the same number was believed there before, so its points are as they should be.
// To look at them all would make a write cost what its slot has seen.
func Turned(s *sgam.Snapshot, c *sgam.Change) []sgam.Region {
	for i := range c.Believed {
		// Where nothing is believed for a while, points die that the next region has to raise again.
		if c.Believed[i].Number < 0 {
			return c.Believed
		}
	}
	before := closedBy(s, c)
	var turned []sgam.Region
	for _, x := range c.Believed {
		if !isLeftOver(x, before[x.Slot]) {
			turned = append(turned, x)
		}
	}
	return turned
}

// closedBy are the regions that a change closes.
func closedBy(s *sgam.Snapshot, c *sgam.Change) map[sgam.SlotKey][]sgam.Region {
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
					before[key] = append(before[key], sgam.Region{Slot: key, Valid: o.Valid, Number: o.Fact.Value})
				}
			}
		}
	}
	gather(s.Slots)
	for i := range s.Slots {
		gather(s.Slots[i].Members)
	}
	return before
}

// isLeftOver reports whether a region is what was left of one of those.
func isLeftOver(x sgam.Region, before []sgam.Region) bool {
	for _, was := range before {
		if was.Number == x.Number && was.Valid.From <= x.Valid.From && x.Valid.To <= was.Valid.To {
			return true
		}
	}
	return false
}
