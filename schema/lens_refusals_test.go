package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// refusedLens is what is wrong with a lens between two versions of a type.
func refusedLens(t *testing.T, reg *schema.Registry, lens string) []sgam.FieldError {
	t.Helper()
	err := reg.AddLens([]byte(lens))
	if err == nil {
		return nil
	}
	de, ok := errors.AsType[*schema.DocumentError](err)
	require.True(t, ok, "%v", err)
	require.NotEmpty(t, de.Faults)
	return de.Faults
}

// places are the paths and rules of faults.
func places(faults []sgam.FieldError) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Field+" "+f.Rule)
	}
	return out
}

func TestALensThatIsNoneIsRefusedWithAllItsFaults(t *testing.T) {
	ops := func(list string) string {
		return `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[` + list + `]}]}`
	}
	in := "attributes/0/ops/0"
	for _, c := range []struct {
		why, lens string
		want      []string
	}{
		{"no JSON", `{`, []string{" syntax"}},
		{"no object", `[]`, []string{" type"}},
		{"a key twice", `{"type":"t","type":"t"}`, []string{"type duplicate_key"}},
		{"too long", `{"type":"` + strings.Repeat("x", 64<<10) + `"}`, []string{" size"}},
		{"nothing in it", `{}`, []string{"type required", "version required", "attributes required"}},
		{"wrong types", `{"type":1,"version":"2","attributes":{},"draft":true}`, []string{"type type", "version type", "attributes type", "draft unknown"}},
		{"a version that is none", `{"type":"t","version":2.5,"attributes":[{"tag":1,"ops":[{"op":"wrap","prop":"x"}]}]}`, []string{"version range"}},
		{"the first version", `{"type":"t","version":1,"attributes":[{"tag":1,"ops":[{"op":"wrap","prop":"x"}]}]}`, []string{"version range"}},
		{"no attributes", `{"type":"t","version":2,"attributes":[]}`, []string{"attributes required"}},
		{"no operations", ops(``), []string{"attributes/0/ops required"}},
		{"a tag twice", `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"wrap","prop":"x"}]},{"tag":1,"ops":[{"op":"wrap","prop":"x"}],"name":"a"},{"tag":0,"ops":[{"op":"wrap","prop":"x"}]}]}`,
			[]string{"attributes/1/name unknown", "attributes/1/tag unique", "attributes/2/tag range"}},
		{"an attribute that is none", `{"type":"t","version":2,"attributes":[1]}`, []string{"attributes/0 type", "attributes/0/tag range"}},
		{"operations that are none", ops(`1,{},{"op":2},{"op":"explode","x":1}`), []string{in + " type", "attributes/0/ops/1/op required", "attributes/0/ops/2/op type", "attributes/0/ops/3/op op"}},
		{"rename_attribute", ops(`{"op":"rename_attribute","from":"a","to":"b"}`), []string{in + "/op op"}},
		{"one_to_many", ops(`{"op":"one_to_many"}`), []string{in + "/op op"}},
		{"many_to_one", ops(`{"op":"many_to_one","pick":"latest"}`), []string{in + "/op op"}},
		{"a key of another operation", ops(`{"op":"rename_prop","from":"a","to":"b","prop":"c"}`), []string{in + "/prop unknown"}},
		{"a name that does not change", ops(`{"op":"rename_prop","from":"a","to":"a"}`), []string{in + "/to unique"}},
		{"names that are none", ops(`{"op":"rename_prop","from":"","to":7},{"op":"add","prop":"` + strings.Repeat("x", 129) + `"}`), []string{in + "/from name", in + "/to type", "attributes/0/ops/1/prop name"}},
		{"pairs that are none", ops(`{"op":"map_enum","pairs":[1,["a"],["a","b","c"],["a",[]],[{},"b"],["a","b"],["a","b"]],"up_fallback":{}}`),
			[]string{in + "/up_fallback type", in + "/pairs/0 type", in + "/pairs/1 type", in + "/pairs/2 type", in + "/pairs/3 type", in + "/pairs/4 type", in + "/pairs/6 unique"}},
		{"a pair that never counts", ops(`{"op":"map_enum","pairs":[["a","x"],["b","y"],["a","y"]]}`), []string{in + "/pairs/2 unique"}},
		{"a cast that loses", ops(`{"op":"cast","from":"boolean","to":"integer"},{"op":"cast","from":"string","to":"string"},{"op":"cast","from":"string","to":"text"}`), []string{in + " cast", "attributes/0/ops/1 cast", "attributes/0/ops/2 cast"}},
		{"fractions that are none", ops(`{"op":"affine","a":"0","b":"1e9"},{"op":"affine","a":"1/0","b":"01"},{"op":"affine","a":1,"b":"` + strings.Repeat("9", 65) + `"},{"op":"affine","a":"0.5","b":"--1"}`),
			[]string{in + "/b rational", in + "/a rational", "attributes/0/ops/1/a rational", "attributes/0/ops/1/b rational", "attributes/0/ops/1/a rational",
				"attributes/0/ops/2/a type", "attributes/0/ops/2/b rational", "attributes/0/ops/2/a rational", "attributes/0/ops/3/a rational", "attributes/0/ops/3/b rational", "attributes/0/ops/3/a rational"}},
		{"lists of names that are none", ops(`{"op":"nest","props":["a","a",1,""],"into":"b"},{"op":"nest","props":[],"into":"b"}`), []string{in + "/props/1 unique", in + "/props/2 type", in + "/props/3 name", "attributes/0/ops/1/props required"}},
		{"too few parts, and no separator", ops(`{"op":"split","prop":"a","into":["b"],"separator":""},{"op":"join","props":["b"],"into":"a","separator":"-"}`), []string{in + "/into range", in + "/separator range", "attributes/0/ops/1/props range"}},
		{"paths that are none", ops(`{"op":"in","path":"a","ops":[{"op":"wrap","prop":"x"}]},{"op":"in","path":"","ops":[{"op":"wrap","prop":"x"}]},{"op":"in","path":"/~2","ops":[{"op":"each","ops":[{"op":"wrap","prop":""}]}]}`),
			[]string{in + "/path pointer", "attributes/0/ops/1/path pointer", "attributes/0/ops/2/path pointer", "attributes/0/ops/2/ops/0/ops/0/prop name"}},
		{"too many lists inside one another", ops(strings.Repeat(`{"op":"each","ops":[`, 16) + `{"op":"wrap","prop":"x"}` + strings.Repeat(`]}`, 16)), []string{in + strings.Repeat("/ops/0", 15) + "/ops depth"}},
		{"another type", `{"type":"u","version":2,"attributes":[{"tag":1,"ops":[{"op":"wrap","prop":"x"}]}]}`, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			older, err := schema.ParseDocument([]byte(`{"type":"t","version":1,"attributes":[{"tag":1,"name":"a","schema":{"type":"string"}}]}`))
			require.NoError(t, err)
			newer, err := schema.ParseDocument([]byte(`{"type":"t","version":2,"attributes":[{"tag":1,"name":"a","schema":{"type":"string"}}]}`))
			require.NoError(t, err)
			_, err = schema.ParseLens([]byte(c.lens), older, newer)
			de, ok := errors.AsType[*schema.DocumentError](err)
			require.True(t, ok, "%v", err)
			want := c.want
			if want == nil {
				want = []string{"type type"}
			}
			assert.Equal(t, want, places(de.Faults))
			for _, f := range de.Faults {
				assert.NotEmpty(t, f.Want)
			}
		})
	}
}

func TestARefusedOperationSaysWhatToDoInstead(t *testing.T) {
	for op, want := range map[string]string{
		"rename_attribute": "same tag", "one_to_many": "a new attribute", "many_to_one": "a new attribute",
		"split_attribute": "new attributes", "join_attributes": "a new attribute",
	} {
		reg := twoVersions(t, `"schema":{"type":"string"}`, `"schema":{"type":"string"}`)
		faults := refusedLens(t, reg, `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"`+op+`"}]}]}`)
		require.Len(t, faults, 1)
		assert.Contains(t, faults[0].Want, want)
	}
}

func TestALensMakesTheNewerSchemaOfTheOlderOne(t *testing.T) {
	object := func(required, properties string) string {
		return `"schema":{"type":"object","required":[` + required + `],"properties":{` + properties + `}}`
	}
	const (
		text  = `"schema":{"type":"string"}`
		union = `"schema":{"oneOf":[{"type":"object","required":["k"],"properties":{"k":{"const":"a"},"x":{"type":"string"}}},{"type":"object","required":["k"],"properties":{"k":{"const":"b"},"y":{"type":"string"}}}]}`
		at    = "attributes/0/ops"
	)
	a := object(`"a"`, `"a":{"type":"string"}`)
	for _, c := range []struct {
		why, older, newer, ops, place, want string
	}{
		{"rename", a, object(`"b"`, `"b":{"type":"string"}`), `{"op":"rename_prop","from":"a","to":"b"}`, "", ""},
		{"rename of what is not there", a, a, `{"op":"rename_prop","from":"x","to":"b"}`, at + "/0 property", "there is no x"},
		{"rename to what is there", object(``, `"a":{"type":"string"},"b":{"type":"string"}`), a, `{"op":"rename_prop","from":"a","to":"b"}`, at + "/0 collision", `"b" is there already`},
		{"rename and a schema that stays", a, a, `{"op":"rename_prop","from":"a","to":"b"}`, at + " schema", `the lens makes a property "b", and version 2 has none`},
		{"no object", text, text, `{"op":"rename_prop","from":"a","to":"b"}`, at + "/0 type", "here is a string"},
		{"a property that nobody adds", a, object(`"a","b"`, `"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}`), `{"op":"rename_prop","from":"a","to":"t"},{"op":"rename_prop","from":"t","to":"a"}`, at + " schema", `no property "b", and version 2 has one that is required: add it with a default`},
		{"an optional property that nobody adds", a, object(`"a"`, `"a":{"type":"string"},"c":{"type":"string"}`), `{"op":"rename_prop","from":"a","to":"t"},{"op":"rename_prop","from":"t","to":"a"}`, "", ""},
		{"add with a default that the newer version refuses", a, object(`"a","b"`, `"a":{"type":"string"},"b":{"type":"integer"}`), `{"op":"add","prop":"b","default":"x"}`, at + "/0/default schema", "at schema/properties/b: a whole number"},
		{"add without the default that a required property needs", a, object(`"a","b"`, `"a":{"type":"string"},"b":{"type":"integer"}`), `{"op":"add","prop":"b"}`, at + "/0/prop default", "a default: version 2 requires schema/properties/b"},
		{"add with a default that an optional property does not need", a, object(`"a"`, `"a":{"type":"string"},"b":{"type":"integer"}`), `{"op":"add","prop":"b","default":1}`, at + "/0/default default", "no default: version 2 lets schema/properties/b be left out"},
		{"add, moved to where it is required", a, object(`"a","in"`, `"a":{"type":"string"},"in":{"type":"object","required":["c"],"properties":{"c":{"type":"integer"}}}`), `{"op":"add","prop":"b"},{"op":"rename_prop","from":"b","to":"c"},{"op":"nest","props":["c"],"into":"in"}`, at + "/0/prop default", "requires schema/properties/in/properties/c"},
		{"add of what is there", a, a, `{"op":"add","prop":"a"}`, at + "/0 collision", `"a" is there already`},
		{"add, and nothing there", a, a, `{"op":"add","prop":"b"}`, at + " schema", `a property "b", and version 2 has none`},
		{"drop", object(`"a"`, `"a":{"type":"string"},"b":{"type":"string"}`), a, `{"op":"drop","prop":"b"}`, "", ""},
		{"drop with a default of what may be left out", object(`"a"`, `"a":{"type":"string"},"b":{"type":"string"}`), a, `{"op":"drop","prop":"b","default":""}`, at + "/0/default default", "may be left out"},
		{"drop with a default that the older version refuses", object(`"b"`, `"a":{"type":"string"},"b":{"type":"string"}`), object(``, `"a":{"type":"string"}`), `{"op":"drop","prop":"b","default":1}`, at + "/0/default default", "a string"},
		{"map_enum", `"schema":{"enum":["a"]}`, `"schema":{"enum":["b"]}`, `{"op":"map_enum","pairs":[["a","b"]]}`, "", ""},
		{"map_enum of what the older version has not", `"schema":{"enum":["a"]}`, `"schema":{"enum":["b"]}`, `{"op":"map_enum","pairs":[["x","b"]],"down_fallback":"y"}`, at + "/0/pairs/0/0 enum", `"a"`},
		{"map_enum to what the newer version has not", `"schema":{"enum":["a"]}`, `"schema":{"enum":["b"]}`, `{"op":"map_enum","pairs":[["a","x"]]}`, at + "/0 schema", `at schema: "b"`},
		{"a fallback that the newer version has not", `"schema":{"enum":["a","c"]}`, `"schema":{"enum":["b"]}`, `{"op":"map_enum","pairs":[["a","b"]],"up_fallback":"c"}`, at + "/0 schema", `"b"`},
		{"a fallback that the older version has not", `"schema":{"enum":["a"]}`, `"schema":{"enum":["b","c"]}`, `{"op":"map_enum","pairs":[["a","b"]],"down_fallback":"c"}`, at + "/0/down_fallback enum", `"a"`},
		{"map_enum of a list", `"schema":{"type":"array","items":{"type":"string"}}`, text, `{"op":"map_enum","pairs":[["a","b"]]}`, at + "/0 type", "here is a list"},
		{"cast", text, `"schema":{"type":"integer","minimum":3}`, `{"op":"cast","from":"string","to":"integer"}`, "", ""},
		{"cast to less than the newer version takes", text, `"schema":{"type":"number"}`, `{"op":"cast","from":"string","to":"integer"}`, "", ""},
		{"cast from another type", text, `"schema":{"type":"string"}`, `{"op":"cast","from":"number","to":"string"}`, at + "/0/from type", "here is a string"},
		{"cast to another type", text, `"schema":{"type":"boolean"}`, `{"op":"cast","from":"string","to":"integer"}`, at + "/0/to type", "at schema: true or false"},
		{"affine of text", text, text, `{"op":"affine","a":"2","b":"0"}`, at + "/0 type", "here is a string"},
		{"a new unit without affine", a[:len(a)-1] + `},"unit":"EUR"`, object(`"b"`, `"b":{"type":"string"}`) + `,"unit":"USD"`, `{"op":"rename_prop","from":"a","to":"b"}`, at + " unit", `the unit was "EUR" and is "USD"`},
		{"unwrap of more than one", object(`"a"`, `"a":{"type":"string"},"b":{"type":"string"}`), text, `{"op":"unwrap","prop":"a"}`, at + "/0/prop property", "the only property"},
		{"unwrap", a, text, `{"op":"unwrap","prop":"a"}`, "", ""},
		{"wrap", text, a, `{"op":"wrap","prop":"a"}`, "", ""},
		{"nest of half of it", a, a, `{"op":"nest","props":["a","x"],"into":"in"}`, at + "/0 property", "which are a: there is no x"},
		{"unnest of half of it", object(`"in"`, `"in":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`), a, `{"op":"unnest","props":["a"],"from":"in"}`, at + "/0/props property", "all properties"},
		{"unnest of text", a, a, `{"op":"unnest","props":["x"],"from":"a"}`, at + "/0/props property", "of an inner object"},
		{"split of a number", object(``, `"a":{"type":"integer"}`), a, `{"op":"split","prop":"a","into":["x","y"],"separator":" "}`, at + "/0 type", "here is a whole number"},
		{"split into what is no text", a, object(`"x","y"`, `"x":{"type":"string"},"y":{"type":"integer"}`), `{"op":"split","prop":"a","into":["x","y"],"separator":" "}`, at + "/0/into type", "schema/properties/y: a whole number"},
		{"each of an object", a, a, `{"op":"each","ops":[{"op":"wrap","prop":"x"}]}`, at + "/0 type", "here is an object"},
		{"in what is not there", a, a, `{"op":"in","path":"/x","ops":[{"op":"wrap","prop":"x"}]}`, at + "/0 property", "there is no x"},
		{"an operation in what the lens makes", a, object(`"a"`, `"a":{"type":"string"},"b":{"type":"object","properties":{"x":{"type":"string"}}}`), `{"op":"add","prop":"b"},{"op":"in","path":"/b","ops":[{"op":"drop","prop":"y"}]}`, at + "/1/path added", "a part of the older version"},
		{"an operation on what an operation makes", text, text, `{"op":"map_enum","pairs":[["a","b"]]},{"op":"each","ops":[{"op":"wrap","prop":"x"}]}`, at + "/1 type", "here is a string"},
		{"an operation on what may be several types", text, text, `{"op":"map_enum","pairs":[["a","b"],["c",1]]},{"op":"each","ops":[{"op":"wrap","prop":"x"}]}`, at + "/1 type", "here is what the lens makes"},
		{"a join of new constants", object(`"a","b"`, `"a":{"type":"string","enum":["x"]},"b":{"type":"string"}`), object(`"c"`, `"c":{"type":"string"}`), `{"op":"in","path":"/a","ops":[{"op":"map_enum","pairs":[["x","y"]]}]},{"op":"join","props":["a","b"],"into":"c","separator":"-"}`, "", ""},
		{"a join of new constants that are no text", object(`"a","b"`, `"a":{"type":"string","enum":["x"]},"b":{"type":"string"}`), object(`"c"`, `"c":{"type":"string"}`), `{"op":"in","path":"/a","ops":[{"op":"map_enum","pairs":[["x",1]]}]},{"op":"join","props":["a","b"],"into":"c","separator":"-"}`, at + "/1 type", `a string as property "a"`},
		{"something else changed too far", object(`"a","c"`, `"a":{"type":"string"},"c":{"type":"string"}`), object(`"b","c"`, `"b":{"type":"string"},"c":{"type":"array","items":{"type":"string"}}`), `{"op":"rename_prop","from":"a","to":"b"}`, at + " schema", "at schema/properties/c the lens makes a string, and version 2 has a list"},
		{"something else needs an operation", object(`"a","c"`, `"a":{"type":"string"},"c":{"enum":["x","y"]}`), object(`"b","c"`, `"b":{"type":"string"},"c":{"enum":["x"]}`), `{"op":"rename_prop","from":"a","to":"b"}`, at + " schema", "SC13"},
		{"something else is judged by the newer version", object(`"a","c"`, `"a":{"type":"string"},"c":{"type":"string"}`), object(`"b","c"`, `"b":{"type":"string"},"c":{"type":"string","maxLength":3}`), `{"op":"rename_prop","from":"a","to":"b"}`, "", ""},
		{"a default beside what changes", `"schema":{"type":"object","properties":{"a":{"type":"string"}},"default":{"a":"x"}}`, `"schema":{"type":"object","properties":{"b":{"type":"string"}},"default":{"b":"x"}}`, `{"op":"rename_prop","from":"a","to":"b"}`, "", ""},
		{"one branch of a union", union, strings.Replace(union, `"x":`, `"z":`, 1), `{"op":"rename_prop","from":"x","to":"z"}`, "", ""},
		{"in one branch of a union", union, strings.Replace(union, `"x":{"type":"string"}`, `"x":{"type":"integer"}`, 1), `{"op":"in","path":"/x","ops":[{"op":"cast","from":"string","to":"integer"}]}`, "", ""},
		{"all branches of a union", union, strings.ReplaceAll(strings.ReplaceAll(union, `["k"]`, `["k","n"]`), `"k":{`, `"n":{"type":"integer"},"k":{`), `{"op":"add","prop":"n","default":1}`, "", ""},
		{"no branch of a union", union, union, `{"op":"drop","prop":"z"}`, at + "/0 property", "which are k, x, y: there is no z"},
		{"a name that another branch of a union has", union, union, `{"op":"rename_prop","from":"x","to":"y"}`, at + "/0 collision", `"y" is there already`},
		{"a default for one branch of a union", strings.Replace(union, `["k"]`, `["k","x"]`, 1), union, `{"op":"drop","prop":"x","default":""}`, at + "/0/default default", "may be left out"},
		{"half of the properties in a branch", strings.Replace(union, `"x":`, `"y":{"type":"string"},"x":`, 1), union, `{"op":"nest","props":["x","y"],"into":"in"}`, at + "/0 property", "there is no x"},
		{"what tells the branches of a union apart", union, strings.ReplaceAll(union, `"k"`, `"kind"`), `{"op":"rename_prop","from":"k","to":"kind"}`, at + "/0 discriminator", `"k"`},
		{"the constants of a union", union, strings.Replace(union, `"a"`, `"c"`, 1), `{"op":"in","path":"/k","ops":[{"op":"map_enum","pairs":[["a","c"],["b","b"]]}]}`, at + "/0 discriminator", `"k"`},
		{"a branch that is gone", strings.Replace(union, `"x":`, `"u":`, 1), strings.Replace(union, `"a"`, `"c"`, 1), `{"op":"rename_prop","from":"u","to":"x"}`, at + " schema", `a branch "a", and version 2 has none`},
		{"a union that becomes an object", union, a, `{"op":"rename_prop","from":"x","to":"z"}`, at + " schema", "the lens makes a union, and version 2 has an object"},
		{"another cardinality", a, a + `,"cardinality":"many"`, `{"op":"drop","prop":"a"}`, "attributes/0/tag cardinality", "a new attribute"},
	} {
		t.Run(c.why, func(t *testing.T) {
			faults := refusedLens(t, twoVersions(t, c.older, c.newer), `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[`+c.ops+`]}]}`)
			if c.place == "" {
				assert.Empty(t, faults)
				return
			}
			require.NotEmpty(t, faults)
			assert.Equal(t, c.place, places(faults)[0])
			assert.Contains(t, faults[0].Want, c.want)
		})
	}
}

func TestALensIsForTheAttributesOfBothVersions(t *testing.T) {
	reg := twoVersions(t, `"schema":{"type":"string"}`, `"schema":{"type":"string"}`)
	faults := refusedLens(t, reg, `{"type":"t","version":2,"attributes":[{"tag":7,"ops":[{"op":"wrap","prop":"x"}]}]}`)
	assert.Equal(t, []string{"attributes/0/tag tag"}, places(faults))
}

func TestALensLeavesAloneWhatIdentifiesAMember(t *testing.T) {
	const (
		item  = `"cardinality":"many","key":"/id/sku","schema":{"type":"object","required":["id"],"properties":{"id":{"type":"object","required":["sku"],"properties":{"sku":{"type":"string"},"n":{"type":"string"}}},"a":{"type":"string"},"b":{"type":"string"}}}`
		whole = `"cardinality":"many","schema":{"type":"object","properties":{"a":{"type":"string"}}}`
	)
	for _, c := range []struct {
		doc, op string
		touches bool
	}{
		{whole, `{"op":"drop","prop":"a"}`, true},
		{item, `{"op":"rename_prop","from":"a","to":"c"}`, false},
		{item, `{"op":"drop","prop":"a"}`, false},
		{item, `{"op":"add","prop":"c"}`, false},
		{item, `{"op":"nest","props":["a","b"],"into":"c"}`, false},
		{item, `{"op":"in","path":"/a","ops":[{"op":"wrap","prop":"x"}]}`, false},
		{item, `{"op":"in","path":"/id","ops":[{"op":"drop","prop":"n"}]}`, false},
		{item, `{"op":"in","path":"/id/n","ops":[{"op":"wrap","prop":"x"}]}`, false},
		{item, `{"op":"rename_prop","from":"id","to":"c"}`, true},
		{item, `{"op":"drop","prop":"id"}`, true},
		{item, `{"op":"nest","props":["id","b"],"into":"c"}`, true},
		{item, `{"op":"unnest","props":["sku","n"],"from":"id"}`, true},
		{item, `{"op":"unwrap","prop":"id"}`, true},
		{item, `{"op":"wrap","prop":"x"}`, true},
		{item, `{"op":"in","path":"/id","ops":[{"op":"rename_prop","from":"sku","to":"c"}]}`, true},
		{item, `{"op":"in","path":"/id","ops":[{"op":"wrap","prop":"x"}]}`, true},
		{item, `{"op":"in","path":"/id/sku","ops":[{"op":"map_enum","pairs":[["a","b"]]}]}`, true},
		{item, `{"op":"in","path":"/id/sku/x","ops":[{"op":"map_enum","pairs":[["a","b"]]}]}`, true},
		{item, `{"op":"each","ops":[{"op":"wrap","prop":"x"}]}`, true},
		{item, `{"op":"split","prop":"a","into":["id","c"],"separator":"-"}`, true},
		{item, `{"op":"join","props":["a","b"],"into":"id","separator":"-"}`, true},
	} {
		faults := refusedLens(t, twoVersions(t, c.doc, c.doc), `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[`+c.op+`]}]}`)
		if c.touches {
			assert.Equal(t, []string{"attributes/0/ops/0 identity"}, places(faults), c.op)
		} else {
			assert.NotContains(t, places(faults), "attributes/0/ops/0 identity", c.op)
		}
	}
	faults := refusedLens(t, twoVersions(t, item, strings.Replace(item, `/id/sku`, `/id`, 1)), `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"drop","prop":"a"}]}]}`)
	assert.Equal(t, []string{"attributes/0/tag identity"}, places(faults), "another key")
}
