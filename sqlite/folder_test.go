//go:build cgo && unix

package sqlite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// plainUser is set in a process that runs a test again under another user.
const plainUser = "SGAM_TEST_PLAIN_USER"

// asPlainUser reports whether the test runs as a user whom the mode of a folder binds. Root is none, so under root the
// test runs again, alone, in a process of another user, and is over here when it has passed there.
func asPlainUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	require.Empty(t, os.Getenv(plainUser), "the other user is root again")
	// The program may lie in a folder that is root's alone.
	dir, err := os.MkdirTemp("", "sgam-plain-user-*") //nolint:usetesting // t.TempDir is in a folder that is root's alone
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	const nobody = 65534
	require.NoError(t, os.Chown(dir, nobody, nobody))
	program := filepath.Join(dir, "sqlite.test")
	copyProgram(t, program)
	again := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v")
	again.Dir = dir
	again.Env = append(os.Environ(), plainUser+"=1", "TMPDIR="+dir, "HOME="+dir)
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	said, err := again.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("root is bound by no mode, and no other user can run the test: %v", err)
	}
	require.NoError(t, err, "%s", said)
	require.Contains(t, string(said), "--- PASS: "+t.Name()+" ")
	return false
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	from, err := os.Open(path)
	require.NoError(t, err)
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(f, from)
	require.NoError(t, err)
	require.NoError(t, from.Close())
	require.NoError(t, f.Close())
}

// seal takes the right to write away from a folder until the test is over.
func seal(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Dir(path)
	require.NoError(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { unseal(t, path) })
	_, err := os.Create(filepath.Join(dir, "x"))
	require.ErrorIs(t, err, fs.ErrPermission, "the test would prove nothing")
}

func unseal(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o755))
}

// requireReadable reads what closed wrote, and verifies it.
func requireReadable(t *testing.T, path string) {
	t.Helper()
	ctx := context.Background()
	l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}, ReadOnly: true})
	require.NoError(t, err)
	acme := tenant(t, l, "acme")
	f, err := acme.Current().Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-07-15"`, string(f.Value))
	for err := range l.Verify(ctx) {
		require.NoError(t, err)
	}
	_, err = acme.Apply(ctx, assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3))))
	require.ErrorIs(t, err, sgam.ErrReadOnly)
	require.NoError(t, l.Close())
}

// abandoned is a ledger as a program leaves it that dies: what closed wrote is in its log alone.
func abandoned(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	alive, dead := newPath(t), newPath(t)
	l, err := Open(ctx, alive, &sgam.Options{Schemas: plain{}})
	require.NoError(t, err)
	_, err = tenant(t, l, "acme").Apply(ctx, assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	for _, suffix := range []string{"", "-wal", "-shm", ".keys"} {
		content, err := os.ReadFile(alive + suffix)
		require.NoError(t, err)
		require.NotEmpty(t, content)
		require.NoError(t, os.WriteFile(dead+suffix, content, 0o600))
	}
	require.NoError(t, l.Close())
	return dead
}

func TestAFolderThatCannotBeWrittenCanBeReadFrom(t *testing.T) {
	if !asPlainUser(t) {
		return
	}
	for name, prepare := range map[string]func(path string) error{
		"as it was closed":        func(string) error { return nil },
		"a file for reading only": func(path string) error { return os.Chmod(path, 0o400) },
		"an empty log":            func(path string) error { return os.WriteFile(path+"-wal", nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			closed(t, path)
			require.NoError(t, prepare(path))
			before := files(t, filepath.Dir(path))
			seal(t, path)
			requireReadable(t, path)
			require.Equal(t, before, files(t, filepath.Dir(path)))
		})
	}
}

func TestALogInAFolderThatCannotBeWrittenIsReadWithItsIndex(t *testing.T) {
	if !asPlainUser(t) {
		return
	}
	for name, mode := range map[string]os.FileMode{"files that can be written": 0o600, "files that can be read": 0o400} {
		t.Run(name, func(t *testing.T) {
			path := abandoned(t)
			for _, suffix := range []string{"", "-wal", "-shm"} {
				require.NoError(t, os.Chmod(path+suffix, mode))
			}
			seal(t, path)
			requireReadable(t, path)
		})
	}
}

func TestALogInAFolderThatCannotBeWrittenIsNotLeftOut(t *testing.T) {
	if !asPlainUser(t) {
		return
	}
	ctx := context.Background()
	path := abandoned(t)
	require.NoError(t, os.Remove(path+"-shm"))
	seal(t, path)
	for _, opts := range []*sgam.Options{{Schemas: plain{}, ReadOnly: true}, {Schemas: plain{}}} {
		_, err := Open(ctx, path, opts)
		require.ErrorIs(t, err, ErrReadOnlyFolder)
		require.ErrorIs(t, err, fs.ErrPermission)
		require.ErrorContains(t, err, filepath.Dir(path))
		require.ErrorContains(t, err, "copy agent.db, agent.db-wal and agent.db.keys to a folder that can be written")
	}

	// Both cures that the text names.
	healthy := newPath(t)
	for _, suffix := range []string{"", "-wal", ".keys"} {
		content, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(healthy+suffix, content, 0o600))
	}
	requireReadable(t, healthy)
	unseal(t, path)
	l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	seal(t, path)
	requireReadable(t, path)
}

func TestAReaderBesideAWriterInAFolderThatCannotBeWrittenSeesItsCommits(t *testing.T) {
	if !asPlainUser(t) {
		return
	}
	path := newPath(t)
	writer, err := Open(context.Background(), path, &sgam.Options{Schemas: plain{}})
	require.NoError(t, err)
	seal(t, path)
	_, err = tenant(t, writer, "acme").Apply(context.Background(), assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	requireReadable(t, path)
	unseal(t, path)
	require.NoError(t, writer.Close())
}

func TestAWriterIsToldWhichFolderCannotBeWritten(t *testing.T) {
	if !asPlainUser(t) {
		return
	}
	ctx := context.Background()
	old, blank, none := newPath(t), newPath(t), newPath(t)
	closed(t, old)
	require.NoError(t, os.WriteFile(blank, nil, 0o600))
	for _, path := range []string{old, blank, none} {
		seal(t, path)
		_, err := Open(ctx, path, &sgam.Options{Schemas: plain{}})
		require.ErrorIs(t, err, ErrReadOnlyFolder)
		require.ErrorIs(t, err, fs.ErrPermission)
		require.ErrorContains(t, err, filepath.Dir(path))
		require.ErrorContains(t, err, "open it read-only, or move it to a folder that can be written")
		unseal(t, path)
		open(t, path, nil)
	}
	outdated := newPath(t)
	closed(t, outdated)
	seal(t, outdated)
	_, err := next(t, more).open(ctx, outdated, &sgam.Options{AutoUpgrade: true})
	require.ErrorIs(t, err, ErrReadOnlyFolder)
	_, err = next(t, more).open(ctx, outdated, &sgam.Options{ReadOnly: true})
	require.ErrorIs(t, err, sgam.ErrFormatOld, "the folder is not what stands in the way of a reader")
}

func TestAFailureThatIsNotTheFoldersIsNotLaidToIt(t *testing.T) {
	path := newPath(t)
	closed(t, path)
	before := files(t, filepath.Dir(path))
	for _, code := range []sqlite3.ErrNo{sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrFull} {
		failure := sqlite3.Error{Code: code}
		err := explain(path, failure)
		require.ErrorIs(t, err, failure)
		require.NotErrorIs(t, err, ErrReadOnlyFolder)
	}
	require.NoError(t, explain(path, nil))
	require.Equal(t, before, files(t, filepath.Dir(path)), "trying it out leaves nothing behind")
}
