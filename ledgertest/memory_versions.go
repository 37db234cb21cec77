package ledgertest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// versioned is everything that a tenant keeps of schema versions and migrations.
type versioned struct {
	epochs     map[string][]sgam.Epoch // by memory type, in order of known time
	encodings  map[int64][]sgam.Encoding
	quarantine map[form]sgam.Quarantined
	migrations map[string][]storedMigration
}

// storedMigration is the newest state of one migration.
type storedMigration struct {
	sgam.MigrationRecord
	known sgam.Instant // of the call that wrote it
}

// form is one fact in one version.
type form struct {
	fact    int64
	version int
}

func newVersioned() versioned {
	return versioned{
		epochs: map[string][]sgam.Epoch{}, encodings: map[int64][]sgam.Encoding{}, quarantine: map[form]sgam.Quarantined{},
		migrations: map[string][]storedMigration{},
	}
}

func cloneRecord(r sgam.MigrationRecord) sgam.MigrationRecord {
	r.Body = bytes.Clone(r.Body)
	return r
}

func cloneEncoding(e sgam.Encoding) sgam.Encoding {
	e.Value, e.Defaulted = bytes.Clone(e.Value), slices.Clone(e.Defaulted)
	return e
}

// epoch is the one in force at a known time, zero when there is none.
func (v *versioned) epoch(typ string, known sgam.Instant) sgam.Epoch {
	var at sgam.Epoch
	for _, e := range v.epochs[typ] {
		if e.KnownFrom <= known {
			at = e
		}
	}
	return at
}

// look resolves what a call asks of versions.
func (v *versioned) look(call *sgam.Call, s *sgam.Snapshot) {
	for _, typ := range call.Types {
		s.Epochs = append(s.Epochs, v.epoch(typ, sgam.Forever))
	}
	if all := v.migrations[call.Migration]; len(all) > 0 {
		newest := cloneRecord(all[len(all)-1].MigrationRecord)
		s.Migration = &newest
	}
}

// checkVersions refuses what the layers of versions do not allow.
func (s *staged) checkVersions() error {
	for _, e := range s.change.Epochs {
		if e.KnownFrom != s.change.Known || e.Read < 1 || e.Write < 1 || e.Type == "" {
			return errors.New("an epoch is of another call, or reads or writes no version")
		}
	}
	for i := range s.change.Encodings {
		n := &s.change.Encodings[i]
		f, err := s.at(n.Fact)
		if err != nil {
			return err
		}
		if n.KnownFrom != s.change.Known || n.Lens == "" || n.Value == nil || n.Version == f.SchemaVersion {
			return fmt.Errorf("an encoding of fact %d is not one that a lens made in this call", n.Fact)
		}
		if n.Digest != "" && f.Value != 0 {
			if at := s.touch(f.Slot); at.numbers[n.Digest].number == 0 {
				at.numbers[n.Digest] = storedNumber{f.Value, s.change.Known}
			}
		}
	}
	for _, q := range s.change.Quarantined {
		if _, err := s.at(q.Fact); err != nil {
			return err
		}
	}
	if m := s.change.Migration; m != nil {
		have := int64(len(s.migrations[m.Type]))
		if m.Serial != have && m.Serial != have+1 {
			return fmt.Errorf("migration %d where %d is the newest", m.Serial, have)
		}
	}
	return nil
}

// commitVersions writes what was checked.
func (s *staged) commitVersions() {
	v := &s.versioned
	for _, e := range s.change.Epochs {
		v.epochs[e.Type] = append(v.epochs[e.Type], e)
	}
	for i := range s.change.Encodings {
		n := &s.change.Encodings[i]
		v.encodings[n.Fact] = append(v.encodings[n.Fact], cloneEncoding(n.Encoding))
		delete(v.quarantine, form{n.Fact, n.Version})
	}
	for _, q := range s.change.Quarantined {
		q.KnownAt = s.change.Known
		v.quarantine[form{q.Fact, q.Version}] = q
	}
	if m := s.change.Migration; m != nil {
		now := storedMigration{cloneRecord(*m), s.change.Known}
		if all := v.migrations[m.Type]; m.Serial <= int64(len(all)) {
			all[m.Serial-1] = now
		} else {
			v.migrations[m.Type] = append(all, now)
		}
	}
}

// encode adds to the rows of a page what versions say about them.
func (t *tenant) encode(page *sgam.Page, known sgam.Instant) {
	types := map[string]bool{}
	for i := range page.Rows {
		r := &page.Rows[i]
		number := t.byID[r.Fact.ID]
		types[t.fact(number).MemoryType] = true
		for _, e := range t.encodings[number] {
			if e.KnownFrom <= known {
				r.Encodings = append(r.Encodings, cloneEncoding(e))
			}
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(types)) {
		if e := t.epoch(typ, known); e.Write != 0 {
			page.Epochs = append(page.Epochs, e)
		}
	}
}

func (t *tenant) allEpochs() []sgam.Epoch {
	var all []sgam.Epoch
	for _, typ := range slices.Sorted(maps.Keys(t.epochs)) {
		all = append(all, t.epochs[typ]...)
	}
	return all
}

func (t *tenant) allMigrations() []sgam.MigrationRecord {
	var all []sgam.MigrationRecord
	for _, typ := range slices.Sorted(maps.Keys(t.migrations)) {
		for _, m := range t.migrations[typ] {
			all = append(all, cloneRecord(m.MigrationRecord))
		}
	}
	return all
}

// values are the facts with a value, from the newest to the oldest.
func (t *tenant) values(q *sgam.Query) []keyed[sgam.Row] {
	var out []keyed[sgam.Row]
	for i := range t.facts {
		f := &t.facts[i]
		if f.Encoded == nil || q.Below != 0 && f.Number >= q.Below || !slices.Contains(q.Attributes, f.Slot.Attribute) {
			continue
		}
		r := t.rowOf(f.Number)
		r.Number, r.Fact.Valid = f.Number, r.Fact.Asserted
		out = append(out, keyed[sgam.Row]{orderOf(-f.Number), r})
	}
	return out
}

func (t *tenant) quarantined(q *sgam.Query) []keyed[sgam.Quarantined] {
	var out []keyed[sgam.Quarantined]
	for at, row := range t.quarantine {
		f := t.fact(at.fact)
		if at.version == q.Version && slices.Contains(q.Attributes, f.Slot.Attribute) {
			row.Memory, row.Slot = f.ID, f.Slot
			row.Believed = slices.ContainsFunc(t.slot(f.Slot).segments, func(g sgam.StoredSegment) bool {
				return g.Fact == at.fact && open(g.Known)
			})
			out = append(out, keyed[sgam.Quarantined]{orderOf(-at.fact), row})
		}
	}
	return out
}

// lens keeps the lens of a version, in place of one that no tenant has come through.
func (m *memory) lens(doc *sgam.TypeDocument, stored *sgam.StoredType) error {
	if doc.Lens == nil || stored.Lens != nil && stored.Lens.Hash == doc.Lens.Hash {
		return nil
	}
	for _, t := range m.tenant {
		crossed := slices.ContainsFunc(t.epochs[doc.Type], func(e sgam.Epoch) bool { return min(e.Read, e.Write) < doc.Version })
		if e := t.epoch(doc.Type, sgam.Forever); crossed && max(e.Read, e.Write, e.Second) >= doc.Version {
			return fmt.Errorf("%w: type %q version %d", sgam.ErrLensInUse, doc.Type, doc.Version)
		}
	}
	stored.Lens = cloneLens(doc.Lens)
	stored.Revision = m.revision() + 1
	return nil
}

func cloneLens(l *sgam.LensDocument) *sgam.LensDocument {
	if l == nil {
		return nil
	}
	return &sgam.LensDocument{JSON: bytes.Clone(l.JSON), Hash: l.Hash}
}
