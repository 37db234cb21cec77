package postgres

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

// keySize is the length of a ledger's secret in bytes.
const keySize = 32

// keyHeader begins the only line of a key file; the secret in hexadecimal follows.
const keyHeader = "sgam key 1 "

// KeyFile keeps a ledger's secret in a file of that path, which every program that opens the ledger needs a copy of. The
// file is the same as the one beside an SQLite ledger.
type KeyFile string

// Key reads the secret, and creates the file when create is set and there is none. An existing one is never replaced.
func (k KeyFile) Key(_ context.Context, _ string, create bool) ([]byte, error) {
	content, err := os.ReadFile(string(k))
	switch {
	case err == nil:
		return k.decode(content)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("sgam: postgres: read the key: %w", err)
	case !create:
		return nil, fmt.Errorf("%w: there is no file %s", sgam.ErrKeyMissing, string(k))
	}
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("sgam: postgres: draw a key: %w", err)
	}
	if err := k.write(key); err != nil {
		return nil, fmt.Errorf("sgam: postgres: keep the key: %w", err)
	}
	return key, nil
}

func (k KeyFile) decode(content []byte) ([]byte, error) {
	text, ok := bytes.CutPrefix(bytes.TrimSpace(content), []byte(keyHeader))
	key := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(key, text); err != nil || !ok || len(key) != keySize {
		return nil, fmt.Errorf("%w: %s is not a key file", sgam.ErrKeyMissing, string(k))
	}
	return key, nil
}

// write makes the file. A ledger is founded after it, so a file that was not finished belongs to no ledger, and is in the
// way of none but the next founding.
func (k KeyFile) write(key []byte) error {
	f, err := os.OpenFile(string(k), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(keyHeader + hex.EncodeToString(key) + "\n")
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// keyCheck is what the database keeps to recognise its key by.
func keyCheck(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("sgam key check"))
	return mac.Sum(nil)
}

// keyOf fetches a ledger's secret and recognises it by what the database keeps of it.
func keyOf(ctx context.Context, keys sgam.KeyStore, name string, check []byte) ([]byte, error) {
	key, err := keys.Key(ctx, name, false)
	if err != nil {
		return nil, err
	}
	if len(key) == 0 || !hmac.Equal(check, keyCheck(key)) {
		return nil, fmt.Errorf("%w: it does not fit the database", sgam.ErrKeyMissing)
	}
	return key, nil
}

// subjectDigest is the keyed digest of a subject's name, by which the name can be recognised when it is gone.
func subjectDigest(key []byte, name string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("subject\x00"))
	mac.Write([]byte(name))
	return mac.Sum(nil)[:16]
}
