package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// The limits of a document. A larger model belongs into several memory types.
const (
	maxDocument      = 64 << 10 // bytes, as sent and in canonical form
	maxDocumentNodes = 4096     // schemas, once references are inlined; the canonical form has room for fewer
	maxAttributes    = 1024
	maxTag           = 1<<31 - 1
	maxName          = 128 // bytes
)

// DocumentError is everything that is wrong with a definition, all at once. Each fault names its place: in a JSON
// document the path from the root ("attributes/0/schema/not"), in a Go type the path of the field ("Order.Items[].SKU").
type DocumentError struct {
	// Type and Version are what the definition says of itself; empty and 0 when it does not get that far.
	Type    string
	Version int
	Faults  []sgam.FieldError
}

func (e *DocumentError) Error() string {
	const shown = 10
	var b strings.Builder
	fmt.Fprintf(&b, "schema: type %q version %d", e.Type, e.Version)
	for i := range e.Faults {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(e.Faults)-shown)
			break
		}
		b.WriteString("; ")
		b.WriteString(e.Faults[i].Error())
	}
	return b.String()
}

// Unwrap gives the faults, so that errors.As finds the first [*sgam.FieldError].
func (e *DocumentError) Unwrap() []error {
	errs := make([]error, len(e.Faults))
	for i := range e.Faults {
		errs[i] = &e.Faults[i]
	}
	return errs
}

// faults collects what is wrong with a definition.
type faults struct {
	found []sgam.FieldError
	nodes int // schemas seen, once references are inlined
}

func (f *faults) add(field, rule, want string) {
	f.found = append(f.found, sgam.FieldError{Field: field, Rule: rule, Want: want})
}

// document is one version of a memory type, decoded.
type document struct {
	typ, title, description string
	version                 int
	draft                   bool
	attributes              []attribute
	reservedTags            []int
	reservedNames           []string
}

// ParseDocument reads the JSON document of one version of a memory type (the package comment describes the format), and
// returns it in canonical form: RFC 8785, attributes in order of tag, references inlined, and every default that has a
// meaning written out. The canonical form of a canonical document is itself.
//
// Hash is the SHA-256 of that form in hexadecimal; Semantic the same without titles, descriptions and examples, so that
// better words are no new version. Every error is a [*DocumentError].
func ParseDocument(raw []byte) (sgam.TypeDocument, error) {
	_, doc, err := parse(raw)
	return doc, err
}

// parse decodes, checks and encodes a document.
func parse(raw []byte) (*document, sgam.TypeDocument, error) {
	var f faults
	d := decode(raw, &f)
	if len(f.found) > 0 {
		return nil, sgam.TypeDocument{}, &DocumentError{Type: d.typ, Version: d.version, Faults: f.found}
	}
	full, err := canonical(d.tree(false))
	if err != nil {
		return nil, sgam.TypeDocument{}, fmt.Errorf("schema: type %q version %d: %w", d.typ, d.version, err)
	}
	if len(full) > maxDocument {
		f.add("", "size", "at most 64 KiB once its references are inlined")
		return nil, sgam.TypeDocument{}, &DocumentError{Type: d.typ, Version: d.version, Faults: f.found}
	}
	plain, err := canonical(d.tree(true))
	if err != nil {
		return nil, sgam.TypeDocument{}, fmt.Errorf("schema: type %q version %d: %w", d.typ, d.version, err)
	}
	doc := sgam.TypeDocument{
		Type: d.typ, Version: d.version, Draft: d.draft, JSON: full, Hash: digest(full), Semantic: digest(plain),
	}
	for i := range d.attributes {
		doc.Attributes = append(doc.Attributes, d.attributes[i].named())
	}
	return d, doc, nil
}

// canonical encodes a tree of JSON values.
func canonical(tree any) ([]byte, error) {
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return canon.Canonical(raw)
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// decode reads a document and adds to f what is wrong with it. The attributes come out in order of tag.
func decode(raw []byte, f *faults) *document {
	d := &document{}
	if len(raw) > maxDocument {
		f.add("", "size", "at most 64 KiB")
		return d
	}
	raw, err := canon.Canonical(raw)
	if ce, ok := errors.AsType[*canon.Error](err); ok {
		f.add(strings.TrimPrefix(ce.Pointer, "/"), ce.Rule, ce.Want)
		return d
	}
	var attributes []json.RawMessage
	var reserved json.RawMessage
	f.members(raw, "", map[string]any{
		"type": &d.typ, "version": &d.version, "draft": &d.draft, "title": &d.title, "description": &d.description,
		"attributes": &attributes, "reserved": &reserved,
	})
	if len(f.found) > 0 {
		return d
	}
	f.name("type", d.typ)
	if d.version < 1 {
		f.add("version", "range", "a whole number from 1 on")
	}
	if reserved != nil {
		f.members(reserved, "reserved", map[string]any{"tags": &d.reservedTags, "names": &d.reservedNames})
	}
	f.reserved(d)
	switch n := len(attributes); {
	case n == 0:
		f.add("attributes", "required", "at least one attribute")
	case n > maxAttributes:
		f.add("attributes", "range", fmt.Sprintf("at most %d attributes", maxAttributes))
		return d
	}
	for i, a := range attributes {
		d.attributes = append(d.attributes, f.attribute(a, "attributes/"+strconv.Itoa(i)))
	}
	f.unique(d)
	slices.SortStableFunc(d.attributes, func(a, b attribute) int { return a.tag - b.tag })
	return d
}

// reserved checks what a document reserves, and brings it in order.
func (f *faults) reserved(d *document) {
	for i, tag := range d.reservedTags {
		at := "reserved/tags/" + strconv.Itoa(i)
		if tag < 1 || tag > maxTag {
			f.add(at, "range", "a tag: a whole number from 1 on")
		}
		if slices.Contains(d.reservedTags[:i], tag) {
			f.add(at, "unique", "each tag once")
		}
	}
	for i, name := range d.reservedNames {
		at := "reserved/names/" + strconv.Itoa(i)
		f.name(at, name)
		if slices.Contains(d.reservedNames[:i], name) {
			f.add(at, "unique", "each name once")
		}
	}
	slices.Sort(d.reservedTags)
	slices.Sort(d.reservedNames)
}

// unique checks that no two attributes of a document share a tag or a name, and that none uses a reserved one.
func (f *faults) unique(d *document) {
	tags, names := map[int]string{}, map[string]string{}
	for i, a := range d.attributes {
		at := "attributes/" + strconv.Itoa(i)
		if other, taken := tags[a.tag]; taken {
			f.add(at+"/tag", "unique", fmt.Sprintf("a tag of its own: %d is also %s/tag", a.tag, other))
		} else if slices.Contains(d.reservedTags, a.tag) {
			f.add(at+"/tag", "reserved", "a tag that is not reserved")
		} else {
			tags[a.tag] = at
		}
		for j, name := range append([]string{a.name}, a.aliases...) {
			place := at + "/name"
			if j > 0 {
				place = at + "/aliases"
			}
			if other, taken := names[name]; taken {
				f.add(place, "unique", fmt.Sprintf("a name of its own: %q is also in %s", name, other))
			} else if slices.Contains(d.reservedNames, name) {
				f.add(place, "reserved", fmt.Sprintf("a name that is not reserved: %q is", name))
			} else {
				names[name] = place
			}
		}
	}
}

// tree is the document as JSON values; plain leaves titles, descriptions and examples out. What is empty is left out.
func (d *document) tree(plain bool) map[string]any {
	attributes := make([]any, len(d.attributes))
	for i := range d.attributes {
		attributes[i] = d.attributes[i].tree(plain)
	}
	out := map[string]any{"type": d.typ, "version": d.version, "attributes": attributes}
	if d.draft {
		out["draft"] = true
	}
	if !plain {
		put(out, "title", d.title)
		put(out, "description", d.description)
	}
	reserved := map[string]any{}
	if len(d.reservedTags) > 0 {
		reserved["tags"] = d.reservedTags
	}
	if len(d.reservedNames) > 0 {
		reserved["names"] = d.reservedNames
	}
	if len(reserved) > 0 {
		out["reserved"] = reserved
	}
	return out
}

// put sets a key unless the text is empty.
func put(m map[string]any, key, text string) {
	if text != "" {
		m[key] = text
	}
}

// members reads the members of a JSON object into what the known keys point to. Unknown keys, nulls and wrong types are
// faults.
func (f *faults) members(raw json.RawMessage, path string, known map[string]any) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		f.add(path, "type", "an object")
		return
	}
	for _, key := range sortedKeys(members) {
		into, ok := known[key]
		if !ok {
			f.add(join(path, key), "unknown", "one of "+strings.Join(sortedKeys(known), ", "))
			continue
		}
		if string(members[key]) == "null" || json.Unmarshal(members[key], into) != nil {
			f.add(join(path, key), "type", wantOf(into))
		}
	}
}

// wantOf says in words what a pointer takes.
func wantOf(into any) string {
	switch into.(type) {
	case *string:
		return "a string"
	case *int:
		return "a whole number"
	case *bool:
		return "true or false"
	case *[]int:
		return "a list of whole numbers"
	case *json.RawMessage:
		return "an object"
	case *[]json.RawMessage:
		return "a list of objects"
	}
	return "a list of strings"
}

// name checks the name of a type or an attribute.
func (f *faults) name(path, s string) {
	if !isName(s) {
		f.add(path, "name", fmt.Sprintf("1 to %d of the characters A-Z a-z 0-9 _ . @ -", maxName))
	}
}

func isName(s string) bool {
	return len(s) >= 1 && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.@-", r)
	})
}

// join appends a token to a path, escaped as in RFC 6901.
func join(path, token string) string {
	token = strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
	if path == "" {
		return token
	}
	return path + "/" + token
}
