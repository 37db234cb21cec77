package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	invopop "github.com/invopop/jsonschema"
)

// builder makes the schema of a Go type: the generator writes the plain form of it, and a pass over that form adds what
// the generator cannot see, namely nil, the sizes of numbers and the validate tags.
type builder struct{ faults }

// value makes the schema of one value of type t under rules in the notation of a validate tag.
func (b *builder) value(t reflect.Type, tag string) map[string]any {
	s := b.root(t)
	if s == nil {
		return nil
	}
	schema := b.generate(t)
	if len(b.found) > 0 {
		return nil
	}
	b.finish(s, b.parseRules(tag, t.String()), schema, t.String())
	return schema
}

// members makes the schema of each field of struct type t.
func (b *builder) members(t reflect.Type) ([]field, map[string]any) {
	s := b.root(t)
	if s == nil {
		return nil, nil
	}
	if t.Kind() != reflect.Struct || s.leaf {
		b.add(t.String(), "go_type", "a struct with a field for each attribute")
		return nil, nil
	}
	schemas, _ := b.generate(t)["properties"].(map[string]any)
	return s.fields, schemas
}

// member makes the schema of one attribute of [DefineType], and says which type its values have. Many makes the elements
// of a slice the values.
func (b *builder) member(f *field, schemas map[string]any, many bool) (map[string]any, reflect.Type) {
	schema, ok := schemas[f.name].(map[string]any)
	if !ok {
		b.add(f.path, "go_type", "a type that a schema can be generated for")
		return nil, f.typ
	}
	b.keywords(f, schema)
	r := b.parseRules(f.rules(), f.path)
	r.omitEmpty = false // an attribute that nothing is said of is not judged
	if !many || f.elem == nil || f.typ.Kind() != reflect.Slice {
		b.finish(f.shape, r, schema, f.path)
		return schema, f.typ
	}
	if r.own() {
		b.add(f.path, "validate_tag", "rules after dive: each element is a value of its own")
	}
	if f.elem.pointer {
		b.add(f.path, "go_type", "elements that are no pointers: a value is never null")
	}
	b.finish(f.shape, r, schema, f.path)
	items, _ := schema["items"].(map[string]any)
	return items, f.elem.typ
}

// root inspects the type of a whole value; nil when there is something wrong with it.
func (b *builder) root(t reflect.Type) *shape {
	if t.Kind() == reflect.Pointer {
		b.add(t.String(), "go_type", "the type that the pointer points to: end and void say that there is no value")
		return nil
	}
	s := b.inspect(t, t.String(), nil)
	if len(b.found) > 0 {
		return nil
	}
	return s
}

// generate runs the generator. Numbers stay as they are written.
func (b *builder) generate(t reflect.Type) map[string]any {
	r := invopop.Reflector{Anonymous: true, DoNotReference: true, Mapper: describeLeaf}
	raw, err := json.Marshal(r.ReflectFromType(t))
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var schema map[string]any
		if err = dec.Decode(&schema); err == nil {
			delete(schema, "$schema")
			delete(schema, "$id")
			return schema
		}
	}
	b.add(t.String(), "go_type", "a type that a schema can be generated for: "+err.Error())
	return map[string]any{}
}

// describeLeaf gives the generator the schema of a type that writes itself.
func describeLeaf(t reflect.Type) *invopop.Schema {
	if format, ok := formatOf[t]; ok {
		return &invopop.Schema{Type: "string", Format: format}
	}
	d, ok := reflect.New(t).Interface().(describer)
	if !ok {
		return nil
	}
	described := d.JSONSchema()
	if described == nil {
		return &invopop.Schema{}
	}
	own := *described // the generator writes into what it is given
	if own.Items != nil {
		items := *own.Items
		own.Items = &items
	}
	return &own
}

// finish completes the schema of one value and all inside it.
func (b *builder) finish(s *shape, r *rules, schema map[string]any, path string) {
	if s.leaf {
		delete(schema, "$schema")
		delete(schema, "$id")
	}
	switch {
	case s.leaf:
	case s.whole():
		low, high := wholeBounds(s.typ)
		tighten(schema, "minimum", low, 1)
		tighten(schema, "maximum", high, -1)
	case s.typ.Kind() == reflect.Float32:
		limit := strconv.FormatFloat(math.MaxFloat32, 'g', -1, 32)
		tighten(schema, "minimum", json.Number("-"+limit), 1)
		tighten(schema, "maximum", json.Number(limit), -1)
	case s.typ.Kind() == reflect.Struct:
		b.finishObject(s, schema)
	case s.elem != nil:
		b.finishItems(s, r, schema, path)
	}
	if r.dive != nil && (s.leaf || s.elem == nil) {
		b.add(path, "validate_tag", "dive on a slice only")
	}
	b.apply(r, s, schema, path)
}

// wholeBounds are the bounds of an integer type. Beyond 2⁵³−1 a JSON number is no longer exact, so no type goes
// further, and int is the same on every machine.
func wholeBounds(t reflect.Type) (low, high json.Number) {
	const exact = 1<<53 - 1
	bits := t.Bits()
	if t.Kind() >= reflect.Uint {
		if bits > 53 || t.Kind() == reflect.Uint {
			return "0", json.Number(strconv.FormatInt(exact, 10))
		}
		return "0", json.Number(strconv.FormatInt(1<<bits-1, 10))
	}
	if bits > 53 || t.Kind() == reflect.Int {
		return json.Number(strconv.FormatInt(-exact, 10)), json.Number(strconv.FormatInt(exact, 10))
	}
	return json.Number(strconv.FormatInt(-1<<(bits-1), 10)), json.Number(strconv.FormatInt(1<<(bits-1)-1, 10))
}

// finishObject completes the properties of a struct, and says which of them are required.
func (b *builder) finishObject(s *shape, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	required := []any{}
	for i := range s.fields {
		f := &s.fields[i]
		property, ok := properties[f.name].(map[string]any)
		if !ok {
			b.add(f.path, "go_type", "a type that a schema can be generated for")
			continue
		}
		b.keywords(f, property)
		r := b.parseRules(f.rules(), f.path)
		b.finish(f.shape, r, property, f.path)
		b.absence(f, r, property)
		if f.pointer && !f.optional() && (!r.own() || r.omitEmpty) {
			b.nullable(property, f.path)
		}
		if !f.optional() || r.required {
			required = append(required, f.name)
		}
	}
	delete(schema, "required")
	if len(required) > 0 {
		schema["required"] = required
	}
}

// absence refuses the combinations of json and validate tags under which Go and the schema would disagree about a field
// that is left out.
func (b *builder) absence(f *field, r *rules, property map[string]any) {
	kind := f.typ.Kind()
	judged := r.own() || !f.pointer && (f.elem == nil && f.judged() || kind == reflect.Array && r.dive != nil)
	switch {
	case f.omitEmpty && !f.pointer && (kind == reflect.Struct || kind == reflect.Array):
		b.add(f.path, "json_tag", "omitzero or a pointer: omitempty never leaves out "+f.typ.String())
	case f.optional() && judged && !r.omitEmpty && !r.required:
		b.add(f.path, "validate_tag", "omitempty (it may be left out) or required (it may not) before the other rules")
	case r.omitEmpty && !f.optional() && !f.pointer:
		b.add(f.path, "json_tag", "omitempty or omitzero, as in the validate tag")
	case kind == reflect.Slice && !f.pointer && f.omitEmpty && (r.required || above(property["minItems"], 1)):
		b.add(f.path, "json_tag", "omitzero: omitempty would leave out an empty list, which the rules refuse")
	}
}

// finishItems completes the items of a slice or array.
func (b *builder) finishItems(s *shape, r *rules, schema map[string]any, path string) {
	items, ok := schema["items"].(map[string]any)
	if !ok {
		b.add(path, "go_type", "a type that a schema can be generated for")
		return
	}
	inner := r.dive
	if inner == nil {
		inner = &rules{}
		if s.elem.judged() {
			b.add(path, "validate_tag", "dive, so that the rules inside the elements count in Go too")
		}
	}
	at := path + "[]"
	b.finish(s.elem, inner, items, at)
	if inner.omitEmpty && !s.elem.pointer {
		b.add(at, "validate_tag", "no omitempty on elements, which cannot be left out")
	}
	if s.elem.pointer && (!inner.own() || inner.omitEmpty) {
		b.nullable(items, at)
	}
}

// nullable lets a value be null too.
func (b *builder) nullable(schema map[string]any, path string) {
	if _, isText := schema["type"].(string); !isText || schema["oneOf"] != nil {
		b.add(path, "go_type", "a value instead of a pointer, or omitempty: this schema cannot allow null")
		return
	}
	schema["type"] = []any{schema["type"], "null"}
	if c, ok := schema["const"]; ok {
		delete(schema, "const")
		schema["enum"] = []any{c}
	}
	if values, ok := schema["enum"].([]any); ok {
		schema["enum"] = append(values, nil)
	}
}

// keywords checks that each word of a jsonschema tag has had an effect: the generator drops what it does not know.
func (b *builder) keywords(f *field, property map[string]any) {
	if _, ok := f.tag.Lookup("jsonschema_extras"); ok {
		b.add(f.path, "jsonschema_tag", "no jsonschema_extras")
	}
	tag := f.tag.Get("jsonschema")
	if tag == "" {
		return
	}
	items, _ := property["items"].(map[string]any)
	for _, word := range splitTag(tag) {
		key, value, _ := strings.Cut(word, "=")
		stored := key
		if key == "example" {
			stored = "examples"
		}
		_, there := property[stored]
		if !there && items != nil {
			_, there = items[stored]
		}
		known := key == "title" || key == "description" || key == "default" || key == "example" || key == "enum"
		for _, list := range typeKeywords {
			for _, k := range list {
				known = known || k == key && k != "items" && k != "properties" && k != "required"
			}
		}
		if !known || !there || key == "uniqueItems" && value != "true" {
			b.add(f.path, "jsonschema_tag", fmt.Sprintf("no %s: it says nothing about a field of type %s", key, f.typ))
		}
	}
}

// splitTag splits a jsonschema tag at its commas, but not at those after a backslash.
func splitTag(tag string) []string {
	const escaped = "\x00"
	words := strings.Split(strings.ReplaceAll(tag, `\,`, escaped), ",")
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], escaped, ",")
	}
	return words
}
