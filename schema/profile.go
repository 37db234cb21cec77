package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The limits of one value schema.
const (
	maxHeight  = 16   // schemas inside one another
	maxNodes   = 1024 // schemas, once references are inlined
	maxPattern = 512  // bytes
	maxLength  = 1<<31 - 1
)

// profile brings one value schema into normal form, and refuses what is outside the closed profile.
type profile struct {
	*faults
	defs     map[string]any    // $defs, as sent
	defsPath string            // where they stand
	done     map[string]*node  // $defs, normalised
	open     map[string]string // the $defs being normalised
}

// node is a normalised schema. It is never changed once made: references to one definition share it.
type node struct {
	keywords map[string]any
	height   int // schemas inside one another, itself included
	size     int // schemas in it, itself included
}

// profile normalises the schema of one attribute's value.
func (f *faults) profile(raw json.RawMessage, path string) map[string]any {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		f.add(path, "syntax", "JSON")
		return nil
	}
	root, ok := v.(map[string]any)
	if !ok {
		f.add(path, "type", "a JSON Schema object")
		return nil
	}
	root = maps.Clone(root)
	if dialect, ok := root["$schema"]; ok {
		if dialect != dialect2020 {
			f.add(path+"/$schema", "keyword", dialect2020+", or no $schema")
		}
		delete(root, "$schema")
	}
	before := len(f.found)
	p := &profile{
		faults: f, defsPath: path + "/$defs", done: map[string]*node{}, open: map[string]string{},
	}
	if defs, ok := root["$defs"]; ok {
		if p.defs, ok = defs.(map[string]any); !ok {
			f.add(p.defsPath, "type", "an object of schemas")
		}
		delete(root, "$defs")
		for _, name := range sortedKeys(p.defs) {
			p.definition(name)
		}
	}
	n := p.schema(root, path)
	if _, nullable := n.keywords["type"].([]any); nullable {
		f.add(path+"/type", "type", "one type without null: end and void say that there is no value")
	}
	if f.nodes += n.size; f.nodes > maxDocumentNodes {
		f.add(path, "size", fmt.Sprintf("at most %d schemas in a document once references are inlined", maxDocumentNodes))
	}
	if len(f.found) > before {
		return nil
	}
	j, err := compile(n.keywords)
	if err != nil {
		f.add(path, "schema", err.Error())
		return nil
	}
	f.values(n.keywords, j.schema, path)
	return n.keywords
}

const dialect2020 = "https://json-schema.org/draft/2020-12/schema"

// definition normalises one of $defs, once.
func (p *profile) definition(name string) *node {
	if n, ok := p.done[name]; ok {
		return n
	}
	path := join(p.defsPath, name)
	p.open[name] = path
	n := p.schema(p.defs[name], path)
	delete(p.open, name)
	p.done[name] = n
	return n
}

// schema normalises one schema. With faults the result is only good for finding more of them.
func (p *profile) schema(v any, path string) *node {
	m, ok := v.(map[string]any)
	if !ok {
		p.add(path, "type", "a JSON Schema object")
		return &node{}
	}
	if _, ok := m["$ref"]; ok {
		return p.reference(m, path)
	}
	n := &node{keywords: map[string]any{}, height: 1, size: 1}
	known := p.annotations(m, n, path)
	if _, ok := m["oneOf"]; ok {
		p.union(m, n, path, known)
	} else {
		p.plain(m, n, path, known)
	}
	switch {
	case n.height == maxHeight+1:
		p.add(path, "depth", fmt.Sprintf("at most %d schemas inside one another", maxHeight))
	case n.size > maxNodes:
		p.add(path, "size", fmt.Sprintf("at most %d schemas once references are inlined", maxNodes))
		n.size = 1
	}
	return n
}

// child normalises a schema inside another one.
func (p *profile) child(n *node, v any, path string) map[string]any {
	c := p.schema(v, path)
	n.height = max(n.height, c.height+1)
	n.size += c.size
	return c.keywords
}

// reference puts a definition in the place of its $ref. Beside it only annotations may stand; they win.
func (p *profile) reference(m map[string]any, path string) *node {
	own := &node{keywords: map[string]any{}}
	known := p.annotations(m, own, path)
	p.refuse(m, path, func(key string) bool { return key == "$ref" || known(key) }, "only annotations beside $ref")
	ref, ok := m["$ref"].(string)
	name, local := strings.CutPrefix(ref, "#/$defs/")
	name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	if _, found := p.defs[name]; !ok || !local || !found {
		p.add(path+"/$ref", "ref", "#/$defs/ and the name of a definition at the root of this schema")
		return &node{}
	}
	if _, cyclic := p.open[name]; cyclic {
		p.add(path+"/$ref", "ref", "no schema that contains itself")
		return &node{}
	}
	n := *p.definition(name)
	n.keywords = maps.Clone(n.keywords)
	if n.keywords == nil {
		n.keywords = map[string]any{}
	}
	maps.Copy(n.keywords, own.keywords)
	return &n
}

// annotations takes over what may stand in every schema, and returns which keywords that were.
func (p *profile) annotations(m map[string]any, n *node, path string) func(key string) bool {
	for _, key := range sortedKeys(m) {
		v, at := m[key], join(path, key)
		switch key {
		case "title", "description":
			s, ok := v.(string)
			if !ok {
				p.add(at, "type", "a string")
			}
			put(n.keywords, key, s)
		case "examples":
			list, ok := v.([]any)
			if !ok {
				p.add(at, "type", "a list of values")
			}
			if len(list) > 0 {
				n.keywords[key] = list
			}
		case "deprecated":
			yes, ok := v.(bool)
			if !ok {
				p.add(at, "type", "true or false")
			}
			if yes {
				n.keywords[key] = true
			}
		case "default":
			n.keywords[key] = v
		default:
			if strings.HasPrefix(key, "x-sgam-") {
				n.keywords[key] = v
			}
		}
	}
	return func(key string) bool {
		switch key {
		case "title", "description", "examples", "deprecated", "default":
			return true
		}
		return strings.HasPrefix(key, "x-sgam-")
	}
}

// union normalises a tagged union: oneOf over objects that all require one property, with a constant of their own each.
func (p *profile) union(m map[string]any, n *node, path string, known func(string) bool) {
	p.refuse(m, path, func(key string) bool { return key == "oneOf" || key == "type" || known(key) },
		"only type object and annotations beside oneOf")
	if t, ok := m["type"]; ok && t != "object" {
		p.add(path+"/type", "type", "object, beside oneOf")
	}
	n.keywords["type"] = "object"
	list, ok := m["oneOf"].([]any)
	if !ok || len(list) == 0 {
		p.add(path+"/oneOf", "type", "a list of schemas")
		return
	}
	before := len(p.found)
	branches := make([]any, len(list))
	for i, v := range list {
		branches[i] = p.child(n, v, path+"/oneOf/"+strconv.Itoa(i))
	}
	n.keywords["oneOf"] = branches
	if len(p.found) == before && discriminator(branches) == "" {
		p.add(path+"/oneOf", "discriminator",
			"objects that all require the same property, each with another string constant in it")
	}
}

// discriminator finds the property that tells the branches of a union apart, "" when there is none.
func discriminator(branches []any) string {
	first, _ := branches[0].(map[string]any)
	candidates, _ := first["properties"].(map[string]any)
	for _, name := range sortedKeys(candidates) {
		seen := map[string]bool{}
		for _, b := range branches {
			branch, _ := b.(map[string]any)
			required, _ := branch["required"].([]any)
			properties, _ := branch["properties"].(map[string]any)
			property, _ := properties[name].(map[string]any)
			constant, ok := property["const"].(string)
			if ok && branch["type"] == "object" && slices.Contains(required, any(name)) {
				seen[constant] = true
			}
		}
		if len(seen) == len(branches) {
			return name
		}
	}
	return ""
}

// values checks, in a normalised schema and all inside it, that constants are values of the schema that they stand in.
func (f *faults) values(keywords map[string]any, s *jsonschema.Schema, path string) {
	check := func(v any, at, rule string) {
		if s.Validate(v) != nil {
			f.add(at, rule, "a value that the rest of this schema allows")
		}
	}
	for _, key := range []string{"enum", "examples"} {
		list, _ := keywords[key].([]any)
		for i, v := range list {
			check(v, path+"/"+key+"/"+strconv.Itoa(i), key)
		}
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := keywords[key]; ok {
			check(v, path+"/"+key, key)
		}
	}
	properties, _ := keywords["properties"].(map[string]any)
	for _, name := range sortedKeys(properties) {
		f.values(asSchema(properties[name]), s.Properties[name], join(path+"/properties", name))
	}
	if items, ok := keywords["items"].(map[string]any); ok {
		f.values(items, s.Items2020, path+"/items")
	}
	branches, _ := keywords["oneOf"].([]any)
	for i, b := range branches {
		f.values(asSchema(b), s.OneOf[i], path+"/oneOf/"+strconv.Itoa(i))
	}
}

// withoutWords is a normalised schema without titles, descriptions and examples.
func withoutWords(keywords map[string]any) map[string]any {
	out := maps.Clone(keywords)
	delete(out, "title")
	delete(out, "description")
	delete(out, "examples")
	if properties, ok := out["properties"].(map[string]any); ok {
		plain := make(map[string]any, len(properties))
		for name, v := range properties {
			plain[name] = withoutWords(asSchema(v))
		}
		out["properties"] = plain
	}
	if items, ok := out["items"].(map[string]any); ok {
		out["items"] = withoutWords(items)
	}
	if branches, ok := out["oneOf"].([]any); ok {
		plain := make([]any, len(branches))
		for i, v := range branches {
			plain[i] = withoutWords(asSchema(v))
		}
		out["oneOf"] = plain
	}
	return out
}

// asSchema is a schema inside a normalised one.
func asSchema(v any) map[string]any {
	s, _ := v.(map[string]any)
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
