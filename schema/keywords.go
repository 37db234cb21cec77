package schema

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// typeKeywords are the keywords of each type, besides type, enum, const and the annotations.
var typeKeywords = map[string][]string{
	"string":  {"format", "minLength", "maxLength", "pattern"},
	"number":  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"boolean": {},
	"array":   {"items", "minItems", "maxItems", "uniqueItems"},
	"object":  {"properties", "required", "additionalProperties"},
}

// advice says what to write instead of a keyword that is outside the profile.
var advice = map[string]string{
	"allOf":                 "one schema with all keywords in it",
	"anyOf":                 "oneOf over objects with a constant property",
	"not":                   "what is allowed, not what is not",
	"if":                    "oneOf over objects with a constant property",
	"then":                  "oneOf over objects with a constant property",
	"else":                  "oneOf over objects with a constant property",
	"dependentRequired":     "oneOf over objects with a constant property",
	"dependentSchemas":      "oneOf over objects with a constant property",
	"patternProperties":     "named properties, or a list of objects",
	"propertyNames":         "named properties, or a list of objects",
	"minProperties":         "required",
	"maxProperties":         "named properties",
	"unevaluatedProperties": "additionalProperties false",
	"unevaluatedItems":      "items",
	"prefixItems":           "an object with a property for each position",
	"contains":              "items",
	"$dynamicRef":           "$ref into $defs",
	"$recursiveRef":         "$ref into $defs",
	"$anchor":               "$ref into $defs",
	"$id":                   "no $id: a schema stands inside its document",
	"$schema":               "$schema at the root of the schema only",
	"$defs":                 "$defs at the root of the schema only",
	"definitions":           "$defs at the root of the schema",
	"nullable":              `a type and null: ["string","null"]`,
	"contentEncoding":       "a pattern",
	"contentMediaType":      "a pattern",
}

// refuse adds a fault for each keyword that may not stand here.
func (p *profile) refuse(m map[string]any, path string, allowed func(key string) bool, want string) {
	for _, key := range sortedKeys(m) {
		if allowed(key) {
			continue
		}
		instead := want
		if hint, ok := advice[key]; ok {
			instead = hint
		}
		p.add(join(path, key), "keyword", instead)
	}
}

// plain normalises a schema that is no union and no reference.
func (p *profile) plain(m map[string]any, n *node, path string, known func(string) bool) {
	base, nullable, ok := p.types(m, path)
	if !ok {
		return
	}
	n.keywords["type"] = base
	if nullable {
		n.keywords["type"] = []any{base, "null"}
	}
	scalar := base != "array" && base != "object"
	allowed := func(key string) bool {
		return key == "type" || known(key) || slices.Contains(typeKeywords[base], key) ||
			scalar && (key == "enum" || key == "const")
	}
	p.refuse(m, path, allowed, "a keyword that applies to type "+base)
	p.constants(m, n, path, nullable)
	switch base {
	case "string":
		p.text(m, n, path)
	case "number", "integer":
		p.numbers(m, n, path)
	case "array":
		p.list(m, n, path)
	case "object":
		p.object(m, n, path)
	}
}

// types finds the one type of a schema, and whether null is allowed beside it. Constants without a type imply it.
func (p *profile) types(m map[string]any, path string) (base string, nullable, ok bool) {
	at := path + "/type"
	want := "one of string, number, integer, boolean, array, object, alone or beside null"
	names := []any{}
	switch t := m["type"].(type) {
	case string:
		names = append(names, t)
	case []any:
		names = t
	case nil:
		if _, ok := m["type"]; ok {
			break
		}
		constants, _ := m["enum"].([]any)
		if c, ok := m["const"]; ok {
			constants = append(slices.Clone(constants), c)
		}
		for _, c := range constants {
			if name := typeOf(c); !slices.Contains(names, any(name)) {
				names = append(names, name)
			}
		}
		if i := slices.Index(names, any("integer")); i >= 0 && slices.Contains(names, any("number")) {
			names = slices.Delete(names, i, i+1)
		}
		if len(names) == 0 {
			p.add(at, "required", want)
			return "", false, false
		}
	}
	for _, name := range names {
		switch s, isText := name.(string); {
		case isText && s == "null" && !nullable:
			nullable = true
		case isText && base == "" && typeKeywords[s] != nil:
			base = s
		default:
			p.add(at, "type", want)
			return "", false, false
		}
	}
	if base == "" {
		p.add(at, "type", want)
	}
	return base, nullable, base != ""
}

// typeOf is the narrowest type of a JSON value.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// constants takes over enum and const. Whether they are values of the schema is checked when all of it is known.
func (p *profile) constants(m map[string]any, n *node, path string, nullable bool) {
	c, isConst := m["const"]
	list, isEnum := m["enum"]
	if isConst && isEnum {
		p.add(path+"/const", "keyword", "enum or const, not both")
		return
	}
	if isConst {
		n.keywords["const"] = c
		if nullable {
			p.add(path+"/const", "const", "a type without null: const allows one value")
		}
	}
	if !isEnum {
		return
	}
	values, ok := list.([]any)
	if !ok || len(values) == 0 {
		p.add(path+"/enum", "type", "a list of values")
		return
	}
	n.keywords["enum"] = values
	for i, v := range values {
		switch v.(type) {
		case map[string]any, []any:
			p.add(path+"/enum", "type", "strings, numbers, booleans or null")
			return
		}
		if slices.Contains(values[:i], v) {
			p.add(path+"/enum", "unique", "each value once")
		}
	}
	if nullable && !slices.Contains(values, nil) {
		p.add(path+"/enum", "enum", "null among the values, or a type without null")
	}
}

// text takes over the keywords of strings.
func (p *profile) text(m map[string]any, n *node, path string) {
	p.length(m, n, path, "minLength", "maxLength")
	if v, ok := m["format"]; ok {
		s, _ := v.(string)
		if _, known := formats[s]; !known {
			p.add(path+"/format", "format", "one of "+strings.Join(sortedKeys(formats), ", "))
		}
		n.keywords["format"] = v
	}
	if v, ok := m["pattern"]; ok {
		s, isText := v.(string)
		switch {
		case !isText:
			p.add(path+"/pattern", "type", "a string")
		case len(s) > maxPattern:
			p.add(path+"/pattern", "size", fmt.Sprintf("at most %d bytes", maxPattern))
		default:
			if _, err := regexp.Compile(s); err != nil {
				p.add(path+"/pattern", "pattern", "an RE2 expression (no look-around, no back-references)")
			}
		}
		n.keywords["pattern"] = v
	}
}

// length takes over a pair of bounds that count something.
func (p *profile) length(m map[string]any, n *node, path, least, most string) {
	bounds := [2]float64{0, maxLength}
	for i, key := range []string{least, most} {
		v, ok := m[key]
		if !ok {
			continue
		}
		f, isNumber := v.(float64)
		if !isNumber || f != math.Trunc(f) || f < 0 || f > maxLength {
			p.add(path+"/"+key, "range", fmt.Sprintf("a whole number from 0 to %d", maxLength))
			return
		}
		bounds[i] = f
		if f > 0 || key == most {
			n.keywords[key] = f
		}
	}
	if bounds[0] > bounds[1] {
		p.add(path+"/"+least, "range", "at most "+most)
	}
}

// numbers takes over the keywords of numbers.
func (p *profile) numbers(m map[string]any, n *node, path string) {
	low, high := math.Inf(-1), math.Inf(1)
	open := false
	for _, key := range typeKeywords["number"] {
		v, ok := m[key]
		if !ok {
			continue
		}
		f, isNumber := v.(float64)
		if !isNumber || key == "multipleOf" && f <= 0 {
			want := "a number"
			if key == "multipleOf" {
				want = "a number above 0"
			}
			p.add(path+"/"+key, "range", want)
			return
		}
		n.keywords[key] = f
		switch key {
		case "minimum":
			low = max(low, f)
		case "maximum":
			high = min(high, f)
		case "exclusiveMinimum":
			open = open || f >= low
			low = max(low, f)
		case "exclusiveMaximum":
			open = open || f <= high
			high = min(high, f)
		}
	}
	if low > high || low == high && open {
		p.add(path, "range", "bounds that some number keeps")
	}
}

// list takes over the keywords of arrays.
func (p *profile) list(m map[string]any, n *node, path string) {
	p.length(m, n, path, "minItems", "maxItems")
	if v, ok := m["uniqueItems"]; ok {
		unique, isBool := v.(bool)
		if !isBool {
			p.add(path+"/uniqueItems", "type", "true or false")
		}
		if unique {
			n.keywords["uniqueItems"] = true
		}
	}
	items, ok := m["items"]
	if !ok {
		p.add(path+"/items", "required", "the schema of the items")
		return
	}
	n.keywords["items"] = p.child(n, items, path+"/items")
}

// object takes over the keywords of objects. Content is always closed.
func (p *profile) object(m map[string]any, n *node, path string) {
	if v, ok := m["additionalProperties"]; ok && v != false {
		p.add(path+"/additionalProperties", "keyword", "false: an object has the properties that its schema names")
	}
	n.keywords["additionalProperties"] = false
	properties, ok := m["properties"].(map[string]any)
	if !ok || len(properties) == 0 {
		p.add(path+"/properties", "required", "an object with the schema of each property")
		return
	}
	normal := make(map[string]any, len(properties))
	for _, name := range sortedKeys(properties) {
		at := join(path+"/properties", name)
		if name == "" || len(name) > maxName {
			p.add(at, "name", fmt.Sprintf("a name of 1 to %d bytes", maxName))
		}
		normal[name] = p.child(n, properties[name], at)
	}
	n.keywords["properties"] = normal
	p.required(m, n, path, properties)
}

// required takes over the list of required properties.
func (p *profile) required(m map[string]any, n *node, path string, properties map[string]any) {
	v, ok := m["required"]
	if !ok {
		return
	}
	list, ok := v.([]any)
	if !ok {
		p.add(path+"/required", "type", "a list of names")
		return
	}
	names := map[string]bool{}
	for _, v := range list {
		name, isText := v.(string)
		_, defined := properties[name]
		switch {
		case !isText || !defined:
			p.add(path+"/required", "property", "names of properties of this object")
		case names[name]:
			p.add(path+"/required", "unique", "each name once")
		}
		names[name] = true
	}
	if len(names) == 0 {
		return
	}
	sorted := make([]any, 0, len(names))
	for _, name := range sortedKeys(names) {
		sorted = append(sorted, name)
	}
	n.keywords["required"] = sorted
}
