package canon_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// drawText draws text that a document may hold, dense in the characters that are
// escaped or ordered in their own way.
func drawText(t *rapid.T, label string) string {
	return rapid.StringOfN(rapid.OneOf(
		rapid.RuneFrom([]rune("ab/\"\\~ é€\b\f\n\r\t\u0001\u001f\u007f\u0080\u2028\ud7ff\ue000\ufb33\uffff😀😂\U0010ffff")),
		rapid.Rune().Filter(func(r rune) bool { return r != 0 && !utf16.IsSurrogate(r) }),
	), 0, 6, -1).Draw(t, label)
}

// drawValue draws any value that may be sent, as encoding/json decodes it.
func drawValue(t *rapid.T, depth int) any {
	kinds := []string{"null", "bool", "number", "text", "array", "object"}
	if depth == 0 {
		kinds = kinds[:4]
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "number":
		return rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-2000, 2000), func(n int) float64 { return float64(n) / 100 })).Draw(t, "number")
	case "text":
		return drawText(t, "text")
	case "array":
		array := make([]any, rapid.IntRange(0, 4).Draw(t, "length"))
		for i := range array {
			array[i] = drawValue(t, depth-1)
		}
		return array
	case "object":
		object := map[string]any{}
		for range rapid.IntRange(0, 5).Draw(t, "members") {
			object[drawText(t, "key")] = drawValue(t, depth-1)
		}
		return object
	}
	return nil
}

// spell writes a value in one of its many spellings: white space, the order of
// keys, escapes and the layout of numbers are drawn.
func spell(t *rapid.T, value any) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r "}).Draw(t, "space") }
	switch v := value.(type) {
	case nil:
		return space() + "null" + space()
	case bool:
		return space() + strconv.FormatBool(v) + space()
	case float64:
		return space() + spellNumber(t, v) + space()
	case string:
		return space() + spellText(t, v) + space()
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = spell(t, v[i])
		}
		return space() + "[" + strings.Join(items, ",") + space() + "]" + space()
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v)) // a map's own order would not replay
		if len(keys) > 1 {
			keys = rapid.Permutation(keys).Draw(t, "order")
		}
		members := make([]string, len(keys))
		for i, key := range keys {
			members[i] = space() + spellText(t, key) + space() + ":" + spell(t, v[key])
		}
		return space() + "{" + strings.Join(members, ",") + space() + "}" + space()
	}
	t.Fatalf("no spelling for %T", value)
	return ""
}

func spellNumber(t *rapid.T, number float64) string {
	layout := rapid.SampledFrom([]byte("efgEG")).Draw(t, "layout")
	text := strconv.FormatFloat(number, layout, -1, 64)
	if strings.Contains(text, ".") && !strings.ContainsAny(text, "eE") {
		text += rapid.SampledFrom([]string{"", "0", "000000000000000000"}).Draw(t, "zeros")
	}
	return text
}

func spellText(t *rapid.T, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		short := strings.IndexRune("\"\\/\b\f\n\r\t", r)
		switch escaped := rapid.Bool().Draw(t, "escaped"); {
		case escaped && short >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\/bfnrt`[short])
		case escaped || r < ' ' || r == '"' || r == '\\':
			layout := rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "hexadecimal")
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, layout, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
