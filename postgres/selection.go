package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/sgam-ledger/sgam"
)

var (
	stLoggedByMemory  = named("logged_by_memory")
	stLoggedByNumber  = named("logged_by_number")
	stLoggedByEpisode = named("logged_by_episode")
	stLoggedBySource  = named("logged_by_source")
	stSlotsAround     = named("slots_around")
	stFactsOfSlots    = named("facts_of_slots")
	stOpenOfSlots     = named("open_of_slots")
	stHeld            = named("held_by_selection")
)

// queueSelected asks for the facts that a withdrawal selects, in order.
func (r *resolver) queueSelected(sel *sgam.Selector) {
	add := func(p row) error {
		r.snapshot.Selected = append(r.snapshot.Selected, p.from(5).Logged(p.slot(1)))
		r.selected = append(r.selected, p.int(0))
		return nil
	}
	switch {
	case !sel.Memory.IsZero():
		r.ask(add, stLoggedByMemory, r.tenant, sel.Memory)
	case len(sel.Facts) > 0:
		r.ask(add, stLoggedByNumber, r.tenant, sel.Facts)
	case sel.Episode != "":
		r.ask(add, stLoggedByEpisode, r.tenant, sel.Episode)
	default:
		r.ask(add, stLoggedBySource, r.tenant, sel.SourceID, string(sel.SourceKind))
	}
}

// finishSelection asks for the logs of the slots that the selected facts are in and of the members of set slots, and for
// the candidates that the withdrawal declines or has to name.
func (r *resolver) finishSelection(ctx context.Context) error {
	sel, s := r.call.Withdraw, r.snapshot
	facts := make([]int64, len(s.Selected))
	for i := range s.Selected {
		facts[i] = s.Selected[i].Number
	}
	logs := slotLogs{}
	r.ask(func(p row) error {
		key := p.slot(1)
		logs.add(p.int(0), p.int(7), key)
		if at := r.slots[key]; at == nil || at.id == 0 {
			r.slots[key] = &slotState{id: p.int(0), nextNumber: p.int(5), levels: p.int(6)}
		}
		return nil
	}, stSlotsAround, r.tenant, append([]int64{}, r.selected...))
	var held [][]byte
	r.ask(func(p row) error { held = append(held, p.bytes(0)); return nil }, stHeld, r.tenant, sel.Episode, sel.SourceID,
		string(sel.SourceKind), facts)
	if err := r.run(ctx); err != nil {
		return err
	}
	r.queueLogs(r.owner, &logs)
	if len(held) > 0 {
		r.ask(func(p row) error { s.Held = append(s.Held, p.candidate()); return nil }, stCandidatesByID, r.tenant, held)
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	s.Logs = logs.inOrder()
	return nil
}

// slotLogs gathers everything that the replay of slots needs.
type slotLogs struct {
	list []*sgam.SlotLog
	ids  []int64 // parallel to list
	sets []int64 // the set slots of members, parallel to list, 0 for none
}

func (l *slotLogs) add(id, set int64, key sgam.SlotKey) {
	l.list, l.ids, l.sets = append(l.list, &sgam.SlotLog{Slot: key}), append(l.ids, id), append(l.sets, set)
}

// queueLogs asks for the facts and the open segments of slots, and for the facts of the set slots of members.
func (s *session) queueLogs(owner int, l *slotLogs) {
	if len(l.ids) == 0 {
		return
	}
	at := map[int64]*sgam.SlotLog{}
	members := map[int64][]*sgam.SlotLog{}
	all := slices.Clone(l.ids)
	for i, id := range l.ids {
		at[id] = l.list[i]
		if set := l.sets[i]; set != 0 {
			members[set] = append(members[set], l.list[i])
			all = append(all, set)
		}
	}
	slices.Sort(all)
	s.addFor(owner, func(p row) error {
		id := p.int(0)
		if log := at[id]; log != nil {
			log.Facts = append(log.Facts, p.from(1).Logged(log.Slot))
		}
		for _, log := range members[id] {
			set := log.Slot
			set.Member = ""
			log.Set = append(log.Set, p.from(1).Logged(set))
		}
		return nil
	}, stFactsOfSlots, s.tenant, slices.Compact(all))
	s.addFor(owner, func(p row) error {
		log := at[p.int(0)]
		log.Open = append(log.Open, p.from(1).Open(log.Slot))
		return nil
	}, stOpenOfSlots, s.tenant, l.ids)
}

// inOrder are the logs in order of their slots.
func (l *slotLogs) inOrder() []sgam.SlotLog {
	out := make([]sgam.SlotLog, len(l.list))
	for i, log := range l.list {
		out[i] = *log
	}
	slices.SortFunc(out, func(a, b sgam.SlotLog) int {
		x, y := a.Slot, b.Slot
		return cmp.Or(cmp.Compare(x.Scope, y.Scope), cmp.Compare(x.Subject, y.Subject), cmp.Compare(x.Attribute, y.Attribute),
			cmp.Compare(x.Member, y.Member))
	})
	return out
}
