package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// chooser makes the choices of what follows: a random source, or a rapid test that can shrink them.
type chooser interface{ IntN(n int) int }

func pick[V any](c chooser, list ...V) V { return list[c.IntN(len(list))] }

// once in n times.
func once(c chooser, n int) bool { return c.IntN(n) == n-1 }

var (
	drawnBounds    = []float64{-1.5, -1, -0.5, 0, 0.1, 0.5, 1, 1.5, 2, 3, 1 << 53}
	drawnMultiples = []float64{0.1, 0.2, 0.3, 0.5, 1, 1.5, 2, 3}
	drawnPatterns  = []string{"^a", "b$", "^a{1,2}$", "^[ab]*$"}
	drawnFormats   = []string{"date", "date-time", "time", "duration", "email", "uri", "uuid"}
	drawnNames     = []string{"p", "q", "r", "x/y"}
)

// drawShape draws a value schema. Not all of them are in the profile.
func drawShape(c chooser, depth int) map[string]any {
	kinds := []string{"string", "integer", "number", "boolean", "string", "integer", "number"}
	if depth > 0 {
		kinds = append(kinds, "array", "object", "object", "object", "union", "array", "union")
	}
	kind := pick(c, kinds...)
	s := map[string]any{"type": kind}
	switch kind {
	case "array":
		s["items"] = drawShape(c, depth-1)
	case "object":
		s["properties"] = map[string]any{}
		for range 1 + c.IntN(2) {
			addProperty(c, s, depth-1)
		}
	case "union":
		s = map[string]any{"oneOf": []any{}}
		for range 1 + c.IntN(2) {
			addBranch(c, s, depth-1)
		}
	}
	for range c.IntN(3) {
		editKeyword(c, s)
	}
	if once(c, 6) {
		toggleNull(s)
	}
	return s
}

func addProperty(c chooser, s map[string]any, depth int) {
	properties, _ := s["properties"].(map[string]any)
	name := pick(c, drawnNames...)
	if _, there := properties[name]; there {
		return
	}
	p := drawShape(c, depth)
	if once(c, 3) {
		p["default"] = drawConstant(c, p)
	}
	properties[name] = p
	if once(c, 2) {
		toggleRequired(s, name)
	}
}

func addBranch(c chooser, s map[string]any, depth int) {
	branches, _ := s["oneOf"].([]any)
	branch := map[string]any{
		"type": "object", "required": []any{"k"},
		"properties": map[string]any{"k": map[string]any{"const": pick(c, "one", "two", "three", "a/b")}},
	}
	if !once(c, 3) { // another property that may tell the branches apart
		properties, _ := branch["properties"].(map[string]any)
		properties["m"], branch["required"] = map[string]any{"const": pick(c, "uno", "due", "tre")}, []any{"k", "m"}
	}
	addProperty(c, branch, depth)
	s["oneOf"] = append(branches, branch)
}

func toggleRequired(s map[string]any, name string) {
	required, _ := s["required"].([]any)
	if i := slices.Index(required, any(name)); i >= 0 {
		s["required"] = slices.Delete(slices.Clone(required), i, i+1)
		return
	}
	s["required"] = append(slices.Clone(required), name)
}

func toggleNull(s map[string]any) {
	switch t := s["type"].(type) {
	case string:
		s["type"] = []any{t, "null"}
		if list, ok := s["enum"].([]any); ok {
			s["enum"] = append(slices.Clone(list), nil)
		}
	case []any:
		s["type"] = t[0]
		if list, ok := s["enum"].([]any); ok {
			s["enum"] = without(list, []any{nil})
		}
	}
}

func drawConstant(c chooser, s map[string]any) any {
	switch base, _ := typeAndNull(s); base {
	case "string":
		return pick(c, drawnStrings...)
	case "boolean":
		return once(c, 2)
	default:
		return pick(c, drawnNumbers[6:]...)
	}
}

// editKeyword sets a keyword of the schema's type, or takes it away.
func editKeyword(c chooser, s map[string]any) {
	count := func() any { return float64(c.IntN(4)) }
	bound := func() any { return pick(c, drawnBounds...) }
	var key string
	var value any
	switch base, _ := typeAndNull(s); base {
	case "string":
		switch key = pick(c, "minLength", "maxLength", "pattern", "format", "enum"); key {
		case "pattern":
			value = pick(c, drawnPatterns...)
		case "format":
			value = pick(c, drawnFormats...)
		default:
			value = count()
		}
	case "integer", "number":
		key = pick(c, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum")
		value = bound()
		if key == "multipleOf" {
			value = pick(c, drawnMultiples...)
		}
	case "boolean":
		key = "enum"
	case "array":
		if key, value = pick(c, "minItems", "maxItems", "uniqueItems"), count(); key == "uniqueItems" {
			value = true
		}
	default:
		key, value = "title", pick(c, "other words", "better words")
	}
	if key == "enum" {
		editConstants(c, s)
		return
	}
	if _, there := s[key]; there && once(c, 2) {
		delete(s, key)
		return
	}
	s[key] = value
}

// editConstants imposes, widens, narrows or drops the constants of a scalar.
func editConstants(c chooser, s map[string]any) {
	list, _ := s["enum"].([]any)
	if constant, ok := s["const"]; ok {
		list = []any{constant}
		delete(s, "const")
	}
	delete(s, "enum")
	list = slices.Clone(list)
	switch c.IntN(5) {
	case 0:
		return
	case 1:
		s["const"] = drawConstant(c, s)
		return
	case 2:
		if len(list) > 0 {
			i := c.IntN(len(list))
			list = slices.Delete(list, i, i+1)
		}
	default:
		for range 1 + c.IntN(2) {
			if v := drawConstant(c, s); !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	if _, nullable := typeAndNull(s); nullable && !slices.Contains(list, nil) {
		list = append(list, nil)
	}
	s["enum"] = list
}

// edit changes one place of a schema.
func edit(c chooser, s map[string]any) {
	places := placesOf(s)
	at := places[c.IntN(len(places))]
	base, _ := typeAndNull(at)
	branches, union := at["oneOf"].([]any)
	properties, object := at["properties"].(map[string]any)
	switch what := c.IntN(8); {
	case what == 0:
		toggleNull(at)
	case what == 1 && base == "integer":
		at["type"] = "number"
	case what == 1 && base == "number":
		at["type"] = "integer"
	case what == 1 && once(c, 3):
		other := drawShape(c, 1)
		clear(at)
		maps.Copy(at, other)
	case union && what == 2 && len(branches) > 1:
		i := c.IntN(len(branches))
		at["oneOf"] = slices.Delete(slices.Clone(branches), i, i+1)
	case union && what == 3:
		only := asSchema(branches[0])
		clear(at)
		maps.Copy(at, only)
	case union:
		addBranch(c, at, 0)
	case object && what == 2 && len(properties) > 1:
		name := pick(c, sortedKeys(properties)...)
		delete(properties, name)
		if isRequired(at, name) {
			toggleRequired(at, name)
		}
	case object && what == 3:
		branch := maps.Clone(at)
		clear(at)
		at["oneOf"] = []any{branch}
	case object && what < 6:
		toggleRequired(at, pick(c, sortedKeys(properties)...))
	case object:
		addProperty(c, at, 0)
	default:
		editKeyword(c, at)
	}
}

// placesOf lists a schema and all inside it.
func placesOf(s map[string]any) []map[string]any {
	list := []map[string]any{s}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range sortedKeys(properties) {
		list = append(list, placesOf(asSchema(properties[name]))...)
	}
	if items, ok := s["items"].(map[string]any); ok {
		list = append(list, placesOf(items)...)
	}
	branches, _ := s["oneOf"].([]any)
	for _, b := range branches {
		list = append(list, placesOf(asSchema(b))...)
	}
	return list
}

// drawnVersion is a version of a type with one attribute, ready to judge values.
type drawnVersion struct {
	*attribute
	judge *judge
}

// versionOf parses a drawn schema; nil when it is not in the profile.
func versionOf(t require.TestingT, s map[string]any) *drawnVersion {
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	d, _, err := parse(fmt.Appendf(nil, `{"type":"t","version":1,"attributes":[{"tag":1,"name":"a","schema":%s}]}`, raw))
	if err != nil {
		return nil
	}
	j, err := compile(d.attributes[0].schema)
	require.NoError(t, err)
	return &drawnVersion{&d.attributes[0], j}
}

// drawPair draws a version and one that a few edits make of it; false when the profile refuses what was drawn.
func drawPair(t require.TestingT, c chooser) (older, newer *drawnVersion, ok bool) {
	for range 20 {
		s := drawShape(c, 2)
		if older = versionOf(t, s); older == nil {
			continue
		}
		for range 10 {
			changed := deepCopy(t, s)
			for range 1 + c.IntN(2) {
				edit(c, changed)
			}
			if newer = versionOf(t, changed); newer != nil {
				return older, newer, true
			}
		}
	}
	return nil, nil, false
}

func deepCopy(t require.TestingT, s map[string]any) map[string]any {
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// seeded is a chooser of its own.
func seeded(seed uint64) chooser { return rand.New(rand.NewPCG(seed, 0)) }

func TestDrawnVersionsReachTheWholeProfile(t *testing.T) {
	c := seeded(1)
	drawn, kinds := 0, map[changeKind]bool{}
	for range 2500 {
		older, newer, ok := drawPair(t, c)
		if !ok {
			continue
		}
		drawn++
		cmp := comparer{rows: ruleRows}
		cmp.attribute(older.attribute, newer.attribute)
		for _, change := range cmp.found {
			kinds[change.kind] = true
		}
	}
	require.Greater(t, drawn, 2000)
	for kind := range ruleRows {
		if ruleRows[kind].values && !otherThanSchemas[kind] {
			require.True(t, kinds[kind], "no drawn pair differs in the way of %s, kind %d", ruleRows[kind].rule, kind)
		}
	}
}

// otherThanSchemas are the kinds of changes of values that no edit of a schema makes.
var otherThanSchemas = map[changeKind]bool{
	unitChanged: true, oneToMany: true, manyToOne: true, keyChanged: true,
	discriminatorChanged: true, // every union begins with property k
}
