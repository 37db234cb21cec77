package canon_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// canonical returns the canonical form of a document that must be accepted.
func canonical(t *testing.T, document string) string {
	t.Helper()
	got, err := canon.Canonical([]byte(document))
	require.NoError(t, err)
	return string(got)
}

// refusal returns the error of a document that must be refused.
func refusal(t *testing.T, document string) *canon.Error {
	t.Helper()
	got, err := canon.Canonical([]byte(document))
	require.Error(t, err)
	require.Nil(t, got)
	fault, ok := errors.AsType[*canon.Error](err)
	require.True(t, ok, "%T", err)
	return fault
}

// The figures of RFC 8785, appendix B, table 1: the bits of a double and how it
// is printed. The two rows without a printed form, NaN (7fffffffffffffff) and
// Infinity (7ff0000000000000), have no JSON text that could be sent.
var rfcNumbers = []struct {
	bits    uint64
	printed string
}{
	{0x0000000000000000, "0"},
	{0x8000000000000000, "0"},
	{0x0000000000000001, "5e-324"},
	{0x8000000000000001, "-5e-324"},
	{0x7fefffffffffffff, "1.7976931348623157e+308"},
	{0xffefffffffffffff, "-1.7976931348623157e+308"},
	{0x4340000000000000, "9007199254740992"},
	{0xc340000000000000, "-9007199254740992"},
	{0x4430000000000000, "295147905179352830000"},
	{0x44b52d02c7e14af5, "9.999999999999997e+22"},
	{0x44b52d02c7e14af6, "1e+23"},
	{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
	{0x444b1ae4d6e2ef4e, "999999999999999700000"},
	{0x444b1ae4d6e2ef4f, "999999999999999900000"},
	{0x444b1ae4d6e2ef50, "1e+21"},
	{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
	{0x3eb0c6f7a0b5ed8d, "0.000001"},
	{0x41b3de4355555553, "333333333.3333332"},
	{0x41b3de4355555554, "333333333.33333325"},
	{0x41b3de4355555555, "333333333.3333333"},
	{0x41b3de4355555556, "333333333.3333334"},
	{0x41b3de4355555557, "333333333.33333343"},
	{0xbecbf647612f3696, "-0.0000033333333333333333"},
	{0x43143ff3c1cb0959, "1424953923781206.2"},
}

func TestNumbersOfRFC8785AppendixB(t *testing.T) {
	for _, row := range rfcNumbers {
		t.Run(strconv.FormatUint(row.bits, 16), func(t *testing.T) {
			double := math.Float64frombits(row.bits)
			for _, spelling := range []string{
				row.printed,
				strconv.FormatFloat(double, 'e', -1, 64),
				strconv.FormatFloat(double, 'E', -1, 64),
				strconv.FormatFloat(double, 'f', -1, 64),
			} {
				assert.Equal(t, row.printed, canonical(t, spelling), "sent as %s", spelling)
			}
			back, err := strconv.ParseFloat(row.printed, 64)
			require.NoError(t, err)
			assert.Equal(t, double, back, "the printed form reads back as the same double")
		})
	}
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		assert.Equal(t, "syntax", refusal(t, word).Rule, word)
	}
}

// RFC 8785, section 3.2.2. Its sample numbers include 333333333.33333329, which
// it rounds to 333333333.3333333. Here rounding is refused, so that number is sent
// in the form that survives.
func TestPrimitivesOfRFC8785(t *testing.T) {
	const sample = `{
	  "numbers": [%, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
	  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
	  "literals": [null, true, false]
	}`
	const want = `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
	with := func(number string) string {
		before, after, found := strings.Cut(sample, "%")
		require.True(t, found)
		return before + number + after
	}

	assert.Equal(t, want, canonical(t, with("333333333.3333333")))

	fault := refusal(t, with("333333333.33333329"))
	assert.Equal(t, "number", fault.Rule)
	assert.Equal(t, "/numbers/0", fault.Pointer)
}

// RFC 8785, section 3.2.3: the order of code units is neither the order of code
// points (the emoji, a surrogate pair, stands before U+FB33) nor that of the
// escaped text (the carriage return stands before the digit).
func TestKeyOrderOfRFC8785(t *testing.T) {
	const sample = `{
	  "\u20ac": "Euro Sign",
	  "\r": "Carriage Return",
	  "\ufb33": "Hebrew Letter Dalet With Dagesh",
	  "1": "One",
	  "\ud83d\ude00": "Emoji: Grinning Face",
	  "\u0080": "Control",
	  "\u00f6": "Latin Small Letter O With Diaeresis"
	}`
	const want = `{"\r":"Carriage Return","1":"One",` +
		"\"\u0080\"" + `:"Control","ö":"Latin Small Letter O With Diaeresis",` +
		`"€":"Euro Sign","😀":"Emoji: Grinning Face",` + "\"\ufb33\"" + `:"Hebrew Letter Dalet With Dagesh"}`
	assert.Equal(t, want, canonical(t, sample))
}
