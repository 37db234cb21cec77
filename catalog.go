package sgam

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// TypeDocument is one version of a memory type, as declared and as stored.
type TypeDocument struct {
	Type    string
	Version int
	// Draft versions may be replaced, and take no facts.
	Draft bool
	// JSON is the canonical document, Hash its digest, Semantic the digest without descriptions.
	JSON     []byte
	Hash     string
	Semantic string
	// Attributes are the names that the registry keeps unique, from the document.
	Attributes []AttributeName
	// Lens takes values from the version before to this one and back, nil when values go over as they are.
	Lens *LensDocument
}

// LensDocument is the lens into one version of a memory type, as declared and as stored.
type LensDocument struct {
	// JSON is the canonical document, Hash its SHA-256 in hexadecimal.
	JSON []byte
	Hash string
}

// check judges the form of the names that a document brings into the registry.
func (d *TypeDocument) check() *FieldError {
	names := []string{d.Type}
	for _, a := range d.Attributes {
		names = append(append(names, a.Name), a.Aliases...)
	}
	for _, name := range names {
		if fe := checkAttribute(name); fe != nil {
			return fault("schema/"+d.Type, fe.Rule, fe.Want)
		}
	}
	return nil
}

// sameLens reports whether a stored document already has the lens that this one brings along.
func (d *TypeDocument) sameLens(held TypeDocument) bool {
	return d.Lens == nil || held.Lens != nil && held.Lens.Hash == d.Lens.Hash
}

// AttributeName is what the registry knows of an attribute without compiling its document.
type AttributeName struct {
	Tag     int
	Name    string
	Aliases []string
	Many    bool
}

// StoredType is a stored version with the ledger-wide ids of its attributes, parallel to Attributes.
type StoredType struct {
	TypeDocument
	IDs []AttributeID
	// Revision numbers the registrations of a ledger: each has a higher one than all before it.
	Revision int64
}

// Schemas is what a program knows of memory types. Package schema implements it.
type Schemas interface {
	// Declared returns the documents that the program declares, in order of type and version. They are registered
	// when the ledger opens.
	Declared() ([]TypeDocument, error)
	// Compile makes a stored or declared document ready to judge values.
	Compile(doc TypeDocument) ([]AttributeSpec, error)
	// Steps returns the way from one version of a type to the next: a step for each attribute, by tag, that both versions
	// have. newer.Lens says how values change; where it says nothing they go over as they are.
	Steps(older, newer TypeDocument) ([]AttributeStep, error)
	// Follows judges whether newer may be the version after older at all: nil, or an error that says which rule forbids it.
	Follows(older, newer TypeDocument) error
}

// AttributeSpec is one compiled attribute.
type AttributeSpec struct {
	AttributeName
	// Identity cuts the part that identifies a member out of a canonical value; nil is the whole value.
	Identity func(value []byte) ([]byte, error)
	Policy   ConflictPolicy
	// Ranks are the episode kinds from the strongest to the weakest, for policy SourceRank. A kind that is not listed is
	// the weakest, but for UserConfirmation, which is then the strongest.
	Ranks       []EpisodeKind
	Sensitivity string
	Retention   string
	// Check judges a canonical value and returns all faults at once, with paths relative to the value.
	Check func(value []byte) []FieldError
}

// attribute is what the ledger knows of one attribute: the newest version, and how to judge its values.
type attribute struct {
	AttributeSpec
	id      AttributeID
	typ     string
	version int
}

// identity is what the attribute is in digests, whatever it is called. Its id is another one in a copy of the ledger.
func (a *attribute) identity() string { return a.typ + "/" + strconv.Itoa(a.Tag) }

// catalog is an immutable index of the stored registry.
type catalog struct {
	byName map[string]*attribute // names and aliases
	byID   map[AttributeID]*attribute
	types  map[string]*lineage
	// drafts are names that only a draft has.
	drafts map[string]bool
	// lensed says that values of some type must be converted between versions.
	lensed bool
	// revision is that of the registry when it was read.
	revision int64
}

// declare registers what the program declares and the ledger does not hold yet.
func (l *Ledger) declare(ctx context.Context) error {
	if l.opts.Schemas == nil {
		return nil
	}
	docs, err := l.opts.Schemas.Declared()
	if err != nil {
		return err
	}
	if len(docs) == 0 {
		return nil
	}
	stored, err := l.store.Types(ctx)
	if err != nil {
		return err
	}
	have := map[string]TypeDocument{}
	for _, s := range stored {
		have[fmt.Sprintf("%s@%d", s.Type, s.Version)] = s.TypeDocument
	}
	for _, doc := range docs {
		held, known := have[fmt.Sprintf("%s@%d", doc.Type, doc.Version)]
		switch {
		case known && held.Semantic == doc.Semantic && held.Draft == doc.Draft && doc.sameLens(held):
		case known && !held.Draft && held.Semantic != doc.Semantic:
			return fmt.Errorf("%w: type %q version %d", ErrSchemaDrift, doc.Type, doc.Version)
		case l.opts.ReadOnly:
			return fmt.Errorf("%w: type %q version %d is declared and not stored", ErrReadOnly, doc.Type, doc.Version)
		default:
			if err := l.register(ctx, doc); err != nil {
				return err
			}
		}
	}
	return nil
}

// Register stores one more schema version while the ledger is open, and makes it the one that writes are judged by.
// An equal version changes nothing.
func (l *Ledger) Register(ctx context.Context, doc TypeDocument) error {
	switch {
	case l.closed.Load():
		return ErrClosed
	case l.opts.ReadOnly:
		return ErrReadOnly
	}
	if err := l.register(ctx, doc); err != nil {
		return err
	}
	return l.reload(ctx)
}

func (l *Ledger) register(ctx context.Context, doc TypeDocument) error {
	if fe := doc.check(); fe != nil {
		return fe
	}
	if err := l.mayFollow(ctx, doc); err != nil {
		return err
	}
	if err := l.store.Register(ctx, doc); err != nil {
		return fmt.Errorf("sgam: register type %q version %d: %w", doc.Type, doc.Version, err)
	}
	return nil
}

// mayFollow judges a version by the one before it, unless the ledger holds it already.
func (l *Ledger) mayFollow(ctx context.Context, doc TypeDocument) error {
	stored, err := l.store.Types(ctx)
	if err != nil {
		return err
	}
	held := func(version int) *StoredType {
		i := slices.IndexFunc(stored, func(s StoredType) bool { return s.Type == doc.Type && s.Version == version })
		if i < 0 {
			return nil
		}
		return &stored[i]
	}
	same, before := held(doc.Version), held(doc.Version-1)
	switch {
	case same != nil && !same.Draft, doc.Version <= 1:
		return nil
	case before == nil:
		return fmt.Errorf("%w: type %q version %d, and none before it is stored", ErrSchemaGap, doc.Type, doc.Version)
	case before.Draft:
		return fmt.Errorf("%w: type %q version %d is a draft", ErrSchemaGap, doc.Type, before.Version)
	case l.opts.Schemas == nil:
		return fmt.Errorf("%w: to judge whether type %q version %d may follow", ErrNoSchemas, doc.Type, doc.Version)
	}
	if err := l.opts.Schemas.Follows(before.TypeDocument, doc); err != nil {
		return fmt.Errorf("sgam: type %q version %d may not follow version %d: %w", doc.Type, doc.Version, before.Version, err)
	}
	return nil
}

// Types lists the stored schema versions in order of type and version.
func (l *Ledger) Types(ctx context.Context) ([]StoredType, error) {
	if l.closed.Load() {
		return nil, ErrClosed
	}
	stored, err := l.store.Types(ctx)
	if err != nil {
		return nil, err
	}
	for i := range stored {
		if stored[i].Revision > l.revision() {
			return stored, l.reload(ctx)
		}
	}
	return stored, nil
}

// reload reads the registry from the store.
func (l *Ledger) reload(ctx context.Context) error {
	stored, err := l.store.Types(ctx)
	if err != nil {
		return err
	}
	c := catalog{byName: map[string]*attribute{}, byID: map[AttributeID]*attribute{}, types: map[string]*lineage{}, drafts: map[string]bool{}}
	for n := range stored {
		s := &stored[n]
		c.revision = max(c.revision, s.Revision)
		if s.Draft {
			c.draft(s)
			continue
		}
		specs := make([]AttributeSpec, len(s.Attributes))
		for i, name := range s.Attributes {
			specs[i].AttributeName = name
		}
		if l.opts.Schemas != nil {
			if specs, err = l.opts.Schemas.Compile(s.TypeDocument); err != nil {
				return fmt.Errorf("sgam: compile type %q version %d: %w", s.Type, s.Version, err)
			}
		}
		forms := make(map[AttributeID]*attribute, len(specs))
		for i, spec := range specs {
			a := &attribute{AttributeSpec: spec, id: s.IDs[i], typ: s.Type, version: s.Version}
			c.byID[a.id], forms[a.id] = a, a
			for _, name := range append([]string{spec.Name}, spec.Aliases...) {
				c.byName[name] = a
			}
		}
		if err := l.follow(&c, stored, n, forms); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.catalog = c
	clear(l.epochs)
	return nil
}

// draft notes the names of a version that takes no facts.
func (c *catalog) draft(s *StoredType) {
	for _, a := range s.Attributes {
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			c.drafts[name] = true
		}
	}
}

// isDraft reports whether only a draft has a name.
func (l *Ledger) isDraft(name string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.catalog.byName[name] == nil && l.catalog.drafts[name]
}

// follow adds a stored version to the lineage of its type.
func (l *Ledger) follow(c *catalog, stored []StoredType, n int, forms map[AttributeID]*attribute) error {
	s := &stored[n]
	line := c.types[s.Type]
	if line == nil {
		line = &lineage{}
		c.types[s.Type] = line
	}
	if s.Version != line.newest()+1 {
		return fmt.Errorf("%w: type %q holds version %d after %d", ErrSchemaGap, s.Type, s.Version, line.newest())
	}
	lens := ""
	if s.Lens != nil {
		lens = s.Lens.Hash
	}
	steps := map[AttributeID]*AttributeStep{}
	if s.Version > 1 {
		var err error
		if steps, err = l.steps(&stored[n-1], s); err != nil {
			return fmt.Errorf("sgam: type %q from version %d to %d: %w", s.Type, s.Version-1, s.Version, err)
		}
	}
	line.grow(forms, steps, lens)
	c.lensed = c.lensed || line.lensed()
	return nil
}

// steps lead from one stored version to the next. A ledger without schemas cannot convert; it knows from the lens that it
// would have to.
func (l *Ledger) steps(older, newer *StoredType) (map[AttributeID]*AttributeStep, error) {
	steps := map[AttributeID]*AttributeStep{}
	if l.opts.Schemas == nil {
		if newer.Lens != nil {
			cannot := func(Converted) (Converted, error) { return Converted{}, ErrNoSchemas }
			for _, id := range newer.IDs {
				steps[id] = &AttributeStep{Up: cannot, Down: cannot}
			}
		}
		return steps, nil
	}
	list, err := l.opts.Schemas.Steps(older.TypeDocument, newer.TypeDocument)
	if err != nil {
		return nil, err
	}
	for i := range list {
		at := slices.IndexFunc(newer.Attributes, func(a AttributeName) bool { return a.Tag == list[i].Tag })
		if at < 0 {
			return nil, fmt.Errorf("no attribute has tag %d", list[i].Tag)
		}
		steps[newer.IDs[at]] = &list[i]
	}
	return steps, nil
}

// attribute finds an attribute by name or alias. Another process may have registered it, so a miss looks again.
func (l *Ledger) attribute(ctx context.Context, name string) (*attribute, error) {
	for again := false; ; again = true {
		l.mu.RLock()
		a := l.catalog.byName[name]
		l.mu.RUnlock()
		if a != nil || again {
			return a, nil
		}
		if err := l.reload(ctx); err != nil {
			return nil, err
		}
	}
}

// revision is that of the registry as the ledger knows it.
func (l *Ledger) revision() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.catalog.revision
}

// newest is the newest version of a memory type, 0 when there is none.
func (l *Ledger) newest(typ string) int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if f := l.catalog.types[typ]; f != nil {
		return f.newest()
	}
	return 0
}

// typeOf is the memory type, newest version and name of an attribute.
func (l *Ledger) typeOf(id AttributeID) (typ string, version int, name string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if a := l.catalog.byID[id]; a != nil {
		return a.typ, a.version, a.Name
	}
	return "", 0, ""
}
