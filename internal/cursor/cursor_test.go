package cursor_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/cursor"
)

func TestACursorIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	awkward := rapid.SampledFrom([]string{"", ".", "x", "x.", "\x00", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64(), 1, 4).Draw(t, "numbers")
		names := rapid.SliceOfN(rapid.OneOf(rapid.String(), awkward), 0, 3).Draw(t, "names")
		written := cursor.Cursor{Numbers: numbers, Names: names}.String()
		read, err := cursor.Parse(written, make([]int64, len(numbers)), len(names))
		require.NoError(t, err)
		require.Equal(t, numbers, read.Numbers)
		require.Equal(t, names, read.Names)
		require.Equal(t, written, read.String())
	})
}

func TestWithoutACursorAListBeginsAtItsStart(t *testing.T) {
	t.Parallel()
	start := []int64{3, -1}
	read, err := cursor.Parse("", start, 2)
	require.NoError(t, err)
	require.Equal(t, cursor.Cursor{Numbers: []int64{3, -1}, Names: []string{"", ""}}, read)
	read.Numbers[0] = 9
	require.Equal(t, []int64{3, -1}, start, "the caller's numbers stay as they are")
	require.Equal(t, "3.-1.", cursor.At(start...).String())
}

func TestAForeignCursorIsRefused(t *testing.T) {
	t.Parallel()
	const right = "7.x61."
	read, err := cursor.Parse(right, []int64{0}, 1)
	require.NoError(t, err)
	require.Equal(t, cursor.Cursor{Numbers: []int64{7}, Names: []string{"a"}}, read)
	for why, text := range map[string]string{
		"too few parts": "7.", "too many": right + "x62.", "a name in place of a number": "x61.x61.", "a number in place of a name": "7.7.",
		"half a byte": "7.x6.", "no hexadecimal": "7.xzz.", "a number that is too large": "9223372036854775808.x61.", "a dot": ".",
	} {
		_, err := cursor.Parse(text, []int64{0}, 1)
		var fault *sgam.FieldError
		require.ErrorAs(t, err, &fault, why)
		require.Equal(t, "after", fault.Field, why)
	}
}
