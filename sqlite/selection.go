//go:build cgo

package sqlite

import (
	"cmp"
	"slices"

	"github.com/sgam-ledger/sgam"
)

var (
	stLoggedByMemory  = named("logged_by_memory")
	stLoggedByNumber  = named("logged_by_number")
	stLoggedByEpisode = named("logged_by_episode")
	stLoggedBySource  = named("logged_by_source")
	stPendingEpisode  = named("candidates_of_episode")
	stPendingSource   = named("candidates_of_source")
	stDisputedByFact  = named("disputed_by_fact")
)

// selection resolves a withdrawal: the selected facts, the logs of the slots that they are in and of the members of set
// slots, and the candidates that it declines or has to name.
func (r *resolver) selection(sel *sgam.Selector, s *sgam.Snapshot) error {
	if err := r.selected(sel, s); err != nil {
		return err
	}
	logs := map[sgam.SlotKey]int64{}
	for _, f := range s.Selected {
		found, err := r.attributeSlots(f.Slot)
		if err != nil {
			return err
		}
		for _, at := range found {
			if f.Slot.Member == "" || at.member == f.Slot.Member {
				key := f.Slot
				key.Member = at.member
				logs[key] = at.id
				if r.slots[key] == nil {
					r.slots[key] = &slotState{id: at.id, nextNumber: at.nextNumber, levels: at.levels}
				}
			}
		}
	}
	keys := make([]sgam.SlotKey, 0, len(logs))
	for key := range logs {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b sgam.SlotKey) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Attribute, b.Attribute),
			cmp.Compare(a.Member, b.Member))
	})
	for _, key := range keys {
		log, err := r.log(key, logs[key])
		if err != nil {
			return err
		}
		s.Logs = append(s.Logs, log)
	}
	return r.heldBy(sel, s)
}

// selected finds the facts that a withdrawal selects, in order.
func (r *resolver) selected(sel *sgam.Selector, s *sgam.Snapshot) error {
	var slots []int64
	add := func(p *running) error {
		s.Selected = append(s.Selected, p.from(0).Logged(sgam.SlotKey{}))
		slots = append(slots, p.int(12))
		return nil
	}
	var err error
	switch {
	case !sel.Memory.IsZero():
		err = r.each(add, stLoggedByMemory, r.tenant, sel.Memory[:])
	case sel.Episode != "":
		err = r.each(add, stLoggedByEpisode, r.tenant, sel.Episode)
	case len(sel.Facts) > 0:
		for _, number := range sel.Facts {
			if err == nil {
				err = r.each(add, stLoggedByNumber, r.tenant, number)
			}
		}
	default:
		err = r.each(add, stLoggedBySource, r.tenant, sel.SourceID, string(sel.SourceKind))
	}
	if err != nil {
		return err
	}
	keys := map[int64]sgam.SlotKey{}
	for i, id := range slots {
		key, known := keys[id]
		if !known {
			if key, err = r.slotKey(id); err != nil {
				return err
			}
			keys[id] = key
		}
		s.Selected[i].Slot = key
	}
	slices.SortFunc(s.Selected, func(a, b sgam.LoggedFact) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

// heldBy finds the pending candidates of a selected episode or source, and the disputed ones that lost to a selected
// fact.
func (r *resolver) heldBy(sel *sgam.Selector, s *sgam.Snapshot) error {
	type place struct{ seq, ordinal int64 }
	found := map[place]sgam.MemoryID{}
	add := func(p *running) error {
		found[place{p.int(0), p.int(1)}] = p.memory(2)
		return nil
	}
	var err error
	switch {
	case sel.Episode != "":
		err = r.each(add, stPendingEpisode, r.tenant, sel.Episode)
	case sel.SourceID != "":
		err = r.each(add, stPendingSource, r.tenant, sel.SourceID, string(sel.SourceKind))
	}
	if err != nil {
		return err
	}
	for _, f := range s.Selected {
		if err := r.each(add, stDisputedByFact, r.tenant, f.Number); err != nil {
			return err
		}
	}
	places := make([]place, 0, len(found))
	for at := range found {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.ordinal, b.ordinal)) })
	for _, at := range places {
		c, err := r.candidate(found[at])
		if err != nil {
			return err
		}
		if c == nil {
			return damaged("candidate %s", found[at])
		}
		s.Held = append(s.Held, c.Candidate)
	}
	return nil
}
