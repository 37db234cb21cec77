//go:build cgo

package sqlite

import (
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
	frozen              // one of the pool, of a file that nobody changes
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
	case frozen:
		q.Set("_busy_timeout", "5000")
		q.Set("_query_only", "1")
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	return fileURI(path) + "?" + q.Encode()
}

// fileURI is a path as SQLite takes it when parameters are to follow.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

// escapeParameter is a parameter as SQLite takes it, for which a plus is not a space.
func escapeParameter(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

var (
	stSettings = named("settings")
	stSet      = []*statement{
		named("set_trusted_schema"), named("set_cell_size_check"), named("set_temp_store"), named("set_journal_size_limit"),
		named("set_cache_size"), named("set_fullfsync"), named("set_checkpoint_fullfsync"), named("set_wal_autocheckpoint"),
	}
	// SQLite has no table of this one.
	stAutoCheckpoint = named("wal_autocheckpoint")
)

// checkpointAt is the length of the log, in pages, at which a commit copies it into the file.
const checkpointAt = 4000

// effective are the settings that a connection must show when they are read back: a name that the driver does not know
// is ignored without a word. They are in the order of the statement that reads them.
func (r role) effective() []string {
	busy, queryOnly, journal := "5000", "1", "wal"
	switch r {
	case writing:
		busy, queryOnly = "20", "0"
	case frozen:
		journal = "delete" // SQLite's word for a file whose log it leaves out
	case reading, keeping:
	}
	return []string{"1", "2", "1", "0", "1", "2", "16777216", "-32768", "1", "1", busy, queryOnly, "UTF-8", journal}
}

// configure sets what the name could not, and reads everything back.
func (c *conn) configure(r role) error {
	// Statements are ours and small, and nothing is ever attached.
	c.raw.SetLimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	c.raw.SetLimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
	c.raw.SetLimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
	for _, st := range stSet {
		if err := c.exec(st); err != nil {
			return err
		}
	}
	p, err := c.query(stSettings)
	if err != nil {
		return err
	}
	settings, found := p.rows.Columns(), p.next()
	if err := p.close(); err != nil {
		return err
	}
	for i, want := range r.effective() {
		if have := fmt.Sprint(p.row[i]); !found || have != want {
			return fmt.Errorf("sgam: sqlite: %s is %s where it must be %s", settings[i], have, want)
		}
	}
	if p, err = c.one(stAutoCheckpoint); err != nil {
		return err
	}
	if have := p.int(0); have != checkpointAt {
		return fmt.Errorf("sgam: sqlite: wal_autocheckpoint is %d where it must be %d", have, checkpointAt)
	}
	return nil
}
