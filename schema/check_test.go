package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// compiled compiles the only attribute of a document.
func compiled(tb testing.TB, doc string) sgam.AttributeSpec {
	tb.Helper()
	parsed, err := schema.ParseDocument([]byte(doc))
	require.NoError(tb, err)
	specs, err := schema.Stored().Compile(parsed)
	require.NoError(tb, err)
	require.Len(tb, specs, 1)
	return specs[0]
}

// said lists faults as "field rule want".
func said(faults []sgam.FieldError) []string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, strings.TrimSpace(f.Field+" "+f.Rule+": "+f.Want))
	}
	return lines
}

func TestFaultsNameThePlaceTheRuleAndWhatWouldBeRight(t *testing.T) {
	const payment = `{"oneOf":[
		{"type":"object","properties":{"by":{"const":"card"},"number":{"type":"string","minLength":4}},"required":["by","number"]},
		{"type":"object","properties":{"by":{"const":"transfer"},"iban":{"type":"string"}},"required":["by","iban"]}]}`
	for _, c := range []struct {
		why, schema, valid, value string
		want                      []string
	}{
		{"a number for a string", `{"type":"string"}`, `"1"`, `1`, []string{"type: a string"}},
		{"a string for an integer", `{"type":"integer"}`, `7`, `"007"`, []string{"type: a whole number"}},
		{"a fraction for an integer", `{"type":"integer"}`, `-3`, `1.5`, []string{"type: a whole number"}},
		{"a string for a number", `{"type":"number"}`, `1.5`, `"1.5"`, []string{"type: a number"}},
		{"a number for a boolean", `{"type":"boolean"}`, `false`, `0`, []string{"type: true or false"}},
		{"an object for a list", `{"type":"array","items":{"type":"string"}}`, `[]`, `{}`, []string{"type: a list"}},
		{"a list for an object", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{}`, `[]`, []string{"type: an object"}},
		{"a wrong type where null is allowed", `{"type":"array","items":{"type":["string","null"]}}`, `["a",null]`, `[1]`, []string{"0 type: a string or null"}},
		{"null where it is not allowed", `{"type":"array","items":{"type":"string"}}`, `["a"]`, `["a",null]`, []string{"1 type: a string"}},
		{"a word outside the list", `{"enum":["open","on hold"]}`, `"open"`, `"shut"`, []string{`enum: one of "open", "on hold"`}},
		{"a word outside a list of one", `{"enum":["open"]}`, `"open"`, `"shut"`, []string{`enum: "open"`}},
		{"a word in other letters", `{"enum":["open"]}`, `"open"`, `"Open"`, []string{`enum: "open"`}},
		{"a number outside the list", `{"enum":[1,2.5]}`, `2.5`, `3`, []string{`enum: one of 1, 2.5`}},
		{"a text that looks like a number in the list", `{"enum":[1]}`, `1`, `"1"`, []string{`type: 1`}},
		{"another constant", `{"const":"v1"}`, `"v1"`, `"v2"`, []string{`const: "v1"`}},
		{"too short", `{"type":"string","minLength":1}`, `"日"`, `""`, []string{"minLength: at least 1 character"}},
		{"too long, in characters", `{"type":"string","maxLength":2}`, `"日本"`, `"日本語"`, []string{"maxLength: at most 2 characters"}},
		{"another pattern", `{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"}`, `"19.90"`, `"19.9"`, []string{`pattern: text that matches ^[0-9]+\.[0-9]{2}$`}},
		{"below the minimum", `{"type":"number","minimum":0.1}`, `0.1`, `0.09`, []string{"minimum: at least 0.1"}},
		{"above the maximum", `{"type":"integer","maximum":9007199254740991}`, `9007199254740991`, `9007199254740992`, []string{"maximum: at most 9007199254740991"}},
		{"on an open minimum", `{"type":"number","exclusiveMinimum":0}`, `1e-9`, `0`, []string{"exclusiveMinimum: more than 0"}},
		{"on an open maximum", `{"type":"number","exclusiveMaximum":1}`, `0.5`, `1`, []string{"exclusiveMaximum: less than 1"}},
		{"no multiple", `{"type":"number","multipleOf":0.01}`, `19.9`, `19.999`, []string{"multipleOf: a multiple of 0.01"}},
		{"too few items", `{"type":"array","items":{"type":"integer"},"minItems":2}`, `[1,1]`, `[1]`, []string{"minItems: at least 2 items"}},
		{"too many items", `{"type":"array","items":{"type":"integer"},"maxItems":1}`, `[1]`, `[1,2]`, []string{"maxItems: at most 1 item"}},
		{"an item twice", `{"type":"array","items":{"type":"integer"},"uniqueItems":true}`, `[1,2]`, `[1,2,1]`, []string{"uniqueItems: items that all differ"}},
		{"a property missing", `{"type":"object","properties":{"due":{"type":"string","format":"date"},"note":{"type":"string"}},"required":["due"]}`, `{"due":"2026-06-30"}`, `{"note":"x"}`,
			[]string{"due required: a date such as 2026-06-30"}},
		{"a property too many", `{"type":"object","properties":{"due":{"type":"string"},"note":{"type":"string"}}}`, `{}`, `{"Due":"x"}`, []string{"Due additional: only due, note"}},
		{"content in the place of a name", `{"type":"object","properties":{"due":{"type":"string"}}}`, `{}`, `{"my card is 4111":"x"}`, []string{"additional: only due"}},
		{"a place with slash and tilde", `{"type":"object","properties":{"a/b~c":{"type":"string"}}}`, `{"a/b~c":"x"}`, `{"a/b~c":1}`, []string{"a~1b~0c type: a string"}},
		{"a tagged union without its tag", payment, `{"by":"card","number":"4111"}`, `{"number":"4111"}`, []string{`by required: one of "card", "transfer"`}},
		{"a tagged union with an unknown tag", payment, `{"by":"transfer","iban":"x"}`, `{"by":"cash"}`, []string{`by enum: one of "card", "transfer"`}},
		{"a tagged union with a tag of another type", payment, `{"by":"transfer","iban":"x"}`, `{"by":{"card":1}}`, []string{`by enum: one of "card", "transfer"`}},
		{"the branch that a tagged union names", payment, `{"by":"card","number":"4111"}`, `{"by":"card","number":"1","iban":"x"}`,
			[]string{"iban additional: only by, number", "number minLength: at least 4 characters"}},
		{"a scalar for a tagged union", payment, `{"by":"card","number":"4111"}`, `"card"`, []string{"type: an object"}},
		{"all faults at once, in order of place", `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"n":{"type":"integer","minimum":1}},"required":["sku","n"]}},` +
			`"due":{"type":"string","format":"date"}},"required":["items","due"]}`, `{"due":"2026-06-30","items":[]}`,
			`{"due":"30.06.2026","extra":1,"items":[{"n":0,"sku":"a"},{"n":"2"}]}`,
			[]string{"due format: a date such as 2026-06-30", "extra additional: only due, items", "items/0/n minimum: at least 1", "items/1/n type: a whole number", "items/1/sku required: a string"}},
		{"a tagged union in a list", `{"type":"array","items":` + payment + `}`, `[]`, `[{"by":"card","number":"4111"},{"by":"cash"}]`, []string{`1/by enum: one of "card", "transfer"`}},
		{"a date or null", `{"type":"array","items":{"type":["string","null"],"format":"date"}}`, `[null]`, `[1]`, []string{"0 type: a date such as 2026-06-30 or null"}},
		{"no JSON at all", `{"type":"string"}`, `""`, `"`, []string{"syntax: JSON"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			check := compiled(t, valued(c.schema)).Check
			assert.Nil(t, check([]byte(c.valid)), "the valid neighbour")
			assert.Equal(t, c.want, said(check([]byte(c.value))))
		})
	}
}

func TestFormatsAreEnforced(t *testing.T) {
	for format, c := range map[string]struct{ yes, no []string }{
		"date": {
			[]string{"2026-06-30", "2024-02-29", "0001-01-01", "9998-12-31"},
			[]string{"", "2026-02-29", "2026-6-30", "26-06-30", "30.06.2026", "2026-06-30T00:00:00Z", " 2026-06-30", "0000-01-01", "9999-01-01", "not a date"},
		},
		"date-time": {
			[]string{"2026-06-30T09:00:00Z", "2026-06-30T09:00:00.123456+02:00"},
			[]string{"", "2026-06-30", "2026-06-30T09:00:00", "2026-06-30 09:00:00Z", "2026-06-30t09:00:00z", "2026-06-30T24:00:00Z", "2026-06-30T23:59:60Z", "2026-06-30T9:00:00Z", "2026-06-30T09:00:00,5Z", "2026-02-30T09:00:00Z"},
		},
		"time": {
			[]string{"09:00:00Z", "23:59:59.999-05:30"},
			[]string{"", "09:00:00", "9:00:00Z", "24:00:00Z", "09:00Z", "+9:00:00Z", "23:59:60Z"},
		},
		"duration": {
			[]string{"P1D", "PT36H", "P2W", "P1Y2M3DT4H5M6S"},
			[]string{"", "P", "PT", "1D", "P1S", "P-1D", "P1.5D"},
		},
		"email": {
			[]string{"mira@example.com", "mira+x@mail.example.co"},
			[]string{"", "mira", "mira@", "@example.com", "Mira <mira@example.com>", "a b@example.com"},
		},
		"uri": {
			[]string{"https://example.com/a?b=c#d", "urn:isbn:0451450523"},
			[]string{"", "example.com", "/a/b", "://x"},
		},
		"uuid": {
			[]string{"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"},
			[]string{"", "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}", "123e4567-e89b-12d3-a456-42661417400g"},
		},
	} {
		check := compiled(t, valued(fmt.Sprintf(`{"type":"string","format":%q}`, format))).Check
		quoted := func(s string) []byte {
			raw, err := json.Marshal(s)
			require.NoError(t, err)
			return raw
		}
		for _, s := range c.yes {
			assert.Nil(t, check(quoted(s)), "%s %q", format, s)
		}
		for _, s := range c.no {
			faults := check(quoted(s))
			if assert.Len(t, faults, 1, "%s %q", format, s) {
				assert.Equal(t, "format", faults[0].Rule)
			}
		}
	}
}

func TestFaultsNeverCarryTheValue(t *testing.T) {
	const marker = "XyzzyMarker"
	doc := valued(`{"type":"object","properties":{
		"date":{"type":"string","format":"date"},"enum":{"enum":["a"]},"const":{"const":"a"},"pattern":{"type":"string","pattern":"^a$"},
		"short":{"type":"string","maxLength":1},"long":{"type":"string","minLength":99},"number":{"type":"integer"},"list":{"type":"array","items":{"type":"integer"}},
		"unique":{"type":"array","items":{"type":"string"},"uniqueItems":true},
		"union":{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]}]},"small":{"type":"integer","maximum":1}}}`)
	value := strings.ReplaceAll(`{"date":"@","enum":"@","const":"@","pattern":"@","short":"@","long":"@","number":"@","list":["@"],"unique":["@","@"],
		"union":{"k":"@"},"small":74656,"@ in a key":"@"}`, "@", marker)
	faults := compiled(t, doc).Check([]byte(value))
	assert.Len(t, faults, 12, "%v", said(faults))
	for _, f := range faults {
		text := fmt.Sprintf("%+v %s", f, f.Error())
		assert.NotContains(t, text, marker)
		assert.NotContains(t, text, "74656")
	}
}

func TestFaultsOfAHugeValueAreCounted(t *testing.T) {
	check := compiled(t, valued(`{"type":"array","items":{"type":"integer"}}`)).Check
	faults := check([]byte(`[` + strings.TrimSuffix(strings.Repeat(`"x",`, 1000), ",") + `]`))
	require.Len(t, faults, 65)
	assert.Equal(t, sgam.FieldError{Rule: "more", Want: "936 further faults mended too"}, faults[64])
	assert.Len(t, check([]byte(`["x","x"]`)), 2)
}

func TestFaultsComeInTheSameOrderEachTime(t *testing.T) {
	var properties, value []string
	for i := range 40 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
		value = append(value, fmt.Sprintf(`"p%d":"x"`, i))
	}
	check := compiled(t, valued(`{"type":"object","properties":{`+strings.Join(properties, ",")+`}}`)).Check
	raw := []byte(`{` + strings.Join(value, ",") + `}`)
	first := said(check(raw))
	require.Len(t, first, 40)
	for range 20 {
		assert.Equal(t, first, said(check(raw)))
	}
}

func TestTheIdentityOfAMember(t *testing.T) {
	const item = `"tag":1,"name":"a","cardinality":"many","schema":{"type":"object","properties":{"sku":{"type":"string"},"n":{"type":"integer"},` +
		`"part/~":{"type":"object","properties":{"no":{"type":"integer"},"lot":{"type":"string"}},"required":["no"]}},"required":["sku","part/~"]}`
	value := []byte(`{"n":2,"part/~":{"lot":"x","no":7},"sku":"A-1"}`)
	for key, want := range map[string]string{"/sku": `"A-1"`, "/part~1~0/no": `7`, "/part~1~0": `{"lot":"x","no":7}`} {
		spec := compiled(t, attributes(item+`,"key":"`+key+`"`))
		require.NotNil(t, spec.Identity)
		got, err := spec.Identity(value)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), key)
		for _, bad := range []string{`{}`, `[]`, `"x"`, `{`} {
			_, err = spec.Identity([]byte(bad))
			assert.Error(t, err, "%s of %s", key, bad)
		}
	}
	assert.Nil(t, compiled(t, attributes(item)).Identity, "without a key the whole value identifies")
}

func TestTheIdentityOfATaggedUnion(t *testing.T) {
	spec := compiled(t, attributes(`"tag":1,"name":"a","cardinality":"many","key":"/id","schema":{"oneOf":[
		{"type":"object","properties":{"kind":{"const":"a"},"id":{"type":"integer"}},"required":["kind","id"]},
		{"type":"object","properties":{"kind":{"const":"b"},"id":{"type":"string"}},"required":["kind","id"]}]}`))
	for value, want := range map[string]string{`{"id":1,"kind":"a"}`: `1`, `{"id":"1","kind":"b"}`: `"1"`} {
		require.Nil(t, spec.Check([]byte(value)))
		got, err := spec.Identity([]byte(value))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct{ name, schema, value string }{
		{"date", `{"type":"string","format":"date"}`, `"2026-06-30"`},
		{"string", `{"type":"string"}`, `"2026-06-30"`},
		{"object", `{"type":"object","properties":{"sku":{"type":"string","minLength":1},"n":{"type":"integer","minimum":1}},"required":["sku","n"]}`, `{"n":2,"sku":"A-1"}`},
	} {
		check := compiled(b, valued(c.schema)).Check
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if check([]byte(c.value)) != nil {
					b.Fatal("not valid")
				}
			}
		})
	}
}
