package sqlite

import "errors"

var (
	// ErrNoCgo says that the program was built without cgo, which the SQLite driver needs.
	ErrNoCgo = errors.New("sqlite: built without cgo: install a C compiler and build with CGO_ENABLED=1")
	// ErrOldSQLite says that the SQLite library is older than 3.51.3, which can lose commits of other processes.
	ErrOldSQLite = errors.New("sqlite: the SQLite library is older than 3.51.3: build without the libsqlite3 tag")
	// ErrReadOnlyFolder says that the ledger cannot be opened as asked where this user can make no files in its folder.
	// The text names the folder and the way out.
	ErrReadOnlyFolder = errors.New("sqlite: the folder of the ledger cannot be written")
)
