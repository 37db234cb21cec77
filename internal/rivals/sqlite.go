package rivals

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/bench"
	"github.com/sgam-ledger/sgam/sqlite"
)

// inFile is what the ledger on SQLite stores.
type inFile struct {
	path   string
	engine bench.Engine
	db     *sql.DB
}

// connections are those of the engine's driver, for database/sql.
type connections struct{ engine bench.Engine }

func (c connections) Connect(context.Context) (driver.Conn, error) { return c.engine.Connect(true) }

func (c connections) Driver() driver.Driver { return nil }

func openSQLite(ctx context.Context, dir string) (Keeper, error) {
	types, err := declared()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "ledger.db")
	l, err := sqlite.Open(ctx, path, &sgam.Options{Schemas: types})
	if err != nil {
		return nil, err
	}
	e, ok := l.Store().(bench.Engine)
	if !ok {
		return nil, errors.Join(errors.New("the engine shows nothing of its driver"), l.Close())
	}
	f := &inFile{path: path, engine: e, db: sql.OpenDB(connections{e})}
	k, err := newLedger("sgam on SQLite", l, f)
	if err != nil {
		return nil, errors.Join(err, l.Close(), f.close())
	}
	return k, nil
}

func (f *inFile) close() error { return f.db.Close() }

func (f *inFile) Settle(ctx context.Context) error {
	_, err := f.db.ExecContext(ctx, texts["sqlite_settle"])
	return err
}

func (f *inFile) Rectangles(ctx context.Context) (all []Rectangle, err error) {
	rows, err := f.db.QueryContext(ctx, texts["sqlite_rectangles"])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s segment
		if err := rows.Scan(&s.subject, &s.validFrom, &s.validTo, &s.knownAt, &s.knownTo, &s.value); err != nil {
			return nil, err
		}
		r, err := s.rectangle()
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

func (f *inFile) Size(ctx context.Context) (Size, error) {
	if err := f.Settle(ctx); err != nil {
		return Size{}, err
	}
	d, err := bench.DiskOf(ctx, f.engine, f.path)
	return Size{All: d.Bytes, Rectangles: d.Tables["segments"]}, err
}
