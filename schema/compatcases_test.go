package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// ruleCase is one change and what the rule says of it. What is compared are two value schemas, two attributes without
// schema, or two documents without type and version, whichever the case's list is of.
type ruleCase struct {
	rule, about       string
	older, newer      string
	path              string
	backward, forward string
}

// valueCases are changes of the schema of an attribute's value; paths are inside it.
var valueCases = []ruleCase{
	{"SC01", "title", `{"type":"string"}`, `{"type":"string","title":"City"}`, "title", "ok", "ok"},
	{"SC01", "examples inside", `{"type":"array","items":{"type":"string","examples":["a"]}}`, `{"type":"array","items":{"type":"string"}}`, "items/examples", "ok", "ok"},
	{"SC01", "an annotation without a rule", `{"type":"string"}`, `{"type":"string","x-sgam-note":1}`, "x-sgam-note", "ok", "ok"},
	{"SC09", "integer to number", `{"type":"integer"}`, `{"type":"number"}`, "type", "ok", "lens"},
	{"SC09", "null beside a string", `{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":["string","null"]}}`, "items/type", "ok", "lens"},
	{"SC10", "number to integer", `{"type":"number"}`, `{"type":"integer"}`, "type", "data+lens", "ok"},
	{"SC10", "null no more", `{"type":"array","items":{"type":["string","null"]}}`, `{"type":"array","items":{"type":"string"}}`, "items/type", "data+lens", "ok"},
	{"SC11", "string to integer", `{"type":"string","maxLength":3}`, `{"type":"integer","maximum":3}`, "type", "lens", "lens"},
	{"SC11", "integer to list", `{"type":"integer"}`, `{"type":"array","items":{"type":"integer"}}`, "type", "lens", "lens"},
	{"SC11", "object to a union without its tag", `{"type":"object","properties":{"p":{"type":"string"}}}`, `{"oneOf":[{"type":"object","required":["k"],"properties":{"k":{"const":"a"}}}]}`, "oneOf", "lens", "lens"},
	{"SC12", "value added", `{"enum":["a"]}`, `{"enum":["b","a"]}`, "enum", "ok", "lens"},
	{"SC12", "const to enum with it", `{"const":1}`, `{"enum":[1,2]}`, "enum", "ok", "lens"},
	{"SC12", "order alone", `{"enum":["a","b"]}`, `{"enum":["b","a"]}`, "enum", "ok", "ok"},
	{"SC12", "order of null alone", `{"type":"array","items":{"type":["string","null"],"enum":["a",null]}}`, `{"type":"array","items":{"type":["string","null"],"enum":[null,"a"]}}`, "items/enum", "ok", "ok"},
	{"SC12", "const to enum of it", `{"const":"a"}`, `{"enum":["a"]}`, "enum", "ok", "ok"},
	{"SC13", "value removed", `{"enum":["a","b"]}`, `{"enum":["a"]}`, "enum", "data+lens", "ok"},
	{"SC13", "enum to const of it", `{"enum":[1,2]}`, `{"const":1}`, "const", "data+lens", "ok"},
	{"SC14", "text", `{"const":"a"}`, `{"const":"b"}`, "const", "lens", "lens"},
	{"SC14", "number", `{"const":1}`, `{"const":2}`, "const", "lens", "lens"},
	{"SC15", "minimum lower", `{"type":"number","minimum":2}`, `{"type":"number","minimum":1}`, "minimum", "ok", "data"},
	{"SC15", "maximum gone", `{"type":"number","maximum":2}`, `{"type":"number"}`, "maximum", "ok", "data"},
	{"SC15", "open to closed at the same number", `{"type":"number","exclusiveMaximum":2}`, `{"type":"number","maximum":2}`, "maximum", "ok", "data"},
	{"SC15", "maxLength higher", `{"type":"string","maxLength":2}`, `{"type":"string","maxLength":3}`, "maxLength", "ok", "data"},
	{"SC15", "minItems gone", `{"type":"array","items":{"type":"string"},"minItems":2}`, `{"type":"array","items":{"type":"string"}}`, "minItems", "ok", "data"},
	{"SC15", "the looser of two bounds gone", `{"type":"number","minimum":0,"exclusiveMinimum":5}`, `{"type":"number","exclusiveMinimum":5}`, "minimum", "ok", "ok"},
	{"SC15", "another way to say the same of integers", `{"type":"integer","exclusiveMinimum":0}`, `{"type":"integer","minimum":0.5}`, "minimum", "ok", "ok"},
	{"SC15", "enum gone", `{"type":"string","enum":["a"]}`, `{"type":"string"}`, "enum", "ok", "data"},
	{"SC15", "const gone", `{"type":"string","const":"a"}`, `{"type":"string"}`, "const", "ok", "data"},
	{"SC16", "minimum higher", `{"type":"number","minimum":1}`, `{"type":"number","minimum":2}`, "minimum", "data", "ok"},
	{"SC16", "closed to open at the same number", `{"type":"number","minimum":2}`, `{"type":"number","exclusiveMinimum":2}`, "minimum", "data", "ok"},
	{"SC16", "minLength added", `{"type":"string"}`, `{"type":"string","minLength":1}`, "minLength", "data", "ok"},
	{"SC16", "maxItems added", `{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"maxItems":9}`, "maxItems", "data", "ok"},
	{"SC16", "beyond the exact integers the openness counts", `{"type":"integer","minimum":9007199254740992}`, `{"type":"integer","exclusiveMinimum":9007199254740992}`, "minimum", "data", "ok"},
	{"SC16", "enum added", `{"type":"string"}`, `{"type":"string","enum":["a"]}`, "enum", "data", "ok"},
	{"SC16", "const added", `{"type":"integer"}`, `{"type":"integer","const":1}`, "const", "data", "ok"},
	{"SC17", "added", `{"type":"string"}`, `{"type":"string","pattern":"^a"}`, "pattern", "data", "data"},
	{"SC17", "changed", `{"type":"string","pattern":"^ab"}`, `{"type":"string","pattern":"^a"}`, "pattern", "data", "data"},
	{"SC18", "alone", `{"type":"string","pattern":"^a"}`, `{"type":"string"}`, "pattern", "ok", "data"},
	{"SC18", "inside", `{"type":"array","items":{"type":"string","pattern":"^a"}}`, `{"type":"array","items":{"type":"string"}}`, "items/pattern", "ok", "data"},
	{"SC19", "added", `{"type":"string"}`, `{"type":"string","format":"date"}`, "format", "data", "data"},
	{"SC19", "changed", `{"type":"string","format":"date-time"}`, `{"type":"string","format":"date"}`, "format", "data", "data"},
	{"SC19", "removed", `{"type":"string","format":"date"}`, `{"type":"string"}`, "format", "ok", "data"},
	{"SC20", "new divides old", `{"type":"number","multipleOf":0.3}`, `{"type":"number","multipleOf":0.1}`, "multipleOf", "ok", "data"},
	{"SC20", "old divides new", `{"type":"integer","multipleOf":2}`, `{"type":"integer","multipleOf":6}`, "multipleOf", "data", "ok"},
	{"SC20", "neither", `{"type":"number","multipleOf":0.2}`, `{"type":"number","multipleOf":0.3}`, "multipleOf", "data", "data"},
	{"SC20", "gone", `{"type":"number","multipleOf":2}`, `{"type":"number"}`, "multipleOf", "ok", "data"},
	{"SC20", "added", `{"type":"number"}`, `{"type":"number","multipleOf":2}`, "multipleOf", "data", "ok"},
	{"SC20", "integers are whole already", `{"type":"integer"}`, `{"type":"integer","multipleOf":0.5}`, "multipleOf", "ok", "ok"},
	{"SC20", "whole multiples of one and a half are those of three", `{"type":"integer","multipleOf":1.5}`, `{"type":"integer","multipleOf":3}`, "multipleOf", "ok", "ok"},
	{"SC21", "alone", object(`"p":{"type":"string"}`), object(`"p":{"type":"string"},"q":{"type":"string"}`), "properties/q", "ok", "lens"},
	{"SC21", "with a default", object(`"p":{"type":"string"}`), object(`"p":{"type":"string"},"x/y":{"type":"string","default":"a"}`), "properties/x~1y", "ok", "lens"},
	{"SC22", "alone", object(`"p":{"type":"string"}`), object(`"p":{"type":"string"},"q":{"type":"string","default":"a"}`, "q"), "properties/q", "lens", "lens"},
	{"SC22", "null as default", object(`"p":{"type":"string"}`), object(`"p":{"type":"string"},"q":{"type":["string","null"],"default":null}`, "q"), "properties/q", "lens", "lens"},
	{"SC23", "alone", object(`"p":{"type":"string"}`), object(`"p":{"type":"string"},"q":{"type":"string"}`, "q"), "properties/q", "break", "lens"},
	{"SC23", "in a list", `{"type":"array","items":` + object(`"p":{"type":"string"}`) + `}`, `{"type":"array","items":` + object(`"p":{"type":"string"},"q":{"type":["string","null"]}`, "q") + `}`, "items/properties/q", "break", "lens"},
	{"SC24", "optional", object(`"p":{"type":"string"},"q":{"type":"string"}`), object(`"p":{"type":"string"}`), "properties/q", "lens", "ok"},
	{"SC24", "required", object(`"p":{"type":"string"},"q":{"type":"string"}`, "q"), object(`"p":{"type":"string"}`), "properties/q", "lens", "lens"},
	{"SC25", "alone", object(`"p":{"type":"string"}`), object(`"p":{"type":"string"}`, "p"), "properties/p", "data", "ok"},
	{"SC25", "with a default", object(`"p":{"type":"string","default":"a"}`), object(`"p":{"type":"string","default":"a"}`, "p"), "properties/p", "data", "ok"},
	{"SC26", "alone", object(`"p":{"type":"string"}`, "p"), object(`"p":{"type":"string"}`), "properties/p", "ok", "data"},
	{"SC26", "one of two", object(`"p":{"type":"string"},"q":{"type":"string"}`, "p", "q"), object(`"p":{"type":"string"},"q":{"type":"string"}`, "p"), "properties/q", "ok", "data"},
	{"SC27", "changed before any lens", object(`"p":{"type":"string","default":"a"}`), object(`"p":{"type":"string","default":"b"}`), "properties/p/default", "ok", "ok"},
	{"SC27", "added", object(`"p":{"type":"string"}`), object(`"p":{"type":"string","default":"b"}`), "properties/p/default", "ok", "ok"},
	{"SC28", "branch added", union("a"), union("b", "a"), "oneOf/b", "ok", "lens"},
	{"SC28", "branch removed", union("a", "x/y"), union("a"), "oneOf/x~1y", "data", "ok"},
	{"SC28", "an object becomes a union with its constant", branch("a"), union("b", "a"), "oneOf/b", "ok", "lens"},
	{"SC28", "an object is a union of one", branch("a"), union("a"), "oneOf", "ok", "ok"},
	{"SC28", "a union of one is an object", union("a"), branch("a"), "oneOf", "ok", "ok"},
	{"SC28", "discriminator changed", union("a"), strings.ReplaceAll(union("a"), `"k"`, `"tag"`), "oneOf", "forbid", "forbid"},
	{"SC29", "imposed", `{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"uniqueItems":true}`, "uniqueItems", "data", "ok"},
	{"SC29", "dropped", `{"type":"array","items":{"type":"string"},"uniqueItems":true}`, `{"type":"array","items":{"type":"string"}}`, "uniqueItems", "ok", "data"},
	{"SC39", "out of the text index", `{"type":"string","x-sgam-index":{"fts":true}}`, `{"type":"string"}`, "x-sgam-index/fts", "ok", "ok"},
	{"SC39", "into the vector index", `{"type":"string"}`, `{"type":"string","x-sgam-index":{"vector":true}}`, "x-sgam-index/vector", "ok", "ok"},
	{"SC40", "confidence", `{"type":"string","x-sgam-min-confidence":0.5}`, `{"type":"string","x-sgam-min-confidence":0.9}`, "x-sgam-min-confidence", "ok", "ok"},
	{"SC40", "evidence", `{"type":"string"}`, `{"type":"string","x-sgam-evidence":true}`, "x-sgam-evidence", "ok", "ok"},
}

// attributeCases are changes of an attribute but for its schema; paths are inside it.
var attributeCases = []ruleCase{
	{"SC01", "title of an attribute", ``, `,"title":"Item"`, "title", "ok", "ok"},
	{"SC06", "rename", `,"name":"a"`, `,"name":"b","aliases":["a"]`, "name", "ok", "ok"},
	{"SC06", "rename back to an alias", `,"name":"b","aliases":["a"]`, `,"name":"a","aliases":["b"]`, "name", "ok", "ok"},
	{"SC06", "one more alias", `,"name":"a"`, `,"name":"a","aliases":["b"]`, "aliases", "ok", "ok"},
	{"SC06", "rename without an alias", `,"name":"a"`, `,"name":"b"`, "aliases", "forbid", "forbid"},
	{"SC06", "alias gone", `,"name":"a","aliases":["b"]`, `,"name":"a"`, "aliases", "forbid", "forbid"},
	{"SC30", "another unit", `,"unit":"EUR"`, `,"unit":"ct"`, "unit", "lens", "lens"},
	{"SC30", "a unit where none was said", ``, `,"unit":"m"`, "unit", "lens", "lens"},
	{"SC31", "by value", ``, `,"cardinality":"many"`, "cardinality", "lens", "lens"},
	{"SC31", "by a key", ``, `,"cardinality":"many","key":"/sku"`, "cardinality", "lens", "lens"},
	{"SC32", "by value", `,"cardinality":"many"`, ``, "cardinality", "data+lens", "ok"},
	{"SC32", "by a key", `,"cardinality":"many","key":"/sku"`, ``, "cardinality", "data+lens", "ok"},
	{"SC33", "another pointer", `,"cardinality":"many","key":"/sku"`, `,"cardinality":"many","key":"/id"`, "key", "break", "break"},
	{"SC33", "the whole value instead", `,"cardinality":"many","key":"/sku"`, `,"cardinality":"many"`, "key", "break", "break"},
	{"SC34", "another policy", ``, `,"conflict_policy":"confirm_first"`, "conflict_policy", "ok", "ok"},
	{"SC34", "other ranks", `,"conflict_policy":"source_rank","ranks":["ticket"]`, `,"conflict_policy":"source_rank","ranks":["file"]`, "ranks", "ok", "ok"},
	{"SC35", "by one step", ``, `,"sensitivity":"personal"`, "sensitivity", "ok", "ok"},
	{"SC35", "to the top", `,"sensitivity":"public"`, `,"sensitivity":"secret"`, "sensitivity", "ok", "ok"},
	{"SC36", "by one step", `,"sensitivity":"personal"`, ``, "sensitivity", "forbid", "forbid"},
	{"SC36", "by somebody, for a reason", `,"sensitivity":"personal"`, `,"declassified":{"actor":"dpo","reason":"published"}`, "sensitivity", "ok", "ok"},
	{"SC36", "to the bottom", `,"sensitivity":"secret"`, `,"sensitivity":"public"`, "sensitivity", "forbid", "forbid"},
	{"SC37", "a class after none", ``, `,"retention":"orders_7y"`, "retention", "ok", "ok"},
	{"SC37", "one of two classes, whose names do not say which is shorter", `,"retention":"orders_7y"`, `,"retention":"orders_1y"`, "retention", "ok", "ok"},
	{"SC38", "no class after one", `,"retention":"orders_7y"`, ``, "retention", "ok", "ok"},
	{"SC38", "no class after another", `,"retention":"orders_1y"`, ``, "retention", "ok", "ok"},
}

// documentCases are changes of a document.
var documentCases = []ruleCase{
	{"SC01", "title of a type", attributes(1, "a"), `"title":"Order",` + attributes(1, "a"), "title", "ok", "ok"},
	{"SC02", "one", attributes(1, "a"), attributes(1, "a", 2, "b"), "attributes/2", "ok", "ok"},
	{"SC02", "with a lower tag", attributes(2, "a"), attributes(2, "a", 1, "b"), "attributes/1", "ok", "ok"},
	{"SC03", "one", attributes(1, "a", 2, "b"), attributes(1, "a") + reserved(`2`, `"b"`), "attributes/2", "ok", "lens"},
	{"SC03", "beside an earlier one", attributes(1, "a", 2, "b") + reserved(`7`, `"z"`), attributes(1, "a") + reserved(`2,7`, `"b","z"`), "attributes/2", "ok", "lens"},
	{"SC04", "nothing reserved", attributes(1, "a", 2, "b"), attributes(1, "a"), "attributes/2", "forbid", "forbid"},
	{"SC04", "tag reserved alone", attributes(1, "a", 2, "b"), attributes(1, "a") + reserved(`2`, ``), "attributes/2", "forbid", "forbid"},
	{"SC04", "name reserved alone", attributes(1, "a", 2, "b"), attributes(1, "a") + reserved(``, `"b"`), "attributes/2", "forbid", "forbid"},
	{"SC05", "tag used again", attributes(1, "a") + reserved(`2`, ``), attributes(1, "a", 2, "b"), "attributes/2/tag", "forbid", "forbid"},
	{"SC05", "name used again", attributes(1, "a") + reserved(``, `"b"`), attributes(1, "a", 2, "b"), "attributes/2/name", "forbid", "forbid"},
	{"SC05", "name used again by a rename", attributes(1, "a") + reserved(``, `"b"`), `"attributes":[{"tag":1,"name":"b","aliases":["a"],"schema":{"type":"string"}}]`, "attributes/1/name", "forbid", "forbid"},
	{"SC05", "tag no longer reserved", attributes(1, "a") + reserved(`2,3`, ``), attributes(1, "a") + reserved(`3`, ``), "reserved/tags/2", "forbid", "forbid"},
	{"SC05", "name no longer reserved", attributes(1, "a") + reserved(``, `"b"`), attributes(1, "a"), "reserved/names/b", "forbid", "forbid"},
	{"SC05", "tag reserved in advance", attributes(1, "a"), attributes(1, "a") + reserved(`9`, ``), "reserved/tags/9", "ok", "ok"},
	{"SC05", "name reserved in advance", attributes(1, "a"), attributes(1, "a") + reserved(``, `"z"`), "reserved/names/z", "ok", "ok"},
	{"SC07", "swap", attributes(1, "a", 2, "b"), attributes(1, "b", 2, "a"), "attributes/1/name", "forbid", "forbid"},
	{"SC07", "the other half of a swap", attributes(1, "a", 2, "b"), attributes(1, "b", 2, "a"), "attributes/2/name", "forbid", "forbid"},
	{"SC07", "alias of what another was called", attributes(1, "a", 2, "b"), `"attributes":[{"tag":1,"name":"a","aliases":["b"],"schema":{"type":"string"}}]` + reserved(`2`, ``), "attributes/1/aliases", "forbid", "forbid"},
	{"SC07", "name of a new attribute", attributes(1, "a"), attributes(1, "c", 2, "a"), "attributes/2/name", "forbid", "forbid"},
	{"SC08", "one", attributes(1, "a", 2, "b"), attributes(1, "a", 3, "b"), "attributes/2/tag", "forbid", "forbid"},
	{"SC08", "found by its alias", attributes(1, "a"), `"attributes":[{"tag":4,"name":"c","aliases":["a"],"schema":{"type":"string"}}]` + reserved(`1`, ``), "attributes/1/tag", "forbid", "forbid"},
}

func object(properties string, required ...string) string {
	list, err := json.Marshal(append([]string{}, required...))
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s}`, properties, list)
}

func branch(constant string) string {
	return object(fmt.Sprintf(`"k":{"const":%q}`, constant), "k")
}

func union(constants ...string) string {
	branches := make([]string, len(constants))
	for i, constant := range constants {
		branches[i] = branch(constant)
	}
	return `{"oneOf":[` + strings.Join(branches, ",") + `]}`
}

// marked is a union whose branches share the constant of another property.
func marked(constants ...string) string {
	branches := make([]string, len(constants))
	for i, constant := range constants {
		branches[i] = object(fmt.Sprintf(`"k":{"const":%q},"m":{"const":"x"}`, constant), "k", "m")
	}
	return `{"oneOf":[` + strings.Join(branches, ",") + `]}`
}

// attributes is the list of attributes with the given tags and names.
func attributes(tagsAndNames ...any) string {
	var list []string
	for i := 0; i < len(tagsAndNames); i += 2 {
		list = append(list, fmt.Sprintf(`{"tag":%d,"name":%q,"schema":{"type":"string"}}`, tagsAndNames[i], tagsAndNames[i+1]))
	}
	return `"attributes":[` + strings.Join(list, ",") + `]`
}

func reserved(tags, names string) string {
	return fmt.Sprintf(`,"reserved":{"tags":[%s],"names":[%s]}`, tags, names)
}

func inSchema(s string) string {
	return `"attributes":[{"tag":3,"name":"a","schema":` + s + `}]`
}

func inAttribute(s string) string {
	if !strings.Contains(s, `"name"`) {
		s += `,"name":"a"`
	}
	return `"attributes":[{"tag":3,"schema":` + object(`"sku":{"type":"string"},"id":{"type":"string"}`, "sku", "id") + s + `}]`
}

// docOf is a version of type t with the given members.
func docOf(t *testing.T, version int, members string) sgam.TypeDocument {
	t.Helper()
	doc, err := ParseDocument(fmt.Appendf(nil, `{"type":"t","version":%d,%s}`, version, members))
	require.NoError(t, err)
	return doc
}

func TestEachRuleSaysWhatItPromises(t *testing.T) {
	cases, kinds := map[string]int{}, map[changeKind]bool{}
	run := func(prefix string, in func(string) string, list []ruleCase) {
		for _, test := range list {
			cases[test.rule]++
			t.Run(test.rule+" "+test.about, func(t *testing.T) {
				older, newer := docOf(t, 1, in(test.older)), docOf(t, 2, in(test.newer))
				changes, err := Compare(older, newer)
				require.NoError(t, err)
				var found *Change
				for i := range changes {
					if changes[i].Rule == test.rule && changes[i].Path == prefix+test.path {
						found = &changes[i]
					}
				}
				require.NotNil(t, found, "no %s at %s in %s", test.rule, prefix+test.path, display(changes))
				kinds[found.kind] = true
				assert.Equal(t, [2]string{test.backward, test.forward}, [2]string{found.Backward.String(), found.Forward.String()}, "backward and forward")
				if max(found.Backward, found.Forward) > VerdictOK {
					assert.NotEmpty(t, found.Advice)
					assert.NotEmpty(t, found.Needs)
				}
				same, err := Compare(newer, newer)
				require.NoError(t, err)
				assert.Empty(t, same)
			})
		}
	}
	run("attributes/3/schema/", inSchema, valueCases)
	run("attributes/3/", inAttribute, attributeCases)
	run("", func(s string) string { return s }, documentCases)

	t.Run("SC27 changed after a lens", func(t *testing.T) {
		for _, newer := range []string{object(`"p":{"type":"string","default":"b"}`), object(`"p":{"type":"string"}`)} {
			older := docOf(t, 2, inSchema(object(`"p":{"type":"string","default":"a"}`)))
			older.Lens = &sgam.LensDocument{}
			changes, err := Compare(older, docOf(t, 3, inSchema(newer)))
			require.NoError(t, err)
			require.Len(t, changes, 1)
			kinds[changes[0].kind] = true
			assert.Equal(t, "SC27", changes[0].Rule)
			assert.Equal(t, VerdictForbid, changes[0].Backward)
		}
	})
	t.Run("SC41 a type is gone", func(t *testing.T) {
		older := []sgam.TypeDocument{docOf(t, 1, attributes(1, "a")), docOf(t, 2, attributes(1, "a"))}
		for _, whole := range []bool{true, false} {
			cases["SC41"]++
			reports, err := CheckSet(ModeNone, older, nil, whole, nil)
			require.NoError(t, err)
			if !whole {
				assert.Empty(t, reports)
				continue
			}
			require.Len(t, reports, 1)
			assert.False(t, reports[0].OK)
			finding := reports[0].Compared[0].Findings[0]
			kinds[finding.kind] = true
			assert.Equal(t, "SC41", finding.Rule)
			assert.Equal(t, 2, reports[0].Compared[0].Version)
		}
	})
	for n := 1; n <= 41; n++ {
		assert.GreaterOrEqual(t, cases[fmt.Sprintf("SC%02d", n)], 2, "cases of SC%02d", n)
	}
	for kind, row := range ruleRows {
		assert.True(t, kinds[kind], "no case of %s is of kind %d", row.rule, kind)
	}
}

func TestSurprisingAcceptancesAreNone(t *testing.T) {
	verdict := func(older, newer string) (backward, forward Verdict) {
		a, b := docOf(t, 1, inSchema(older)), docOf(t, 2, inSchema(newer))
		c, err := Compare(a, b)
		require.NoError(t, err)
		for _, change := range c {
			backward, forward = backward.And(change.Backward), forward.And(change.Forward)
		}
		return backward, forward
	}
	for _, test := range []struct {
		name, older, newer string
		backward, forward  Verdict
	}{
		{
			"an open model would take a removed property", object(`"p":{"type":"string"},"q":{"type":"string"}`), object(`"p":{"type":"string"}`),
			VerdictLens, VerdictOK,
		},
		{
			"an open model would take another type under a new optional name", object(`"p":{"type":"string"}`),
			object(`"p":{"type":"string"},"q":{"type":"integer"}`), VerdictOK, VerdictLens,
		},
		{
			"a bound that stays cuts off what the wider type adds", `{"type":"integer","minimum":1}`, `{"type":"number","minimum":1}`,
			VerdictOK, VerdictLens,
		},
		{
			"a wider type with a tighter bound", `{"type":"integer","minimum":0.5}`, `{"type":"number","minimum":1.5}`,
			VerdictData, VerdictLens,
		},
		{
			"a narrower type with a relaxed bound", `{"type":"number","minimum":1}`, `{"type":"integer","minimum":0.5}`,
			VerdictDataLens, VerdictOK,
		},
		{
			"a narrower type with a step that only looks finer", `{"type":"number","multipleOf":1.5}`, `{"type":"integer","multipleOf":0.5}`,
			VerdictDataLens, VerdictData,
		},
		{
			"tenths are exact, which binary fractions are not", `{"type":"number","multipleOf":0.7}`, `{"type":"number","multipleOf":0.1}`,
			VerdictOK, VerdictData,
		},
		{
			"bounds of another type say nothing", `{"type":"string","minLength":3}`, `{"type":"array","items":{"type":"string"}}`,
			VerdictLens, VerdictLens,
		},
		{
			"null follows the type, inside an enum too", object(`"p":{"type":["string","null"],"enum":["a",null]}`), object(`"p":{"type":"string","enum":["a"]}`),
			VerdictDataLens, VerdictOK,
		},
		{
			"branches are matched by constant, not by position", union("a", "b"), union("b", "a"),
			VerdictOK, VerdictOK,
		},
		{
			"a constant that all branches share does not match them", marked("a", "b"), marked("c", "d"),
			VerdictData, VerdictLens,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			backward, forward := verdict(test.older, test.newer)
			assert.Equal(t, test.backward.String(), backward.String())
			assert.Equal(t, test.forward.String(), forward.String())
		})
	}
}

func TestMultiplesOfZeroAreRefusedBeforeAnythingIsDivided(t *testing.T) {
	for number, refused := range map[string]bool{"0": true, "0.0": true, "-1": true, "1e-300": false} {
		_, err := ParseDocument([]byte(`{"type":"t","version":1,` + inSchema(`{"type":"number","multipleOf":`+number+`}`) + `}`))
		if refused {
			fault := new(sgam.FieldError)
			require.ErrorAs(t, err, &fault, number)
			assert.Equal(t, "attributes/0/schema/multipleOf", fault.Field)
		} else {
			require.NoError(t, err)
		}
	}
}
