package postgres

import (
	"context"
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"
	"github.com/sgam-ledger/sgam/internal/ritree"
)

var (
	stSlot         = named("slot")
	stAddPrincipal = named("add_principal")
	stAddSubject   = named("add_subject")
	stAddSlot      = named("add_slot")
	stUpdateSlot   = named("update_slot")
)

// Names have numbers in the tables, given per tenant under its lock. What the call did not look for is looked up before
// anything is written, so that all writes can go out together.

// lookUp finds the slots, principals, episodes and memory types that the change names and the call did not.
func (w *writer) lookUp(ctx context.Context, principal string) error {
	var principals, episodes []string
	who := func(name string) {
		if _, known := w.principals[name]; !known {
			w.principals[name] = 0
			principals = append(principals, name)
		}
	}
	from := func(name string) {
		if _, known := w.episodes[name]; !known && name != "" {
			w.episodes[name] = 0
			episodes = append(episodes, name)
		}
	}
	for i := range w.change.Episodes {
		w.episodes[w.change.Episodes[i].ID] = 0
	}
	who(principal)
	for i := range w.change.Facts {
		who(w.change.Facts[i].Principal)
		from(w.change.Facts[i].Episode)
	}
	for i := range w.change.Candidates {
		from(w.change.Candidates[i].Episode)
	}
	if len(principals) > 0 {
		w.queuePrincipals(principals)
	}
	w.queueEpisodes(episodes, nil)
	w.queueTypes()
	for key := range w.eachSlot {
		if w.slots[key] == nil {
			w.queueSlot(key)
		}
	}
	return w.run(ctx)
}

// queueSlot looks one slot up.
func (w *writer) queueSlot(key sgam.SlotKey) {
	w.slots[key] = &slotState{nextNumber: 1}
	if _, asked := w.subjects[key.Subject]; !asked {
		w.subjects[key.Subject] = 0
	}
	w.ask(func(p row) error {
		w.subjects[key.Subject] = p.int(0)
		if !p.null(1) {
			w.slots[key] = &slotState{id: p.int(1), nextNumber: p.int(2), levels: p.int(3)}
		}
		return nil
	}, stSlot, w.tenant, key.Subject, string(key.Scope), int64(key.Attribute), blob(key.Member))
}

// eachSlot calls yield for every slot that the change names.
func (w *writer) eachSlot(yield func(sgam.SlotKey) bool) {
	c := w.change
	lists := []struct {
		n  int
		at func(int) sgam.SlotKey
	}{
		{len(c.Facts), func(i int) sgam.SlotKey { return c.Facts[i].Slot }},
		{len(c.Closed), func(i int) sgam.SlotKey { return c.Closed[i].Slot }},
		{len(c.Opened), func(i int) sgam.SlotKey { return c.Opened[i].Slot }},
		{len(c.Confirmed), func(i int) sgam.SlotKey { return c.Confirmed[i].Slot }},
		{len(c.Unconfirm), func(i int) sgam.SlotKey { return c.Unconfirm[i].Slot }},
		{len(c.Superseded), func(i int) sgam.SlotKey { return c.Superseded[i].Slot }},
		{len(c.Points), func(i int) sgam.SlotKey { return c.Points[i].Slot }},
		{len(c.Believed), func(i int) sgam.SlotKey { return c.Believed[i].Slot }},
		{len(c.Numbers), func(i int) sgam.SlotKey { return c.Numbers[i].Slot }},
		{len(c.Candidates), func(i int) sgam.SlotKey { return c.Candidates[i].Slot }},
	}
	for _, l := range lists {
		for i := range l.n {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}

// number gives new slots their numbers, and moves the levels and the next value numbers of all slots, before anything is
// queued: so a new slot is written once.
func (w *writer) number() error {
	for key := range w.eachSlot {
		if at := w.slots[key]; at.id == 0 {
			at.id = w.state.nextSlot
			w.state.nextSlot++
			w.fresh = append(w.fresh, newSlot{key, at})
		}
	}
	for _, c := range w.change.Closed {
		at := w.slots[c.Slot]
		if level := ritree.Level(ritree.Fork(c.KnownFrom, w.change.Known)); at.levels&level == 0 {
			at.levels |= level
			at.changed = true
		}
	}
	for i := range w.change.Facts {
		f := &w.change.Facts[i]
		at := w.slots[f.Slot]
		switch {
		case f.Value > at.nextNumber:
			return fmt.Errorf("sgam: postgres: fact %d has value number %d where %d is next", f.Number, f.Value, at.nextNumber)
		case f.Value == at.nextNumber:
			at.nextNumber, at.changed = f.Value+1, true
		}
	}
	for _, n := range w.change.Numbers {
		if n.Number >= w.slots[n.Slot].nextNumber {
			return fmt.Errorf("sgam: postgres: value number %d, which no fact has", n.Number)
		}
	}
	return nil
}

// addNames writes principals, subjects and slots that are new, and the slots whose numbers or levels moved. Each table is done
// before what refers to it begins.
func (w *writer) addNames() error {
	for i := range w.change.Facts {
		w.principalID(w.change.Facts[i].Principal)
	}
	for _, s := range w.fresh {
		if w.subjects[s.key.Subject] == 0 {
			w.subjects[s.key.Subject] = w.state.nextSubject
			w.put(stAddSubject, w.tenant, w.state.nextSubject, s.key.Subject, ledgerkey.SubjectDigest(w.key, s.key.Subject))
			w.state.nextSubject++
		}
	}
	for _, s := range w.fresh {
		w.put(stAddSlot, w.tenant, s.at.id, w.subjects[s.key.Subject], int64(s.key.Attribute), string(s.key.Scope), blob(s.key.Member), s.at.nextNumber,
			s.at.levels)
		s.at.changed = false
	}
	for _, at := range w.slots {
		if at.changed {
			w.put(stUpdateSlot, w.tenant, at.id, at.nextNumber, at.levels)
			at.changed = false
		}
	}
	return nil
}

// principalID finds or makes a principal.
func (w *writer) principalID(name string) int64 {
	id := w.principals[name]
	if id == 0 {
		id = w.state.nextPrincipal
		w.state.nextPrincipal++
		w.principals[name] = id
		w.put(stAddPrincipal, w.tenant, id, name)
	}
	return id
}
