package schema

import "github.com/santhosh-tekuri/jsonschema/v6"

// The leaves of drawn values: each keyword and format that is drawn for a schema tells some of them from others.
var (
	drawnStrings = []any{
		"", "a", "b", "é", "aa", "ab", "ba", "aab", "2026-06-30", "2026-06-30T09:00:00Z", "09:00:00Z", "P1D", "mira@example.com",
		"https://example.com/", "123e4567-e89b-12d3-a456-426614174000",
	}
	drawnNumbers = func() []any {
		list := []any{1e300, -1e300, 1e-7, 9007199254740991.0, 9007199254740992.0, 9007199254740994.0}
		for i := -15; i <= 35; i++ {
			list = append(list, float64(i)/10)
		}
		return append(list, 4.0, 5.0, 6.0, 0.25, 2.25)
	}()
)

// value draws a value that the version allows; false when none was found.
func (v *drawnVersion) value(c chooser) (any, bool) {
	value := drawValid(c, v.schema, v.judge.schema)
	return value, v.judge.schema.Validate(value) == nil
}

// drawValid draws a value of a schema. What is inside is valid wherever a valid part is easily found.
func drawValid(c chooser, keywords map[string]any, s *jsonschema.Schema) any {
	base, nullable := typeAndNull(keywords)
	if nullable && once(c, 6) {
		return nil
	}
	if list, ok, _ := constantsOf(keywords); ok && len(list) > 0 {
		return pick(c, list...)
	}
	switch base {
	case "string":
		return drawLeaf(c, drawnStrings, s)
	case "boolean":
		return once(c, 2)
	case "array":
		least := countOf(keywords["minItems"], 0)
		most := min(countOf(keywords["maxItems"], least+2), least+2)
		list := []any{}
		for range int(least) + c.IntN(int(most-least)+1) {
			list = append(list, drawValid(c, asSchema(keywords["items"]), s.Items2020))
		}
		return list
	case "object":
		if branches, ok := keywords["oneOf"].([]any); ok {
			i := c.IntN(len(branches))
			return drawValid(c, asSchema(branches[i]), s.OneOf[i])
		}
		object := map[string]any{}
		properties, _ := keywords["properties"].(map[string]any)
		for _, name := range sortedKeys(properties) {
			if isRequired(keywords, name) || once(c, 2) {
				object[name] = drawValid(c, asSchema(properties[name]), s.Properties[name])
			}
		}
		return object
	}
	return drawLeaf(c, drawnNumbers, s)
}

func drawLeaf(c chooser, list []any, s *jsonschema.Schema) any {
	for range 12 {
		if v := pick(c, list...); s.Validate(v) == nil {
			return v
		}
	}
	from := c.IntN(len(list))
	for i := range list {
		if v := list[(from+i)%len(list)]; s.Validate(v) == nil {
			return v
		}
	}
	return list[from]
}
