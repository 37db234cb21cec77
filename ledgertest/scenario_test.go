package ledgertest_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.scenario")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.Open(file)
			require.NoError(t, err)
			defer in.Close()
			s, err := ledgertest.ParseScenario(file, in)
			require.NoError(t, err)
			clock := ledgertest.NewClock(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
			l := ledgertest.NewLedger(t, &sgam.Options{Schemas: s.Schemas(), Clock: clock.Now, Rand: ledgertest.IDs(1), ClockTolerance: -1})
			failures, err := s.Run(t.Context(), l, clock)
			for _, f := range failures {
				t.Error(f)
			}
			require.NoError(t, err)
		})
	}
}
