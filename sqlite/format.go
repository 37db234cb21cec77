//go:build cgo

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/sgam-ledger/sgam/internal/formatversion"
)

//go:embed sql/migrations/*.sql
var migrationFiles embed.FS

// applicationID marks our files: "sgam" as a big-endian number.
const applicationID = 's'<<24 | 'g'<<16 | 'a'<<8 | 'm'

// format is a series of table migrations, and the number of the last.
type format struct {
	files  fs.FS
	number int64
}

// current is the format that this program writes.
var current = format{files: migrationFiles, number: 1}

// migrate brings a database forward to the format. Each migration is one transaction and ends with the version that it
// leads to.
func (f format) migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(f.files, "sql/migrations")
	if err != nil {
		return err
	}
	at := formatversion.Store{Where: "user_version", Latest: userVersion}
	p, err := goose.NewProvider(goose.DialectCustom, db, files, goose.WithStore(at), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.UpTo(ctx, f.number)
	return err
}

// schema is what makes an empty database one of the format: what the migrations add up to. A new file gets it in one
// transaction.
func (f format) schema(ctx context.Context) (text []string, err error) {
	db := sql.OpenDB(connector{":memory:"})
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := f.migrate(ctx, db); err != nil {
		return nil, fmt.Errorf("sgam: sqlite: build the schema: %w", err)
	}
	rows, err := db.QueryContext(ctx, texts["schema_text"])
	if err != nil {
		return nil, fmt.Errorf("sgam: sqlite: read the schema: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, fmt.Errorf("sgam: sqlite: read the schema: %w", err)
		}
		text = append(text, one)
	}
	return text, rows.Err()
}

// connector opens connections for goose, which wants a pool.
type connector struct{ dsn string }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.dsn) }

func (connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// userVersion is the format of a file.
func userVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	var version int64
	err := db.QueryRowContext(ctx, texts["user_version"]).Scan(&version)
	return version, err
}
