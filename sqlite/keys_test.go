//go:build cgo

package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"
)

func TestTheKeyIsBesideTheFileForItsOwnerAlone(t *testing.T) {
	path := newPath(t)
	closed(t, path)
	info, err := os.Stat(path + ".keys")
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.EqualValues(t, 0o600, info.Mode().Perm())
	}
	s, err := OpenStore(context.Background(), path, nil)
	require.NoError(t, err)
	require.Len(t, s.DigestKey(), ledgerkey.Size)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(content), string(s.DigestKey()))
	require.NoError(t, s.Close())
}

func TestTwoLedgersHaveTwoKeys(t *testing.T) {
	a, b := newPath(t), newPath(t)
	closed(t, a)
	closed(t, b)
	x, err := os.ReadFile(a + ".keys")
	require.NoError(t, err)
	y, err := os.ReadFile(b + ".keys")
	require.NoError(t, err)
	require.NotEqual(t, x, y)
}

func TestALedgerWithoutItsOwnKeyDoesNotOpen(t *testing.T) {
	ctx := context.Background()
	path, other := newPath(t), newPath(t)
	closed(t, path)
	closed(t, other)
	key, err := os.ReadFile(path + ".keys")
	require.NoError(t, err)
	foreign, err := os.ReadFile(other + ".keys")
	require.NoError(t, err)
	for name, content := range map[string][]byte{
		"of another ledger": foreign, "cut short": key[:len(key)-4], "empty": {}, "something else": []byte("hello\n"),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path+".keys", content, 0o600))
			for _, opts := range []*sgam.Options{nil, {ReadOnly: true}} {
				_, err := Open(ctx, path, opts)
				require.ErrorIs(t, err, sgam.ErrKeyMissing)
			}
			kept, err := os.ReadFile(path + ".keys")
			require.NoError(t, err)
			require.Equal(t, string(content), string(kept), "a key is never replaced")
		})
	}
	require.NoError(t, os.Remove(path+".keys"))
	_, err = Open(ctx, path, nil)
	require.ErrorIs(t, err, sgam.ErrKeyMissing)
	require.NoFileExists(t, path+".keys")

	require.NoError(t, os.WriteFile(path+".keys", key, 0o600))
	open(t, path, nil)
}

func TestAKeyThatAnInterruptedCreationLeftIsUsed(t *testing.T) {
	path := newPath(t)
	left, err := keyFile(path, nil).Key(context.Background(), "", true)
	require.NoError(t, err)
	s, err := OpenStore(context.Background(), path, nil)
	require.NoError(t, err)
	require.Equal(t, left, s.DigestKey())
	require.NoError(t, s.Close())
}

// vault is a key store that is not a file.
type vault struct {
	keys map[string][]byte
	err  error
}

func (v *vault) Key(_ context.Context, ledger string, create bool) ([]byte, error) {
	if v.err != nil {
		return nil, v.err
	}
	if v.keys[ledger] == nil && create {
		v.keys[ledger] = []byte("the secret of " + ledger)
	}
	if v.keys[ledger] == nil {
		return nil, sgam.ErrKeyMissing
	}
	return v.keys[ledger], nil
}

func TestAnotherKeyStoreIsAskedByTheNameOfTheLedger(t *testing.T) {
	ctx := context.Background()
	path, keys := newPath(t), &vault{keys: map[string][]byte{}}
	s, err := OpenStore(ctx, path, &sgam.Options{Keys: keys})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Len(t, keys.keys, 1)
	require.NoFileExists(t, path+".keys")
	moved := filepath.Join(t.TempDir(), "moved.db")
	require.NoError(t, os.Rename(path, moved))
	s, err = OpenStore(ctx, moved, &sgam.Options{Keys: keys})
	require.NoError(t, err)
	require.NoError(t, s.Close())

	keys.err = errors.New("the vault is shut")
	_, err = OpenStore(ctx, moved, &sgam.Options{Keys: keys})
	require.ErrorIs(t, err, keys.err)
	_, err = OpenStore(ctx, newPath(t), &sgam.Options{Keys: keys})
	require.ErrorIs(t, err, keys.err)
}

func TestAFailedCreationLeavesRoomForTheNext(t *testing.T) {
	path := newPath(t)
	keys := &vault{keys: map[string][]byte{}, err: errors.New("the vault is shut")}
	_, err := OpenStore(context.Background(), path, &sgam.Options{Keys: keys})
	require.ErrorIs(t, err, keys.err)
	open(t, path, nil)
}

func TestACopyGetsTheKeyOfItsOriginalAndKeepsIt(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	key := []byte("0123456789abcdef0123456789abcdef")
	opened := func(l *sgam.Ledger, err error) []byte {
		require.NoError(t, err)
		found := l.Store().DigestKey()
		require.NoError(t, l.Close())
		return found
	}
	require.Equal(t, key, opened(OpenCopy(ctx, path, key, nil)))
	require.Equal(t, key, opened(Open(ctx, path, nil)), "without the key it opens as well")
	require.Equal(t, key, opened(OpenCopy(ctx, path, []byte("another one, of the same length."), nil)), "a ledger keeps its own")
	for _, wrong := range [][]byte{nil, key[1:]} {
		_, err := OpenCopy(ctx, newPath(t), wrong, nil)
		fe, ok := errors.AsType[*sgam.FieldError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, "key", fe.Field)
		require.NotContains(t, err.Error(), string(key[1:]))
	}
}
