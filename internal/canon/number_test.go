package canon_test

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam/internal/canon"
)

func TestNumbersThatADoubleHoldsAsWritten(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"zero", `0`, `0`},
		{"minus zero is zero", `-0`, `0`},
		{"minus zero with all the trimmings", `-0.000e-12`, `0`},
		{"zero under a huge exponent", `0e999999999999999999999`, `0`},
		{"zero under a tiny exponent", `0.0e-999999999999999999999`, `0`},
		{"one with a fraction", `1.0`, `1`},
		{"one with an exponent", `10e-1`, `1`},
		{"one far from its point", `0.` + strings.Repeat("0", 400) + `1e401`, `1`},
		{"one before many zeros", `1` + strings.Repeat("0", 400) + `e-400`, `1`},
		{"an exponent with zeros", `1e+0000000000000000000000003`, `1000`},
		{"a negative integer", `-42`, `-42`},
		{"a tenth", `0.1`, `0.1`},
		{"money", `19.90`, `19.9`},
		{"the largest safe integer", `9007199254740991`, `9007199254740991`},
		{"an integer beyond the safe ones", `9007199254740994`, `9007199254740994`},
		{"1e20 is written out", `1e20`, `100000000000000000000`},
		{"the last one written out", `999999999999999900000`, `999999999999999900000`},
		{"the first with an exponent", `1000000000000000000000`, `1e+21`},
		{"the smallest written out", `1e-6`, `0.000001`},
		{"the first with a negative exponent", `0.0000001`, `1e-7`},
		{"a fraction with a negative exponent", `0.000000123`, `1.23e-7`},
		{"the largest double", `1.7976931348623157e308`, `1.7976931348623157e+308`},
		{"the largest double written out", `17976931348623157` + strings.Repeat("0", 292), `1.7976931348623157e+308`},
		{"the smallest normal double", `2.2250738585072014e-308`, `2.2250738585072014e-308`},
		{"the smallest double", `5e-324`, `5e-324`},
		{"three digits of a small subnormal", `1.5e-323`, `1.5e-323`},
	} {
		t.Run(c.why, func(t *testing.T) {
			assert.Equal(t, c.want, canonical(t, c.in))
			assert.Equal(t, c.want, canonical(t, c.want))
		})
	}
}

func TestNumbersThatADoubleWouldChangeAreRefused(t *testing.T) {
	for _, c := range []struct{ why, in string }{
		{"the first integer a double skips", `9007199254740993`},
		{"the same, negative", `-9007199254740993`},
		{"the same as a fraction", `9007199254740993.0`},
		{"the same by its exponent", `9.007199254740993e15`},
		{"the largest int64", `9223372036854775807`},
		{"a power of two in full", `18446744073709551616`},
		{"a tenth as the double has it", `0.1000000000000000055511151231257827021181583404541015625`},
		{"seventeen digits that name another double's neighbour", `0.10000000000000001`},
		{"a third with one digit too many", `0.33333333333333333`},
		{"not finite", `1e400`},
		{"not finite, negative", `-1e400`},
		{"one digit, not finite", `2e308`},
		{"the next power of ten, not finite", `1e309`},
		{"just above the largest double", `1.7976931348623159e308`},
		{"a little above the largest double", `1.7976931348623158e308`},
		{"not finite by its digits", strings.Repeat("9", 400)},
		{"becomes zero", `1e-400`},
		{"becomes zero, at the edge", `2e-324`},
		{"becomes the smallest double", `4e-324`},
		{"a digit that a subnormal loses", `1.23e-323`},
		{"an exponent that no integer type holds", `1e99999999999999999999999999`},
		{"a negative exponent that no integer type holds", `1e-99999999999999999999999999`},
		{"an exponent that would make a rational explode", `1e999999999`},
	} {
		t.Run(c.why, func(t *testing.T) {
			fault := refusal(t, c.in)
			assert.Equal(t, "number", fault.Rule)
			assert.Contains(t, fault.Want, "string")
		})
	}
}

// drawNumber draws a number of JSON in a spelling that need not be the shortest, dense
// where the rule turns: around 15 to 17 digits, around the ends of the doubles.
func drawNumber(t *rapid.T) string {
	if rapid.Bool().Draw(t, "a double, printed") {
		double := rapid.Custom(func(t *rapid.T) float64 {
			return math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		}).Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).Draw(t, "double")
		verb := rapid.SampledFrom([]byte("efE")).Draw(t, "verb")
		digits := rapid.SampledFrom([]int{-1, -1, 15, 16, 17}).Draw(t, "digits")
		return strconv.FormatFloat(double, verb, digits, 64)
	}
	return rapid.StringMatching(`-?(0|[1-9][0-9]{0,19}0{0,3})(\.[0-9]{1,18}0{0,3})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text")
}

// The rule in its own words, by exact arithmetic: refused only if the double's
// shortest form is another number than the one sent.
func TestNumberIsRefusedExactlyWhenItsDoublePrintsAnotherDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawNumber(t)
		sent, ok := new(big.Rat).SetString(text)
		require.True(t, ok, text)

		got, err := canon.Canonical([]byte(text))
		double, rangeErr := strconv.ParseFloat(text, 64)
		if rangeErr != nil {
			require.Error(t, err, "%s is not finite", text)
			return
		}
		printed, ok := new(big.Rat).SetString(strconv.FormatFloat(double, 'e', -1, 64))
		require.True(t, ok)
		if sent.Cmp(printed) != 0 {
			require.Error(t, err, "%s would become %s", text, printed.FloatString(20))
			return
		}
		require.NoError(t, err, text)
		kept, ok := new(big.Rat).SetString(string(got))
		require.True(t, ok)
		require.Zero(t, sent.Cmp(kept), "%s became %s", text, got)
	})
}
