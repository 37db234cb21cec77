//go:build cgo

package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"
)

func TestTheSettingsAreInForceOnEveryConnection(t *testing.T) {
	s, err := current.open(context.Background(), newPath(t), nil)
	require.NoError(t, err)
	reader, err := s.readers.take(context.Background())
	require.NoError(t, err)
	for _, c := range []struct {
		raw  *sqlite3.SQLiteConn
		want map[string]string
	}{
		{s.writes.conn.raw, map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "secure_delete": "1",
			"trusted_schema": "0", "cell_size_check": "1", "temp_store": "2", "encoding": "UTF-8", "query_only": "0",
			"wal_autocheckpoint": "4000"}},
		{reader.raw, map[string]string{"journal_mode": "wal", "query_only": "1", "foreign_keys": "1", "trusted_schema": "0",
			"cell_size_check": "1", "temp_store": "2"}},
	} {
		for name, want := range c.want {
			rows, err := c.raw.Query("PRAGMA "+name, nil)
			require.NoError(t, err)
			have := make([]driver.Value, 1)
			require.NoError(t, rows.Next(have))
			require.NoError(t, rows.Close())
			require.Equal(t, want, fmt.Sprint(have[0]), name)
		}
	}
	_, err = reader.raw.Exec("PRAGMA query_only = 0", nil)
	require.NoError(t, err)
	_, err = reader.raw.Exec("DELETE FROM meta", nil)
	require.ErrorContains(t, err, "readonly", "the second wall: the file itself is open for reading only")
	require.NoError(t, s.readers.give(reader, nil))
	require.NoError(t, s.Close())
}

func TestASettingThatIsNotInForceIsNoticed(t *testing.T) {
	path := newPath(t)
	closed(t, path)
	for _, r := range []role{reading, writing, keeping} {
		c := &conn{raw: bare(t, "file:"+path), prepared: make([]*running, len(names))}
		require.ErrorContains(t, c.configure(r), "where it must be")
		require.NoError(t, c.close())
		c, err := connect(path, r)
		require.NoError(t, err)
		require.NoError(t, c.close())
	}
}
