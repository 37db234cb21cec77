package postgres

import (
	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/points"
)

var (
	stCountPoint   = named("count_point")
	stUncountPoint = named("uncount_point")
	stKillPoints   = named("kill_points")
	stRaisePoints  = named("raise_points")
)

// countPoints moves the counts of assertion points, each once: one statement that inserts many rows takes none of them twice.
func (w *writer) countPoints() error {
	type place struct {
		slot   sgam.SlotKey
		at     sgam.Instant
		number int64
	}
	type move struct {
		sgam.PointChange
		counted bool // the point may be new
	}
	var moves []move
	index := make(map[place]int, len(w.change.Points))
	for _, x := range w.change.Points {
		i, again := index[place{x.Slot, x.At, x.Number}]
		if !again {
			index[place{x.Slot, x.At, x.Number}] = len(moves)
			moves = append(moves, move{x, x.Delta > 0})
			continue
		}
		moves[i].Delta += x.Delta
		moves[i].counted = moves[i].counted || x.Delta > 0
	}
	for _, x := range moves {
		st := stUncountPoint
		if x.counted && x.Delta >= 0 {
			st = stCountPoint
		}
		w.put(st, w.tenant, w.slots[x.Slot].id, x.Number, x.At, x.Delta, x.Live)
	}
	return nil
}

// turnPoints makes the points of each region live whose number is believed there now, and the others dead.
func (w *writer) turnPoints(s *sgam.Snapshot) error {
	fresh := w.freshPoints()
	for _, x := range points.Turned(s, w.change) {
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
	const several = -2 // no number, and not that of a region where nothing is believed
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
