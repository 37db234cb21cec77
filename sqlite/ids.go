//go:build cgo

package sqlite

import (
	"errors"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"
)

var (
	stPrincipal    = named("principal")
	stAddPrincipal = named("add_principal")
	stAddSubject   = named("add_subject")
	stSlot         = named("slot")
	stAddSlot      = named("add_slot")
)

// Names have numbers in the file, given per tenant under its lock.

func (w *writer) principalID(name string) (int64, error) {
	if id, known := w.principals[name]; known {
		return id, nil
	}
	p, err := w.one(stPrincipal, w.tenant, name)
	if err != nil {
		return 0, err
	}
	var id int64
	if p != nil {
		id = p.int(0)
	} else {
		id = w.state.nextPrincipal
		w.state.nextPrincipal++
		if err := w.exec(stAddPrincipal, w.tenant, id, name); err != nil {
			return 0, err
		}
	}
	w.principals[name] = id
	return id, nil
}

// slot finds or makes a slot.
func (w *writer) slot(key sgam.SlotKey) (*slotState, error) {
	if at := w.slots[key]; at != nil {
		return at, nil
	}
	subject, err := w.subjectID(key.Subject)
	if err != nil {
		return nil, err
	}
	p, err := w.one(stSlot, w.tenant, string(key.Scope), subject, int64(key.Attribute), blob(key.Member))
	if err != nil {
		return nil, err
	}
	at := &slotState{nextNumber: 1}
	if p != nil {
		*at = slotState{id: p.int(0), nextNumber: p.int(1), levels: p.int(2)}
	} else {
		at.id = w.state.nextSlot
		w.state.nextSlot++
		err := w.exec(stAddSlot, w.tenant, at.id, subject, int64(key.Attribute), string(key.Scope), blob(key.Member))
		if err != nil {
			return nil, err
		}
	}
	w.slots[key] = at
	return at, nil
}

func (w *writer) subjectID(name string) (int64, error) {
	p, err := w.one(stSubject, w.tenant, name)
	if err != nil {
		return 0, err
	}
	if p != nil {
		return p.int(0), nil
	}
	id := w.state.nextSubject
	w.state.nextSubject++
	return id, w.exec(stAddSubject, w.tenant, id, name, ledgerkey.SubjectDigest(w.key, name))
}

// episodeID is the number of an episode that is stored or was just written.
func (w *writer) episodeID(name string) (int64, error) {
	if id, known := w.episodes[name]; known {
		return id, nil
	}
	p, err := w.one(stEpisodeRef, w.tenant, name)
	if err != nil {
		return 0, err
	}
	if p == nil {
		return 0, errors.New("sgam: sqlite: a fact names an episode that is not stored")
	}
	w.episodes[name] = p.int(0)
	return p.int(0), nil
}
