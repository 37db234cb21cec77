package schema

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawDatum draws a value with all that is hard to write, and parts that nobody said.
func drawDatum(t *rapid.T, depth int) *datum {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b~/", "0", "ü", "\U0001F600", "\uFB01", `"`, `\`, "\n", "\x7f", "<&>", "\u2028"}), rapid.String())
	number := rapid.OneOf(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, .1, 1e-6, 9e-7, 1e20, 1e21, 1 << 53, 5e-324, math.MaxFloat64}), rapid.Float64())
	n := &datum{filled: rapid.IntRange(0, 5).Draw(t, "filled") == 0}
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		n.scalar = text.Draw(t, "text")
	case 1:
		n.scalar = number.Draw(t, "number")
	case 2:
		n.scalar = rapid.Bool().Draw(t, "truth")
	case 3:
	case 4:
		n.isArray = true
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			n.items = append(n.items, drawDatum(t, depth-1))
		}
	case 5:
		n.members = map[string]*datum{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			n.members[text.Draw(t, "name")] = drawDatum(t, depth-1)
		}
	}
	return n
}

func TestWhatALensWritesIsCanonical(t *testing.T) {
	t.Parallel()
	written, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := drawDatum(t, 3)
		var wantFilled, filled []string
		want, wantErr := canonical(n.plain("", &wantFilled))
		text, plain, err := n.encode(&filled)
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
		require.Equal(t, wantFilled, filled)
		if err != nil {
			refused++
			return
		}
		written++
		require.Equal(t, string(want), string(text))
		var decoded any
		require.NoError(t, json.Unmarshal(want, &decoded))
		require.Equal(t, decoded, plain)
		require.False(t, negativeZero(plain))
	})
	assert.Positive(t, written)
	t.Logf("%d written, %d refused", written, refused)
}

// negativeZero looks for a zero with a sign, which equals the one without.
func negativeZero(v any) bool {
	switch v := v.(type) {
	case float64:
		return v == 0 && math.Signbit(v)
	case []any:
		for _, item := range v {
			if negativeZero(item) {
				return true
			}
		}
	case map[string]any:
		for _, member := range v {
			if negativeZero(member) {
				return true
			}
		}
	}
	return false
}

func TestWhatALensCannotWriteIsAFault(t *testing.T) {
	t.Parallel()
	for depth, rule := range map[int]string{128: "", 129: "depth"} {
		n := &datum{scalar: true}
		for range depth {
			n = &datum{isArray: true, items: []*datum{n}}
		}
		text, _, err := n.encode(new([]string))
		if rule == "" {
			require.NoError(t, err)
			assert.Equal(t, strings.Repeat("[", depth)+"true"+strings.Repeat("]", depth), string(text))
			continue
		}
		assert.ErrorContains(t, err, "at most 128")
	}
	_, _, err := (&datum{scalar: math.NaN()}).encode(new([]string))
	require.Error(t, err)
}

func TestALensReadsWhatADecoderReads(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`""`, `"a"`, `"a b~<&>"`, `"ü"`, `"a\"b"`, `"\\"`, `"\u00e9"`, `1`, `null`, `["a"]`, // values
		`"`, `"a`, `a"`, `"a"b"`, "\"a\nb\"", `"a" "b"`, ``, // none
	} {
		var want any
		wantErr := json.Unmarshal([]byte(value), &want)
		n, err := decodeDatum([]byte(value))
		require.Equal(t, wantErr == nil, err == nil, value)
		if err == nil {
			assert.Equal(t, want, n.plain("", new([]string)), value)
		}
	}
}
