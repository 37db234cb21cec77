package postgres

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sgam-ledger/sgam"
)

var (
	stAddEpoch        = named("add_epoch")
	stAddForm         = named("add_form")
	stAddFormNumber   = named("add_form_number")
	stAddQuarantine   = named("add_quarantine")
	stLeaveQuarantine = named("leave_quarantine")
	stKeepMigration   = named("keep_migration")
	stTypeIDs         = named("type_ids")
)

// addVersions writes what a change says of schema versions.
func (w *writer) addVersions() error {
	for _, e := range w.change.Epochs {
		typ, err := w.typeID(e.Type)
		if err != nil {
			return err
		}
		w.put(stAddEpoch, w.tenant, typ, e.KnownFrom, e.Read, e.Write, idOrNull(int64(e.Second)))
	}
	for i := range w.change.Encodings {
		if err := w.addForm(&w.change.Encodings[i]); err != nil {
			return err
		}
	}
	for _, q := range w.change.Quarantined {
		w.put(stAddQuarantine, w.tenant, q.Version, q.Fact, q.Rule, q.Pointer, w.change.Known)
	}
	if m := w.change.Migration; m != nil {
		typ, err := w.typeID(m.Type)
		if err != nil {
			return err
		}
		w.put(stKeepMigration, w.tenant, typ, m.Serial, m.State, []byte(m.Body), w.change.Known)
	}
	return nil
}

// queueTypes looks up the memory types of which the change says something.
func (w *writer) queueTypes() {
	var types []string
	for _, e := range w.change.Epochs {
		types = append(types, e.Type)
	}
	if m := w.change.Migration; m != nil {
		types = append(types, m.Type)
	}
	if len(types) > 0 {
		w.types = map[string]int64{}
		w.ask(func(p row) error { w.types[p.text(0)] = p.int(1); return nil }, stTypeIDs, types)
	}
}

// typeID is the number of a memory type that is stored.
func (w *writer) typeID(name string) (int64, error) {
	if id := w.types[name]; id != 0 {
		return id, nil
	}
	return 0, errors.New("sgam: postgres: a call speaks of a memory type that is not stored")
}

// addForm appends what a lens made of a fact, and takes the fact out of quarantine.
func (w *writer) addForm(e *sgam.NewEncoding) error {
	var defaulted any
	if len(e.Defaulted) > 0 {
		text, err := json.Marshal(e.Defaulted)
		if err != nil {
			return fmt.Errorf("sgam: postgres: places that a lens filled in: %w", err)
		}
		defaulted = text
	}
	w.put(stAddForm, w.tenant, e.Fact, e.Version, e.Value, e.Lens, e.KnownFrom, e.Lossy, defaulted)
	if e.Digest != "" {
		w.put(stAddFormNumber, w.tenant, e.Fact, blob(e.Digest), w.seq)
	}
	w.put(stLeaveQuarantine, w.tenant, e.Version, e.Fact, w.change.Known)
	return nil
}
