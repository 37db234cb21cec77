//go:build cgo

package migrate_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// onDisk are the engines that keep a file.
func onDisk() []engine { return []engine{{"sqlite", fileOf}} }

func fileOf(tb testing.TB) func(context.Context, *sgam.Options) (sgam.Store, error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "a.db")
	return func(ctx context.Context, opts *sgam.Options) (sgam.Store, error) {
		return sqlite.OpenStore(ctx, path, opts)
	}
}
