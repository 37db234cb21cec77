package postgres

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAKeyFileIsForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.keys")
	drawn, err := KeyFile(path).Key(t.Context(), "ledger", true)
	require.NoError(t, err)
	read, err := KeyFile(path).Key(t.Context(), "ledger", false)
	require.NoError(t, err)
	require.Equal(t, drawn, read)
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.EqualValues(t, 0o600, info.Mode().Perm())
	}
}

func TestOfTwoWhoFoundALedgerOneMakesTheKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.keys")
	require.NoError(t, writeNew(path, "the first\n"))
	require.ErrorIs(t, writeNew(path, "the second\n"), fs.ErrExist)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "the first\n", string(content))
}
