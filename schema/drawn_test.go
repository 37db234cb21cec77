package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// drawSchema draws a value schema that is mostly inside the profile: a keyword in a wrong place, a contradiction or a
// constant that is no value makes some of them refused.
func drawSchema(t *rapid.T, depth int, defs []string) map[string]any {
	kinds := []string{"string", "integer", "number", "boolean", "enum"}
	if depth > 0 {
		kinds = append(kinds, "array", "object", "object", "union")
	}
	if len(defs) > 0 {
		kinds = append(kinds, "ref")
	}
	s := map[string]any{}
	bound := func(keys ...string) {
		for _, key := range keys {
			if rapid.IntRange(0, 2).Draw(t, key) == 0 {
				s[key] = rapid.IntRange(-1, 4).Draw(t, key)
			}
		}
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	switch kind {
	case "string":
		bound("minLength", "maxLength")
		if rapid.Bool().Draw(t, "formatted") {
			s["format"] = rapid.SampledFrom([]string{"date", "email", "uuid", "ipv4"}).Draw(t, "format")
		}
	case "integer", "number":
		bound("minimum", "maximum", "exclusiveMinimum", "multipleOf")
	case "enum":
		s["enum"] = rapid.SliceOfN(rapid.SampledFrom([]any{"a", "b", 1, 2.5, nil, true}), 1, 2).Draw(t, "values")
		return s
	case "array":
		bound("minItems", "maxItems")
		s["items"] = drawSchema(t, depth-1, defs)
	case "object":
		properties, required := map[string]any{}, []any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "title", "x/y"}), 1, 3, rapid.ID).Draw(t, "names") {
			properties[name] = drawSchema(t, depth-1, defs)
			if rapid.Bool().Draw(t, "required") {
				required = append(required, name)
			}
		}
		s["properties"], s["required"] = properties, required
	case "union":
		branches := []any{}
		for i := range rapid.IntRange(1, 3).Draw(t, "branches") {
			branch := drawSchema(t, 0, nil)
			branches = append(branches, map[string]any{
				"type": "object", "properties": map[string]any{"k": map[string]any{"const": fmt.Sprint(i)}, "v": branch}, "required": []any{"k"},
			})
		}
		s["oneOf"] = branches
		return s
	case "ref":
		s["$ref"] = "#/$defs/" + rapid.SampledFrom(defs).Draw(t, "def")
		return s
	}
	s["type"] = kind
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		s["type"] = []any{"null", kind}
	}
	if rapid.IntRange(0, 9).Draw(t, "stray") == 0 {
		s[rapid.SampledFrom([]string{"not", "minLength", "x-sgam-note"}).Draw(t, "keyword")] = 1
	}
	return s
}

// withTitles is a schema with a title wherever one may stand.
func withTitles(s map[string]any) map[string]any {
	out := maps.Clone(s)
	out["title"] = "other words"
	if properties, ok := out["properties"].(map[string]any); ok {
		titled := map[string]any{}
		for name, p := range properties {
			if inner, ok := p.(map[string]any); ok {
				titled[name] = withTitles(inner)
			}
		}
		out["properties"] = titled
	}
	if items, ok := out["items"].(map[string]any); ok {
		out["items"] = withTitles(items)
	}
	return out
}

func TestDrawnDocumentsAreTheirOwnCanonicalForm(t *testing.T) {
	parse := func(s map[string]any) (sgam.TypeDocument, error) {
		raw, err := json.Marshal(map[string]any{"type": "t", "version": 1, "attributes": []any{map[string]any{"tag": 1, "name": "a", "schema": s}}})
		require.NoError(t, err)
		return schema.ParseDocument(raw)
	}
	schemas := rapid.Custom(func(t *rapid.T) map[string]any {
		defs := map[string]any{"d1": drawSchema(t, 1, nil), "d2": drawSchema(t, 1, []string{"d1"})}
		s := drawSchema(t, 3, []string{"d1", "d2"})
		s["$defs"] = defs
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		drawn := schemas.Filter(func(s map[string]any) bool {
			_, err := parse(s)
			return err == nil
		}).Draw(t, "schema")
		doc, err := parse(drawn)
		require.NoError(t, err)
		again, err := schema.ParseDocument(doc.JSON)
		require.NoError(t, err)
		require.Equal(t, doc, again)
		require.NotContains(t, string(doc.JSON), "$ref")
		_, err = schema.Stored().Compile(doc)
		require.NoError(t, err)

		titled, err := parse(withTitles(drawn))
		require.NoError(t, err)
		require.NotEqual(t, doc.Hash, titled.Hash)
		require.Equal(t, doc.Semantic, titled.Semantic)
	})
}
