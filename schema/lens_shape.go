package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The keys of what stands in a schema only while a lens works on it. The profile has no such keywords.
const (
	holeKey    = "made by a lens"
	touchedKey = "touched by a lens"
)

// hole is a schema that a lens leaves open: the newer version says what it is, within what the lens makes there.
type hole struct {
	path   string   // what of the lens made it
	types  []string // empty: any
	values []any    // what must be allowed there
	added  bool     // a property that the older version has not
}

func (h hole) schema() map[string]any { return map[string]any{holeKey: h} }

func holeOf(s map[string]any) (hole, bool) {
	h, ok := s[holeKey].(hole)
	return h, ok
}

// open reports whether something in a schema is left open.
func open(s map[string]any) bool {
	if _, ok := holeOf(s); ok {
		return true
	}
	items, ok := s["items"].(map[string]any)
	if ok && open(items) {
		return true
	}
	properties, _ := s["properties"].(map[string]any)
	for _, part := range properties {
		if open(asSchema(part)) {
			return true
		}
	}
	return slices.ContainsFunc(branches(s), open)
}

// base is the type of a schema, null aside; "" is one that the lens leaves open.
func base(s map[string]any) string {
	if h, ok := holeOf(s); ok {
		if len(h.types) > 0 {
			return h.types[0]
		}
		return ""
	}
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		t, _ := list[0].(string)
		return t
	}
	t, _ := s["type"].(string)
	return t
}

// branches are the schemas of a union.
func branches(s map[string]any) []map[string]any {
	list, _ := s["oneOf"].([]any)
	out := make([]map[string]any, len(list))
	for i, b := range list {
		out[i] = asSchema(b)
	}
	return out
}

// holds reports whether a schema allows a value, as far as it is not left open.
func holds(s map[string]any, v any) bool {
	if open(s) {
		return true
	}
	j, err := compile(s)
	return err == nil && j.schema.Validate(v) == nil
}

// words says what a schema wants.
func words(s map[string]any) string {
	if h, ok := holeOf(s); ok {
		if len(h.types) > 0 {
			return typeWords[h.types[0]]
		}
		return "what the lens makes"
	}
	if !open(s) {
		if j, err := compile(s); err == nil {
			return describe(j.schema)
		}
	}
	return typeWords[base(s)]
}

// found says what an operation finds instead of what it wants.
func found(s map[string]any) string { return "here is " + words(s) }

// reshaped copies a schema that an operation changes. What it says of examples and defaults is no longer so.
func reshaped(s map[string]any) map[string]any {
	s = maps.Clone(s)
	delete(s, "default")
	s[touchedKey] = true
	return s
}

// objectShape is the schema of an object while operations change it.
type objectShape struct {
	keywords   map[string]any
	properties map[string]any
	required   map[string]bool
}

func newObject() *objectShape {
	return &objectShape{
		keywords:   map[string]any{"type": "object", "additionalProperties": false, touchedKey: true},
		properties: map[string]any{}, required: map[string]bool{},
	}
}

// openObject opens the schema of an object that is no union.
func openObject(s map[string]any) (*objectShape, bool) {
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		return nil, false
	}
	object := &objectShape{keywords: reshaped(s), properties: maps.Clone(properties), required: map[string]bool{}}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			object.required[name] = true
		}
	}
	return object, true
}

func (o *objectShape) put(name string, part any, required bool) {
	o.properties[name] = part
	if required {
		o.required[name] = true
	}
}

func (o *objectShape) remove(name string) {
	delete(o.properties, name)
	delete(o.required, name)
}

func (o *objectShape) has(name string) bool {
	_, ok := o.properties[name]
	return ok
}

// schema closes the object again, in normal form.
func (o *objectShape) schema() map[string]any {
	o.keywords["properties"] = o.properties
	delete(o.keywords, "required")
	if len(o.required) > 0 {
		required := make([]any, 0, len(o.required))
		for _, name := range sortedKeys(o.required) {
			required = append(required, name)
		}
		o.keywords["required"] = required
	}
	return o.keywords
}

// requires reports whether every value of a schema has the property.
func requires(s map[string]any, name string) bool {
	if list := branches(s); len(list) > 0 {
		return !slices.ContainsFunc(list, func(b map[string]any) bool { return !requires(b, name) })
	}
	object, ok := openObject(s)
	return ok && object.required[name]
}

// objects changes the schema of an object, or of those branches of a union that have the properties which the operation
// takes. No property that it makes may be there already.
func (f *faults) objects(o op, s map[string]any, takes, makes []string, change func(*objectShape)) map[string]any {
	path := o.at().path
	list := branches(s)
	if len(list) == 0 {
		object, ok := openObject(s)
		if !ok {
			f.add(path, "type", "an object: "+found(s))
			return s
		}
		f.collisions(path, object, takes, makes)
		if lacking := slices.DeleteFunc(slices.Clone(takes), object.has); len(lacking) > 0 {
			f.lack(path, lacking, sortedKeys(object.properties))
			return s
		}
		change(object)
		return object.schema()
	}
	if tag := discriminator(anyOf(list)); o.touches([]string{tag}) {
		f.add(path, "discriminator", fmt.Sprintf("another property than %q, which tells the branches of the union apart", tag))
		return s
	}
	taken := false
	var names []string
	for i, branch := range list {
		object, ok := openObject(branch)
		if !ok {
			f.add(path, "type", "a union of objects")
			return s
		}
		f.collisions(path, object, takes, makes)
		names = append(names, sortedKeys(object.properties)...)
		lacking := slices.DeleteFunc(slices.Clone(takes), object.has)
		switch {
		case len(lacking) == 0:
			taken = true
			change(object)
			list[i] = object.schema()
		case len(lacking) < len(takes):
			f.lack(path, lacking, sortedKeys(object.properties))
		}
	}
	if !taken {
		slices.Sort(names)
		f.lack(path, takes, slices.Compact(names))
		return s
	}
	s = reshaped(s)
	s["oneOf"] = anyOf(list)
	return s
}

// collisions adds a fault for each property that an operation makes and that is there already.
func (f *faults) collisions(path string, object *objectShape, takes, makes []string) {
	for _, name := range makes {
		if object.has(name) && !slices.Contains(takes, name) {
			f.add(path, "collision", fmt.Sprintf("a name that no property has: %q is there already", name))
		}
	}
}

// lack adds a fault for properties that an operation takes and that are not there.
func (f *faults) lack(path string, lacking, have []string) {
	f.add(path, "property", fmt.Sprintf("properties that the value has here, which are %s: there is no %s",
		strings.Join(have, ", "), strings.Join(lacking, ", ")))
}

func anyOf(list []map[string]any) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
