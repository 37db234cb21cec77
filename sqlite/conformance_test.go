package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
)

// place is one new file: every open of it is another open of the same ledger.
func place(tb testing.TB) ledgertest.Place {
	path := filepath.Join(tb.TempDir(), "ledger.db")
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		return sqlite.Open(ctx, path, opts)
	}
}

func TestEngineObeysTheLaws(t *testing.T) { ledgertest.Run(t, place) }
