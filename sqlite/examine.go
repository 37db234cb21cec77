//go:build cgo

package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sgam-ledger/sgam"

	sqlite3 "github.com/mattn/go-sqlite3"
)

var (
	stApplicationID = named("application_id")
	stUserVersion   = named("user_version")
	stSchemaObjects = named("schema_objects")
)

// contents is what a path holds.
type contents struct {
	kind    kind
	version int64 // the format of a ledger
	logged  bool  // there is a write-ahead log, which may say more than the file
}

type kind int

const (
	missing kind = iota
	blank        // nothing yet: an empty file, or a database without content
	ours
	foreign
)

// examine tells what a path holds. What is not ours is sgam.ErrForeignFile. It changes nothing, and leaves SQLite out
// of it as long as the file speaks for itself: just to look at a file, SQLite may create others beside it.
func examine(path string) (contents, error) {
	head, err := readHead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return contents{kind: missing}, nil
	}
	if err != nil {
		return contents{}, fmt.Errorf("sgam: sqlite: %w", err)
	}
	at := head.contents()
	logged, err := hasLog(path)
	if err != nil {
		return contents{}, err
	}
	if logged && head.mayBeOurs() {
		c, err := connect(path, reading)
		if err != nil {
			return contents{}, explain(path, asForeign(err))
		}
		at, err = c.contents()
		at.logged = true
		if err = errors.Join(asForeign(err), c.close()); err != nil {
			return contents{}, err
		}
	}
	if at.kind == foreign {
		return contents{}, fmt.Errorf("%w: %s", sgam.ErrForeignFile, path)
	}
	return at, nil
}

// head is the first bytes of a file: SQLite's header, and the page header of the schema table.
//
// Closing the file after a look takes away, on systems of the POSIX kind, the locks that another open ledger of this
// process has on it. SQLite since 3.51 therefore asks for the locks of the -shm file too before it removes a log, and
// older ones are refused.
type head []byte

func readHead(path string) (h head, err error) {
	f, err := os.Open(path) //nolint:gosec // the path is the caller's choice
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h = make(head, 108)
	n, err := io.ReadFull(f, h)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return h[:n], err
}

func (h head) version() int64 { return int64(binary.BigEndian.Uint32(h[60:])) }
func (h head) id() int64      { return int64(binary.BigEndian.Uint32(h[68:])) }

// mayBeOurs reports whether the file, together with a log, can be a ledger.
func (h head) mayBeOurs() bool {
	return len(h) == 108 && strings.HasPrefix(string(h), "SQLite format 3\x00") && (h.id() == 0 || h.id() == applicationID)
}

func (h head) contents() contents {
	switch {
	case len(h) == 0:
		return contents{kind: blank}
	case !h.mayBeOurs():
		return contents{kind: foreign}
	case h.id() == applicationID:
		return contents{kind: ours, version: h.version()}
	}
	const leaf = 13 // of a table
	if empty := h[100] == leaf && binary.BigEndian.Uint16(h[103:]) == 0; empty && h.version() == 0 {
		return contents{kind: blank}
	}
	return contents{kind: foreign}
}

// contents tells what a connection sees.
func (c *conn) contents() (contents, error) {
	id, version, err := c.identity()
	if err != nil {
		return contents{}, err
	}
	objects, err := c.one(stSchemaObjects)
	switch {
	case err != nil:
		return contents{}, err
	case id == applicationID:
		return contents{kind: ours, version: version}, nil
	case id == 0 && version == 0 && objects.int(0) == 0:
		return contents{kind: blank}, nil
	}
	return contents{kind: foreign}, nil
}

// identity reads the marks of a file: whose it is, and its format.
func (c *conn) identity() (id, version int64, err error) {
	p, err := c.one(stApplicationID)
	if err != nil {
		return 0, 0, err
	}
	id = p.int(0)
	if p, err = c.one(stUserVersion); err != nil {
		return 0, 0, err
	}
	return id, p.int(0), nil
}

// asForeign says of a file that SQLite cannot read that it is not ours.
func asForeign(err error) error {
	if isCode(err, sqlite3.ErrNotADB) {
		return fmt.Errorf("%w: %w", sgam.ErrForeignFile, err)
	}
	return err
}
