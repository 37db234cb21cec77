//go:build cgo

package sqlite

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sgam-ledger/sgam"

	sqlite3 "github.com/mattn/go-sqlite3"
)

var (
	stApplicationID = named("application_id")
	stUserVersion   = named("user_version")
	stSchemaObjects = named("schema_objects")
	stMeta          = named("meta")
	stSetMeta       = named("set_meta")
)

// Open opens the ledger in a file, and creates the file unless opts.ReadOnly is set. Nil options are the defaults.
//
// It fails with fs.ErrNotExist when the file is missing and must not be created, [sgam.ErrForeignFile] when it is not a
// ledger, [sgam.ErrFormatTooNew], [sgam.ErrFormatOld] unless opts.AutoUpgrade is set, [sgam.ErrKeyMissing] when the key
// of its digests is not there, [ErrOldSQLite] and [ErrNoCgo]; and with what [sgam.New] fails with. Nothing is changed in
// a file that is refused.
func Open(ctx context.Context, path string, opts *sgam.Options) (*sgam.Ledger, error) {
	s, err := OpenStore(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return sgam.New(ctx, s, opts)
}

// OpenStore opens the engine alone, for tests and benchmarks of engines. Errors are those of [Open].
func OpenStore(ctx context.Context, path string, opts *sgam.Options) (sgam.Store, error) {
	s, err := current.open(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Upgrade brings an older file forward to the format of this program. No other program may have it open: [sgam.ErrBusy].
// A file of the current format is left alone.
func Upgrade(ctx context.Context, path string) error {
	s, err := current.open(ctx, path, &sgam.Options{AutoUpgrade: true})
	if err != nil {
		return err
	}
	return s.Close()
}

// oldest is the first SQLite that keeps commits of several processes apart when the write-ahead log is reset.
const oldest = 3_051_003

// open opens a file of this format.
func (f format) open(ctx context.Context, path string, opts *sgam.Options) (*store, error) {
	if opts == nil {
		opts = &sgam.Options{}
	}
	if _, version, _ := sqlite3.Version(); version < oldest {
		return nil, fmt.Errorf("%w: it is %d", ErrOldSQLite, version)
	}
	path, err := resolvePath(path)
	if err != nil {
		return nil, err
	}
	keys := opts.Keys
	if keys == nil {
		keys = keyFile{path + ".keys"}
	}
	switch kind, err := examine(path); {
	case err != nil:
		return nil, err
	case kind == missing && opts.ReadOnly:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case kind == blank && opts.ReadOnly:
		return nil, fmt.Errorf("%w: %s is empty", sgam.ErrForeignFile, path)
	case kind != ours:
		if err := f.create(ctx, path, keys); err != nil {
			return nil, err
		}
	}
	first, err := f.check(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	s := &store{path: path, readOnly: opts.ReadOnly, readers: newPool(path)}
	<-s.readers.room
	s.readers.free <- first
	s.key, err = readKey(ctx, first, keys)
	s.writes = newGroup(path, s.key)
	if err == nil && !s.readOnly {
		err = s.writes.connect(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// resolvePath makes a path absolute and follows links, so that the files beside the database have one name.
func resolvePath(path string) (string, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return "", &sgam.FieldError{Field: "path", Rule: "file", Want: "a file, since two connections to memory are two ledgers; " +
			"tests have ledgertest.NewLedger"}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("sgam: sqlite: %w", err)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			real = filepath.Join(real, filepath.Base(path))
		}
	}
	if err != nil {
		return "", fmt.Errorf("sgam: sqlite: %w", err)
	}
	return real, nil
}

// kind is what a path holds.
type kind int

const (
	missing kind = iota
	blank        // nothing yet: an empty file, or a database without content
	ours
)

// examine tells what a path holds without changing a byte. What is not ours is sgam.ErrForeignFile.
func examine(path string) (kind, error) {
	header := make([]byte, 100)
	n, err := readHeader(path, header)
	if errors.Is(err, fs.ErrNotExist) {
		return missing, nil
	}
	if err != nil {
		return 0, fmt.Errorf("sgam: sqlite: %w", err)
	}
	const idAt = 68 // of the application id in the header
	switch id := binary.BigEndian.Uint32(header[idAt:]); {
	case n == 0:
		return blank, nil
	case n < len(header) || !strings.HasPrefix(string(header), "SQLite format 3\x00") || id != 0 && id != applicationID:
		return 0, fmt.Errorf("%w: %s", sgam.ErrForeignFile, path)
	case id == applicationID:
		return ours, nil
	}
	// A new ledger looks like this until its log is folded into the file; so do others.
	c, err := connect(path, reading)
	if err != nil {
		return 0, err
	}
	found, err := c.contents()
	return found, errors.Join(err, c.close())
}

func readHeader(path string, header []byte) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err = io.ReadFull(f, header)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, nil
	}
	return n, err
}

// contents tells what a database holds.
func (c *conn) contents() (kind, error) {
	id, version, err := c.identity()
	if err != nil {
		return 0, err
	}
	objects, err := c.one(stSchemaObjects)
	if err != nil {
		return 0, err
	}
	switch {
	case id == applicationID:
		return ours, nil
	case id == 0 && version == 0 && objects.int(0) == 0:
		return blank, nil
	}
	return 0, sgam.ErrForeignFile
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

// create makes a new ledger in one transaction. Another process may be doing the same: whoever comes second finds it
// done.
func (f format) create(ctx context.Context, path string, keys sgam.KeyStore) error {
	schema, err := f.schema(ctx)
	if err != nil {
		return err
	}
	g := newGroup(path, nil)
	if err := g.begin(ctx); err != nil {
		return errors.Join(err, g.drop())
	}
	err = f.found(ctx, g.conn, schema, keys)
	if errors.Is(err, errFounded) {
		g.rollback()
		return g.drop()
	}
	if err != nil {
		g.rollback()
		return errors.Join(err, g.drop())
	}
	err = g.commit(func(c *conn) (bool, error) {
		kind, err := c.contents()
		return kind == ours, err
	})
	if err == nil {
		// With the log folded in, the file says by itself what it is. Whoever reads meanwhile may prevent that.
		_, err = g.conn.one(stCheckpoint)
	}
	return errors.Join(err, g.drop())
}

// errFounded says that somebody else created the ledger.
var errFounded = errors.New("founded")

// found fills an empty database.
func (f format) found(ctx context.Context, c *conn, schema []string, keys sgam.KeyStore) error {
	switch kind, err := c.contents(); {
	case err != nil:
		return err
	case kind == ours:
		return errFounded
	}
	name := make([]byte, 16)
	if _, err := rand.Read(name); err != nil {
		return fmt.Errorf("sgam: sqlite: draw a name: %w", err)
	}
	ledger := hex.EncodeToString(name)
	key, err := keys.Key(ctx, ledger, true)
	if err != nil {
		return err
	}
	schema = append(schema, fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", f.number))
	for _, text := range schema {
		if _, err := c.raw.Exec(text, nil); err != nil {
			return fmt.Errorf("sgam: sqlite: create: %w", err)
		}
	}
	if err := c.exec(stSetMeta, "ledger", ledger); err != nil {
		return err
	}
	return c.exec(stSetMeta, "key_check", keyCheck(key))
}

// check opens the first connection that reads, and brings an older format forward when it may.
func (f format) check(ctx context.Context, path string, opts *sgam.Options) (*conn, error) {
	for upgraded := false; ; upgraded = true {
		c, err := connect(path, reading)
		if err != nil {
			return nil, err
		}
		id, version, err := c.identity()
		switch {
		case err != nil:
		case id != applicationID:
			err = sgam.ErrForeignFile
		case version > f.number:
			err = fmt.Errorf("%w: it has format %d, this program knows %d", sgam.ErrFormatTooNew, version, f.number)
		case version == f.number:
			return c, nil
		case !opts.AutoUpgrade || opts.ReadOnly || upgraded:
			err = fmt.Errorf("%w: it has format %d, this program writes %d", sgam.ErrFormatOld, version, f.number)
		}
		if err = errors.Join(err, c.close()); err != nil {
			return nil, err
		}
		if err := f.upgrade(ctx, path); err != nil {
			return nil, err
		}
	}
}

// upgrade runs the migrations that are missing. It has the file for itself, since older programs must not write to a
// newer format.
func (f format) upgrade(ctx context.Context, path string) error {
	db := sql.OpenDB(connector{writing.dsn(path) + "&_locking_mode=EXCLUSIVE"})
	db.SetMaxOpenConns(1)
	err := retry(ctx, func() (bool, error) {
		err := f.migrate(ctx, db)
		return isBusy(err), err
	})
	if isBusy(err) {
		err = fmt.Errorf("%w: upgrade: another program has the file open: %w", sgam.ErrBusy, err)
	}
	return errors.Join(err, db.Close())
}

// readKey fetches the ledger's secret and recognises it by what the file keeps of it.
func readKey(ctx context.Context, c *conn, keys sgam.KeyStore) ([]byte, error) {
	p, err := c.one(stMeta, "ledger")
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, damaged("name of the ledger")
	}
	key, err := keys.Key(ctx, p.text(0), false)
	if err != nil {
		return nil, err
	}
	if p, err = c.one(stMeta, "key_check"); err != nil {
		return nil, err
	}
	if p == nil || len(key) == 0 || !hmac.Equal(p.bytes(0), keyCheck(key)) {
		return nil, fmt.Errorf("%w: it does not fit the file", sgam.ErrKeyMissing)
	}
	return key, nil
}
