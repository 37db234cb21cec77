package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
)

type tree = map[string]any

// The schemas that lenses are drawn for. Every value of one of them is in the domain of the operations that are drawn
// for it. Text has neither a space nor a hyphen.
var (
	plainText = tree{"type": "string", "pattern": "^[^ -]*$"}
	wordPair  = tree{"type": "string", "pattern": "^[a-zé]* [a-zé]*$"}
	digits    = tree{"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,8})$"}
	letters   = tree{"type": "string", "enum": []any{"a", "b", "c"}}
	whole     = tree{"type": "integer", "minimum": -1000, "maximum": 1000}
	quarters  = tree{"type": "number", "multipleOf": 0.25, "minimum": -50, "maximum": 50}
	yesNo     = tree{"type": "boolean"}
	maybeText = tree{"type": []any{"string", "null"}, "pattern": "^[^ -]*$"}
	maybeInt  = tree{"type": []any{"integer", "null"}, "minimum": -1000, "maximum": 1000}
)

// lensDraw draws schemas, and operations for them, with the schema that the next version then has. That schema is
// written down by what each operation means: it is what the lens is compared with.
type lensDraw struct {
	t     *rapid.T
	names int
	added map[string]bool // properties that the lens adds, by their last names
}

func (d *lensDraw) name() string {
	d.names++
	return rapid.SampledFrom([]string{"p", "é", "a/b", "~"}).Draw(d.t, "name") + strconv.Itoa(d.names)
}

func (d *lensDraw) schema(depth int) tree {
	kinds := []tree{plainText, wordPair, digits, letters, whole, quarters, yesNo, maybeText, maybeInt}
	kind := rapid.IntRange(0, len(kinds)+3*min(depth, 1)-1).Draw(d.t, "kind")
	switch {
	case kind < len(kinds):
		return kinds[kind]
	case kind == len(kinds):
		return tree{"type": "array", "items": d.schema(depth - 1), "maxItems": 3}
	}
	return d.object(depth)
}

// root draws the schema of a whole value, which is never null.
func (d *lensDraw) root(depth int) tree {
	if s := d.schema(depth); !maybeNull(s) {
		return s
	}
	return d.object(depth)
}

func maybeNull(s tree) bool {
	_, ok := s["type"].([]any)
	return ok
}

func (d *lensDraw) object(depth int) tree {
	properties, required := tree{}, []any{}
	for range rapid.IntRange(1, 4).Draw(d.t, "properties") {
		name := d.name()
		properties[name] = d.schema(depth - 1)
		if rapid.Bool().Draw(d.t, "required") {
			required = append(required, name)
		}
	}
	return tree{"type": "object", "properties": properties, "required": required}
}

// value draws a value of a drawn schema.
func (d *lensDraw) value(s tree) any {
	kind := base(s)
	if list, ok := s["type"].([]any); ok && len(list) == 2 && rapid.IntRange(0, 3).Draw(d.t, "null") == 0 {
		return nil
	}
	if list, ok := s["enum"].([]any); ok {
		return rapid.SampledFrom(list).Draw(d.t, "constant")
	}
	switch kind {
	case "object":
		out := tree{}
		properties, _ := s["properties"].(tree)
		for _, name := range sortedKeys(properties) {
			if requiredOf(s)[name] || rapid.Bool().Draw(d.t, "present") {
				out[name] = d.value(asSchema(properties[name]))
			}
		}
		return out
	case "array":
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(d.t, "items") {
			out = append(out, d.value(asSchema(s["items"])))
		}
		return out
	case "integer":
		return float64(rapid.IntRange(-1000, 1000).Draw(d.t, "integer"))
	case "number":
		return float64(rapid.IntRange(-200, 200).Draw(d.t, "number")) / 4
	case "boolean":
		return rapid.Bool().Draw(d.t, "boolean")
	}
	switch s["pattern"] {
	case wordPair["pattern"]:
		return rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 0, 4, -1).Draw(d.t, "word") + " " + rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 0, 4, -1).Draw(d.t, "word")
	case digits["pattern"]:
		return strconv.Itoa(rapid.IntRange(-999, 9999).Draw(d.t, "digits"))
	}
	return rapid.SampledFrom([]string{"", "x", "日本", "null", "007", "\u2028", "<&>"}).Draw(d.t, "text")
}

func requiredOf(s tree) map[string]bool {
	out := map[string]bool{}
	list, _ := s["required"].([]any)
	for _, name := range list {
		if name, ok := name.(string); ok {
			out[name] = true
		}
	}
	return out
}

// edited is an object schema with other properties. Required is nil for one that is gone.
func edited(s tree, changes map[string]tree, required map[string]bool) tree {
	out := maps.Clone(s)
	properties := maps.Clone(asSchema(s["properties"]))
	names := requiredOf(s)
	for name, part := range changes {
		delete(names, name)
		if part == nil {
			delete(properties, name)
			continue
		}
		properties[name] = part
		names[name] = required[name]
	}
	list := []any{}
	for _, name := range sortedKeys(names) {
		if names[name] {
			list = append(list, name)
		}
	}
	out["properties"], out["required"] = properties, list
	return out
}

// ops draws up to n operations one after another.
func (d *lensDraw) ops(s tree, n int) (list []any, next tree) {
	for range rapid.IntRange(1, n).Draw(d.t, "operations") {
		o, after := d.op(s)
		list, s = append(list, o), after
	}
	return list, s
}

// op draws one operation.
func (d *lensDraw) op(s tree) (o, next tree) {
	if rapid.IntRange(0, 9).Draw(d.t, "wrapped") == 0 {
		return d.wrap(s)
	}
	switch base(s) {
	case "object":
		return d.objectOp(s)
	case "array":
		list, items := d.ops(asSchema(s["items"]), 2)
		next = maps.Clone(s)
		next["items"] = items
		return tree{"op": "each", "ops": list}, next
	}
	return d.scalarOp(s)
}

func (d *lensDraw) wrap(s tree) (o, next tree) {
	name := d.name()
	return tree{"op": "wrap", "prop": name}, tree{"type": "object", "properties": tree{name: s}, "required": []any{name}}
}

func (d *lensDraw) scalarOp(s tree) (o, next tree) {
	if list, ok := s["enum"].([]any); ok {
		return d.mapEnum(list)
	}
	nullable := func(to string) tree {
		if _, ok := s["type"].([]any); ok {
			return tree{"type": []any{to, "null"}}
		}
		return tree{"type": to}
	}
	kind := base(s)
	switch {
	case s["pattern"] == digits["pattern"]:
		to := rapid.SampledFrom([]string{"integer", "number"}).Draw(d.t, "to")
		return tree{"op": "cast", "from": "string", "to": to}, tree{"type": to}
	case kind == "string":
		return d.wrap(s)
	case kind == "boolean":
		return tree{"op": "cast", "from": "boolean", "to": "string"}, tree{"type": "string", "enum": []any{"false", "true"}}
	case rapid.Bool().Draw(d.t, "affine"):
		a := rapid.SampledFrom([]string{"1/4", "100", "-9/5", "1"}).Draw(d.t, "a")
		b := rapid.SampledFrom([]string{"0", "-1/10", "32"}).Draw(d.t, "b")
		return tree{"op": "affine", "a": a, "b": b}, nullable("number")
	case kind == "integer":
		to := rapid.SampledFrom([]string{"string", "number"}).Draw(d.t, "to")
		return tree{"op": "cast", "from": "integer", "to": to}, nullable(to)
	}
	return tree{"op": "cast", "from": "number", "to": "string"}, nullable("string")
}

// mapEnum draws pairs for some or all of the constants, and a fallback for the rest.
func (d *lensDraw) mapEnum(list []any) (o, next tree) {
	pairs := []any{}
	for i, v := range list {
		if i == 0 || rapid.IntRange(0, 3).Draw(d.t, "paired") > 0 {
			pairs = append(pairs, []any{v, rapid.SampledFrom([]any{"a", "x", "y", "z"}).Draw(d.t, "constant")})
		}
	}
	o = tree{"op": "map_enum", "pairs": pairs, "down_fallback": list[0]}
	if len(pairs) < len(list) {
		o["up_fallback"] = "z"
	}
	return o, tree{"type": "string", "enum": []any{"a", "x", "y", "z"}}
}

func (d *lensDraw) objectOp(s tree) (o, next tree) {
	properties, required := asSchema(s["properties"]), requiredOf(s)
	names := rapid.Permutation(sortedKeys(properties)).Draw(d.t, "names")
	name, fresh := names[0], d.name()
	part := asSchema(properties[name])
	texts := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		p := asSchema(properties[n])
		return d.added[n] || !required[n] || p["type"] != "string" || p["pattern"] != plainText["pattern"] && p["enum"] == nil
	})
	switch rapid.SampledFrom([]string{"rename", "add", "fill", "drop", "nest", "unnest", "unwrap", "split", "join", "in", "in"}).Draw(d.t, "op") {
	case "add":
		d.added[fresh] = true
		return tree{"op": "add", "prop": fresh}, edited(s, map[string]tree{fresh: plainText}, nil)
	case "fill":
		of := d.schema(1)
		d.added[fresh] = true
		return tree{"op": "add", "prop": fresh, "default": d.value(of)}, edited(s, map[string]tree{fresh: of}, map[string]bool{fresh: true})
	case "drop":
		if len(names) > 1 {
			o = tree{"op": "drop", "prop": name}
			if required[name] && rapid.IntRange(0, 3).Draw(d.t, "default") > 0 {
				o["default"] = d.value(part)
			}
			return o, edited(s, map[string]tree{name: nil}, nil)
		}
	case "nest":
		group := names[:rapid.IntRange(1, len(names)).Draw(d.t, "grouped")]
		inner := tree{"type": "object", "properties": tree{}, "required": []any{}}
		changes, any := map[string]tree{}, false
		for _, n := range group {
			inner = edited(inner, map[string]tree{n: asSchema(properties[n])}, required)
			changes[n], any = nil, any || required[n]
		}
		changes[fresh] = inner
		return tree{"op": "nest", "props": group, "into": fresh}, edited(s, changes, map[string]bool{fresh: any})
	case "unnest":
		inner := asSchema(part["properties"])
		// A property that is added with a default can't be left out, and one of an object that may be left out can.
		if inner != nil && !d.added[name] && (required[name] || !slices.ContainsFunc(sortedKeys(inner), func(n string) bool { return d.added[n] })) {
			changes, names := map[string]tree{name: nil}, map[string]bool{}
			for _, n := range sortedKeys(inner) {
				changes[n], names[n] = asSchema(inner[n]), required[name] && requiredOf(part)[n]
			}
			return tree{"op": "unnest", "props": sortedKeys(inner), "from": name}, edited(s, changes, names)
		}
	case "unwrap":
		if len(names) == 1 && required[name] && !maybeNull(part) && !d.added[name] {
			return tree{"op": "unwrap", "prop": name}, part
		}
	case "split":
		if part["pattern"] == wordPair["pattern"] && !d.added[name] {
			second := d.name()
			return tree{"op": "split", "prop": name, "into": []any{fresh, second}, "separator": " "},
				edited(s, map[string]tree{name: nil, fresh: plainText, second: plainText}, map[string]bool{fresh: required[name], second: required[name]})
		}
	case "join":
		if len(texts) > 1 {
			return tree{"op": "join", "props": texts[:2], "into": fresh, "separator": "-"},
				edited(s, map[string]tree{texts[0]: nil, texts[1]: nil, fresh: {"type": "string"}}, map[string]bool{fresh: true})
		}
	case "in":
		if !d.added[name] {
			list, after := d.ops(part, 2)
			return tree{"op": "in", "path": "/" + join("", name), "ops": list}, edited(s, map[string]tree{name: after}, required)
		}
	}
	d.added[fresh] = d.added[name]
	return tree{"op": "rename_prop", "from": name, "to": fresh}, edited(s, map[string]tree{name: nil, fresh: part}, map[string]bool{fresh: required[name]})
}

// drawnLens is a lens with the versions that it stands between, and values of them.
type drawnLens struct {
	both         *lensBetween
	ops          ops
	doc          sgam.LensDocument
	step         sgam.AttributeStep
	older, newer []string
}

// drawLens draws a lens from a schema to the next version. The values are canonical.
func (d *lensDraw) lens(s tree, version, values int) (drawnLens, tree) {
	d.added = map[string]bool{}
	list, next := d.ops(s, 4)
	raw, err := json.Marshal(tree{"type": "t", "version": version + 1, "attributes": []any{tree{"tag": 1, "ops": list}}})
	require.NoError(d.t, err)
	older, newer := d.document(s, version), d.document(next, version+1)
	both, doc, err := parseLens(raw, older, newer)
	require.NoError(d.t, err, "%s\nfrom %s\nto %s", raw, older.JSON, newer.JSON)
	steps, err := both.steps()
	require.NoError(d.t, err)
	out := drawnLens{both: both, ops: both.lens.attributes[0].ops, doc: doc, step: steps[1]}
	for range values {
		out.older = append(out.older, d.canonical(d.value(s)))
		out.newer = append(out.newer, d.canonical(d.value(next)))
	}
	return out, next
}

func (d *lensDraw) document(s tree, version int) sgam.TypeDocument {
	raw, err := json.Marshal(tree{"type": "t", "version": version, "attributes": []any{tree{"tag": 1, "name": "a", "schema": s}}})
	require.NoError(d.t, err)
	doc, err := ParseDocument(raw)
	require.NoError(d.t, err)
	return doc
}

func (d *lensDraw) canonical(v any) string {
	raw, err := canonical(v)
	require.NoError(d.t, err)
	return string(raw)
}

// String is what a failure shows.
func (l *drawnLens) String() string {
	return string(l.doc.JSON)
}
