package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/schema"
)

// drawInstance draws a value that a schema mostly allows.
func drawInstance(t *rapid.T, s map[string]any) any {
	types := asList(s["type"])
	if slices.Contains(types, any("null")) && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	if list := asList(s["enum"]); s["enum"] != nil {
		return rapid.SampledFrom(list).Draw(t, "word")
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if list := asList(s["oneOf"]); s["oneOf"] != nil {
		branch, _ := rapid.SampledFrom(list).Draw(t, "branch").(map[string]any)
		return drawInstance(t, branch)
	}
	least, _ := s["minItems"].(float64)
	switch types[0] {
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case "integer":
		return rapid.IntRange(-2, 12).Draw(t, "integer")
	case "number":
		return float64(rapid.IntRange(-4, 24).Draw(t, "number")) / 2
	case "array":
		items, _ := s["items"].(map[string]any)
		list := []any{}
		for range int(least) + rapid.IntRange(0, 1).Draw(t, "more") {
			list = append(list, drawInstance(t, items))
		}
		return list
	case "object":
		properties, _ := s["properties"].(map[string]any)
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if slices.Contains(asList(s["required"]), any(name)) || rapid.Bool().Draw(t, "there") {
				property, _ := properties[name].(map[string]any)
				object[name] = drawInstance(t, property)
			}
		}
		return object
	}
	switch s["format"] {
	case "date":
		return "2026-06-30"
	case "email":
		return "mira@example.com"
	case "uuid":
		return "123e4567-e89b-12d3-a456-426614174000"
	}
	return rapid.StringMatching(`[a-z<é"]{0,5}`).Draw(t, "text")
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// filledIn is a value as it stands in a form: what was left out is null.
func filledIn(s map[string]any, v any) any {
	if list := asList(s["oneOf"]); s["oneOf"] != nil {
		object, _ := v.(map[string]any)
		for _, b := range list {
			branch, _ := b.(map[string]any)
			properties, _ := branch["properties"].(map[string]any)
			if tag, _ := properties["k"].(map[string]any); tag["const"] == object["k"] {
				s = branch
			}
		}
	}
	switch v := v.(type) {
	case []any:
		items, _ := s["items"].(map[string]any)
		out := make([]any, len(v))
		for i := range v {
			out[i] = filledIn(items, v[i])
		}
		return out
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		out := map[string]any{}
		for name, p := range properties {
			property, _ := p.(map[string]any)
			out[name] = nil
			if part, there := v[name]; there {
				out[name] = filledIn(property, part)
			}
		}
		return out
	}
	return v
}

// Whatever a document says, an answer that fills its form in with valid values is let through by the form, and becomes
// deltas that the ledger applies.
func TestAnswersThatFillInTheFormAreApplied(t *testing.T) {
	filled := 0
	rapid.Check(t, func(rt *rapid.T) {
		doc := drawDocument(rt)
		types := schema.NewRegistry()
		_, err := types.Add(doc.JSON)
		require.NoError(rt, err)
		specs, err := types.Compile(doc)
		require.NoError(rt, err)
		var parsed struct {
			Attributes []struct{ Schema map[string]any }
		}
		require.NoError(rt, json.Unmarshal(doc.JSON, &parsed))
		var entries, asText []string
		for i, a := range parsed.Attributes {
			value := drawInstance(rt, a.Schema)
			raw, err := json.Marshal(value)
			require.NoError(rt, err)
			if specs[i].Check(raw) != nil {
				continue // a bound that the generator does not heed
			}
			written, err := json.Marshal(filledIn(a.Schema, value))
			require.NoError(rt, err)
			change := rapid.SampledFrom([]string{"now_is", "was_always", "no_longer", "never_was"}).Draw(rt, "change")
			statement := fmt.Sprintf(`{"attribute":%q,"change":%q,"value":%s}`, specs[i].Name, change, written)
			text := written
			if a.Schema["type"] != "string" {
				text, err = json.Marshal(string(written))
				require.NoError(rt, err)
			}
			textStatement := fmt.Sprintf(`{"attribute":%q,"change":%q,"value":%s}`, specs[i].Name, change, text)
			if !specs[i].Many && (change == "no_longer" || change == "never_was") {
				statement = fmt.Sprintf(`{"no_value_of":%q,"change":%q}`, specs[i].Name, change)
				textStatement = fmt.Sprintf(`{"attribute":%q,"change":%q,"value":null}`, specs[i].Name, change)
			}
			from := `"2026-06-02"`
			entries = append(entries, entry(statement, "valid_from", from, "confidence", "0.5"))
			asText = append(asText, entry(textStatement, "valid_from", from, "confidence", "0.5"))
		}
		for _, d := range dialects {
			form, err := schema.For(d, doc)
			if le := new(schema.LimitError); errors.As(err, &le) {
				continue
			}
			require.NoError(rt, err)
			answer := answerOf(entries...)
			if d == schema.Generic {
				answer = answerOf(asText...)
			}
			require.NoError(rt, accepts(rt, strictly(rt, form), answer), "%s\n%s\n%s", d, form.Schema, answer)
			candidates, err := form.Decode(answer)
			require.NoError(rt, err)
			require.Len(rt, candidates, len(entries))
			ledger := ledgertest.NewLedger(t, &sgam.Options{Schemas: types, Clock: func() time.Time { return heard.AddDate(0, 0, 1) }})
			tenant, err := ledger.Tenant("t")
			require.NoError(rt, err)
			for i, c := range candidates {
				require.NoError(rt, c.Err)
				receipt, err := tenant.Apply(t.Context(), c.Delta.From(sgam.Episode{ID: fmt.Sprint(i), Kind: sgam.Message, OccurredAt: heard}))
				require.NoError(rt, err)
				require.NotEqual(rt, sgam.Rejected, receipt.Outcome, "%s %s %v", d, answer, receipt.Err())
				filled++
			}
			require.NoError(rt, ledger.Close())
		}
	})
	require.Positive(t, filled)
}
