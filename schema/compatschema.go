package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// schemas compares what two normalised schemas allow. Each keyword is compared by itself: a schema allows what all of its
// keywords allow, so that when each allows as much as before, all together do.
func (c *comparer) schemas(path string, a, b map[string]any) {
	c.annotations(path, a, b)
	was, wasNull := typeAndNull(a)
	is, isNull := typeAndNull(b)
	switch {
	case isNull && !wasNull:
		c.add(typeWidened, path+"/type", a["type"], b["type"])
	case wasNull && !isNull:
		c.add(typeNarrowed, path+"/type", a["type"], b["type"])
	}
	switch {
	case was == is:
	case was == "integer" && is == "number":
		c.add(typeWidened, path+"/type", was, is)
	case was == "number" && is == "integer":
		c.add(typeNarrowed, path+"/type", was, is)
	default:
		c.add(typeChanged, path+"/type", was, is)
		return // the keywords of one type say nothing of another
	}
	c.constants(path, a, b)
	switch is {
	case "string":
		c.text(path, a, b)
	case "number", "integer":
		c.numbers(path, a, b)
	case "array":
		c.counts(path, a, b, "minItems", "maxItems")
		c.unique(path, a, b)
		c.schemas(path+"/items", asSchema(a["items"]), asSchema(b["items"]))
	case "object":
		c.content(path, a, b)
	}
}

// typeAndNull is the one type of a normalised schema, and whether null may stand in its place.
func typeAndNull(s map[string]any) (base string, nullable bool) {
	if list, ok := s["type"].([]any); ok {
		base, _ = list[0].(string)
		return base, true
	}
	base, _ = s["type"].(string)
	return base, false
}

// annotations compares what says nothing about which values are allowed.
func (c *comparer) annotations(path string, a, b map[string]any) {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, key := range sortedKeys(both) {
		switch key {
		case "title", "description", "examples", "deprecated":
		case "default":
			c.defaults(path+"/default", a, b)
			continue
		default:
			if !strings.HasPrefix(key, "x-sgam-") || rootOnly(path) && ruledAnnotation(key) {
				continue
			}
		}
		c.ifOther(wordsChanged, join(path, key), a[key], b[key])
	}
}

// ifOther notes a change when there is one.
func (c *comparer) ifOther(k changeKind, path string, was, is any) {
	if !reflect.DeepEqual(was, is) {
		c.add(k, path, was, is)
	}
}

// defaults compares a default, which a lens fills in where a property is missing.
func (c *comparer) defaults(path string, a, b map[string]any) {
	was, had := a["default"]
	is, has := b["default"]
	switch {
	case had == has && reflect.DeepEqual(was, is):
	case !had:
		c.add(defaultAdded, path, nil, is)
	case c.defaultsUsed:
		c.add(defaultForged, path, was, is)
	default:
		c.add(defaultChanged, path, was, is)
	}
}

// constants compares enum and const: a const is an enum of one. Null is left to the type, which decides about it.
func (c *comparer) constants(path string, a, b map[string]any) {
	was, had, oldKey := constantsOf(a)
	is, has, newKey := constantsOf(b)
	switch {
	case !had && !has || reflect.DeepEqual(a[oldKey], b[newKey]) && oldKey == newKey:
		return
	case !had:
		c.add(enumImposed, path+"/"+newKey, nil, b[newKey])
		return
	case !has:
		c.add(enumDropped, path+"/"+oldKey, a[oldKey], nil)
		return
	}
	gone, come := without(was, is), without(is, was)
	at := path + "/" + newKey
	switch {
	case len(gone) == 0 && len(come) == 0:
		_, wasNull := typeAndNull(a)
		if _, isNull := typeAndNull(b); wasNull == isNull || !slices.Equal(was, is) {
			c.add(enumRewritten, at, a[oldKey], b[newKey])
		}
	case oldKey == "const" && newKey == "const":
		c.add(constChanged, at, a[oldKey], b[newKey])
	default:
		if len(come) > 0 {
			c.add(enumWidened, at, nil, come)
		}
		if len(gone) > 0 {
			c.add(enumNarrowed, at, gone, nil)
		}
	}
}

// constantsOf lists the only values, but null, that a schema allows.
func constantsOf(s map[string]any) (list []any, ok bool, key string) {
	if v, ok := s["const"]; ok {
		return []any{v}, true, "const"
	}
	values, ok := s["enum"].([]any)
	return without(values, []any{nil}), ok, "enum"
}

// without lists what is in a and not in b; both hold scalars.
func without(a, b []any) []any {
	return slices.DeleteFunc(slices.Clone(a), func(v any) bool { return slices.Contains(b, v) })
}

// text compares the keywords of strings.
func (c *comparer) text(path string, a, b map[string]any) {
	c.counts(path, a, b, "minLength", "maxLength")
	c.opaque(path, a, b, "pattern", patternImposed, patternDropped)
	c.opaque(path, a, b, "format", formatImposed, formatDropped)
}

// opaque compares a keyword whose values are not compared with one another.
func (c *comparer) opaque(path string, a, b map[string]any, key string, imposed, dropped changeKind) {
	k := imposed
	if b[key] == nil {
		k = dropped
	}
	c.ifOther(k, path+"/"+key, a[key], b[key])
}

// counts compares a pair of bounds that count something.
func (c *comparer) counts(path string, a, b map[string]any, least, most string) {
	if was, is := countOf(a[least], 0), countOf(b[least], 0); was != is {
		k := boundTightened
		if is < was {
			k = boundRelaxed
		}
		c.add(k, path+"/"+least, a[least], b[least])
	}
	if was, is := countOf(a[most], maxLength+1), countOf(b[most], maxLength+1); was != is {
		k := boundTightened
		if is > was {
			k = boundRelaxed
		}
		c.add(k, path+"/"+most, a[most], b[most])
	}
}

func countOf(v any, otherwise float64) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return otherwise
}

func (c *comparer) unique(path string, a, b map[string]any) {
	k := uniqueImposed
	if b["uniqueItems"] == nil {
		k = uniqueDropped
	}
	c.ifOther(k, path+"/uniqueItems", a["uniqueItems"], b["uniqueItems"])
}

// content compares two schemas of objects, either of which may be a union.
func (c *comparer) content(path string, a, b map[string]any) {
	was, wasUnion := a["oneOf"].([]any)
	is, isUnion := b["oneOf"].([]any)
	switch {
	case wasUnion && isUnion:
		if !c.branches(path, was, is) {
			c.add(discriminatorChanged, path+"/oneOf", discriminator(was), discriminator(is))
		}
	case wasUnion:
		c.wrapped(path, was, []any{asBranch(b)}, "union", "object")
	case isUnion:
		c.wrapped(path, []any{asBranch(a)}, is, "object", "union")
	default:
		c.properties(path, a, b)
	}
}

// wrapped compares an object with a union: as a union of one, when it has the property that tells the branches apart.
func (c *comparer) wrapped(path string, was, is []any, wasCalled, isCalled string) {
	k := typeChanged
	if c.branches(path, was, is) {
		k = branchesWrapped
	}
	c.add(k, path+"/oneOf", wasCalled, isCalled)
}

// asBranch is the schema of an object as a branch of a union.
func asBranch(s map[string]any) map[string]any {
	branch := map[string]any{"type": "object"}
	for _, key := range typeKeywords["object"] {
		if v, ok := s[key]; ok {
			branch[key] = v
		}
	}
	return branch
}

// branches compares two unions branch by branch, matched by constant. It is false when nothing tells the branches of
// both apart.
func (c *comparer) branches(path string, was, is []any) bool {
	by, shared := "", -1
	properties, _ := asSchema(was[0])["properties"].(map[string]any)
	for _, name := range sortedKeys(properties) {
		older, newer := byConstant(was, name), byConstant(is, name)
		if older == nil || newer == nil {
			continue
		}
		n := 0
		for constant := range older {
			if newer[constant] != nil {
				n++
			}
		}
		if n > shared {
			by, shared = name, n
		}
	}
	if shared < 0 {
		return false
	}
	older, newer := byConstant(was, by), byConstant(is, by)
	all := maps.Clone(older)
	maps.Copy(all, newer)
	for _, constant := range sortedKeys(all) {
		at := join(path+"/oneOf", constant)
		a, b := older[constant], newer[constant]
		switch {
		case a == nil:
			c.add(branchAdded, at, nil, constant)
		case b == nil:
			c.add(branchRemoved, at, constant, nil)
		default:
			c.schemas(at, a, b)
		}
	}
	return true
}

// byConstant keys the branches of a union by the constant in a property; nil when the property does not tell them apart.
func byConstant(branches []any, name string) map[string]map[string]any {
	keyed := map[string]map[string]any{}
	for _, b := range branches {
		branch := asSchema(b)
		properties, _ := branch["properties"].(map[string]any)
		constant, ok := asSchema(properties[name])["const"].(string)
		if !ok || branch["type"] != "object" || !isRequired(branch, name) || keyed[constant] != nil {
			return nil
		}
		keyed[constant] = branch
	}
	return keyed
}

func isRequired(s map[string]any, name string) bool {
	required, _ := s["required"].([]any)
	return slices.Contains(required, any(name))
}

// properties compares two schemas of objects, property by property.
func (c *comparer) properties(path string, a, b map[string]any) {
	older, _ := a["properties"].(map[string]any)
	newer, _ := b["properties"].(map[string]any)
	all := maps.Clone(older)
	maps.Copy(all, newer)
	for _, name := range sortedKeys(all) {
		at := join(path+"/properties", name)
		was, had := older[name]
		is, has := newer[name]
		wasRequired, isRequired := isRequired(a, name), isRequired(b, name)
		_, filled := asSchema(is)["default"]
		switch {
		case !had && !isRequired:
			c.add(optionalAdded, at, nil, is)
		case !had && filled:
			c.add(defaultedAdded, at, nil, is)
		case !had:
			c.add(requiredAdded, at, nil, is)
		case !has && !wasRequired:
			c.add(optionalRemoved, at, was, nil)
		case !has:
			c.add(requiredRemoved, at, was, nil)
		default:
			if isRequired && !wasRequired {
				c.add(becameRequired, at, "optional", "required")
			}
			if wasRequired && !isRequired {
				c.add(becameOptional, at, "required", "optional")
			}
			c.schemas(at, asSchema(was), asSchema(is))
		}
	}
}
