package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// lens is the way from one version of a memory type to the next, decoded.
type lens struct {
	typ        string
	version    int // the newer one
	attributes []attributeLens
	tree       map[string]any // the document, normalised
}

// attributeLens is the way of one attribute.
type attributeLens struct {
	path string
	tag  int
	ops  ops
	tree map[string]any
}

// ParseLens reads the JSON document of the lens between two versions of a memory type that follow one another (the
// package comment describes the format), checks that it makes of the schemas of the older version those of the newer
// one, and returns it in canonical form: RFC 8785, attributes in order of tag, fractions in lowest terms. The canonical
// form of a canonical document is itself.
//
// Hash is the SHA-256 of that form in hexadecimal. What is wrong with the lens is a [*DocumentError]; versions that do
// not follow one another are [sgam.ErrSchemaGap].
func ParseLens(raw []byte, older, newer sgam.TypeDocument) (sgam.LensDocument, error) {
	if err := follows(older, newer); err != nil {
		return sgam.LensDocument{}, err
	}
	_, doc, err := parseLens(raw, older, newer)
	return doc, err
}

// parseLens decodes, checks and encodes a lens.
func parseLens(raw []byte, older, newer sgam.TypeDocument) (*lensBetween, sgam.LensDocument, error) {
	between, err := openBoth(older, newer)
	if err != nil {
		return nil, sgam.LensDocument{}, err
	}
	l, doc, err := readLens(raw)
	if err != nil {
		return nil, sgam.LensDocument{}, err
	}
	var f faults
	switch {
	case l.typ != newer.Type:
		f.add("type", "type", "the type of the documents, "+newer.Type)
	case l.version != newer.Version:
		f.add("version", "version", "the version that the lens leads to, "+strconv.Itoa(newer.Version))
	default:
		for i := range l.attributes {
			f.between(&l.attributes[i], between)
		}
	}
	if len(f.found) > 0 {
		return nil, sgam.LensDocument{}, &DocumentError{Type: l.typ, Version: l.version, Faults: f.found}
	}
	between.lens = l
	return between, doc, nil
}

// readLens decodes and encodes a lens without the documents.
func readLens(raw []byte) (*lens, sgam.LensDocument, error) {
	var f faults
	l := f.lens(raw)
	if len(f.found) > 0 {
		return nil, sgam.LensDocument{}, &DocumentError{Type: l.typ, Version: l.version, Faults: f.found}
	}
	full, err := canonical(l.tree)
	if err != nil {
		return nil, sgam.LensDocument{}, fmt.Errorf("schema: lens into type %q version %d: %w", l.typ, l.version, err)
	}
	return l, sgam.LensDocument{JSON: full, Hash: digest(full)}, nil
}

// lens reads a lens document. The attributes come out in order of tag.
func (f *faults) lens(raw []byte) *lens {
	l := &lens{}
	if len(raw) > maxDocument {
		f.add("", "size", "at most 64 KiB")
		return l
	}
	raw, err := canon.Canonical(raw)
	if ce, ok := errors.AsType[*canon.Error](err); ok {
		f.add(strings.TrimPrefix(ce.Pointer, "/"), ce.Rule, ce.Want)
		return l
	}
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		f.add("", "syntax", "JSON")
		return l
	}
	m := f.keys(root, "")
	l.typ, l.version = m.text("type"), m.whole("version")
	list := m.list("attributes")
	m.close()
	if len(f.found) > 0 {
		return l
	}
	f.name("type", l.typ)
	if l.version < 2 || l.version > maxTag {
		f.add("version", "range", "a whole number from 2 on: the version that the lens leads to")
	}
	for i, v := range list {
		a := f.attributeLens(v, "attributes/"+strconv.Itoa(i), l.version)
		if slices.ContainsFunc(l.attributes, func(b attributeLens) bool { return b.tag == a.tag }) {
			f.add(a.path+"/tag", "unique", "each tag once")
		}
		l.attributes = append(l.attributes, a)
	}
	slices.SortStableFunc(l.attributes, func(a, b attributeLens) int { return a.tag - b.tag })
	sorted := make([]any, len(l.attributes))
	for i, a := range l.attributes {
		sorted[i] = a.tree
	}
	l.tree = map[string]any{"type": l.typ, "version": l.version, "attributes": sorted}
	return l
}

// attributeLens reads the way of one attribute.
func (f *faults) attributeLens(v any, path string, version int) attributeLens {
	m := f.keys(v, path)
	a := attributeLens{path: path, tag: m.whole("tag"), tree: m.members}
	list := m.list("ops")
	m.close()
	if a.tag < 1 || a.tag > maxTag {
		f.add(path+"/tag", "range", "the tag of an attribute that both versions have")
	}
	a.ops = f.ops(list, place{path + "/ops", strconv.Itoa(version) + " " + path + "/ops"}, 1)
	return a
}

// between checks one attribute of a lens against both versions.
func (f *faults) between(a *attributeLens, both *lensBetween) {
	older, newer := both.older.tagged(a.tag), both.newer.tagged(a.tag)
	switch {
	case older == nil || newer == nil:
		f.add(a.path+"/tag", "tag", "the tag of an attribute that both versions have")
		return
	case older.many != newer.many:
		f.add(a.path+"/tag", "cardinality", "a new attribute: one value does not become many, nor many one, by a lens")
		return
	case older.key != newer.key:
		f.add(a.path+"/tag", "identity", "a new attribute: what identifies a member does not change")
		return
	}
	if older.many {
		tokens, _ := pointerTokens(older.key)
		before := len(f.found)
		for i, o := range a.ops {
			if o.touches(tokens) {
				f.add(a.path+"/ops/"+strconv.Itoa(i), "identity", "a new attribute, or an operation that leaves alone what identifies a member: "+
					identityWords(older.key))
			}
		}
		if len(f.found) > before {
			return
		}
	}
	before := len(f.found)
	made := *older
	made.schema = a.ops.reshape(f, older.schema)
	if len(f.found) > before {
		return
	}
	m := matcher{faults: f, path: a.path + "/ops", version: both.newer.version}
	made.schema = m.match(made.schema, newer.schema, "schema")
	if older.unit != newer.unit && !a.ops.converts() {
		f.add(a.path+"/ops", "unit", fmt.Sprintf("an affine operation: the unit was %q and is %q", older.unit, newer.unit))
	}
	if len(f.found) > before {
		return
	}
	made.unit = newer.unit
	m.compatible(&made, newer)
}

func identityWords(key string) string {
	if key == "" {
		return "the whole value"
	}
	return key
}

// converts reports whether one of the operations converts a quantity.
func (list ops) converts() bool {
	return slices.ContainsFunc(list, func(o op) bool {
		switch o := o.(type) {
		case *affine:
			return true
		case *inPath:
			return o.ops.converts()
		case *each:
			return o.ops.converts()
		}
		return false
	})
}

// tagged is the attribute with a tag, nil when there is none.
func (d *document) tagged(tag int) *attribute {
	i := slices.IndexFunc(d.attributes, func(a attribute) bool { return a.tag == tag })
	if i < 0 {
		return nil
	}
	return &d.attributes[i]
}
