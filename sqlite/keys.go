//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sgam-ledger/sgam/internal/ledgerkey"
)

// keyFile is the default store of a ledger's secret: a file beside the database, so that a copy of the database alone
// does not hold it. A new file gets a new secret, or the given one.
func keyFile(database string, given []byte) ledgerkey.File {
	return ledgerkey.File{Path: database + ".keys", Given: given, Make: putInPlace}
}

// givenKey is the secret of another ledger, for the file that is made to be a copy of it. Opening puts a key file in its
// place, which is beside the database.
type givenKey []byte

// Key is the secret.
func (k givenKey) Key(context.Context, string, bool) ([]byte, error) { return k, nil }

// putInPlace makes a file complete or not at all. Only whoever holds the write lock of the new database does so.
func putInPlace(path, content string) (err error) {
	draft := path + ".new"
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // beside the caller's file
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(draft))
		}
	}()
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(draft, path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// syncDirectory makes the names in a directory durable, where the system knows how.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path) //nolint:gosec // the caller's folder
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
