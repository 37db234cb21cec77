package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/histories"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
)

// place is one new file: every open of it is another open of the same ledger.
func place(tb testing.TB) ledgertest.Place {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "ledger.db")
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		return sqlite.Open(ctx, path, opts)
	}
}

func TestEngineObeysTheLaws(t *testing.T) { ledgertest.Run(t, place) }

func TestEngineAnswersWhatTheOracleAnswers(t *testing.T) {
	seeds := 4
	if os.Getenv("SGAM_ALL") != "" {
		seeds = 40
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			ledgertest.Equivalent(t, uint64(seed), 60, place(t), ledgertest.InMemory(nil))
		})
	}
}

func TestReducedHistoriesAreAnsweredWithoutAnError(t *testing.T) { histories.Reduced(t, proven) }

func TestFullHistoriesAreAnsweredWithoutAnError(t *testing.T) { histories.Full(t, proven) }

// proven opens a ledger that proves itself and is closed at the end of the test.
func proven(t *testing.T, attributes ...ledgertest.Attribute) *sgam.Ledger {
	t.Helper()
	l, err := place(t)(t.Context(), &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...)})
	require.NoError(t, err)
	t.Cleanup(func() {
		for err := range l.Verify(context.Background()) {
			t.Error(err)
		}
		require.NoError(t, l.Close())
	})
	return l
}
