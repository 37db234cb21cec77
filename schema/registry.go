package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sgam-ledger/sgam"
)

// Registry is the memory types that a program declares. It implements [sgam.Schemas]: hand it to the ledger in
// [sgam.Options]. It is safe for concurrent use.
type Registry struct {
	sealed bool

	mu       sync.RWMutex
	declared map[typeVersion]sgam.TypeDocument
	names    map[string]owner
	compiled map[string][]sgam.AttributeSpec       // by hash of the document
	steps    map[string]map[int]sgam.AttributeStep // by version, and hashes of both documents and the lens
}

var errStored = errors.New("schema: a registry made by Stored declares nothing")

type typeVersion struct {
	typ     string
	version int
}

// owner is the attribute that a name or an alias belongs to. Tag 0 is a reserved name.
type owner struct {
	typeVersion
	tag   int
	path  string // in its document
	place string // in words, for other documents
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{
		declared: map[typeVersion]sgam.TypeDocument{}, names: map[string]owner{}, compiled: map[string][]sgam.AttributeSpec{},
		steps: map[string]map[int]sgam.AttributeStep{},
	}
}

// Stored returns a registry that declares nothing and judges by what the ledger itself holds, so that a program can
// open any ledger. Adding to it is an error.
func Stored() *Registry {
	r := NewRegistry()
	r.sealed = true
	return r
}

// Add parses a document and declares it. Names and aliases are unique in a registry: a name that another attribute has
// is a [*DocumentError] that says which one. The same version with the same meaning again changes nothing and returns
// the document that is there; with another meaning it is [sgam.ErrSchemaDrift].
func (r *Registry) Add(raw []byte) (sgam.TypeDocument, error) {
	if r.sealed {
		return sgam.TypeDocument{}, errStored
	}
	d, doc, err := parse(raw)
	if err != nil {
		return sgam.TypeDocument{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := typeVersion{doc.Type, doc.Version}
	if there, ok := r.declared[key]; ok {
		if there.Semantic != doc.Semantic {
			return sgam.TypeDocument{}, fmt.Errorf("schema: type %q version %d is already declared: %w",
				doc.Type, doc.Version, sgam.ErrSchemaDrift)
		}
		return there, nil
	}
	owners := d.owners(key)
	var f faults
	for _, name := range sortedKeys(owners) {
		own := owners[name]
		other, taken := r.names[name]
		sameAttribute := other.typ == own.typ && (other.tag == own.tag || other.tag == 0 || own.tag == 0)
		if taken && !sameAttribute {
			f.add(own.path, "unique", fmt.Sprintf("a name of its own: %q is also %s", name, other.place))
		}
	}
	if len(f.found) > 0 {
		return sgam.TypeDocument{}, &DocumentError{Type: doc.Type, Version: doc.Version, Faults: f.found}
	}
	for name, own := range owners {
		if other, taken := r.names[name]; !taken || other.tag == 0 {
			r.names[name] = own
		}
	}
	r.declared[key] = doc
	return doc, nil
}

// AddLens parses the lens into a version, as [ParseLens] does, and declares it with that version. Both versions must be
// declared here before; if one is not, that is [sgam.ErrSchemaGap]. The same lens again changes nothing; another one
// into the same version is [sgam.ErrSchemaDrift].
func (r *Registry) AddLens(raw []byte) error {
	if r.sealed {
		return errStored
	}
	l, _, err := readLens(raw)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := typeVersion{l.typ, l.version}
	older, hasOlder := r.declared[typeVersion{l.typ, l.version - 1}]
	newer, hasNewer := r.declared[key]
	if !hasOlder || !hasNewer {
		return fmt.Errorf("schema: a lens into type %q version %d needs versions %d and %d declared: %w",
			l.typ, l.version, l.version-1, l.version, sgam.ErrSchemaGap)
	}
	doc, err := ParseLens(raw, older, newer)
	if err != nil {
		return err
	}
	if newer.Lens != nil && newer.Lens.Hash != doc.Hash {
		return fmt.Errorf("schema: type %q version %d already has another lens: %w", l.typ, l.version, sgam.ErrSchemaDrift)
	}
	newer.Lens = &doc
	r.declared[key] = newer
	return nil
}

// owners lists the names that a document claims.
func (d *document) owners(key typeVersion) map[string]owner {
	names := map[string]owner{}
	of := fmt.Sprintf("of type %s version %d", d.typ, d.version)
	for _, name := range d.reservedNames {
		names[name] = owner{key, 0, "reserved/names", "a reserved name " + of}
	}
	for _, a := range d.attributes {
		names[a.name] = owner{key, a.tag, a.path + "/name", fmt.Sprintf("the name of attribute %d %s", a.tag, of)}
		for _, alias := range a.aliases {
			names[alias] = owner{key, a.tag, a.path + "/aliases", fmt.Sprintf("an alias of attribute %d %s", a.tag, of)}
		}
	}
	return names
}

// Declared returns the declared documents in order of type and version, each with its lens. The versions of a type must
// follow one another; they may start later than 1 if the ledger holds the ones before. A gap is [sgam.ErrSchemaGap].
func (r *Registry) Declared() ([]sgam.TypeDocument, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	docs := make([]sgam.TypeDocument, 0, len(r.declared))
	for _, doc := range r.declared {
		docs = append(docs, doc)
	}
	slices.SortFunc(docs, func(a, b sgam.TypeDocument) int {
		if c := strings.Compare(a.Type, b.Type); c != 0 {
			return c
		}
		return a.Version - b.Version
	})
	for i := range docs[min(1, len(docs)):] {
		a, b := docs[i], docs[i+1]
		if a.Type == b.Type && a.Version+1 != b.Version {
			return nil, fmt.Errorf("schema: type %q declares versions %d and %d and none between: %w",
				a.Type, a.Version, b.Version, sgam.ErrSchemaGap)
		}
	}
	return docs, nil
}

// Compile makes a document ready to judge values; the specs are in the order of doc.Attributes. A document that is not
// what its hash says, or whose attributes are not those of its JSON, is an error.
func (r *Registry) Compile(doc sgam.TypeDocument) ([]sgam.AttributeSpec, error) {
	hash := digest(doc.JSON)
	if hash != doc.Hash {
		return nil, fmt.Errorf("schema: type %q version %d is not the document that its hash names", doc.Type, doc.Version)
	}
	r.mu.RLock()
	specs, ok := r.compiled[hash]
	r.mu.RUnlock()
	if !ok {
		d, _, err := parse(doc.JSON)
		if err != nil {
			return nil, err
		}
		if specs, err = d.compile(); err != nil {
			return nil, err
		}
		r.mu.Lock()
		r.compiled[hash] = specs
		r.mu.Unlock()
	}
	ordered := make([]sgam.AttributeSpec, len(doc.Attributes))
	for i, name := range doc.Attributes {
		at := slices.IndexFunc(specs, func(s sgam.AttributeSpec) bool { return s.Tag == name.Tag && s.Name == name.Name })
		if at < 0 {
			return nil, fmt.Errorf("schema: type %q version %d has no attribute %q with tag %d",
				doc.Type, doc.Version, name.Name, name.Tag)
		}
		ordered[i] = specs[at]
	}
	return ordered, nil
}

// Steps returns how the values of one version go over into the next, for each attribute that both have, in the order of
// newer.Attributes. Where newer.Lens has operations for an attribute, they convert; elsewhere values go over as they
// are, as far as the rules of [Compare] let them: a value that would have to be changed is a [*sgam.FieldError] with
// rule "lens". Versions that do not follow one another are [sgam.ErrSchemaGap]. A document or a lens that is not what
// its hash says, and a lens that does not fit the documents, is an error.
func (r *Registry) Steps(older, newer sgam.TypeDocument) ([]sgam.AttributeStep, error) {
	if err := follows(older, newer); err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %d %s %s", newer.Type, newer.Version, older.Hash, newer.Hash)
	if newer.Lens != nil {
		key += " " + newer.Lens.Hash
	}
	r.mu.RLock()
	byTag, ok := r.steps[key]
	r.mu.RUnlock()
	if !ok {
		both, err := openSteps(older, newer)
		if err != nil {
			return nil, err
		}
		if byTag, err = both.steps(); err != nil {
			return nil, err
		}
		r.mu.Lock()
		r.steps[key] = byTag
		r.mu.Unlock()
	}
	steps := make([]sgam.AttributeStep, 0, len(byTag))
	for _, a := range newer.Attributes {
		if step, ok := byTag[a.Tag]; ok {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

// Follows judges whether a version of a memory type may follow another one: what the rules of compatibility forbid, and
// what needs a new attribute instead, is a [*ForbiddenError]. What needs a lens or a look at the stored values is for
// [Check] and for a migration to judge.
func (r *Registry) Follows(older, newer sgam.TypeDocument) error {
	changes, err := Compare(older, newer)
	if err != nil {
		return err
	}
	lensed := lensedTags{}
	lensed.add(newer)
	forbidden := slices.DeleteFunc(changes, func(c Change) bool {
		return c.Backward < VerdictBreak || lensed.cover(c) && c.lensed(c.Backward) < VerdictBreak
	})
	if len(forbidden) == 0 {
		return nil
	}
	return &ForbiddenError{Changes: forbidden}
}

// ForbiddenError is every change that no version may make, with the rule and what to do instead.
type ForbiddenError struct{ Changes []Change }

func (e *ForbiddenError) Error() string {
	var b strings.Builder
	for i := range e.Changes {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s at %s: %s", e.Changes[i].Rule, e.Changes[i].Path, e.Changes[i].Advice)
	}
	return b.String()
}

// compile compiles every attribute of a document.
func (d *document) compile() ([]sgam.AttributeSpec, error) {
	specs := make([]sgam.AttributeSpec, len(d.attributes))
	for i, a := range d.attributes {
		j, err := compile(a.schema)
		if err != nil {
			return nil, fmt.Errorf("schema: type %q version %d: attribute %q: %w", d.typ, d.version, a.name, err)
		}
		specs[i] = sgam.AttributeSpec{
			AttributeName: a.named(), Policy: a.policy, Ranks: a.ranks, Sensitivity: string(a.sensitivity),
			Retention: a.retention, Check: j.check,
		}
		if tokens, ok := pointerTokens(a.key); ok {
			specs[i].Identity = identity(tokens)
		}
	}
	return specs, nil
}
