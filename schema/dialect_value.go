package schema

import (
	"math"
	"slices"
	"strings"
)

// value is the schema of a value in the dialect. Optional is what may be left out of its object: it may be null instead.
func (e *emitter) value(keywords map[string]any, optional bool) ordered {
	base, nullable := baseType(keywords)
	absent := ""
	if optional {
		absent = "null when nothing is said of it"
	}
	said, _ := keywords["description"].(string)
	if said == "" {
		said, _ = keywords["title"].(string)
	}
	format := ""
	name, _ := keywords["format"].(string)
	enforced := slices.Contains(e.formats, name)
	if name != "" && !enforced {
		format = formatWords[name]
	}
	words := strings.Join(phrases(strings.TrimSuffix(said, "."), format, bounds(keywords), examples(keywords), absent), "; ")

	var out ordered
	if branches, ok := keywords["oneOf"].([]any); ok {
		out = e.union(branches)
	} else {
		out = ordered{{"type", base}}
		if enforced {
			out = out.with("format", name)
		}
		if list, ok := keywords["enum"].([]any); ok {
			out = out.with("enum", slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == nil }))
		}
		if c, ok := keywords["const"]; ok {
			out = out.with("const", c)
		}
		switch base {
		case "array":
			out = out.with("items", e.value(asSchema(keywords["items"]), false))
		case "object":
			out = e.object(keywords, "")
		}
	}
	if nullable || optional {
		out = orNull(out)
	}
	if words != "" {
		out = out.with("description", words)
	}
	return out
}

// object is the schema of an object, with the named property first.
func (e *emitter) object(keywords map[string]any, first string) ordered {
	properties, _ := keywords["properties"].(map[string]any)
	required, _ := keywords["required"].([]any)
	names := sortedKeys(properties)
	if i := slices.Index(names, first); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, first)
	}
	members := make(ordered, len(names))
	for i, name := range names {
		members[i] = orderedMember{name, e.value(asSchema(properties[name]), !slices.Contains(required, any(name)))}
	}
	return closed("", members)
}

// union is the schema of a tagged union. The tag comes first in each branch, so that a grammar can tell them apart.
func (e *emitter) union(branches []any) ordered {
	tag := discriminator(branches)
	list := make([]any, len(branches))
	for i, b := range branches {
		branch := e.object(asSchema(b), tag)
		if said, _ := asSchema(b)["description"].(string); said != "" {
			branch = branch.with("description", said)
		}
		list[i] = branch
	}
	return ordered{{"anyOf", list}}
}

// orNull lets null in. Beside constants, and around what is no scalar, a list of types is not understood everywhere.
func orNull(s ordered) ordered {
	if list, ok := s[0].value.([]any); ok && s[0].key == "anyOf" {
		return ordered{{"anyOf", append(list, ordered{{"type", "null"}})}}
	}
	typ, _ := s[0].value.(string)
	plain := typ != "array" && typ != "object" && !slices.ContainsFunc(s, func(m orderedMember) bool { return m.key == "enum" || m.key == "const" })
	if plain {
		return slices.Replace(slices.Clone(s), 0, 1, orderedMember{"type", []string{typ, "null"}})
	}
	return ordered{{"anyOf", []any{s, ordered{{"type", "null"}}}}}
}

// baseType is the type of a normalised schema, and whether null is allowed beside it.
func baseType(keywords map[string]any) (base string, nullable bool) {
	switch t := keywords["type"].(type) {
	case string:
		return t, false
	case []any:
		base, _ = t[0].(string)
	}
	return base, true
}

// formatOrType says what a scalar is.
func formatOrType(keywords map[string]any) string {
	if name, ok := keywords["format"].(string); ok {
		return formatWords[name]
	}
	base, _ := baseType(keywords)
	return typeWords[base]
}

// constants lists the values that a scalar may have, where they are listed.
func constants(keywords map[string]any) string {
	list, _ := keywords["enum"].([]any)
	if c, ok := keywords["const"]; ok {
		list = []any{c}
	}
	if len(list) == 0 {
		return ""
	}
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = display(v)
		if s, ok := v.(string); ok {
			words[i] = s // a text is written without quotes
		}
	}
	return "one of: " + strings.Join(words, " | ")
}

// bounds puts into words what an endpoint is not trusted to enforce.
func bounds(keywords map[string]any) string {
	var words []string
	counted := func(key, before, what string) {
		if f, ok := keywords[key].(float64); ok {
			words = append(words, before+count(int(math.Min(f, maxLength)), what))
		}
	}
	valued := func(key, before string) {
		if f, ok := keywords[key].(float64); ok {
			words = append(words, before+display(f))
		}
	}
	counted("minLength", "at least ", "character")
	counted("maxLength", "at most ", "character")
	if pattern, ok := keywords["pattern"].(string); ok {
		words = append(words, "matches the pattern "+pattern)
	}
	valued("minimum", "at least ")
	valued("exclusiveMinimum", "more than ")
	valued("maximum", "at most ")
	valued("exclusiveMaximum", "less than ")
	valued("multipleOf", "a multiple of ")
	counted("minItems", "at least ", "item")
	counted("maxItems", "at most ", "item")
	if keywords["uniqueItems"] == true {
		words = append(words, "items that all differ")
	}
	return strings.Join(words, ", ")
}

// examples shows the examples that a schema gives.
func examples(keywords map[string]any) string {
	list, _ := keywords["examples"].([]any)
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = display(v)
	}
	if len(words) == 0 {
		return ""
	}
	return "for example " + strings.Join(words, ", ")
}

// phrases leaves out what is empty.
func phrases(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}
