package formatversion_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pressly/goose/v3/database"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/formatversion"
)

// at is the store of a database of a version.
func at(version int64, err error) formatversion.Store {
	return formatversion.Store{
		Where:  "ledger",
		Latest: func(context.Context, database.DBTxConn) (int64, error) { return version, err },
	}
}

func TestAMigrationHasToWriteItsVersion(t *testing.T) {
	t.Parallel()
	require.NoError(t, at(2, nil).Insert(t.Context(), nil, database.InsertRequest{Version: 2}))
	require.EqualError(t, at(1, nil).Insert(t.Context(), nil, database.InsertRequest{Version: 2}), "migration 2 leads to version 1")
	require.EqualError(t, at(3, nil).Insert(t.Context(), nil, database.InsertRequest{Version: 2}), "migration 2 leads to version 3")
}

func TestMigrationsUpToTheVersionWereApplied(t *testing.T) {
	t.Parallel()
	s := at(2, nil)
	require.Equal(t, "ledger", s.Tablename())
	there, err := s.TableExists(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, there)
	require.NoError(t, s.CreateVersionTable(t.Context(), nil))
	latest, err := s.GetLatestVersion(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, 2, latest)
	for version := range int64(5) {
		found, err := s.GetMigration(t.Context(), nil, version)
		if version > 2 {
			require.ErrorIs(t, err, database.ErrVersionNotFound)
			continue
		}
		require.NoError(t, err)
		require.True(t, found.IsApplied)
	}
	var versions []int64
	list, err := s.ListMigrations(t.Context(), nil)
	require.NoError(t, err)
	for _, m := range list {
		require.True(t, m.IsApplied)
		versions = append(versions, m.Version)
	}
	require.Equal(t, []int64{2, 1, 0}, versions)
	require.ErrorIs(t, s.Delete(t.Context(), nil, 2), database.ErrNotImplemented)
}

func TestADatabaseThatCannotBeReadHasNoVersion(t *testing.T) {
	t.Parallel()
	gone := errors.New("the disk is gone")
	s := at(2, gone)
	require.ErrorIs(t, s.Insert(t.Context(), nil, database.InsertRequest{Version: 2}), gone)
	_, err := s.GetMigration(t.Context(), nil, 1)
	require.ErrorIs(t, err, gone)
	_, err = s.GetLatestVersion(t.Context(), nil)
	require.ErrorIs(t, err, gone)
	_, err = s.ListMigrations(t.Context(), nil)
	require.ErrorIs(t, err, gone)
}
