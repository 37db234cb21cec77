package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// scale is brief, so that every run of the tests can afford it, unless SGAM_BENCH says full.
func scale(b *testing.B) Scale {
	b.Helper()
	switch os.Getenv("SGAM_BENCH") {
	case "":
		return Brief
	case "full":
		return Full
	}
	b.Fatal("SGAM_BENCH is neither empty nor full")
	return Scale{}
}

// BenchmarkRows runs the two sides of each row, one after the other. Compare them with command ratios, which takes turns.
func BenchmarkRows(b *testing.B) {
	files := NewFiles(b.TempDir(), scale(b))
	for _, row := range Rows() {
		b.Run(row.Name, func(b *testing.B) {
			sides, err := row.Open(b.Context(), files)
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, sides.Close()) })
			b.Run("baseline", sides.Baseline.benchmark)
			b.Run("subject", sides.Subject.benchmark)
		})
	}
}

func (s Side) benchmark(b *testing.B) {
	if s.Ready != nil {
		require.NoError(b, s.Ready(b.Context(), b.N))
	}
	b.ReportAllocs()
	b.ResetTimer()
	require.NoError(b, s.Run(b.Context(), b.N))
}
