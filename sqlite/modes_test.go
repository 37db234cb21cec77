//go:build cgo && unix

package sqlite

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// openUmask lets the process make files with every right that it asks for, until the test is over.
func openUmask(t *testing.T) {
	t.Helper()
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
	control := filepath.Join(t.TempDir(), "control")
	require.NoError(t, os.WriteFile(control, nil, 0o666))
	require.Equal(t, map[string]fs.FileMode{"control": 0o666}, modes(t, filepath.Dir(control)))
}

// modes are the permissions of the files in a directory.
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		found[e.Name()] = info.Mode().Perm()
	}
	return found
}

func TestTheFilesOfANewLedgerAreForTheirOwnerAlone(t *testing.T) {
	openUmask(t)
	path := newPath(t)
	l := open(t, path, nil)
	_, err := tenant(t, l, "acme").Apply(context.Background(), assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	require.Equal(t, map[string]fs.FileMode{"agent.db": 0o600, "agent.db-wal": 0o600, "agent.db-shm": 0o600, "agent.db.keys": 0o600},
		modes(t, filepath.Dir(path)))
}

func TestALedgerThatIsThereKeepsItsMode(t *testing.T) {
	openUmask(t)
	ledger, blank := newPath(t), newPath(t)
	closed(t, ledger)
	require.NoError(t, os.WriteFile(blank, nil, 0o600))
	for _, path := range []string{ledger, blank} {
		require.NoError(t, os.Chmod(path, 0o640))
		open(t, path, nil)
		require.Equal(t, map[string]fs.FileMode{"agent.db": 0o640, "agent.db-wal": 0o640, "agent.db-shm": 0o640, "agent.db.keys": 0o600},
			modes(t, filepath.Dir(path)))
	}
}

func TestWhoeverOpensOneNewPathAtOnceGetsOneLedgerForItsOwner(t *testing.T) {
	openUmask(t)
	for range 5 {
		path := newPath(t)
		const n = 8
		var stores [n]sgam.Store
		var errs [n]error
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { stores[i], errs[i] = OpenStore(context.Background(), path, nil) })
		}
		all.Wait()
		for i := range n {
			require.NoError(t, errs[i])
			require.Equal(t, stores[0].DigestKey(), stores[i].DigestKey())
			require.NoError(t, stores[i].Close())
		}
		require.Equal(t, map[string]fs.FileMode{"agent.db": 0o600, "agent.db.keys": 0o600}, modes(t, filepath.Dir(path)))
	}
}
