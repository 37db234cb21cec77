//go:build cgo

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// reserve lets SQLite make an empty file that its owner alone can read: it is going to hold memories in clear, and by
// itself SQLite would leave that to the umask. The files that it makes beside the database later get the same mode. A
// file that another process made first keeps its own.
//
// The file is not made here because it would have to be closed here, and on systems of the POSIX kind that takes away
// every lock that SQLite may have on it by then anywhere in this process. SQLite copies the mode from a file instead.
func reserve(path string) error {
	pattern, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-new-*") // with the mode that is wanted
	switch {
	case forbidden(err):
		return readOnlyFolder(path, err)
	case err != nil:
		return fmt.Errorf("sgam: sqlite: create: %w", err)
	}
	made, err := (&sqlite3.SQLiteDriver{}).Open(fileURI(path) + "?mode=rwc&modeof=" + escapeParameter(pattern.Name()))
	if err == nil {
		err = made.Close()
	}
	if isBusy(err) {
		err = nil // somebody else is at work on it already, so it is there
	}
	if err = errors.Join(err, pattern.Close(), os.Remove(pattern.Name())); err != nil { //nolint:gosec // made above
		return fmt.Errorf("sgam: sqlite: create: %w", err)
	}
	return nil
}

// hasLog reports whether a write-ahead log may say more than the file.
func hasLog(path string) (bool, error) {
	log, err := os.Stat(path + "-wal") //nolint:gosec // the path is the caller's choice
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("sgam: sqlite: %w", err)
	}
	return log.Size() > 0, nil
}

// explain says of a failure to open a file whether its folder is the reason. SQLite tells that in several ways, none of
// which is certain, and it also speaks so of other troubles; so it is tried out.
func explain(path string, err error) error {
	if !isCode(err, sqlite3.ErrReadonly) && !isCode(err, sqlite3.ErrCantOpen) {
		return err
	}
	f, cause := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-probe-*")
	if cause == nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name())) //nolint:gosec // what was made a line ago
	}
	if !forbidden(cause) {
		return err
	}
	return readOnlyFolder(path, cause)
}

// forbidden reports whether a file could not be made because nobody, or not this user, may make any there.
func forbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// readOnlyFolder is the error of a ledger whose folder stands in the way, with what can be done.
func readOnlyFolder(path string, cause error) error {
	if failure, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = failure.Err // its path may be that of a probe
	}
	dir, name := filepath.Split(path)
	logged, err := hasLog(path)
	if err != nil {
		return errors.Join(cause, err)
	}
	cure := fmt.Sprintf("SQLite makes files beside %s while it is open for writing: open it read-only, or move it to a folder that can be written", name)
	if logged {
		cure = fmt.Sprintf("%[1]s-wal holds commits that cannot be read from there: copy %[1]s, %[1]s-wal and %[1]s.keys to a folder that can "+
			"be written, or let somebody who may write there open the ledger once", name)
	}
	return fmt.Errorf("%w: %s: %w: %s", ErrReadOnlyFolder, filepath.Clean(dir), cause, cure)
}
