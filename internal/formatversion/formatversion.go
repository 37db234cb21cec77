// Package formatversion lets goose, which runs the migrations of a ledger's tables, go by the version that the ledger itself
// has of its format, so that there is no second one.
package formatversion

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3/database"
)

// Store reads the version of one ledger. It writes none: each migration does so in its own transaction.
type Store struct {
	// Where is the name of what holds the version.
	Where string
	// Latest is the version of a database, 0 while it holds no ledger.
	Latest func(ctx context.Context, db database.DBTxConn) (int64, error)
}

var _ database.StoreExtender = Store{}

// Tablename is the name of what holds the version.
func (s Store) Tablename() string { return s.Where }

// TableExists keeps goose from making a table of its own.
func (Store) TableExists(context.Context, database.DBTxConn) (bool, error) { return true, nil }

// CreateVersionTable has nothing to do.
func (Store) CreateVersionTable(context.Context, database.DBTxConn) error { return nil }

// Insert is called at the end of a migration's transaction, to check that the migration has written its version.
func (s Store) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	latest, err := s.Latest(ctx, db)
	if err == nil && latest != req.Version {
		err = fmt.Errorf("migration %d leads to version %d", req.Version, latest)
	}
	return err
}

// Delete is never asked for: a format is not taken back.
func (Store) Delete(context.Context, database.DBTxConn, int64) error {
	return database.ErrNotImplemented
}

// GetMigration tells whether the database has a version.
func (s Store) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	latest, err := s.Latest(ctx, db)
	if err != nil {
		return nil, err
	}
	if version > latest {
		return nil, database.ErrVersionNotFound
	}
	return &database.GetMigrationResult{IsApplied: true}, nil
}

// GetLatestVersion is the version of the database.
func (s Store) GetLatestVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	return s.Latest(ctx, db)
}

// ListMigrations lists the versions that the database went through, from the newest.
func (s Store) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	latest, err := s.Latest(ctx, db)
	if err != nil {
		return nil, err
	}
	var applied []*database.ListMigrationsResult
	for n := latest; n >= 0; n-- {
		applied = append(applied, &database.ListMigrationsResult{Version: n, IsApplied: true})
	}
	return applied, nil
}
