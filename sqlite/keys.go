//go:build cgo

package sqlite

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sgam-ledger/sgam"
)

// keySize is the length of a ledger's secret in bytes.
const keySize = 32

// keyFile is the default store of a ledger's secret: a file beside the database, so that a copy of the database alone
// does not hold it. It keeps one secret, whatever the ledger is called: a new one, or the given one.
type keyFile struct {
	path  string
	given []byte
}

// givenKey is the secret of another ledger, for the file that is made to be a copy of it. Opening puts a key file in its
// place, which is beside the database.
type givenKey []byte

// Key is the secret.
func (k givenKey) Key(context.Context, string, bool) ([]byte, error) { return k, nil }

// keyHeader begins the only line of a key file; the secret in hexadecimal follows.
const keyHeader = "sgam key 1 "

// Key reads the secret, and creates it when create is set and there is none. An existing one is never replaced.
func (k keyFile) Key(_ context.Context, _ string, create bool) ([]byte, error) {
	content, err := os.ReadFile(k.path)
	if err == nil {
		return k.decode(content)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sgam: sqlite: read the key: %w", err)
	}
	if !create {
		return nil, fmt.Errorf("%w: there is no file %s", sgam.ErrKeyMissing, k.path)
	}
	key := k.given
	if key == nil {
		key = make([]byte, keySize)
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("sgam: sqlite: draw a key: %w", err)
		}
	}
	if err := k.write(key); err != nil {
		return nil, fmt.Errorf("sgam: sqlite: keep the key: %w", err)
	}
	return key, nil
}

func (k keyFile) decode(content []byte) ([]byte, error) {
	text, ok := bytes.CutPrefix(bytes.TrimSpace(content), []byte(keyHeader))
	key := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(key, text); err != nil || !ok || len(key) != keySize {
		return nil, fmt.Errorf("%w: %s is not a key file", sgam.ErrKeyMissing, k.path)
	}
	return key, nil
}

// write puts the file in place complete or not at all. Only whoever holds the write lock of the new database does so.
func (k keyFile) write(key []byte) (err error) {
	draft := k.path + ".new"
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // beside the caller's file
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(draft))
		}
	}()
	_, err = f.WriteString(keyHeader + hex.EncodeToString(key) + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(draft, k.path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(k.path))
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

// keyCheck is what the file keeps to recognise its key by.
func keyCheck(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("sgam key check"))
	return mac.Sum(nil)
}
