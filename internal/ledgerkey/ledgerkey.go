// Package ledgerkey is the secret of a ledger: the file that keeps it, and what an engine stores instead of it.
package ledgerkey

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

	"github.com/sgam-ledger/sgam"
)

// Size is the length of a secret in bytes.
const Size = 32

// header begins the only line of a key file; the secret in hexadecimal follows.
const header = "sgam key 1 "

// File keeps one secret in a file, whatever the ledger is called. It is a [sgam.KeyStore].
type File struct {
	Path string
	// Given is the secret of a new file. Nil: a new one is drawn.
	Given []byte
	// Make makes a new file durably. It must not harm the secret of a file that came in the meantime, and what it leaves
	// when it fails must not pass for a key file.
	Make func(path, content string) error
}

// Key reads the secret, and creates the file when create is set and there is none. An existing one is never replaced.
func (f File) Key(_ context.Context, _ string, create bool) ([]byte, error) {
	content, err := os.ReadFile(f.Path)
	switch {
	case err == nil:
		return f.decode(content)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("sgam: read the key: %w", err)
	case !create:
		return nil, fmt.Errorf("%w: there is no file %s", sgam.ErrKeyMissing, f.Path)
	}
	key := f.Given
	if key == nil {
		key = make([]byte, Size)
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("sgam: draw a key: %w", err)
		}
	}
	if err := f.Make(f.Path, header+hex.EncodeToString(key)+"\n"); err != nil {
		return nil, fmt.Errorf("sgam: keep the key: %w", err)
	}
	return key, nil
}

func (f File) decode(content []byte) ([]byte, error) {
	text, ok := bytes.CutPrefix(bytes.TrimSpace(content), []byte(header))
	key := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(key, text); err != nil || !ok || len(key) != Size {
		return nil, fmt.Errorf("%w: %s is not a key file", sgam.ErrKeyMissing, f.Path)
	}
	return key, nil
}

// Check is what a ledger stores to recognise its secret by.
func Check(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("sgam key check"))
	return mac.Sum(nil)
}

// Of fetches the secret of the ledger of a name, and recognises it by the stored check; a secret of another ledger is
// [sgam.ErrKeyMissing].
func Of(ctx context.Context, keys sgam.KeyStore, name string, check []byte) ([]byte, error) {
	key, err := keys.Key(ctx, name, false)
	if err != nil {
		return nil, err
	}
	if len(key) == 0 || !hmac.Equal(check, Check(key)) {
		return nil, fmt.Errorf("%w: it does not fit the ledger", sgam.ErrKeyMissing)
	}
	return key, nil
}

// SubjectDigest is the keyed digest of a subject's name, by which the name can be recognised when it is gone.
func SubjectDigest(key []byte, name string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("subject\x00"))
	mac.Write([]byte(name))
	return mac.Sum(nil)[:16]
}
