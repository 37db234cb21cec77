package ledgertest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sgam-ledger/sgam"
)

// StoreOptions configure an in-memory engine. Every zero value is a working default.
type StoreOptions struct {
	// PageRows bounds the rows of one page, so that a test meets page ends early. Zero bounds nothing.
	PageRows int
	// Whole makes every write load its slots whole, and every point with them, where the port says how little is
	// enough. The answers must not differ.
	Whole bool
	// DigestKey is the secret of the ledger's digests. Nil is a fixed one, the same for every such store.
	DigestKey []byte
}

// Store is an engine in memory: simple and obviously right rather than fast. It keeps every rectangle that was ever
// believed, answers each read by looking at all of them, copies whatever comes in or goes out, and checks the rules of
// the layers with every write. Nothing outlives the process.
type Store struct {
	db     *memory
	opts   StoreOptions
	closed atomic.Bool
}

var _ sgam.Store = (*Store)(nil)

// memory is what the handles of one store share.
type memory struct {
	writer chan struct{} // holds one token while nobody writes
	mu     sync.RWMutex  // guards the fields below
	types  []sgam.StoredType
	ids    map[identity]sgam.AttributeID
	tenant map[string]*tenant
}

// identity is what an attribute is, whatever it is called.
type identity struct {
	typ string
	tag int
}

// tenant is everything of one tenant.
type tenant struct {
	lastKnown  sgam.Instant
	lastSeq    int64
	calls      []storedCall   // the call of number n is at n-1
	facts      []sgam.NewFact // the fact of number n is at n-1
	byID       map[sgam.MemoryID]int64
	slots      map[sgam.SlotKey]*slot
	episodes   map[string]storedEpisode
	outcomes   []storedOutcome
	byKey      map[string]int
	candidates []storedCandidate
	versioned
}

// slot is every layer of one slot.
type slot struct {
	facts         []int64
	segments      []sgam.StoredSegment
	confirmations []sgam.StoredConfirmation
	supersessions []sgam.StoredSupersession
	points        []sgam.StoredPoint
	numbers       map[string]storedNumber
	lastNumber    int64
}

type storedCall struct {
	known     sgam.Instant
	principal string
}

type storedEpisode struct {
	sgam.Episode
	digest string
	known  sgam.Instant // of the call that brought it
	place  int          // among those of the call
}

type storedOutcome struct {
	sgam.NewOutcome
	known sgam.Instant
}

// storedNumber is the value number of a digest, and the known time of the call that gave it.
type storedNumber struct {
	number int64
	known  sgam.Instant
}

type storedCandidate struct {
	sgam.Candidate
	ordinal int
	held    sgam.Outcome // the status that it began with
	settled sgam.Instant // known time of the call that settled it
	fact    int64
}

// NewStore makes an empty store. Nil options are the defaults.
func NewStore(opts *StoreOptions) *Store {
	s := &Store{db: &memory{
		writer: make(chan struct{}, 1), ids: map[identity]sgam.AttributeID{}, tenant: map[string]*tenant{},
	}}
	s.db.writer <- struct{}{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.DigestKey == nil {
		s.opts.DigestKey = []byte("a ledger in memory keeps no secret")
	}
	return s
}

// Reopen makes a new handle of the same content, as opening a file again would. The old handle may be open or closed.
func (s *Store) Reopen() *Store { return &Store{db: s.db, opts: s.opts} }

// Engine is "memory".
func (s *Store) Engine() string { return "memory" }

// DigestKey is a copy of the key that the store was made with.
func (s *Store) DigestKey() []byte { return bytes.Clone(s.opts.DigestKey) }

// Close makes the handle unusable, after the write under way.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return sgam.ErrClosed
	}
	<-s.db.writer
	s.db.writer <- struct{}{}
	return nil
}

// Types lists the registry in order of type and version.
func (s *Store) Types(ctx context.Context) ([]sgam.StoredType, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	s.db.mu.RLock()
	defer s.db.mu.RUnlock()
	out := make([]sgam.StoredType, len(s.db.types))
	for i, t := range s.db.types {
		out[i] = sgam.StoredType{TypeDocument: cloneDocument(t.TypeDocument), IDs: slices.Clone(t.IDs), Revision: t.Revision}
	}
	return out, nil
}

// revision is the highest of the registry.
func (d *memory) revision() int64 {
	highest := int64(0)
	for _, t := range d.types {
		highest = max(highest, t.Revision)
	}
	return highest
}

func (s *Store) usable(ctx context.Context) error {
	if s.closed.Load() {
		return sgam.ErrClosed
	}
	return ctx.Err()
}

func cloneDocument(d sgam.TypeDocument) sgam.TypeDocument {
	d.JSON, d.Lens = bytes.Clone(d.JSON), cloneLens(d.Lens)
	d.Attributes = slices.Clone(d.Attributes)
	for i := range d.Attributes {
		d.Attributes[i].Aliases = slices.Clone(d.Attributes[i].Aliases)
	}
	return d
}

// Register stores one schema version. A draft may be replaced, a frozen version never.
func (s *Store) Register(ctx context.Context, doc sgam.TypeDocument) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	doc = cloneDocument(doc)
	newest, at := 0, -1
	for i, t := range s.db.types {
		if t.Type != doc.Type {
			continue
		}
		newest = max(newest, t.Version)
		if t.Version == doc.Version {
			at = i
		}
	}
	switch {
	case at >= 0 && s.db.types[at].Semantic == doc.Semantic && s.db.types[at].Draft == doc.Draft:
		return s.db.lens(&doc, &s.db.types[at])
	case at >= 0 && !s.db.types[at].Draft:
		return fmt.Errorf("%w: type %q version %d", sgam.ErrSchemaDrift, doc.Type, doc.Version)
	case at < 0 && doc.Version != newest+1:
		return fmt.Errorf("%w: type %q version %d after %d", sgam.ErrSchemaGap, doc.Type, doc.Version, newest)
	}
	if err := s.db.namesAreFree(doc); err != nil {
		return err
	}
	stored := sgam.StoredType{TypeDocument: doc, IDs: make([]sgam.AttributeID, len(doc.Attributes)), Revision: s.db.revision() + 1}
	for i, a := range doc.Attributes {
		who := identity{doc.Type, a.Tag}
		if s.db.ids[who] == 0 {
			s.db.ids[who] = sgam.AttributeID(len(s.db.ids) + 1)
		}
		stored.IDs[i] = s.db.ids[who]
	}
	if at >= 0 {
		s.db.types[at] = stored
		return nil
	}
	s.db.types = append(s.db.types, stored)
	slices.SortFunc(s.db.types, func(a, b sgam.StoredType) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Version, b.Version))
	})
	return nil
}

// namesAreFree refuses a name or alias that another attribute has: names are unique in a ledger's registry.
func (m *memory) namesAreFree(doc sgam.TypeDocument) error {
	owner := map[string]identity{}
	for _, t := range m.types {
		for _, a := range t.Attributes {
			for _, name := range append([]string{a.Name}, a.Aliases...) {
				owner[name] = identity{t.Type, a.Tag}
			}
		}
	}
	for _, a := range doc.Attributes {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			who := identity{doc.Type, a.Tag}
			if have, taken := owner[name]; taken && have != who {
				return fmt.Errorf("ledgertest: register type %q version %d: %w", doc.Type, doc.Version,
					&sgam.FieldError{Field: "attributes/" + a.Name, Rule: "unique", Want: "a name that no other attribute has"})
			}
			owner[name] = who
		}
	}
	return nil
}

// Tenants lists the names of tenants that have been written, in byte order.
func (s *Store) Tenants(ctx context.Context, after string, limit int) ([]string, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	s.db.mu.RLock()
	defer s.db.mu.RUnlock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.db.tenant)) {
		if name > after && len(names) < limit {
			names = append(names, name)
		}
	}
	return names, nil
}

// Write runs one call. One writer at a time has the store; who waits gives up with its context.
func (s *Store) Write(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	select {
	case <-s.db.writer:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", sgam.ErrBusy, ctx.Err())
	}
	defer func() { s.db.writer <- struct{}{} }()
	if err := s.usable(ctx); err != nil {
		return err
	}
	// Only writers change what the mutex guards, and this is the only one.
	have := s.db.tenant[t.Name()]
	if have == nil {
		have = newTenant()
	}
	snapshot := have.snapshot(call, s.opts.Whole)
	s.db.mu.RLock()
	snapshot.Registry = s.db.revision()
	s.db.mu.RUnlock()
	change, err := decide(snapshot)
	if err != nil || change == nil || call.DryRun {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	next, err := have.stage(change, call.Principal)
	if err != nil {
		return fmt.Errorf("ledgertest: the change breaks the rules of the layers: %w", err)
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	next.commit()
	s.db.tenant[t.Name()] = have
	return nil
}

func newTenant() *tenant {
	return &tenant{
		lastKnown: sgam.Beginning, byID: map[sgam.MemoryID]int64{}, slots: map[sgam.SlotKey]*slot{},
		episodes: map[string]storedEpisode{}, byKey: map[string]int{}, versioned: newVersioned(),
	}
}

func (t *tenant) fact(number int64) *sgam.NewFact { return &t.facts[number-1] }

// id is the memory id of a fact number, none for 0.
func (t *tenant) id(number int64) sgam.MemoryID {
	if number == 0 {
		return sgam.MemoryID{}
	}
	return t.fact(number).ID
}

func (t *tenant) slot(key sgam.SlotKey) *slot {
	if s := t.slots[key]; s != nil {
		return s
	}
	return &slot{}
}

// members are the member slots of a set slot that were ever written, in order.
func (t *tenant) members(set sgam.SlotKey) []sgam.SlotKey {
	var keys []sgam.SlotKey
	for key := range t.slots {
		if key.Member != "" && key.Scope == set.Scope && key.Subject == set.Subject && key.Attribute == set.Attribute {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareSlots)
	return keys
}

// open reports whether a rectangle is believed still.
func open(known sgam.Span) bool { return known.To == sgam.Forever }
