package postgres

import (
	"encoding/json"
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
)

// addVersions writes what a change says of schema versions.
func (w *writer) addVersions() error {
	for _, e := range w.change.Epochs {
		w.put(stAddEpoch, w.tenant, e.Type, e.KnownFrom, e.Read, e.Write, idOrNull(int64(e.Second)))
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
		w.put(stKeepMigration, w.tenant, m.Type, m.Serial, m.State, []byte(m.Body), w.change.Known)
	}
	return nil
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
