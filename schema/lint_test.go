package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/schema"
)

// around puts a schema into the one property of a closed object.
func around(inner string) string {
	return `{"type":"object","properties":{"p":` + inner + `},"required":["p"],"additionalProperties":false}`
}

func repeated(n int, one func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = one(i)
	}
	return strings.Join(list, ",")
}

func TestLintFindsWhatAnEndpointWouldRefuse(t *testing.T) {
	const text = `{"type":"string"}`
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
	}
	wide := func(n int) string {
		return object(repeated(n, func(i int) string { return fmt.Sprintf(`"p%d":%s`, i, text) }),
			repeated(n, func(i int) string { return fmt.Sprintf(`"p%d"`, i) }))
	}
	optional := func(n int) string {
		return object(repeated(n, func(i int) string { return fmt.Sprintf(`"p%d":%s`, i, text) }), "")
	}
	unions := func(n int) string {
		return object(repeated(n, func(i int) string { return fmt.Sprintf(`"p%d":{"type":["string","null"]}`, i) }),
			repeated(n, func(i int) string { return fmt.Sprintf(`"p%d"`, i) }))
	}
	words := func(n, length int) string {
		return `{"type":"string","enum":[` + repeated(n, func(i int) string { return fmt.Sprintf(`"%0*d"`, length, i) }) + `]}`
	}
	deep := func(n int) string {
		return strings.Repeat(`{"type":"array","items":`, n) + text + strings.Repeat(`}`, n)
	}
	refs := func(inner, defs string) string {
		return `{"type":"object","properties":{"p":` + inner + `},"required":["p"],"additionalProperties":false,"$defs":{` + defs + `}}`
	}
	branch := func(first string) string { return object(first+`,"v":{"type":"string"}`, `"k","v"`) }
	all := dialects
	openAI, anthropic := []schema.Dialect{schema.OpenAI}, []schema.Dialect{schema.Anthropic}
	both, strict := []schema.Dialect{schema.OpenAI, schema.Anthropic}, []schema.Dialect{schema.OpenAI, schema.Generic}
	limited := []schema.Dialect{schema.Anthropic, schema.Generic}
	for _, test := range []struct {
		dialects         []schema.Dialect
		path, rule       string
		refused, allowed string
	}{
		{all, "", "syntax", `{`, around(text)},
		{all, "a", "duplicate_key", `{"a":1,"a":2}`, around(text)},
		{all, "", "root", `{"type":"array","items":{"type":"string"}}`, around(`{"type":"array","items":{"type":"string"}}`)},
		{all, "", "root", `{"type":"object","properties":{},"additionalProperties":false,"anyOf":[{"type":"string"}]}`, around(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		{all, "", "root", `[]`, around(text)},
		{all, "properties/p", "schema", around(`true`), around(text)},
		{all, "properties/p", "type", around(`{"description":"anything"}`), around(text)},
		{strict, "properties/p", "type", around(`{"enum":["a"]}`), around(`{"type":"string","enum":["a"]}`)},
		{all, "properties/p/type", "type", around(`{"type":"date"}`), around(text)},
		{all, "properties/p/type", "type", around(`{"type":[]}`), around(`{"type":["string","null"]}`)},
		{all, "properties/p/additionalProperties", "closed", around(`{"type":"object","properties":{}}`), around(object("", ""))},
		{all, "properties/p/additionalProperties", "closed", around(`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`), around(object("", ""))},
		{all, "properties/p/properties", "properties", around(`{"type":"object","additionalProperties":false}`), around(object("", ""))},
		{strict, "properties/p/properties/a", "required", around(object(`"a":`+text, "")), around(object(`"a":`+text, `"a"`))},
		{all, "properties/p/required", "required", around(object(`"a":`+text, `"a","b"`)), around(object(`"a":`+text, `"a"`))},
		{all, "properties/p/required", "required", around(strings.Replace(object("", ""), "[]", "true", 1)), around(object("", ""))},
		{all, "properties/p/items", "items", around(`{"type":"array"}`), around(`{"type":"array","items":{"type":"string"}}`)},
		{all, "properties/p/oneOf", "keyword", around(`{"type":"object","properties":{},"additionalProperties":false,"oneOf":[]}`), around(`{"anyOf":[{"type":"string"}]}`)},
		{all, "properties/p/not", "keyword", around(`{"type":"string","not":{"const":""}}`), around(text)},
		{all, "properties/p/minLength", "keyword", around(`{"type":"string","minLength":1}`), around(text)},
		{all, "properties/p/patternProperties", "keyword", around(`{"type":"object","properties":{},"additionalProperties":false,"patternProperties":{}}`), around(object("", ""))},
		{all, "properties/p/$defs", "keyword", around(`{"type":"string","$defs":{}}`), around(text)},
		{strict, "properties/p/default", "keyword", around(`{"type":"string","default":"x"}`), around(text)},
		{limited, "properties/p/minimum", "keyword", around(`{"type":"integer","minimum":1}`), around(`{"type":"integer"}`)},
		{[]schema.Dialect{schema.Generic}, "properties/p/format", "keyword", around(`{"type":"string","format":"date"}`), around(text)},
		{[]schema.Dialect{schema.Generic}, "$defs", "keyword", refs(text, ""), around(text)},
		{openAI, "properties/p/format", "format", around(`{"type":"string","format":"uri"}`), around(`{"type":"string","format":"date"}`)},
		{anthropic, "properties/p/format", "format", around(`{"type":"string","format":"regex"}`), around(`{"type":"string","format":"uri"}`)},
		{anthropic, "properties/p/minItems", "minItems", around(`{"type":"array","minItems":2,"items":{"type":"string"}}`), around(`{"type":"array","minItems":1,"items":{"type":"string"}}`)},
		{anthropic, "properties/p/pattern", "pattern", around(`{"type":"string","pattern":"(?=a)b"}`), around(`{"type":"string","pattern":"^a+$"}`)},
		{anthropic, "properties/p/pattern", "pattern", around(`{"type":"string","pattern":"\\bword"}`), around(`{"type":"string","pattern":"^word"}`)},
		{all, "properties/p/enum", "enum", around(`{"type":"string","enum":[]}`), around(`{"type":"string","enum":["a"]}`)},
		{all, "properties/p/enum", "enum", around(`{"type":"array","items":{"type":"string"},"enum":[["a"]]}`), around(`{"type":"string","enum":["a",null]}`)},
		{all, "properties/p/const", "enum", around(`{"type":"object","properties":{},"additionalProperties":false,"const":{}}`), around(`{"type":"string","const":"a"}`)},
		{all, "properties/p/anyOf", "type", around(`{"anyOf":[]}`), around(`{"anyOf":[{"type":"string"}]}`)},
		{both, "properties/p/$ref", "ref", around(`{"$ref":"other.json"}`), refs(`{"$ref":"#/$defs/d"}`, `"d":`+text)},
		{both, "properties/p/$ref", "ref", around(`{"$ref":"#/$defs/d"}`), refs(`{"$ref":"#/$defs/d"}`, `"d":`+text)},
		{openAI, "properties/p/$ref", "ref", refs(`{"$ref":"#/$defs/d","description":"x"}`, `"d":`+text), refs(`{"$ref":"#/$defs/d"}`, `"d":`+text)},
		{anthropic, "$defs/d", "ref", refs(`{"$ref":"#/$defs/d"}`, `"d":{"type":"array","items":{"$ref":"#/$defs/d"}}`), refs(`{"$ref":"#/$defs/d"}`, `"d":`+text)},
		{anthropic, "properties/p/allOf/0", "ref", refs(`{"allOf":[{"$ref":"#/$defs/d"}]}`, `"d":`+text), around(`{"allOf":[{"type":"string"}]}`)},
		{both, "$defs", "type", strings.Replace(refs(text, ""), `"$defs":{}`, `"$defs":[]`, 1), refs(text, "")},
		{openAI, "properties/p/anyOf/1", "first_key", around(`{"anyOf":[` + branch(`"k":`+text) + `,` + branch(`"k":`+text) + `]}`),
			around(`{"anyOf":[` + branch(`"k":{"const":"a","type":"string"}`) + `,` + branch(`"k":{"const":"b","type":"string"}`) + `]}`)},
		{strict, "", "depth", around(deep(10)), around(deep(9))},
		{strict, "", "properties", wide(5001), wide(5000)},
		{strict, "", "enum_values", around(words(1001, 4)), around(words(1000, 4))},
		{strict, "", "enum_text", around(words(251, 60)), around(words(250, 60))},
		{strict, "", "text", around(`{"type":"string","const":"` + strings.Repeat("é", 120_000) + `"}`), around(`{"type":"string","const":"` + strings.Repeat("é", 119_999) + `"}`)},
		{limited, "", "unions", unions(17), unions(16)},
		{anthropic, "", "optional", optional(25), optional(24)},
	} {
		for _, d := range test.dialects {
			t.Run(fmt.Sprint(d, " ", test.rule, " ", test.path), func(t *testing.T) {
				var found []string
				for _, f := range schema.Lint(d, []byte(test.refused)) {
					assert.NotEmpty(t, f.Want)
					found = append(found, f.Field+": "+f.Rule)
				}
				assert.Contains(t, found, test.path+": "+test.rule)
				assert.Empty(t, schema.Lint(d, []byte(test.allowed)))
			})
		}
	}
}

func TestLintKnowsItsDialects(t *testing.T) {
	faults := schema.Lint("xml", []byte(`{}`))
	require.Len(t, faults, 1)
	assert.Equal(t, "dialect: enum: want one of openai, anthropic, generic", faults[0].Error())
}

// A schema that calls itself is fine for OpenAI, and walking it ends.
func TestLintFollowsNoCircle(t *testing.T) {
	tree := `{"type":"object","properties":{"p":{"$ref":"#/$defs/d"}},"required":["p"],"additionalProperties":false,"$defs":{"d":{"type":"array","items":{"$ref":"#"}}}}`
	assert.Empty(t, schema.Lint(schema.OpenAI, []byte(tree)))
	faults := schema.Lint(schema.Anthropic, []byte(tree))
	require.Len(t, faults, 1)
	assert.Equal(t, "ref", faults[0].Rule)
}
