package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

var dialects = []schema.Dialect{schema.OpenAI, schema.Anthropic, schema.Generic}

func readDocument(t require.TestingT, path ...string) sgam.TypeDocument {
	raw, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	doc, err := schema.ParseDocument(raw)
	require.NoError(t, err)
	return doc
}

// document makes a document of one type with these attributes.
func document(t require.TestingT, list ...string) sgam.TypeDocument {
	doc, err := schema.ParseDocument([]byte(`{"type":"t","version":1,"attributes":[{` + strings.Join(list, "},{") + `}]}`))
	require.NoError(t, err)
	return doc
}

func formFor(t require.TestingT, d schema.Dialect, docs ...sgam.TypeDocument) *schema.Form {
	form, err := schema.For(d, docs...)
	require.NoError(t, err)
	return form
}

// strictly is an emitted schema, as an endpoint that keeps to it would judge.
func strictly(t require.TestingT, form *schema.Form) *jsonschema.Schema {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(form.Schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("https://form.invalid/", tree))
	s, err := c.Compile("https://form.invalid/")
	require.NoError(t, err)
	return s
}

func accepts(t require.TestingT, s *jsonschema.Schema, answer []byte) error {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
	require.NoError(t, err)
	return s.Validate(tree)
}

func TestFormsInEachDialect(t *testing.T) {
	doc := readDocument(t, "dialect", "order.in.json")
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			form := formFor(t, d, doc)
			assert.Empty(t, schema.Lint(d, form.Schema))
			var pretty bytes.Buffer
			require.NoError(t, json.Indent(&pretty, form.Schema, "", "  "))
			pretty.WriteByte('\n')
			path := filepath.Join("testdata", "dialect", "order."+string(d)+".json")
			if *update {
				require.NoError(t, os.WriteFile(path, pretty.Bytes(), 0o644))
			}
			golden, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(golden), pretty.String())
		})
	}
}

// A model concludes from what it has written: the quotation has to come before the value.
func TestFormsAskForTheEvidenceBeforeTheValue(t *testing.T) {
	for _, d := range dialects {
		text := string(formFor(t, d, readDocument(t, "dialect", "order.in.json")).Schema)
		last := -1
		for _, key := range []string{"evidence", "compared", "reasoning", "contradicts", "intent", "subject", "attribute", "change", "value", "valid_from", "valid_to", "confidence"} {
			at := strings.Index(text, fmt.Sprintf("%q:{", key))
			require.Positive(t, at, "%s %s", d, key)
			assert.Greater(t, at, last, "%s %s", d, key)
			last = at
		}
	}
}

func TestFormsSayInWordsWhatIsNotEnforced(t *testing.T) {
	doc := document(t, `"tag":1,"name":"a","cardinality":"many","unit":"kg","schema":{"type":"object","properties":{
		"s":{"type":"string","minLength":2,"maxLength":3,"pattern":"^x<"},"n":{"type":"integer","minimum":1,"exclusiveMaximum":9,"multipleOf":2,"default":4},
		"l":{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":2,"uniqueItems":true},"u":{"type":"string","format":"uri"}},"required":["s","n","l","u"]}`)
	for _, d := range []schema.Dialect{schema.OpenAI, schema.Anthropic} {
		text := string(formFor(t, d, doc).Schema)
		for _, words := range []string{
			"at least 2 characters, at most 3 characters, matches the pattern ^x<", "at least 1, less than 9, a multiple of 2",
			"at least 1 item, at most 2 items, items that all differ", "in kg; it can have several values: one entry for each",
		} {
			assert.Contains(t, text, words, d)
		}
		for _, keyword := range []string{"minLength", "pattern", "minimum", "minItems", "uniqueItems", "default", "$ref"} {
			assert.NotContains(t, text, fmt.Sprintf("%q:", keyword), d)
			assert.Contains(t, string(doc.JSON)+`"$ref":`, fmt.Sprintf("%q:", keyword), "the control")
		}
		enforced := strings.Contains(text, `"format":"uri"`)
		assert.Equal(t, d == schema.Anthropic, enforced, "a format of one endpoint and not of the other")
		assert.Equal(t, !enforced, strings.Contains(text, "an absolute URI"), d)
	}
}

func TestFormsThatCannotBeMade(t *testing.T) {
	one := document(t, `"tag":1,"name":"a","schema":{"type":"string"}`)
	broken := one
	broken.JSON = []byte(`{}`)
	for _, test := range []struct {
		why, field, rule string
		make             func() (*schema.Form, error)
	}{
		{"an unknown dialect", "dialect", "enum", func() (*schema.Form, error) { return schema.For("xml", one) }},
		{"no type", "types", "required", func() (*schema.Form, error) { return schema.For(schema.OpenAI) }},
		{"a name that is there twice", "types/t", "unique", func() (*schema.Form, error) { return schema.For(schema.OpenAI, one, one) }},
		{"no document", "type", "name", func() (*schema.Form, error) { return schema.For(schema.OpenAI, broken) }},
	} {
		t.Run(test.why, func(t *testing.T) {
			_, err := test.make()
			var fe *sgam.FieldError
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, test.rule, fe.Rule)
			assert.Equal(t, test.field, fe.Field)
		})
	}
}

// attributesOf repeats an attribute with names and tags of their own.
func attributesOf(n int, value string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"tag":%d,"name":"a%d","schema":%s`, i+1, i, value)
	}
	return list
}

func TestFormsKeepToTheLimitsOfTheEndpoint(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"type":"array","items":`, depth) + `{"type":"string"}` + strings.Repeat(`}`, depth)
	}
	optional := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
		}
		return `{"type":"object","properties":{` + strings.Join(names, ",") + `}}`
	}
	words := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"word number %08d, %040d"`, i, i)
		}
		return `{"enum":[` + strings.Join(list, ",") + `]}`
	}
	for _, test := range []struct {
		dialect   schema.Dialect
		limit     string
		most      int
		fits, not []string
	}{
		{schema.OpenAI, "depth", 10, attributesOf(1, nested(5)), attributesOf(1, nested(6))},
		{schema.OpenAI, "enum_values", 1000, attributesOf(300, `{"type":"string"}`), attributesOf(400, `{"type":"string"}`)},
		{schema.OpenAI, "enum_text", 15000, attributesOf(1, words(240)), attributesOf(1, words(260))},
		{schema.Anthropic, "unions", 16, attributesOf(1, optional(10)), attributesOf(1, optional(11))},
	} {
		t.Run(string(test.dialect)+" "+test.limit, func(t *testing.T) {
			formFor(t, test.dialect, document(t, test.fits...))
			_, err := schema.For(test.dialect, document(t, test.not...))
			var le *schema.LimitError
			require.ErrorAs(t, err, &le)
			assert.Equal(t, test.limit, le.Limit)
			assert.Equal(t, test.dialect, le.Dialect)
			assert.Equal(t, test.most, le.Most)
			assert.Greater(t, le.Have, le.Most)
			assert.Contains(t, err.Error(), "try ")
		})
	}
	// What is too deep for typed values still travels as text.
	formFor(t, schema.Generic, document(t, attributesOf(1, nested(6))...))
}

// drawDocument draws a document with one to three attributes that the profile accepts.
func drawDocument(t *rapid.T) sgam.TypeDocument {
	parsed := func(list []any) (sgam.TypeDocument, error) {
		raw, err := json.Marshal(map[string]any{"type": "t", "version": 1, "attributes": list})
		require.NoError(t, err)
		return schema.ParseDocument(raw)
	}
	attribute := rapid.Custom(func(t *rapid.T) map[string]any {
		return map[string]any{
			"tag": 1, "name": "a", "schema": drawSchema(t, 2, nil),
			"cardinality": rapid.SampledFrom([]string{"one", "many"}).Draw(t, "cardinality"),
		}
	}).Filter(func(a map[string]any) bool {
		_, err := parsed([]any{a})
		return err == nil
	})
	var list []any
	for i, a := range rapid.SliceOfN(attribute, 1, 3).Draw(t, "attributes") {
		a["tag"], a["name"] = i+1, fmt.Sprintf("a%d", i)
		list = append(list, a)
	}
	doc, err := parsed(list)
	require.NoError(t, err)
	return doc
}

func TestEveryFormPassesTheLinterOfItsDialect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		for _, d := range dialects {
			form, err := schema.For(d, doc)
			if le := new(schema.LimitError); errors.As(err, &le) {
				require.Equal(t, "unions", le.Limit)
				continue
			}
			require.NoError(t, err)
			require.Empty(t, schema.Lint(d, form.Schema), "%s %s", d, form.Schema)
			strictly(t, form)
			if d == schema.Generic { // what every engine takes, the strict endpoints take too
				require.Empty(t, schema.Lint(schema.OpenAI, form.Schema))
				require.Empty(t, schema.Lint(schema.Anthropic, form.Schema))
			}
		}
	})
}
