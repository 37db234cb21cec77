//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

var (
	stNewestLens       = named("newest_lens")
	stAddLens          = named("add_lens")
	stLensUser         = named("lens_user")
	stNewestEpoch      = named("newest_epoch")
	stNewestMigration  = named("newest_migration")
	stAddEpoch         = named("add_epoch")
	stAddForm          = named("add_form")
	stAddFormNumber    = named("add_form_number")
	stAddQuarantine    = named("add_quarantine")
	stSomeQuarantine   = named("some_quarantine")
	stDropQuarantine   = named("drop_quarantine")
	stKeepMigration    = named("keep_migration")
	stForms            = named("forms")
	stEpochAt          = named("epoch_at")
	stTypesInOrder     = named("types_in_order")
	stEpochsOfType     = named("epochs_of_type")
	stMigrationsOfType = named("migrations_of_type")
	stValuesBelow      = named("values_below")
	stQuarantinedBelow = named("quarantined_below")
)

// hasLens reports whether the newest lens of a version is the document's; a document without one asks for nothing.
func (s *session) hasLens(typ int64, doc *sgam.TypeDocument) (bool, error) {
	if doc.Lens == nil {
		return true, nil
	}
	p, err := s.one(stNewestLens, typ, int64(doc.Version))
	return err == nil && p != nil && p.text(0) == doc.Lens.Hash, err
}

// keepLens stores the lens of a version, in place of one that no tenant reads or writes through.
func (s *session) keepLens(typ int64, doc *sgam.TypeDocument) (changed bool, err error) {
	if there, err := s.hasLens(typ, doc); there || err != nil {
		return false, err
	}
	p, err := s.one(stLensUser, typ, int64(doc.Version))
	if err != nil {
		return false, err
	}
	if p != nil {
		return false, fmt.Errorf("%w: type %q version %d", sgam.ErrLensInUse, doc.Type, doc.Version)
	}
	revision, err := s.revision()
	if err != nil {
		return false, err
	}
	return true, s.exec(stAddLens, typ, int64(doc.Version), revision+1, blob(string(doc.Lens.JSON)), doc.Lens.Hash)
}

// versions resolves what a call asks of schema versions.
func (r *resolver) versions(call *sgam.Call, s *sgam.Snapshot) error {
	for i, typ := range call.Types {
		p, err := r.one(stNewestEpoch, r.tenant, typ)
		if err != nil {
			return err
		}
		if p != nil {
			s.Epochs[i] = p.epoch(typ)
		}
	}
	if call.Migration == "" {
		return nil
	}
	p, err := r.one(stNewestMigration, r.tenant, call.Migration)
	if err == nil && p != nil {
		s.Migration = &sgam.MigrationRecord{Type: call.Migration, Serial: p.int(0), State: p.text(1), Body: p.bytes(2)}
	}
	return err
}

// epoch decodes the four columns of an epoch.
func (p *running) epoch(typ string) sgam.Epoch {
	return sgam.Epoch{Type: typ, KnownFrom: p.instant(0), Read: int(p.int(1)), Write: int(p.int(2)), Second: int(p.int(3))}
}

// addVersions writes what a change says of schema versions.
func (w *writer) addVersions() error {
	for _, e := range w.change.Epochs {
		p, err := w.one(stAddEpoch, w.tenant, e.Type, int64(e.KnownFrom), int64(e.Read), int64(e.Write), idOrNull(int64(e.Second)))
		if err == nil && p == nil {
			err = fmt.Errorf("sgam: sqlite: an epoch of memory type %q, which is not stored", e.Type)
		}
		if err != nil {
			return err
		}
	}
	if err := w.addForms(); err != nil {
		return err
	}
	for _, q := range w.change.Quarantined {
		if err := w.exec(stAddQuarantine, w.tenant, int64(q.Version), q.Fact, q.Rule, q.Pointer, int64(w.change.Known)); err != nil {
			return err
		}
	}
	m := w.change.Migration
	if m == nil {
		return nil
	}
	p, err := w.one(stKeepMigration, w.tenant, m.Type, m.Serial, m.State, []byte(m.Body), int64(w.change.Known))
	if err == nil && p == nil {
		err = fmt.Errorf("sgam: sqlite: a migration of memory type %q, which is not stored", m.Type)
	}
	return err
}

// addForms appends what lenses made of facts, and takes those facts out of quarantine.
func (w *writer) addForms() error {
	waiting := map[int]bool{} // versions for which some fact is in quarantine
	for i := range w.change.Encodings {
		e := &w.change.Encodings[i]
		if _, looked := waiting[e.Version]; !looked {
			p, err := w.one(stSomeQuarantine, w.tenant, int64(e.Version))
			if err != nil {
				return err
			}
			waiting[e.Version] = p != nil
		}
		var defaulted driver.Value
		if len(e.Defaulted) > 0 {
			text, err := json.Marshal(e.Defaulted)
			if err != nil {
				return fmt.Errorf("sgam: sqlite: places that a lens filled in: %w", err)
			}
			defaulted = string(text)
		}
		err := w.exec(stAddForm, w.tenant, e.Fact, int64(e.Version), e.Value, e.Lens, int64(e.KnownFrom), flag(e.Lossy), defaulted)
		if err == nil && e.Digest != "" {
			err = w.exec(stAddFormNumber, w.tenant, e.Fact, blob(e.Digest), w.seq)
		}
		if err == nil && waiting[e.Version] {
			err = w.exec(stDropQuarantine, w.tenant, int64(e.Version), e.Fact)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forms adds to the rows of a page what lenses made of their facts, and the epochs of their memory types.
func (s *session) forms(page *sgam.Page, known sgam.Instant) error {
	asked := map[sgam.AttributeID]bool{}
	for i := range page.Rows {
		r := &page.Rows[i]
		err := s.each(func(p *running) error {
			e, err := p.from(0).Form()
			r.Encodings = append(r.Encodings, e)
			return err
		}, stForms, s.tenant, r.Number, int64(known))
		if err != nil {
			return err
		}
		if asked[r.Slot.Attribute] {
			continue
		}
		asked[r.Slot.Attribute] = true
		p, err := s.one(stEpochAt, s.tenant, int64(r.Slot.Attribute), int64(known))
		if err != nil {
			return err
		}
		if p != nil {
			addEpoch(page, p.from(0).Epoch())
		}
	}
	return nil
}

// addEpoch adds an epoch to a page, once.
func addEpoch(page *sgam.Page, e sgam.Epoch) {
	if !slices.Contains(page.Epochs, e) {
		page.Epochs = append(page.Epochs, e)
	}
}

// perType calls one for each memory type of the registry, in order of its name.
func (r *reader) perType(one func(id int64, name string) error) error {
	var ids []int64
	var names []string
	err := r.each(func(p *running) error {
		ids, names = append(ids, p.int(0)), append(names, p.text(1))
		return nil
	}, stTypesInOrder)
	for i := range ids {
		if err != nil {
			return err
		}
		err = one(ids[i], names[i])
	}
	return err
}

// epochs lists the epochs of every memory type.
func (r *reader) epochs() error {
	return r.perType(func(id int64, name string) error {
		return r.each(func(p *running) error {
			r.page.Epochs = append(r.page.Epochs, p.epoch(name))
			return nil
		}, stEpochsOfType, r.tenant, id)
	})
}

// migrations lists the migrations of every memory type.
func (r *reader) migrations() error {
	return r.perType(func(id int64, name string) error {
		return r.each(func(p *running) error {
			r.page.Migrations = append(r.page.Migrations,
				sgam.MigrationRecord{Type: name, Serial: p.int(0), State: p.text(1), Body: p.bytes(2)})
			return nil
		}, stMigrationsOfType, r.tenant, id)
	})
}

// values lists the facts that state a value, from the newest to the oldest. Fact numbers are dense, so a page is a range.
func (r *reader) values() error {
	start := r.lastFact + 1
	if r.q.Below != 0 {
		start = min(start, r.q.Below)
	}
	after, err := cursor.Parse(r.q.After, []int64{start}, 0)
	if err != nil {
		return err
	}
	from := max(1, after.Numbers[0]-int64(r.limit()))
	err = r.each(r.value, stValuesBelow, r.tenant, after.Numbers[0], from)
	if from > 1 {
		r.page.Next = cursor.At(from).String()
	}
	return err
}

// value takes one encoding of one fact. The encodings of a fact follow one another.
func (r *reader) value(p *running) error {
	f := slotRef{subject: p.int(6), attribute: p.int(7), scope: p.text(8), member: string(p.bytes(9))}
	if !slices.Contains(r.q.Attributes, sgam.AttributeID(f.attribute)) {
		return nil
	}
	number := p.int(0)
	n := len(r.page.Rows)
	if n == 0 || r.page.Rows[n-1].Number != number {
		row := sgam.Row{Number: number, Erased: !p.null(5)}
		row.Fact.ID, row.Fact.Op, row.Fact.SchemaVersion = p.memory(1), sgam.Op(p.text(3)), int(p.int(4))
		r.page.Rows = append(r.page.Rows, row)
		n++
	}
	e, err := p.from(10).Form()
	if err != nil {
		return err
	}
	row := &r.page.Rows[n-1]
	if p.null(12) {
		row.Fact.Value = e.Value
	} else {
		row.Encodings = append(row.Encodings, e)
	}
	if row.Slot.Subject == "" {
		row.Slot, err = r.key(&f)
	}
	return err
}

// quarantined lists the facts that have no form in a version, from the newest to the oldest.
func (r *reader) quarantined() error {
	after, err := cursor.Parse(r.q.After, []int64{r.lastFact + 1}, 0)
	if err != nil {
		return err
	}
	looked := 0
	err = r.each(func(p *running) error {
		looked++
		r.page.Next = cursor.At(p.int(0)).String()
		key, err := r.slotKey(p.int(2))
		if err != nil || !slices.Contains(r.q.Attributes, key.Attribute) {
			return err
		}
		r.page.Quarantined = append(r.page.Quarantined, sgam.Quarantined{
			Fact: p.int(0), Memory: p.memory(1), Slot: key, Version: r.q.Version, Rule: p.text(3), Pointer: p.text(4), KnownAt: p.instant(5),
			Believed: p.int(6) == 1,
		})
		return nil
	}, stQuarantinedBelow, r.tenant, int64(r.q.Version), after.Numbers[0], int64(r.limit()))
	if looked < r.limit() {
		r.page.Next = ""
	}
	return err
}
