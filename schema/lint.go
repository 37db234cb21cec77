package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// Lint finds what an endpoint that promises to keep to a schema would refuse in it: each fault with its path in the
// schema, the rule and what is wanted. Nothing found means that the documented rules of the dialect are kept; it is no
// promise of the service. Everything that [For] makes passes.
//
// Beside the keywords, types and formats of the dialect the rules are: the root is one closed object (root, closed); a
// schema says what it is (type); every property is required, where the dialect wants that (required); references are
// local, and lead in no circle where none is allowed (ref); lists have items (items); enumerations hold scalars (enum);
// objects of one anyOf differ in their first property, which OpenAI has been seen to refuse otherwise (first_key); and the
// limits of [LimitError], each under its own name.
func Lint(d Dialect, raw []byte) []sgam.FieldError {
	rules, err := d.rules()
	if err != nil {
		fe, _ := errors.AsType[*sgam.FieldError](err)
		return []sgam.FieldError{*fe}
	}
	if _, err := canon.Canonical(raw); err != nil {
		if ce, ok := errors.AsType[*canon.Error](err); ok {
			return []sgam.FieldError{{Field: strings.TrimPrefix(ce.Pointer, "/"), Rule: ce.Rule, Want: ce.Want}}
		}
		return []sgam.FieldError{{Rule: "syntax", Want: "JSON"}}
	}
	l := inspect(d, rules, raw)
	for i := range l.over {
		over := &l.over[i]
		l.add("", over.Limit, fmt.Sprintf("at most %d %s, not %d: try %s", over.Most, over.what, over.Have, over.advice))
	}
	return l.found
}

// linter walks a schema once, finds faults and counts what is limited.
type linter struct {
	faults
	dialectRules
	dialect Dialect
	defs    map[string]bool     // local references that lead somewhere
	refs    map[string][]string // the references inside each definition
	inside  string              // the definition that is being walked
	counts  map[string]int
	over    []LimitError
}

func inspect(d Dialect, rules dialectRules, raw []byte) *linter {
	l := &linter{dialect: d, dialectRules: rules, defs: map[string]bool{"#": true}, refs: map[string][]string{}, counts: map[string]int{}}
	var root map[string]json.RawMessage
	if json.Unmarshal(raw, &root) != nil || root == nil {
		l.add("", "root", "a JSON Schema object")
		return l
	}
	definitions := map[string]json.RawMessage{}
	for _, key := range []string{"$defs", "definitions"} {
		var defs map[string]json.RawMessage
		if at, ok := root[key]; !ok || !l.keyword(key, true) {
			continue
		} else if json.Unmarshal(at, &defs) != nil || defs == nil {
			l.add(key, "type", "an object of schemas")
		}
		for name, def := range defs {
			l.defs["#/"+join(key, name)] = true
			l.counts["text"] += len([]rune(name))
			definitions[join(key, name)] = def
		}
	}
	if string(root["type"]) != `"object"` || root["anyOf"] != nil {
		l.add("", "root", "type object, and no anyOf: wrap it in a property")
	}
	l.inside = "#"
	l.schema(raw, "", 0)
	for _, at := range sortedKeys(definitions) {
		l.inside = "#/" + at
		l.schema(definitions[at], at, 1)
	}
	l.circles()
	for _, limit := range rules.limits {
		if have := l.counts[limit.name]; have > limit.most {
			l.over = append(l.over, LimitError{d, limit.name, have, limit.most, limit.what, limit.advice})
		}
	}
	return l
}

// schema judges one schema. Depth is how many schemas are around it, counted the strictest way: the branches of anyOf
// and the types of items count too.
func (l *linter) schema(raw json.RawMessage, path string, depth int) {
	l.counts["depth"] = max(l.counts["depth"], depth)
	var s map[string]json.RawMessage
	if json.Unmarshal(raw, &s) != nil || s == nil {
		l.add(path, "schema", "a JSON Schema object that says what it allows")
		return
	}
	for _, key := range sortedKeys(s) {
		if !l.keyword(key, path == "") {
			l.add(join(path, key), "keyword", l.instead(key))
		}
	}
	types := l.types(s, path)
	l.reference(s, path)
	l.constants(s, path)
	l.scalars(s, path)
	if slices.Contains(types, "object") {
		l.object(s, path, depth)
	}
	if slices.Contains(types, "array") {
		if items, ok := s["items"]; ok {
			l.schema(items, join(path, "items"), depth+1)
		} else {
			l.add(join(path, "items"), "items", "the schema of the items")
		}
	}
	for _, key := range []string{"anyOf", "allOf"} {
		if list, ok := s[key]; ok && l.keyword(key, false) {
			l.branches(list, join(path, key), depth)
		}
	}
}

// instead says what to write in the place of a keyword.
func (l *linter) instead(key string) string {
	switch key {
	case "oneOf":
		return "anyOf"
	case "default", "examples", "deprecated", "$comment":
		return "the description, or nothing"
	case "$ref", "$defs", "definitions":
		return "the schema itself, in its place"
	}
	for _, keywords := range typeKeywords {
		if slices.Contains(keywords, key) {
			return "the description: say it in words, and judge the answer afterwards"
		}
	}
	return "one of " + l.known()
}

// types reads the type of a schema.
func (l *linter) types(s map[string]json.RawMessage, path string) []string {
	says := []string{"type", "anyOf", "$ref"}
	if !l.allRequired {
		says = append(says, "allOf", "enum", "const")
	}
	if !slices.ContainsFunc(says, func(key string) bool { return s[key] != nil }) {
		l.add(path, "type", "one of "+strings.Join(says, ", "))
	}
	raw, ok := s["type"]
	if !ok {
		return nil
	}
	var names []string
	if raw[0] == '[' {
		l.counts["unions"]++
	} else {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	if json.Unmarshal(raw, &names) != nil || len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return typeWords[n] == "" }) {
		l.add(join(path, "type"), "type", "string, number, integer, boolean, array, object, or one of them in a list with null")
	}
	return names
}

// object judges what applies to objects.
func (l *linter) object(s map[string]json.RawMessage, path string, depth int) {
	if string(s["additionalProperties"]) != "false" {
		l.add(join(path, "additionalProperties"), "closed", "additionalProperties false")
	}
	var properties map[string]json.RawMessage
	if json.Unmarshal(s["properties"], &properties) != nil || properties == nil {
		l.add(join(path, "properties"), "properties", "an object with the schema of each property")
	}
	var required []string
	if raw, ok := s["required"]; ok && json.Unmarshal(raw, &required) != nil {
		l.add(join(path, "required"), "required", "a list of names")
	}
	for _, name := range required {
		if _, ok := properties[name]; !ok {
			l.add(join(path, "required"), "required", "names of properties of this object")
			break
		}
	}
	for _, name := range sortedKeys(properties) {
		l.counts["properties"]++
		l.counts["text"] += len([]rune(name))
		at := join(join(path, "properties"), name)
		switch {
		case slices.Contains(required, name):
		case l.allRequired:
			l.add(at, "required", "the name in required: what may be left out may be null instead")
		default:
			l.counts["optional"]++
		}
		l.schema(properties[name], at, depth+1)
	}
}

// branches judges the schemas of anyOf or allOf.
func (l *linter) branches(raw json.RawMessage, path string, depth int) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		l.add(path, "type", "a list of schemas")
		return
	}
	if strings.HasSuffix(path, "anyOf") {
		l.counts["unions"]++
	}
	firsts := map[string]bool{}
	for i, branch := range list {
		at := join(path, strconv.Itoa(i))
		if strings.HasSuffix(path, "allOf") && refers(branch) {
			l.add(at, "ref", "no $ref in allOf")
		}
		if first := firstProperty(branch); first != "" && l.dialect == OpenAI {
			if firsts[first] {
				l.add(at, "first_key", "a first property that tells the objects of this anyOf apart: a name or a constant of its own")
			}
			firsts[first] = true
		}
		l.schema(branch, at, depth+1)
	}
}

func refers(schema json.RawMessage) bool {
	var s struct {
		Ref json.RawMessage `json:"$ref"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Ref != nil
}

// firstProperty is the first property of an object with its schema, as one text; empty when there is none.
func firstProperty(schema json.RawMessage) string {
	var s struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(s.Properties))
	var first json.RawMessage
	for range 2 { // the brace, then the name
		if _, err := dec.Token(); err != nil {
			return ""
		}
	}
	if dec.Decode(&first) != nil {
		return ""
	}
	plain, err := canon.Canonical(first)
	if err != nil {
		return ""
	}
	end := dec.InputOffset() - int64(len(first))
	return string(s.Properties[:end]) + string(plain)
}
