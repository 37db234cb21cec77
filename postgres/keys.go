package postgres

import (
	"context"
	"errors"
	"os"

	"github.com/sgam-ledger/sgam/internal/ledgerkey"
)

// KeyFile keeps a ledger's secret in a file of that path, which every program that opens the ledger needs a copy of. The
// file is the same as the one beside an SQLite ledger.
type KeyFile string

// Key reads the secret, and creates the file when create is set and there is none. An existing one is never replaced.
func (k KeyFile) Key(ctx context.Context, ledger string, create bool) ([]byte, error) {
	return ledgerkey.File{Path: string(k), Make: writeNew}.Key(ctx, ledger, create)
}

// writeNew makes a file that is not there yet. A ledger is founded after it, so a file that was not finished belongs to no
// ledger, and is in the way of none but the next founding.
func writeNew(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the caller's file
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
