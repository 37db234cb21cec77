package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// Spec is what an attribute says besides the shape of its value. Nil is all defaults.
type Spec struct {
	// Tag is the attribute's number in its type and its identity for ever: renaming keeps it, nothing else may have it.
	// Zero is one more than the attribute before, so 1 for the first: with zeros, new fields go last.
	Tag int
	// Aliases are names that the attribute had before. Nil is none.
	Aliases []string
	// Many makes the attribute a set of values of type T; in [DefineType] a slice field becomes a set of its elements.
	// False: it has one value at a time.
	Many bool
	// Key is the JSON pointer of the part of a member that identifies it, "/sku". Empty: the whole value does. Only
	// with Many; the part must be required.
	Key string
	// Policy says what happens when a delta meets a different value. Empty is [sgam.Supersede].
	Policy sgam.ConflictPolicy
	// Ranks are the episode kinds from the strongest to the weakest, for [sgam.SourceRank] and for nothing else.
	Ranks []sgam.EpisodeKind
	// Sensitivity is how carefully values must be kept. Empty is [Internal].
	Sensitivity Sensitivity
	// Declassified says who made the attribute less sensitive than the version before had it, and why; without it such a
	// version is refused. Nil: nobody did.
	Declassified *Declassification
	// Retention names the retention class. Empty: values stay until they are erased.
	Retention string
	// Unit is what a number counts: "EUR", "ms". Empty: nothing is said.
	Unit string
	// Title and Description are words for people and models; changing them is no new version. Empty: none.
	Title, Description string
	// Rules are rules for the value in the notation of a validate tag, "oneof=open closed". Empty: none. Only for
	// [Define]; the fields of [DefineType] have tags.
	Rules string
	// Draft lets the version be replaced as long as it is a draft. False: it is frozen once it is registered. Only for
	// [Define]; [TypeSpec] has its own.
	Draft bool
}

// TypeSpec is what a memory type says besides its fields. Nil is all defaults.
type TypeSpec struct {
	// Prefix is put before the name of each field to make the name of the attribute, which must be unique in the whole
	// registry: "passport_". Empty: the field's name is the attribute's.
	Prefix string
	// Fields are the specs of single attributes, by the field's name in JSON. A missing or nil one is all defaults.
	Fields map[string]*Spec
	// ReservedTags and ReservedNames were used by earlier versions and are never used again. Nil is none.
	ReservedTags  []int
	ReservedNames []string
	// Title and Description are words for people and models. Empty: none.
	Title, Description string
	// Draft lets the version be replaced as long as it is a draft. False: it is frozen once it is registered.
	Draft bool
}

// Define declares a memory type with one attribute of the same name, whose values are of type T: a scalar, a struct, a
// slice, [sgam.Date], [time.Time]. The package comment says which Go types and tags are understood. Every fault of the
// definition comes back in one [*DocumentError].
func Define[T any](reg *Registry, name string, version int, spec *Spec) (sgam.Attribute[T], error) {
	if spec == nil {
		spec = &Spec{}
	}
	var b builder
	schema := b.value(reflect.TypeFor[T](), spec.Rules)
	d := &document{typ: name, version: version, draft: spec.Draft}
	d.attributes = []attribute{spec.attribute(name, 1, schema)}
	if err := reg.define(d, &b.faults); err != nil {
		return sgam.Attribute[T]{}, err
	}
	return sgam.NewAttribute[T](name, name, version), nil
}

// MustDefine is [Define] for package variables: it panics where Define fails.
func MustDefine[T any](reg *Registry, name string, version int, spec *Spec) sgam.Attribute[T] {
	a, err := Define[T](reg, name, version, spec)
	if err != nil {
		panic(err)
	}
	return a
}

// Type is a memory type that [DefineType] made from a struct. [AttributeOf] gives its attributes.
type Type struct {
	name    string
	version int
	members map[string]member // by name of the field in JSON
}

type member struct {
	attribute string
	typ       reflect.Type
}

// DefineType declares a memory type with one attribute for each field of struct T. An attribute is optional by nature:
// a pointer or omitempty adds nothing to it.
func DefineType[T any](reg *Registry, name string, version int, spec *TypeSpec) (Type, error) {
	if spec == nil {
		spec = &TypeSpec{}
	}
	var b builder
	t := Type{name: name, version: version, members: map[string]member{}}
	d := &document{
		typ: name, version: version, draft: spec.Draft, title: spec.Title, description: spec.Description,
		reservedTags: slices.Clone(spec.ReservedTags), reservedNames: slices.Clone(spec.ReservedNames),
	}
	fields, schemas := b.members(reflect.TypeFor[T]())
	last := 0
	for i := range fields {
		f := &fields[i]
		own := spec.Fields[f.name]
		if own == nil {
			own = &Spec{}
		}
		if own.Draft || own.Rules != "" {
			b.add(f.path, "spec", "Draft in the TypeSpec, and rules in the field's validate tag")
		}
		schema, typ := b.member(f, schemas, own.Many)
		a := own.attribute(spec.Prefix+f.name, last+1, schema)
		last = a.tag
		d.attributes = append(d.attributes, a)
		t.members[f.name] = member{a.name, typ}
	}
	for _, field := range sortedKeys(spec.Fields) {
		if _, ok := t.members[field]; !ok && len(b.found) == 0 {
			b.add("Fields/"+field, "spec", "the name of a field in JSON")
		}
	}
	if err := reg.define(d, &b.faults); err != nil {
		return Type{}, err
	}
	return t, nil
}

// MustDefineType is [DefineType] for package variables: it panics where DefineType fails.
func MustDefineType[T any](reg *Registry, name string, version int, spec *TypeSpec) Type {
	t, err := DefineType[T](reg, name, version, spec)
	if err != nil {
		panic(err)
	}
	return t
}

// AttributeOf is the typed edge of one attribute: the field with this name in JSON. F is the type of the field; without
// the pointer if it is one, and of its elements if it is a slice that Many has made a set.
func AttributeOf[F any](t Type, field string) (sgam.Attribute[F], error) {
	m, ok := t.members[field]
	if !ok {
		return sgam.Attribute[F]{}, fmt.Errorf("schema: type %q has no field %q", t.name, field)
	}
	if want := reflect.TypeFor[F](); want != m.typ {
		return sgam.Attribute[F]{}, fmt.Errorf("schema: field %q of type %q is %s, not %s", field, t.name, m.typ, want)
	}
	return sgam.NewAttribute[F](t.name, m.attribute, t.version), nil
}

// MustAttributeOf is [AttributeOf] for package variables: it panics where AttributeOf fails.
func MustAttributeOf[F any](t Type, field string) sgam.Attribute[F] {
	a, err := AttributeOf[F](t, field)
	if err != nil {
		panic(err)
	}
	return a
}

// attribute makes an attribute of a document.
func (s *Spec) attribute(name string, tag int, schema map[string]any) attribute {
	a := attribute{
		tag: tag, name: name, title: s.Title, description: s.Description, aliases: s.Aliases, many: s.Many, key: s.Key,
		policy: s.Policy, ranks: s.Ranks, sensitivity: s.Sensitivity, declassified: s.Declassified, retention: s.Retention, unit: s.Unit, schema: schema,
	}
	if s.Tag != 0 {
		a.tag = s.Tag
	}
	if a.policy == "" {
		a.policy = sgam.Supersede
	}
	if a.sensitivity == "" {
		a.sensitivity = Internal
	}
	return a
}

// define declares a document made from Go. It goes through the JSON form, so that it is judged and written exactly as if
// it had been JSON all along.
func (r *Registry) define(d *document, f *faults) error {
	if len(f.found) > 0 {
		return &DocumentError{Type: d.typ, Version: d.version, Faults: f.found}
	}
	raw, err := json.Marshal(d.tree(false))
	if err != nil {
		return fmt.Errorf("schema: type %q version %d: %w", d.typ, d.version, err)
	}
	_, err = r.Add(raw)
	return err
}
