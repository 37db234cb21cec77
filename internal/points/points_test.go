package points_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/points"
)

var (
	deadline = sgam.SlotKey{Subject: "mira", Attribute: 1}
	tags     = sgam.SlotKey{Subject: "mira", Attribute: 2}
	blue     = sgam.SlotKey{Subject: "mira", Attribute: 2, Member: "blue"}
)

// open is an open segment with a value number.
func open(from, to sgam.Instant, number int64) sgam.OpenSegment {
	return sgam.OpenSegment{Valid: sgam.Span{From: from, To: to}, Fact: sgam.LoggedFact{Value: number}}
}

func region(key sgam.SlotKey, from, to sgam.Instant, number int64) sgam.Region {
	return sgam.Region{Slot: key, Valid: sgam.Span{From: from, To: to}, Number: number}
}

func TestPointsAreTurnedWhereAnotherValueIsBelieved(t *testing.T) {
	t.Parallel()
	// One slot believes 1 on [10, 20) and 2 from then on, a member believes 3.
	s := &sgam.Snapshot{Slots: []sgam.Standing{
		{Slot: deadline, Open: []sgam.OpenSegment{open(10, 20, 1), open(20, 30, 2)}},
		{Slot: tags, Members: []sgam.Standing{{Slot: blue, Open: []sgam.OpenSegment{open(10, 30, 3)}}}},
	}}
	closes := func(key sgam.SlotKey, from sgam.Instant) sgam.ClosedSegment {
		return sgam.ClosedSegment{Slot: key, ValidFrom: from}
	}
	for why, c := range map[string]struct {
		change sgam.Change
		want   []sgam.Region
	}{
		"nothing is believed anew": {},
		"what is left keeps its points, what is new turns them": {
			sgam.Change{
				Closed:   []sgam.ClosedSegment{closes(deadline, 10)},
				Believed: []sgam.Region{region(deadline, 10, 15, 1), region(deadline, 15, 20, 5)},
			},
			[]sgam.Region{region(deadline, 15, 20, 5)},
		},
		"a rest on either side": {
			sgam.Change{
				Closed:   []sgam.ClosedSegment{closes(deadline, 20)},
				Believed: []sgam.Region{region(deadline, 20, 22, 2), region(deadline, 22, 24, 5), region(deadline, 24, 30, 2)},
			},
			[]sgam.Region{region(deadline, 22, 24, 5)},
		},
		"of members too": {
			sgam.Change{
				Closed:   []sgam.ClosedSegment{closes(blue, 10)},
				Believed: []sgam.Region{region(blue, 10, 20, 3), region(blue, 20, 30, 0)},
			},
			[]sgam.Region{region(blue, 20, 30, 0)},
		},
		"beyond what was closed": {
			sgam.Change{
				Closed:   []sgam.ClosedSegment{closes(deadline, 10)},
				Believed: []sgam.Region{region(deadline, 10, 21, 1)},
			},
			[]sgam.Region{region(deadline, 10, 21, 1)},
		},
		"earlier than what was closed": {
			sgam.Change{
				Closed:   []sgam.ClosedSegment{closes(deadline, 20)},
				Believed: []sgam.Region{region(deadline, 19, 30, 2)},
			},
			[]sgam.Region{region(deadline, 19, 30, 2)},
		},
		"the same place of another slot": {
			sgam.Change{
				Closed:   []sgam.ClosedSegment{closes(deadline, 10)},
				Believed: []sgam.Region{region(tags, 10, 15, 1)},
			},
			[]sgam.Region{region(tags, 10, 15, 1)},
		},
		"a segment that stays open is no rest": {
			sgam.Change{Believed: []sgam.Region{region(deadline, 10, 15, 1)}},
			[]sgam.Region{region(deadline, 10, 15, 1)},
		},
		"a gap turns everything": {
			sgam.Change{
				Closed:   []sgam.ClosedSegment{closes(deadline, 10)},
				Believed: []sgam.Region{region(deadline, 10, 15, 1), region(deadline, 15, 20, -1)},
			},
			[]sgam.Region{region(deadline, 10, 15, 1), region(deadline, 15, 20, -1)},
		},
	} {
		require.Equal(t, c.want, points.Turned(s, &c.change), why)
	}
}
