package ledgerkey_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"
)

// kept is a key file that is not there yet.
func kept(t *testing.T) ledgerkey.File {
	t.Helper()
	return ledgerkey.File{
		Path: filepath.Join(t.TempDir(), "ledger.keys"),
		Make: func(path, content string) error { return os.WriteFile(path, []byte(content), 0o600) },
	}
}

func TestASecretIsDrawnOnceAndThenRead(t *testing.T) {
	t.Parallel()
	f := kept(t)
	_, err := f.Key(t.Context(), "", false)
	require.ErrorIs(t, err, sgam.ErrKeyMissing)
	require.ErrorContains(t, err, f.Path)
	require.NoFileExists(t, f.Path, "whoever only reads makes no secret")

	drawn, err := f.Key(t.Context(), "", true)
	require.NoError(t, err)
	require.Len(t, drawn, ledgerkey.Size)
	content, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	require.Equal(t, "sgam key 1 "+hex.EncodeToString(drawn)+"\n", string(content))

	f.Make = func(string, string) error { return errors.New("an existing file is not made again") }
	for _, create := range []bool{false, true} {
		read, err := f.Key(t.Context(), "another ledger", create)
		require.NoError(t, err)
		require.Equal(t, drawn, read)
	}
	other, err := kept(t).Key(t.Context(), "", true)
	require.NoError(t, err)
	require.NotEqual(t, drawn, other)
}

func TestAGivenSecretIsForANewFileAlone(t *testing.T) {
	t.Parallel()
	f := kept(t)
	f.Given = []byte("0123456789abcdef0123456789abcdef")
	first, err := f.Key(t.Context(), "", true)
	require.NoError(t, err)
	require.Equal(t, f.Given, first)
	f.Given = []byte("another one, of the same length.")
	again, err := f.Key(t.Context(), "", true)
	require.NoError(t, err)
	require.Equal(t, first, again)
}

func TestWhatIsNoKeyFileIsNeitherReadNorReplaced(t *testing.T) {
	t.Parallel()
	right := "sgam key 1 " + hex.EncodeToString(make([]byte, ledgerkey.Size))
	for why, content := range map[string]string{
		"empty": "", "something else": "hello\n", "cut short": right[:len(right)-2], "half a byte": right[:len(right)-1], "too long": right + "00",
		"no header": right[len("sgam key 1 "):], "another version": "sgam key 2 " + right[len("sgam key 1 "):], "no hexadecimal": right[:len(right)-1] + "g",
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			f := kept(t)
			require.NoError(t, f.Make(f.Path, content))
			_, err := f.Key(t.Context(), "", true)
			require.ErrorIs(t, err, sgam.ErrKeyMissing)
			left, err := os.ReadFile(f.Path)
			require.NoError(t, err)
			require.Equal(t, content, string(left))
		})
	}
	for _, content := range []string{right, " " + right + "\r\n"} {
		f := kept(t)
		require.NoError(t, f.Make(f.Path, content))
		key, err := f.Key(t.Context(), "", false)
		require.NoError(t, err)
		require.Equal(t, make([]byte, ledgerkey.Size), key)
	}
}

func TestASecretThatIsNotKeptIsNotHandedOut(t *testing.T) {
	t.Parallel()
	f := kept(t)
	full := errors.New("the disk is full")
	f.Make = func(string, string) error { return full }
	key, err := f.Key(t.Context(), "", true)
	require.ErrorIs(t, err, full)
	require.Nil(t, key)
	f.Path = t.TempDir()
	_, err = f.Key(t.Context(), "", true)
	require.Error(t, err, "a folder")
	require.NotErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, full, "nothing is made in its place")
}

// vault knows one secret.
type vault struct {
	key []byte
	err error
}

func (v vault) Key(context.Context, string, bool) ([]byte, error) { return v.key, v.err }

func TestASecretIsRecognisedByItsCheck(t *testing.T) {
	t.Parallel()
	key := []byte("the secret of a ledger")
	check := ledgerkey.Check(key)
	require.NotContains(t, string(check), string(key))
	got, err := ledgerkey.Of(t.Context(), vault{key: key}, "ledger", check)
	require.NoError(t, err)
	require.Equal(t, key, got)
	for why, c := range map[string]struct {
		keys  vault
		check []byte
	}{
		"of another ledger": {vault{key: []byte("the secret of another")}, check},
		"empty":             {vault{}, ledgerkey.Check(nil)},
		"without a check":   {vault{key: key}, nil},
	} {
		_, err := ledgerkey.Of(t.Context(), c.keys, "ledger", c.check)
		require.ErrorIs(t, err, sgam.ErrKeyMissing, why)
	}
	shut := errors.New("the vault is shut")
	_, err = ledgerkey.Of(t.Context(), vault{err: shut}, "ledger", check)
	require.ErrorIs(t, err, shut)
}

// What ledgers have stored must be found again by every later program.
func TestWhatIsStoredOfASecretStaysAsItIs(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef0123456789abcdef")
	require.Equal(t, "8d19b79faebc467885d14ecc3adb3c2aada242a1d54c3b94716a79d475f73dbb", hex.EncodeToString(ledgerkey.Check(key)))
	require.Equal(t, "2c090680af812bc9b5efa46d44a8713d", hex.EncodeToString(ledgerkey.SubjectDigest(key, "mira")))
	require.NotEqual(t, ledgerkey.SubjectDigest(key, "mira"), ledgerkey.SubjectDigest([]byte("another"), "mira"))
}
