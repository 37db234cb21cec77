package schema

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// opsOf reads operations that have nothing wrong with them.
func opsOf(t require.TestingT, list string) ops {
	var v []any
	require.NoError(t, json.Unmarshal([]byte(list), &v))
	var f faults
	out := f.ops(v, place{"ops", "ops"}, 1)
	require.Empty(t, f.found)
	return out
}

// way is one conversion, with what it left out.
type way struct {
	value     string
	defaulted []string
	lost      complement
}

// run converts a value that was written with the given complement.
func run(convert func(*trip, *datum) (*datum, error), value string, kept complement) (way, error) {
	v, err := decodeDatum([]byte(value))
	if err != nil {
		return way{}, err
	}
	tr := trip{kept: kept, lost: complement{}}
	w, err := convert(&tr, v)
	if err != nil {
		return way{}, err
	}
	out := way{lost: tr.lost}
	raw, _, err := w.encode(&out.defaulted)
	out.value = string(raw)
	return out, err
}

func TestEachOperationGoesUpAndDown(t *testing.T) {
	for _, c := range []struct {
		why, ops, older, newer string
		lossyUp, lossyDown     bool
		filledUp, filledDown   []string
	}{
		{why: "rename_prop", ops: `[{"op":"rename_prop","from":"nr","to":"number"}]`, older: `{"a":1,"nr":"7"}`, newer: `{"a":1,"number":"7"}`},
		{why: "rename_prop of what is not there", ops: `[{"op":"rename_prop","from":"nr","to":"number"}]`, older: `{"a":1}`, newer: `{"a":1}`},
		{why: "rename_prop of a null", ops: `[{"op":"rename_prop","from":"nr","to":"nüm/~"}]`, older: `{"nr":null}`, newer: `{"nüm/~":null}`},
		{why: "names change places", ops: `[{"op":"rename_prop","from":"a","to":"t"},{"op":"rename_prop","from":"b","to":"a"},{"op":"rename_prop","from":"t","to":"b"}]`, older: `{"a":1,"b":2}`, newer: `{"a":2,"b":1}`},
		{why: "add with a default", ops: `[{"op":"add","prop":"country","default":"DE"}]`, older: `{}`, newer: `{"country":"DE"}`, filledUp: []string{"/country"}},
		{why: "add with the default null", ops: `[{"op":"add","prop":"fax","default":null}]`, older: `{}`, newer: `{"fax":null}`, filledUp: []string{"/fax"}},
		{why: "add with an object", ops: `[{"op":"add","prop":"x","default":{"a":[1]}}]`, older: `{}`, newer: `{"x":{"a":[1]}}`, filledUp: []string{"/x"}},
		{why: "add an optional property", ops: `[{"op":"add","prop":"fax"}]`, older: `{}`, newer: `{}`},
		{why: "add, renamed and nested", ops: `[{"op":"add","prop":"c","default":1},{"op":"rename_prop","from":"c","to":"d/e"},{"op":"nest","props":["d/e"],"into":"in"}]`, older: `{"a":1}`, newer: `{"a":1,"in":{"d/e":1}}`, filledUp: []string{"/in/d~1e"}},
		{why: "drop of what is not there", ops: `[{"op":"drop","prop":"fax"}]`, older: `{"a":1}`, newer: `{"a":1}`},
		{why: "drop of what the default says", ops: `[{"op":"drop","prop":"fax","default":[1.0]}]`, older: `{"fax":[1]}`, newer: `{}`, filledDown: []string{"/fax"}},
		{why: "map_enum", ops: `[{"op":"map_enum","pairs":[["m","mobile"],["h","home"]]}]`, older: `"h"`, newer: `"home"`},
		{why: "map_enum of null that no pair names", ops: `[{"op":"map_enum","pairs":[["m","mobile"]],"up_fallback":"x"}]`, older: `null`, newer: `null`},
		{why: "map_enum of null that a pair names", ops: `[{"op":"map_enum","pairs":[[null,"none"]]}]`, older: `null`, newer: `"none"`},
		{why: "map_enum between types", ops: `[{"op":"map_enum","pairs":[[true,1],[false,0],["1",2]]}]`, older: `"1"`, newer: `2`},
		{why: "cast to a whole number", ops: `[{"op":"cast","from":"string","to":"integer"}]`, older: `"-9007199254740991"`, newer: `-9007199254740991`},
		{why: "cast to a number", ops: `[{"op":"cast","from":"string","to":"number"}]`, older: `"1e-7"`, newer: `1e-7`},
		{why: "cast to a boolean", ops: `[{"op":"cast","from":"string","to":"boolean"}]`, older: `"false"`, newer: `false`},
		{why: "cast to text", ops: `[{"op":"cast","from":"number","to":"string"}]`, older: `1e+21`, newer: `"1e+21"`},
		{why: "cast of a boolean to text", ops: `[{"op":"cast","from":"boolean","to":"string"}]`, older: `true`, newer: `"true"`},
		{why: "cast between numbers", ops: `[{"op":"cast","from":"integer","to":"number"}]`, older: `9007199254740992`, newer: `9007199254740992`},
		{why: "cast of null", ops: `[{"op":"cast","from":"string","to":"integer"}]`, older: `null`, newer: `null`},
		{why: "affine by decimals, not by doubles", ops: `[{"op":"affine","a":"3","b":"0"}]`, older: `0.1`, newer: `0.3`},
		{why: "affine to degrees", ops: `[{"op":"affine","a":"9/5","b":"32"}]`, older: `-40`, newer: `-40`},
		{why: "affine to cents and back", ops: `[{"op":"affine","a":"100","b":"0"}]`, older: `1.15`, newer: `115`},
		{why: "affine at the last exact whole number", ops: `[{"op":"affine","a":"1","b":"-1"}]`, older: `9007199254740992`, newer: `9007199254740991`},
		{why: "affine of null", ops: `[{"op":"affine","a":"2","b":"1"}]`, older: `null`, newer: `null`},
		{why: "wrap", ops: `[{"op":"wrap","prop":"amount"}]`, older: `5`, newer: `{"amount":5}`},
		{why: "wrap of null", ops: `[{"op":"wrap","prop":"amount"}]`, older: `null`, newer: `{"amount":null}`},
		{why: "unwrap", ops: `[{"op":"unwrap","prop":"amount"}]`, older: `{"amount":{"x":[]}}`, newer: `{"x":[]}`},
		{why: "nest", ops: `[{"op":"nest","props":["street","zip"],"into":"address"}]`, older: `{"a":1,"street":"S","zip":"1"}`, newer: `{"a":1,"address":{"street":"S","zip":"1"}}`},
		{why: "nest of some of them", ops: `[{"op":"nest","props":["street","zip"],"into":"address"}]`, older: `{"zip":null}`, newer: `{"address":{"zip":null}}`},
		{why: "nest of none of them", ops: `[{"op":"nest","props":["street","zip"],"into":"address"}]`, older: `{}`, newer: `{}`},
		{why: "nest into its own name", ops: `[{"op":"nest","props":["a"],"into":"a"}]`, older: `{"a":1}`, newer: `{"a":{"a":1}}`},
		{why: "nest of an empty group", ops: `[{"op":"unnest","props":["a"],"from":"in"}]`, older: `{"in":{}}`, newer: `{}`, lossyUp: true},
		{why: "unnest", ops: `[{"op":"unnest","props":["b","c"],"from":"in"}]`, older: `{"a":1,"in":{"b":2,"c":3}}`, newer: `{"a":1,"b":2,"c":3}`},
		{why: "split", ops: `[{"op":"split","prop":"name","into":["first","last"],"separator":" "}]`, older: `{"name":"Мира Söderström"}`, newer: `{"first":"Мира","last":"Söderström"}`},
		{why: "split with an empty part", ops: `[{"op":"split","prop":"n","into":["a","n","c"],"separator":"--"}]`, older: `{"n":"x----y"}`, newer: `{"a":"x","c":"y","n":""}`},
		{why: "split of what is not there", ops: `[{"op":"split","prop":"name","into":["first","last"],"separator":" "}]`, older: `{}`, newer: `{}`},
		{why: "join", ops: `[{"op":"join","props":["y","m","d"],"into":"day","separator":"-"}]`, older: `{"d":"30","m":"06","y":"2026"}`, newer: `{"day":"2026-06-30"}`},
		{why: "in", ops: `[{"op":"in","path":"/a/b~1c","ops":[{"op":"cast","from":"string","to":"integer"}]}]`, older: `{"a":{"b/c":"7","x":1}}`, newer: `{"a":{"b/c":7,"x":1}}`},
		{why: "in what is not there", ops: `[{"op":"in","path":"/a/b","ops":[{"op":"wrap","prop":"x"}]}]`, older: `{"a":{}}`, newer: `{"a":{}}`},
		{why: "in what is null", ops: `[{"op":"in","path":"/a/b","ops":[{"op":"wrap","prop":"x"}]}]`, older: `{"a":null}`, newer: `{"a":null}`},
		{why: "each", ops: `[{"op":"each","ops":[{"op":"add","prop":"b","default":0}]}]`, older: `[{"a":1},{}]`, newer: `[{"a":1,"b":0},{"b":0}]`, filledUp: []string{"/0/b", "/1/b"}},
		{why: "each of none", ops: `[{"op":"each","ops":[{"op":"wrap","prop":"x"}]}]`, older: `[]`, newer: `[]`},
		{why: "operations on an object that is null", ops: `[{"op":"drop","prop":"a"},{"op":"add","prop":"b","default":1},{"op":"nest","props":["b"],"into":"c"}]`, older: `null`, newer: `null`},
	} {
		t.Run(c.why, func(t *testing.T) {
			list := opsOf(t, c.ops)
			up, err := run(list.up, c.older, nil)
			require.NoError(t, err)
			assert.Equal(t, c.newer, up.value)
			assert.Equal(t, c.filledUp, up.defaulted)
			assert.Equal(t, c.lossyUp, len(up.lost) > 0, "lossy")
			down, err := run(list.down, c.newer, up.lost)
			require.NoError(t, err)
			assert.Equal(t, canonicalText(t, c.older), down.value)
			assert.Equal(t, c.filledDown, down.defaulted)
			assert.Equal(t, c.lossyDown, len(down.lost) > 0, "lossy")
		})
	}
}

func canonicalText(t *testing.T, value string) string {
	t.Helper()
	out, err := canonical(json.RawMessage(value))
	require.NoError(t, err)
	return string(out)
}

func TestWhatTheWayBackWouldNotFindIsLossy(t *testing.T) {
	const merge = `[{"op":"map_enum","pairs":[["m","mobile"],["cell","mobile"],["h","home"],["h","house"]],"up_fallback":"other","down_fallback":"x"}]`
	for _, c := range []struct {
		why, ops, in, out, back string
		filled, filledBack      []string
		down                    bool
	}{
		{why: "a dropped property", ops: `[{"op":"drop","prop":"fax"}]`, in: `{"fax":"1"}`, out: `{}`, back: `{}`},
		{why: "a dropped null", ops: `[{"op":"drop","prop":"fax"}]`, in: `{"fax":null}`, out: `{}`, back: `{}`},
		{why: "a dropped property that is not the default", ops: `[{"op":"drop","prop":"fax","default":"0"}]`, in: `{"fax":"1"}`, out: `{}`, back: `{"fax":"0"}`, filledBack: []string{"/fax"}},
		{why: "a dropped null that has another default", ops: `[{"op":"drop","prop":"fax","default":0}]`, in: `{"fax":null}`, out: `{}`, back: `{"fax":0}`, filledBack: []string{"/fax"}},
		{why: "an added property on the way down", ops: `[{"op":"add","prop":"c","default":"DE"}]`, in: `{"c":"FR"}`, out: `{}`, back: `{"c":"DE"}`, filledBack: []string{"/c"}, down: true},
		{why: "an added optional property on the way down", ops: `[{"op":"add","prop":"c"}]`, in: `{"c":"FR"}`, out: `{}`, back: `{}`, down: true},
		{why: "the second name of one value", ops: merge, in: `"cell"`, out: `"mobile"`, back: `"m"`},
		{why: "the second name on the way down", ops: merge, in: `"house"`, out: `"h"`, back: `"home"`, down: true},
		{why: "a fallback", ops: merge, in: `"pager"`, out: `"other"`, back: `"x"`, filled: []string{""}, filledBack: []string{""}},
		{why: "a fallback on the way down", ops: merge, in: `"new"`, out: `"x"`, back: `"other"`, filled: []string{""}, filledBack: []string{""}, down: true},
		{why: "a fallback in a list", ops: `[{"op":"in","path":"/k","ops":[{"op":"each","ops":[{"op":"map_enum","pairs":[["a","b"]],"up_fallback":"b"}]}]}]`, in: `{"k":["a","z"]}`, out: `{"k":["b","b"]}`, back: `{"k":["a","a"]}`, filled: []string{"/k/1"}},
		{why: "a group that was empty", ops: `[{"op":"nest","props":["a"],"into":"in"}]`, in: `{"in":{}}`, out: `{}`, back: `{}`, down: true},
	} {
		t.Run(c.why, func(t *testing.T) {
			list := opsOf(t, c.ops)
			there, back := list.up, list.down
			if c.down {
				there, back = back, there
			}
			out, err := run(there, c.in, nil)
			require.NoError(t, err)
			assert.Equal(t, c.out, out.value)
			assert.NotEmpty(t, out.lost, "lossy")
			assert.Equal(t, c.filled, out.defaulted)
			plain, err := run(back, out.value, nil)
			require.NoError(t, err)
			assert.Equal(t, c.back, plain.value, "without the complement")
			assert.Equal(t, c.filledBack, plain.defaulted)
			exact, err := run(back, out.value, out.lost)
			require.NoError(t, err)
			assert.Equal(t, c.in, exact.value, "with the complement")
			assert.Empty(t, exact.defaulted)
		})
	}
}

func TestAChangedValueKeepsWhatTheChangeLeftAlone(t *testing.T) {
	list := opsOf(t, `[{"op":"each","ops":[{"op":"drop","prop":"note"},{"op":"in","path":"/k","ops":[{"op":"map_enum","pairs":[["a","z"],["b","z"],["c","y"]]}]}]}]`)
	up, err := run(list.up, `[{"k":"b","note":"n"},{"k":"b","note":"m"}]`, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"k":"z"},{"k":"z"}]`, up.value)
	down, err := run(list.down, `[{"k":"z"},{"k":"y"},{"k":"z"}]`, up.lost)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"k":"b","note":"n"},{"k":"c","note":"m"},{"k":"a"}]`, down.value)
}

func TestAValueOutsideTheDomainIsAFaultAtItsPlace(t *testing.T) {
	const whole = `a whole number as text, as JSON would write it: no spaces, no plus sign, no leading zeros`
	cast := func(from, to string) string { return `[{"op":"cast","from":"` + from + `","to":"` + to + `"}]` }
	for i, c := range []struct {
		why, ops, value, field, rule, want string
		down                               bool
	}{
		{why: "a property with the new name", ops: `[{"op":"rename_prop","from":"a","to":"b"}]`, value: `{"a":1,"b":2}`, field: "b", rule: "collision"},
		{why: "a property with the new name alone", ops: `[{"op":"rename_prop","from":"a","to":"b"}]`, value: `{"b":2}`, field: "b", rule: "collision"},
		{why: "a property with the old name", ops: `[{"op":"rename_prop","from":"a","to":"b"}]`, value: `{"a":2}`, field: "a", rule: "collision", down: true},
		{why: "no object", ops: `[{"op":"rename_prop","from":"a","to":"b"}]`, value: `[1]`, field: "", rule: "type"},
		{why: "an added property that is there", ops: `[{"op":"add","prop":"b","default":1}]`, value: `{"b":1}`, field: "b", rule: "collision"},
		{why: "an added property that is missing on the way down", ops: `[{"op":"add","prop":"b","default":1}]`, value: `{}`, field: "b", rule: "required", down: true},
		{why: "a dropped property that is missing", ops: `[{"op":"drop","prop":"b","default":1}]`, value: `{}`, field: "b", rule: "required"},
		{why: "a constant that no pair names", ops: `[{"op":"map_enum","pairs":[["a","b"]]}]`, value: `"c"`, rule: "enum"},
		{why: "a constant of another type", ops: `[{"op":"map_enum","pairs":[["1","b"]]}]`, value: `1`, rule: "enum"},
		{why: "null that only the other side names", ops: `[{"op":"map_enum","pairs":[["a",null]]}]`, value: `null`, rule: "enum"},
		{why: "an object instead of a constant", ops: `[{"op":"map_enum","pairs":[["a","b"]],"up_fallback":"b"}]`, value: `{}`, rule: "type"},
		{why: "a plus sign", ops: cast("string", "integer"), value: `"+1"`, rule: "spelling", want: whole},
		{why: "a leading zero", ops: cast("string", "integer"), value: `"01"`, rule: "spelling", want: whole},
		{why: "a space", ops: cast("string", "integer"), value: `" 1"`, rule: "spelling"},
		{why: "minus zero", ops: cast("string", "integer"), value: `"-0"`, rule: "spelling"},
		{why: "digits of another script", ops: cast("string", "integer"), value: `"٣"`, rule: "spelling"},
		{why: "a fraction", ops: cast("string", "integer"), value: `"1.5"`, rule: "spelling"},
		{why: "a whole number with a point", ops: cast("string", "integer"), value: `"1.0"`, rule: "spelling"},
		{why: "nothing", ops: cast("string", "integer"), value: `""`, rule: "spelling"},
		{why: "JSON that is no number", ops: cast("string", "number"), value: `"true"`, rule: "spelling"},
		{why: "a number that a double changes", ops: cast("string", "integer"), value: `"9007199254740993"`, rule: "spelling"},
		{why: "more than a double holds", ops: cast("string", "number"), value: `"1e999"`, rule: "spelling"},
		{why: "another word than true", ops: cast("string", "boolean"), value: `"True"`, rule: "spelling"},
		{why: "a number instead of text", ops: cast("string", "integer"), value: `1`, rule: "type", want: "a string"},
		{why: "a boolean instead of text", ops: cast("string", "boolean"), value: `true`, rule: "type"},
		{why: "a list instead of text", ops: cast("string", "integer"), value: `["1"]`, rule: "type"},
		{why: "a fraction on the way down", ops: cast("integer", "number"), value: `1.5`, rule: "type", down: true},
		{why: "a fraction as text on the way down", ops: cast("integer", "string"), value: `"1.5"`, rule: "spelling", down: true},
		{why: "a fraction on the way up", ops: cast("number", "integer"), value: `0.5`, rule: "type", want: "a whole number"},
		{why: "a third", ops: `[{"op":"affine","a":"1/3","b":"0"}]`, value: `1`, rule: "exact"},
		{why: "beyond the exact whole numbers", ops: `[{"op":"affine","a":"1","b":"1"}]`, value: `9007199254740992`, rule: "exact"},
		{why: "beyond the doubles", ops: `[{"op":"affine","a":"10","b":"0"}]`, value: `1.7976931348623157e+308`, rule: "exact"},
		{why: "below the doubles", ops: `[{"op":"affine","a":"1/10","b":"0"}]`, value: `5e-324`, rule: "exact"},
		{why: "a third on the way down", ops: `[{"op":"affine","a":"3","b":"1"}]`, value: `3`, rule: "exact", down: true},
		{why: "text instead of a number", ops: `[{"op":"affine","a":"3","b":"1"}]`, value: `"3"`, rule: "type"},
		{why: "a box without its property", ops: `[{"op":"unwrap","prop":"a"}]`, value: `{"b":1}`, field: "a", rule: "required"},
		{why: "a box with another property", ops: `[{"op":"unwrap","prop":"a"}]`, value: `{"a":1,"b":1}`, rule: "additional"},
		{why: "no box", ops: `[{"op":"wrap","prop":"a"}]`, value: `null`, rule: "type", down: true},
		{why: "a group that is there", ops: `[{"op":"nest","props":["a"],"into":"in"}]`, value: `{"a":1,"in":{}}`, field: "in", rule: "collision"},
		{why: "a property of the group that is there", ops: `[{"op":"nest","props":["a"],"into":"in"}]`, value: `{"a":1,"in":{"a":1}}`, field: "a", rule: "collision", down: true},
		{why: "a property of the group without the group", ops: `[{"op":"nest","props":["a"],"into":"in"}]`, value: `{"a":1}`, field: "a", rule: "collision", down: true},
		{why: "a stranger in the group", ops: `[{"op":"unnest","props":["a"],"from":"in"}]`, value: `{"in":{"b":1}}`, field: "in", rule: "additional"},
		{why: "a group that is null", ops: `[{"op":"unnest","props":["a"],"from":"in"}]`, value: `{"in":null}`, field: "in", rule: "type"},
		{why: "too few parts", ops: `[{"op":"split","prop":"n","into":["a","b"],"separator":" "}]`, value: `{"n":"one"}`, field: "n", rule: "separator"},
		{why: "too many parts", ops: `[{"op":"split","prop":"n","into":["a","b"],"separator":" "}]`, value: `{"n":"one two three"}`, field: "n", rule: "separator"},
		{why: "a part that is there", ops: `[{"op":"split","prop":"n","into":["a","b"],"separator":" "}]`, value: `{"a":"x","n":"one two"}`, field: "a", rule: "collision"},
		{why: "no text", ops: `[{"op":"split","prop":"n","into":["a","b"],"separator":" "}]`, value: `{"n":null}`, field: "n", rule: "type"},
		{why: "a part with the separator in it", ops: `[{"op":"split","prop":"n","into":["a","b"],"separator":" "}]`, value: `{"a":"x y","b":"z"}`, rule: "separator", down: true},
		{why: "parts whose ends make a separator", ops: `[{"op":"join","props":["a","b"],"into":"n","separator":"--"}]`, value: `{"a":"x-","b":"y"}`, rule: "separator"},
		{why: "one part of two", ops: `[{"op":"join","props":["a","b"],"into":"n","separator":"-"}]`, value: `{"a":"x"}`, rule: "required"},
		{why: "a part that is no text", ops: `[{"op":"join","props":["a","b"],"into":"n","separator":"-"}]`, value: `{"a":"x","b":1}`, field: "b", rule: "type"},
		{why: "no list", ops: `[{"op":"each","ops":[{"op":"wrap","prop":"x"}]}]`, value: `{}`, rule: "type"},
		{why: "no object on the path", ops: `[{"op":"in","path":"/a/b","ops":[{"op":"wrap","prop":"x"}]}]`, value: `{"a":1}`, field: "a", rule: "type"},
		{why: "the place before all that moved it", ops: `[{"op":"rename_prop","from":"old","to":"new"},{"op":"nest","props":["new"],"into":"in"},{"op":"in","path":"/in/new","ops":[{"op":"each","ops":[{"op":"cast","from":"string","to":"integer"}]}]}]`,
			value: `{"old":["1","x"]}`, field: "old/1", rule: "spelling"},
	} {
		t.Run(strconv.Itoa(i)+" "+c.why, func(t *testing.T) {
			list := opsOf(t, c.ops)
			convert := list.up
			if c.down {
				convert = list.down
			}
			_, err := run(convert, c.value, nil)
			var fe *sgam.FieldError
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, c.field, fe.Field)
			assert.Equal(t, c.rule, fe.Rule)
			require.NotEmpty(t, fe.Want)
			if c.want != "" {
				assert.Equal(t, c.want, fe.Want)
			}
		})
	}
}

func TestFaultsOfALensNeverCarryTheValue(t *testing.T) {
	const secret = "hunter2"
	for _, list := range []string{
		`[{"op":"map_enum","pairs":[["a","b"]]}]`, `[{"op":"cast","from":"string","to":"integer"}]`, `[{"op":"affine","a":"2","b":"0"}]`,
		`[{"op":"each","ops":[{"op":"wrap","prop":"x"}]}]`, `[{"op":"unwrap","prop":"x"}]`, `[{"op":"in","path":"/x","ops":[{"op":"wrap","prop":"x"}]}]`,
	} {
		_, err := run(opsOf(t, list).up, `"`+secret+`"`, nil)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
	}
	_, err := run(opsOf(t, `[{"op":"unwrap","prop":"x"}]`).up, `{"x":1,"`+secret+`":2}`, nil)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), secret, "nor keys that no schema names")
}
