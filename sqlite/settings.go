//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// role is what a connection is for.
type role int

const (
	reading role = iota // one of the pool, which cannot write
	writing             // the one that writes
	keeping             // holds a file that is only read
)

// dsn is the name under which the driver opens a file with the settings that it knows.
func (r role) dsn(path string) string {
	q := url.Values{}
	q.Set("_foreign_keys", "1")
	q.Set("_synchronous", "FULL")
	q.Set("_secure_delete", "1")
	switch r {
	case writing:
		// The writer waits for its lock in Go, where a deadline counts: SQLite's own waiting would not hear of it.
		q.Set("_busy_timeout", "20")
		q.Set("_journal_mode", "WAL")
		q.Set("_txlock", "immediate")
		q.Set("mode", "rwc")
	case reading:
		q.Set("_busy_timeout", "5000")
		q.Set("_query_only", "1")
		q.Set("mode", "ro")
	case keeping:
		q.Set("_busy_timeout", "5000")
		q.Set("_query_only", "1")
		q.Set("mode", "rw")
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// setting is a pragma and its value.
type setting struct{ pragma, value string }

// logLimit bounds the write-ahead log between checkpoints, in bytes. Cutting it to nothing each time would make every
// commit grow the file again, which costs half as much again as the commit itself; whoever erases cuts it explicitly.
const logLimit = "16777216"

// unnamed are the settings that the driver has no name for.
var unnamed = []setting{
	{"trusted_schema", "0"},
	{"cell_size_check", "1"},
	{"temp_store", "2"},
	{"journal_size_limit", logLimit},
	{"fullfsync", "1"},
	{"checkpoint_fullfsync", "1"},
}

// effective are the settings that a connection must show when they are read back: a name that the driver does not know
// is ignored without a word.
func (r role) effective() []setting {
	want := append([]setting{{"foreign_keys", "1"}, {"synchronous", "2"}, {"secure_delete", "1"}}, unnamed...)
	if r == writing {
		return append(want, setting{"encoding", "UTF-8"}, setting{"journal_mode", "wal"}, setting{"busy_timeout", "20"})
	}
	return append(want, setting{"busy_timeout", "5000"}, setting{"query_only", "1"})
}

// configure sets what the name could not, and reads everything back.
func configure(raw *sqlite3.SQLiteConn, r role) error {
	// Statements are ours and small, and nothing is ever attached.
	raw.SetLimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	raw.SetLimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
	raw.SetLimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
	for _, s := range unnamed {
		if _, err := raw.Exec("PRAGMA "+s.pragma+" = "+s.value, nil); err != nil {
			return fmt.Errorf("sgam: sqlite: set %s: %w", s.pragma, err)
		}
	}
	for _, s := range r.effective() {
		have, err := pragma(raw, s.pragma)
		if err != nil {
			return err
		}
		if have != s.value {
			return fmt.Errorf("sgam: sqlite: %s is %s where it must be %s", s.pragma, have, s.value)
		}
	}
	return nil
}

// pragma reads one setting as text.
func pragma(raw *sqlite3.SQLiteConn, name string) (text string, err error) {
	rows, err := raw.Query("PRAGMA "+name, nil)
	if err != nil {
		return "", fmt.Errorf("sgam: sqlite: read %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var value [1]driver.Value
	if err := rows.Next(value[:]); err != nil {
		return "", fmt.Errorf("sgam: sqlite: read %s: %w", name, err)
	}
	return fmt.Sprint(value[0]), nil
}
