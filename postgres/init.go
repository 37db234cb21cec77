package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/formatversion"
	"github.com/sgam-ledger/sgam/internal/ledgerkey"
)

//go:embed sql/migrations/*.sql
var migrationFiles embed.FS

// format is the number of the last table migration, and of what this program reads and writes.
const format = 1

// The layouts of the tables.
const (
	layoutPlain       = "plain"
	layoutPartitioned = "partitioned"
	layoutDistributed = "distributed"
)

// InitOptions say how a ledger is made.
type InitOptions struct {
	// Keys keeps the ledger's secret, which is created unless it is there. It is required; [KeyFile] is one.
	Keys sgam.KeyStore
	// Role is the application's role, which must exist. It gets the rights that [Open] needs and no more. Empty: no role
	// gets any.
	Role string
	// Partitions divides the tables of the tenants into so many by hash of the tenant. Zero: they stay whole.
	Partitions int
	// Distributed spreads the tables over the nodes of a Citus cluster by tenant, or keeps them on the one server. Nil
	// spreads them when the database has the extension citus and Partitions is zero. Spreading needs Citus 13.1 or later.
	Distributed *bool
}

// Init makes the tables of a ledger in the schema sgam of a database, as the role that then owns them. The database must
// not have that schema yet.
func Init(ctx context.Context, dsn string, opts InitOptions) (err error) {
	if opts.Keys == nil {
		return &sgam.FieldError{Field: "Keys", Rule: "required", Want: "where the ledger's secret is kept"}
	}
	if opts.Partitions < 0 || opts.Partitions > 1024 || opts.Partitions > 0 && opts.Distributed != nil && *opts.Distributed {
		return &sgam.FieldError{Field: "Partitions", Rule: "range", Want: "0 to 1024, and 0 when the tables are distributed"}
	}
	db, err := open(dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := opts.provider(db)
	if err != nil {
		return fmt.Errorf("sgam: postgres: init: %w", err)
	}
	if _, err := p.UpTo(ctx, format); err != nil {
		return explain("init", err)
	}
	return opts.grant(ctx, db)
}

// Upgrade brings the tables of an older ledger forward to the format of this program, as the role that owns them, and
// gives the application's role what it needs of them; an empty role gets nothing. A ledger of the current format is left
// alone.
func Upgrade(ctx context.Context, dsn, role string) (err error) {
	db, err := open(dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	switch at, err := formatOf(ctx, db); {
	case err != nil:
		return explain("upgrade", err)
	case at == 0:
		return fmt.Errorf("%w: the database has no schema sgam", sgam.ErrForeignFile)
	case at > format:
		return fmt.Errorf("%w: it has format %d, this program knows %d", sgam.ErrFormatTooNew, at, format)
	}
	opts := InitOptions{Role: role}
	p, err := opts.provider(db)
	if err != nil {
		return fmt.Errorf("sgam: postgres: upgrade: %w", err)
	}
	if _, err := p.UpTo(ctx, format); err != nil {
		return explain("upgrade", err)
	}
	return opts.grant(ctx, db)
}

func open(dsn string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("sgam: postgres: %w", err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // nothing is asked twice, and a pooler may not keep what is prepared
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(1)
	return db, nil
}

// explain is an error of table migrations. The owner's statements hold no values, so the server's words are left in.
func explain(what string, err error) error { return fmt.Errorf("sgam: postgres: %s: %w", what, err) }

func (o *InitOptions) provider(db *sql.DB) (*goose.Provider, error) {
	first := goose.NewGoMigration(1, &goose.GoFunc{RunTx: o.make}, nil)
	at := formatversion.Store{Where: "sgam.ledger", Latest: formatOf}
	return goose.NewProvider(goose.DialectCustom, db, nil, goose.WithStore(at), goose.WithGoMigrations(first),
		goose.WithDisableGlobalRegistry(true))
}

// make is the first migration: the tables in their layout, and the ledger's own row.
func (o *InitOptions) make(ctx context.Context, tx *sql.Tx) error {
	layout, err := o.layout(ctx, tx)
	if err != nil {
		return err
	}
	tables, err := migrationFiles.ReadFile("sql/migrations/0001_ledger.sql")
	if err != nil {
		return err
	}
	laying, err := migrationFiles.ReadFile("sql/migrations/layout.sql")
	if err != nil {
		return err
	}
	making := string(tables)
	if o.Partitions > 0 {
		making = strings.NewReplacer("/*+", "", "+*/", "").Replace(making)
	}
	for _, text := range []string{
		fmt.Sprintf(texts["set_partitions"], o.Partitions), fmt.Sprintf(texts["set_distributed"], layout == layoutDistributed),
		making, string(laying),
	} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return o.found(ctx, tx, layout)
}

// layout is how the tables will stand.
func (o *InitOptions) layout(ctx context.Context, tx *sql.Tx) (string, error) {
	switch {
	case o.Partitions > 0:
		return layoutPartitioned, nil
	case o.Distributed != nil && !*o.Distributed:
		return layoutPlain, nil
	}
	var version string
	if err := tx.QueryRowContext(ctx, texts["citus_version"]).Scan(&version); err != nil {
		return "", err
	}
	switch {
	case version == "" && o.Distributed == nil:
		return layoutPlain, nil
	case version == "":
		return "", fmt.Errorf("%w: postgres: the database has no extension citus", sgam.ErrUnsupported)
	case !spreads(version):
		return "", fmt.Errorf("%w: postgres: the database has the extension citus %s, which does not hand grants on columns to its nodes: "+
			"13.1 or later does; without being distributed the tables can also stand there", sgam.ErrUnsupported, version)
	}
	return layoutDistributed, nil
}

// spreads reports whether a version of Citus, such as 13.2-1, does all that the tables need.
func spreads(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 13 || major == 13 && minor >= 1
}

// found writes the rows that every ledger has from its beginning.
func (o *InitOptions) found(ctx context.Context, tx *sql.Tx, layout string) error {
	drawn := make([]byte, 16)
	if _, err := rand.Read(drawn); err != nil {
		return fmt.Errorf("draw a name: %w", err)
	}
	name := hex.EncodeToString(drawn)
	key, err := o.Keys.Key(ctx, name, true)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, texts["found_ledger"], format, name, ledgerkey.Check(key), layout); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, texts["found_registry"]); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, texts["add_tenant"], 0, int64(sgam.Beginning))
	return err
}

// grant gives the application's role its rights.
func (o *InitOptions) grant(ctx context.Context, db *sql.DB) error {
	if o.Role == "" {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return explain("grant", err)
	}
	for _, err = range []error{
		exec(ctx, tx, texts["set_application"], o.Role), exec(ctx, tx, texts["grant"]),
	} {
		if err != nil {
			return errors.Join(explain("grant", err), tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return explain("grant", err)
	}
	return nil
}

func exec(ctx context.Context, tx *sql.Tx, text string, args ...any) error {
	_, err := tx.ExecContext(ctx, text, args...)
	return err
}

// formatOf is the format of the ledger in a database, 0 when it holds none.
func formatOf(ctx context.Context, db database.DBTxConn) (int64, error) {
	var there bool
	if err := db.QueryRowContext(ctx, texts["ledger_exists"]).Scan(&there); err != nil || !there {
		return 0, err
	}
	var version int64
	err := db.QueryRowContext(ctx, texts["format"]).Scan(&version)
	return version, err
}
