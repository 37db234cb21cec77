package ledgertest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Attribute declares one attribute for a test ledger. It is far less than a schema: enough to judge the JSON type of a
// value and to set everything that decides what the ledger does with it.
type Attribute struct {
	// Type is the memory type. Empty: the name before the first dot, or "observed" when the name has none.
	Type string `json:"-"`
	Name string `json:"name"`
	// Tag identifies the attribute in its type. Zero: its position among the type's attributes, from 1.
	Tag     int      `json:"tag"`
	Aliases []string `json:"aliases,omitempty"`
	// Value is the JSON type of the values: string, integer, number, boolean, object, array or date; empty allows all.
	Value  string              `json:"value,omitempty"`
	Many   bool                `json:"many,omitempty"`
	Policy sgam.ConflictPolicy `json:"policy,omitempty"`
	Ranks  []sgam.EpisodeKind  `json:"ranks,omitempty"`
	// Identity is the field of an object value that identifies a member. Empty: the whole value does.
	Identity  string `json:"identity,omitempty"`
	Retention string `json:"retention,omitempty"`
}

// TypeName is the memory type of an attribute that names none: what stands before the first dot, or "observed".
func TypeName(attribute string) string {
	if before, _, ok := strings.Cut(attribute, "."); ok && before != "" {
		return before
	}
	return "observed"
}

// Schemas is a [sgam.Schemas] that needs no schema package. More attributes may be declared while a ledger is open:
// declare them and register [Schemas.Document].
type Schemas struct {
	mu    sync.Mutex
	types map[string][]document // versions in order
}

type document struct {
	Type       string      `json:"type"`
	Version    int         `json:"version"`
	Attributes []Attribute `json:"attributes"`
	lenses     []Lens
}

var _ sgam.Schemas = (*Schemas)(nil)

// NewSchemas declares version 1 of each type that the attributes name. A faulty declaration is reported when a ledger
// opens.
func NewSchemas(attributes ...Attribute) *Schemas {
	s := &Schemas{types: map[string][]document{}}
	for _, a := range attributes {
		typ := cmp.Or(a.Type, TypeName(a.Name))
		if len(s.types[typ]) == 0 {
			s.types[typ] = []document{{Type: typ, Version: 1}}
		}
		d := &s.types[typ][0]
		d.Attributes = append(d.Attributes, tagged(a, len(d.Attributes)+1))
	}
	return s
}

func tagged(a Attribute, position int) Attribute {
	a.Tag = cmp.Or(a.Tag, position)
	return a
}

// Next declares the next version of a type, with the given attributes and no others. Its values go over as they are.
func (s *Schemas) Next(typ string, attributes ...Attribute) sgam.TypeDocument {
	return s.NextThrough(typ, nil, attributes...)
}

// NextThrough declares the next version of a type, into which the values of some attributes go over by a lens.
func (s *Schemas) NextThrough(typ string, lenses []Lens, attributes ...Attribute) sgam.TypeDocument {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := document{Type: typ, Version: len(s.types[typ]) + 1, lenses: lenses}
	for i, a := range attributes {
		d.Attributes = append(d.Attributes, tagged(a, i+1))
	}
	s.types[typ] = append(s.types[typ], d)
	return d.encode()
}

// Declared gives every version of every declared type.
func (s *Schemas) Declared() ([]sgam.TypeDocument, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var docs []sgam.TypeDocument
	for _, versions := range s.types {
		for _, d := range versions {
			docs = append(docs, d.encode())
		}
	}
	slices.SortFunc(docs, func(a, b sgam.TypeDocument) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Version, b.Version))
	})
	return docs, nil
}

func (d document) encode() sgam.TypeDocument {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings, numbers and booleans always encode
	}
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:])
	out := sgam.TypeDocument{Type: d.Type, Version: d.Version, JSON: text, Hash: hash, Semantic: hash}
	for _, a := range d.Attributes {
		out.Attributes = append(out.Attributes, sgam.AttributeName{Tag: a.Tag, Name: a.Name, Aliases: a.Aliases, Many: a.Many})
	}
	if len(d.lenses) > 0 {
		out.Lens = encodeLenses(d.lenses)
	}
	return out
}

// Compile reads a document that [Schemas] wrote, in this program or another.
func (s *Schemas) Compile(doc sgam.TypeDocument) ([]sgam.AttributeSpec, error) {
	var d document
	if err := json.Unmarshal(doc.JSON, &d); err != nil {
		return nil, fmt.Errorf("ledgertest: not a document of this package: %w", err)
	}
	specs := make([]sgam.AttributeSpec, len(d.Attributes))
	for i, a := range d.Attributes {
		check, ok := checks[a.Value]
		if !ok {
			return nil, fmt.Errorf("ledgertest: attribute %q: unknown value type %q", a.Name, a.Value)
		}
		specs[i] = sgam.AttributeSpec{
			AttributeName: sgam.AttributeName{Tag: a.Tag, Name: a.Name, Aliases: a.Aliases, Many: a.Many},
			Policy:        cmp.Or(a.Policy, sgam.Supersede), Ranks: a.Ranks, Retention: a.Retention, Check: check,
		}
		if a.Identity != "" {
			specs[i].Identity = identityOf(a.Identity)
		}
	}
	return specs, nil
}

// identityOf cuts one field out of an object. A value without the field is identified as a whole.
func identityOf(field string) func([]byte) ([]byte, error) {
	return func(value []byte) ([]byte, error) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil {
			return nil, err
		}
		if part, ok := fields[field]; ok {
			return part, nil
		}
		return value, nil
	}
}

var checks = map[string]func([]byte) []sgam.FieldError{
	"":        func([]byte) []sgam.FieldError { return nil },
	"string":  checkType("string", func(v any) bool { _, ok := v.(string); return ok }),
	"number":  checkType("number", func(v any) bool { _, ok := v.(float64); return ok }),
	"integer": checkType("integer", func(v any) bool { n, ok := v.(float64); return ok && n == float64(int64(n)) }),
	"boolean": checkType("boolean", func(v any) bool { _, ok := v.(bool); return ok }),
	"object":  checkType("object", func(v any) bool { _, ok := v.(map[string]any); return ok }),
	"array":   checkType("array", func(v any) bool { _, ok := v.([]any); return ok }),
	"date": checkType("date", func(v any) bool {
		s, ok := v.(string)
		_, err := time.Parse(time.DateOnly, s)
		return ok && err == nil
	}),
}

func checkType(name string, holds func(any) bool) func([]byte) []sgam.FieldError {
	return func(value []byte) []sgam.FieldError {
		var v any
		if err := json.Unmarshal(value, &v); err != nil || !holds(v) {
			return []sgam.FieldError{{Rule: "type", Want: name}}
		}
		return nil
	}
}
