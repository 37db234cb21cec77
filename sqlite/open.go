//go:build cgo

package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"

	sqlite3 "github.com/mattn/go-sqlite3"
)

var (
	stMeta    = named("meta")
	stSetMeta = named("set_meta")
)

// Open opens the ledger in a file, and creates the file unless opts.ReadOnly is set. Nil options are the defaults. New
// files can be read by their owner alone.
//
// It fails with fs.ErrNotExist when the file is missing and must not be created, [sgam.ErrForeignFile] when it is not a
// ledger, [sgam.ErrFormatTooNew], [sgam.ErrFormatOld] unless opts.AutoUpgrade is set, [sgam.ErrKeyMissing] when the key
// of its digests is not there, [ErrReadOnlyFolder], [ErrOldSQLite] and [ErrNoCgo]; and with what [sgam.New] fails with.
// Nothing is changed in a file that is refused.
//
// With opts.ReadOnly a ledger can also be read in a folder in which this user cannot make files, unless a program that
// died has left a log there. Whoever may write there must then leave the ledger alone until the reader closes it.
func Open(ctx context.Context, path string, opts *sgam.Options) (*sgam.Ledger, error) {
	s, err := OpenStore(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return sgam.New(ctx, s, opts)
}

// OpenCopy is [Open] of a file that is to be a copy of another ledger, made by package transfer: a new file gets the secret
// of that ledger's digests, of 32 bytes, which its Store().DigestKey() tells. It is kept beside the file, where Open finds it.
// A file that is there keeps its own, and opts.Keys is not used.
func OpenCopy(ctx context.Context, path string, key []byte, opts *sgam.Options) (*sgam.Ledger, error) {
	if len(key) != ledgerkey.Size {
		return nil, &sgam.FieldError{Field: "key", Rule: "length", Want: fmt.Sprintf("a secret of %d bytes", ledgerkey.Size)}
	}
	own := sgam.Options{}
	if opts != nil {
		own = *opts
	}
	own.Keys = givenKey(key)
	return Open(ctx, path, &own)
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
// A file of the current format is left alone. Other errors are those of [Open] for a file that must exist.
func Upgrade(ctx context.Context, path string) error {
	path, at, err := current.locate(path, false)
	if err != nil {
		return err
	}
	if err := current.judge(at.version); !errors.Is(err, sgam.ErrFormatOld) {
		return err
	}
	return explain(path, current.upgrade(ctx, path))
}

// sound refuses versions of SQLite that can mix up commits of several processes when the write-ahead log is reset.
func sound(version int) error {
	if version < 3_051_003 {
		return fmt.Errorf("%w: it is %d", ErrOldSQLite, version)
	}
	return nil
}

// open opens a file of this format.
func (f format) open(ctx context.Context, path string, opts *sgam.Options) (*store, error) {
	if opts == nil {
		opts = &sgam.Options{}
	}
	path, at, err := f.locate(path, !opts.ReadOnly)
	if err != nil {
		return nil, err
	}
	keys := opts.Keys
	switch k := keys.(type) {
	case nil:
		keys = keyFile(path, nil)
	case givenKey:
		keys = keyFile(path, k)
	}
	if at.kind == missing {
		if err := reserve(path); err != nil {
			return nil, err
		}
	}
	if at.kind != ours {
		if err := f.create(ctx, path, keys); err != nil {
			return nil, explain(path, err)
		}
		at.version = f.number
	}
	if err := f.judge(at.version); err != nil {
		if !errors.Is(err, sgam.ErrFormatOld) || !opts.AutoUpgrade || opts.ReadOnly {
			return nil, err
		}
		if err := f.upgrade(ctx, path); err != nil {
			return nil, explain(path, err)
		}
	}
	s := &store{path: path, readOnly: opts.ReadOnly, readers: newPool(path), writes: newGroup(path)}
	s.writes.told = opts.Observe
	if err := f.connect(ctx, s, keys, at.logged); err != nil {
		return nil, errors.Join(explain(path, err), s.Close())
	}
	return s, nil
}

// connect opens the first connections of a store and checks once more what they see.
func (f format) connect(ctx context.Context, s *store, keys sgam.KeyStore, logged bool) error {
	var err error
	switch {
	case !s.readOnly:
		err = s.writes.connect(ctx)
	case !logged:
		// One that only reads leaves the files of its log behind, one that could write takes them away.
		if s.keeper, err = connect(s.path, keeping); err != nil {
			err = s.freeze(err)
		}
	}
	if err != nil {
		return err
	}
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	check := func() error {
		id, version, err := c.identity()
		if err != nil {
			return asForeign(err)
		}
		if id != applicationID {
			return sgam.ErrForeignFile
		}
		if err := f.judge(version); err != nil {
			return err
		}
		s.key, err = readKey(ctx, c, keys)
		s.writes.key = s.key
		return err
	}
	return s.readers.give(c, check())
}

// freeze lets the store read without the files that SQLite wants to make beside the database, if the folder is why the
// ledger could not be opened, and gives the reason back otherwise.
//
// SQLite then takes no locks and sees no log, so it must be true that the file says everything and stays as it is while
// the store is open. The first is checked: there is no log, or an empty one. The second is assumed from this user's not
// being able to make files in the folder: a ledger is written only by those who can, and this process is not one of them.
// What it cannot know of is another user with more rights. One who has the ledger open by now has left files that the
// ordinary way of opening could use, which has failed; one who opens it later and writes may make a read here fail, or
// answer with the old and the new mixed. No such user is expected where a ledger is published for reading; elsewhere the
// reader needs a copy, or the right to write to the folder.
func (s *store) freeze(reason error) error {
	err := explain(s.path, reason)
	if !errors.Is(err, ErrReadOnlyFolder) {
		return err
	}
	if logged, failed := hasLog(s.path); failed != nil || logged {
		return errors.Join(err, failed)
	}
	s.readers.role = frozen
	return nil
}

// judge compares a file's format with the program's.
func (f format) judge(version int64) error {
	switch {
	case version > f.number:
		return fmt.Errorf("%w: it has format %d, this program knows %d", sgam.ErrFormatTooNew, version, f.number)
	case version < f.number:
		return fmt.Errorf("%w: it has format %d, this program writes %d", sgam.ErrFormatOld, version, f.number)
	}
	return nil
}

// locate finds the file and tells what it is. Unless it may be created, it must be a ledger already.
func (f format) locate(path string, create bool) (string, contents, error) {
	_, library, _ := sqlite3.Version()
	if err := sound(library); err != nil {
		return "", contents{}, err
	}
	path, err := resolvePath(path)
	if err != nil {
		return "", contents{}, err
	}
	at, err := examine(path)
	switch {
	case err != nil || create:
	case at.kind == missing:
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case at.kind == blank:
		err = fmt.Errorf("%w: %s is empty", sgam.ErrForeignFile, path)
	}
	return path, at, err
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

// create makes a new ledger in one transaction. Another process may be doing the same: whoever comes second finds it
// done.
func (f format) create(ctx context.Context, path string, keys sgam.KeyStore) error {
	schema, err := f.schema(ctx)
	if err != nil {
		return err
	}
	g := newGroup(path)
	if err := g.begin(ctx, ""); err != nil {
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
		at, err := c.contents()
		return at.kind == ours, err
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
	switch at, err := c.contents(); {
	case err != nil:
		return err
	case at.kind == ours:
		return errFounded
	case at.kind == foreign:
		return sgam.ErrForeignFile
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
	for _, text := range schema {
		if _, err := c.raw.Exec(text, nil); err != nil {
			return fmt.Errorf("sgam: sqlite: create: %w", err)
		}
	}
	if err := c.exec(stSetMeta, "ledger", ledger); err != nil {
		return err
	}
	return c.exec(stSetMeta, "key_check", ledgerkey.Check(key))
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
	name := p.text(0)
	if p, err = c.one(stMeta, "key_check"); err != nil {
		return nil, err
	}
	var check []byte
	if p != nil {
		check = p.bytes(0)
	}
	return ledgerkey.Of(ctx, keys, name, check)
}
