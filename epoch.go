package sgam

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Epoch says which versions of a memory type a tenant reads and writes, from a known time on until its next epoch. The
// first one is recorded with a tenant's first fact of the type; later ones by a new version that reads every older value
// as it stands, and by package migrate.
type Epoch struct {
	Type string `json:"memory_type"`
	// KnownFrom is the known time of the call that recorded it.
	KnownFrom Instant `json:"-"`
	// Read is the version whose shape a view shows unless it asks for another one, Write the one whose values decide
	// which facts are equal.
	Read  int `json:"read"`
	Write int `json:"write"`
	// Second is a version that deltas may have too, and in which every write is also stored; 0 is none.
	Second int `json:"second,omitempty"`
}

// Encoding is one form of a fact's value besides the recorded one.
type Encoding struct {
	Version int
	Value   []byte
	// Lens names the lenses that made it, step by step.
	Lens      string
	KnownFrom Instant
	Lossy     bool
	Defaulted []string
}

// NewEncoding is one more form of a fact's value to append. The facts of the change itself may have some.
type NewEncoding struct {
	Fact int64
	Encoding
	// Digest is the keyed digest of the value, empty for none. From then on it has the fact's value number in the slot,
	// unless it has a number there already.
	Digest string
}

// Quarantined is a fact whose value has no form in a version. It names no value.
type Quarantined struct {
	Fact    int64
	Memory  MemoryID // filled by queries
	Slot    SlotKey  // filled by queries
	Version int
	// Rule and Pointer say why: the rule that the value breaks, and where in it.
	Rule, Pointer string
	KnownAt       Instant // filled by queries
	// Believed says that the fact holds somewhere still, as known now: filled by queries.
	Believed bool
}

// MigrationRecord is what package migrate keeps of one migration of a tenant and type.
type MigrationRecord struct {
	Type string
	// Serial numbers the migrations of a tenant and type from 1.
	Serial int64
	// State is the word for its state, Body the rest as JSON.
	State string
	Body  json.RawMessage
}

// MigrationStep is one step of a migration as it stands under the tenant's write lock. Package migrate decides on it.
type MigrationStep struct {
	// Known is the known time of this step, LastFact the number of the tenant's newest fact, Epoch what is in force; an
	// epoch of version 0 says that the tenant has no fact of the type.
	Known    Instant
	LastFact int64
	Epoch    Epoch
	// Record is the newest migration of the type, nil when there was none.
	Record *MigrationRecord
}

// MigrationWrite is what one step writes.
type MigrationWrite struct {
	// Record is stored under its serial. Epoch, when not nil, is in force from the step's known time on.
	Record      *MigrationRecord
	Epoch       *Epoch
	Encodings   []NewEncoding
	Quarantined []Quarantined
}

// Migrate carries out one step of a migration of a memory type, in one transaction of the tenant and at one known time.
// decide sees what stands and says what to write; nil writes nothing, and its error is returned. It may run more than once.
// Programs migrate with package migrate.
func (t *Tenant) Migrate(ctx context.Context, memoryType string, decide func(*MigrationStep) (*MigrationWrite, error)) error {
	if err := t.mayWrite(ctx, false); err != nil {
		return err
	}
	if t.l.newest(memoryType) == 0 {
		return fault("memory_type", "unknown", "a registered memory type")
	}
	call := &Call{Principal: t.principal, Types: []string{memoryType}, Migration: memoryType}
	err := t.whileStale(ctx, func() error {
		return t.l.store.Write(ctx, t.id, call, func(s *Snapshot) (*Change, error) {
			if s.Registry > t.l.revision() {
				return nil, errStale
			}
			known, err := t.l.knownTime(s.LastKnown, Beginning, false)
			if err != nil {
				return nil, err
			}
			w, err := decide(&MigrationStep{Known: known, LastFact: s.LastFact, Epoch: s.Epochs[0], Record: s.Migration})
			if err != nil || w == nil {
				return nil, err
			}
			c := &Change{Known: known, Encodings: w.Encodings, Quarantined: w.Quarantined, Migration: w.Record}
			for i := range c.Encodings {
				c.Encodings[i].KnownFrom = known
			}
			if w.Epoch != nil {
				e := *w.Epoch
				e.Type, e.KnownFrom = memoryType, known
				c.Epochs = []Epoch{e}
			}
			return c, nil
		})
	})
	t.l.forgetEpochs(t.id.name)
	if o := t.l.opts.Observe; o != nil && err != nil {
		o.Refused(t.id.name, err)
	}
	return err
}

// Encode makes the encoding of a stored fact, for [MigrationWrite]: what [Ledger.Convert] made of its value.
func (t *Tenant) Encode(r *StoredValue, version int, c Converted) NewEncoding {
	return NewEncoding{
		Fact: r.Number, Digest: t.l.valueDigest(r.Slot.Attribute, version, c.Value),
		Encoding: Encoding{Version: version, Value: c.Value, Lens: t.l.path(r.Attribute, r.Version, version), Lossy: c.Lossy, Defaulted: c.Defaulted},
	}
}

// StoredValue is the value of one fact, as recorded, with its other encodings.
type StoredValue struct {
	// Number is the fact's number in its tenant, dense from 1.
	Number int64
	Memory MemoryID
	Slot   SlotKey
	// Attribute and Subject name the slot; Op is what the fact did. An absence has a value when it names a member.
	Attribute, Subject string
	Op                 Op
	// Version is the version under which Value was recorded.
	Version   int
	Value     json.RawMessage
	Encodings []Encoding
	Erased    bool
}

// Values lists every fact of a memory type that states a value or names a member, from the newest to the oldest below
// the given number; 0 begins with the newest. It is for migrations: facts that are no longer believed are listed too.
func (t *Tenant) Values(ctx context.Context, memoryType string, below int64) iter.Seq2[StoredValue, error] {
	return func(yield func(StoredValue, error) bool) {
		ids, any, err := t.attributes(ctx, Filter{Types: []string{memoryType}})
		if err != nil {
			yield(StoredValue{}, err)
			return
		}
		if !any {
			return
		}
		q := &Query{Kind: QueryValues, Attributes: ids, Known: Forever, Below: below, Encodings: true}
		for row, err := range t.rows(ctx, q) {
			if err != nil {
				yield(StoredValue{}, err)
				return
			}
			_, _, name := t.l.typeOf(row.Slot.Attribute)
			v := StoredValue{
				Number: row.Number, Memory: row.Fact.ID, Slot: row.Slot, Attribute: name, Subject: row.Slot.Subject, Op: row.Fact.Op,
				Version: row.Fact.SchemaVersion, Value: row.Fact.Value, Encodings: row.Encodings, Erased: row.Erased,
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Epochs lists the tenant's epochs of all memory types, in order of type and known time.
func (t *Tenant) Epochs(ctx context.Context) ([]Epoch, error) {
	page, err := t.read(ctx, &Query{Kind: QueryEpochs, Known: Forever})
	if err != nil {
		return nil, err
	}
	return page.Epochs, nil
}

// Migrations lists every migration of the tenant, in order of type and serial.
func (t *Tenant) Migrations(ctx context.Context) ([]MigrationRecord, error) {
	page, err := t.read(ctx, &Query{Kind: QueryMigrations, Known: Forever})
	if err != nil {
		return nil, err
	}
	return page.Migrations, nil
}

// Quarantine lists the facts of a memory type that have no form in a version, from the newest to the oldest.
func (t *Tenant) Quarantine(ctx context.Context, memoryType string, version int) iter.Seq2[Quarantined, error] {
	return func(yield func(Quarantined, error) bool) {
		ids, any, err := t.attributes(ctx, Filter{Types: []string{memoryType}})
		if err != nil {
			yield(Quarantined{}, err)
			return
		}
		if !any {
			return
		}
		q := &Query{Kind: QueryQuarantine, Attributes: ids, Version: version, Known: Forever}
		for row, err := range walkTenant(ctx, t, q, func(p *Page) []Quarantined { return p.Quarantined }) {
			if err != nil {
				yield(Quarantined{}, err)
				return
			}
			if !yield(*row, nil) {
				return
			}
		}
	}
}

// Time is the known time from which on the epoch is in force.
func (e *Epoch) Time() time.Time { return e.KnownFrom.Time() }

// forgetEpochs drops what the ledger remembers of a tenant's epochs.
func (l *Ledger) forgetEpochs(tenant string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.epochs, tenant)
}

// epoch is the newest epoch of a memory type as the ledger remembers it, or as the engine has it. Under the lock the
// snapshot has the last word.
func (t *Tenant) epoch(ctx context.Context, typ string) (Epoch, error) {
	t.l.mu.RLock()
	e, ok := t.l.epochs[t.id.name][typ]
	t.l.mu.RUnlock()
	if ok {
		return e, nil
	}
	all, err := t.Epochs(ctx)
	if err != nil {
		return Epoch{}, err
	}
	newest := map[string]Epoch{typ: {}}
	for _, e := range all {
		newest[e.Type] = e
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if len(t.l.epochs) >= rememberedTenants {
		clear(t.l.epochs)
	}
	t.l.epochs[t.id.name] = newest
	return newest[typ], nil
}

// rememberedTenants bounds what the ledger remembers of epochs.
const rememberedTenants = 4096
