//go:build cgo

package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// files are the names and contents of a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		found[e.Name()] = string(content)
	}
	return found
}

// alter runs SQL on a file with nothing but the driver.
func alter(t *testing.T, path string, statements ...string) {
	t.Helper()
	c := bare(t, "file:"+path)
	for _, text := range statements {
		_, err := c.Exec(text, nil)
		require.NoError(t, err, text)
	}
	require.NoError(t, c.Close())
}

// closed makes a ledger with one fact and closes it.
func closed(t *testing.T, path string) {
	t.Helper()
	ctx := context.Background()
	l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}})
	require.NoError(t, err)
	_, err = tenant(t, l, "acme").Apply(ctx, assert("mira", "deadline", "2026-07-15", day(1)).From(message("e1", day(1))))
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

func TestAMissingFileIsCreatedOnlyByAWriter(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	_, err := Open(ctx, path, &sgam.Options{Schemas: plain{}, ReadOnly: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, Upgrade(ctx, path), fs.ErrNotExist)
	require.Empty(t, files(t, filepath.Dir(path)))

	closed(t, path)
	require.Len(t, files(t, filepath.Dir(path)), 2, "the database and its key")
	open(t, path, &sgam.Options{ReadOnly: true})
}

func TestWhatIsNotALedgerIsRefusedUntouched(t *testing.T) {
	ctx := context.Background()
	text := "nothing that a database would say, but long enough to have a header of a hundred bytes, and then some more"
	for name, c := range map[string]struct {
		text string
		sql  []string
	}{
		"a text":                          {text: text},
		"a short text":                    {text: "hello"},
		"another database":                {sql: []string{"CREATE TABLE notes (text)"}},
		"another database in WAL":         {sql: []string{"PRAGMA journal_mode = WAL", "CREATE TABLE notes (text)"}},
		"another application":             {sql: []string{"PRAGMA application_id = 7", "CREATE TABLE notes (text)"}},
		"an application's empty database": {sql: []string{"PRAGMA application_id = 7", "CREATE TABLE notes (text)", "DROP TABLE notes"}},
		"a versioned empty database":      {sql: []string{"PRAGMA user_version = 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			if c.text != "" {
				require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			} else {
				alter(t, path, c.sql...)
			}
			before := files(t, filepath.Dir(path))
			for _, opts := range []*sgam.Options{{}, {ReadOnly: true}, {AutoUpgrade: true}} {
				_, err := Open(ctx, path, opts)
				require.ErrorIs(t, err, sgam.ErrForeignFile)
			}
			require.ErrorIs(t, Upgrade(ctx, path), sgam.ErrForeignFile)
			require.Equal(t, before, files(t, filepath.Dir(path)))
		})
	}
}

func TestAnEmptyFileBecomesALedgerForAWriter(t *testing.T) {
	for name, sql := range map[string][]string{
		"no bytes":          nil,
		"an empty database": {"PRAGMA journal_mode = WAL"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			alter(t, path, sql...)
			before := files(t, filepath.Dir(path))
			_, err := Open(context.Background(), path, &sgam.Options{ReadOnly: true})
			require.ErrorIs(t, err, sgam.ErrForeignFile)
			require.Equal(t, before, files(t, filepath.Dir(path)))
			open(t, path, nil)
		})
	}
}

func TestANewerFormatIsRefusedUntouched(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	closed(t, path)
	alter(t, path, "PRAGMA user_version = 2")
	before := files(t, filepath.Dir(path))
	for _, opts := range []*sgam.Options{{Schemas: plain{}}, {Schemas: plain{}, ReadOnly: true}, {Schemas: plain{}, AutoUpgrade: true}} {
		_, err := Open(ctx, path, opts)
		require.ErrorIs(t, err, sgam.ErrFormatTooNew)
	}
	require.ErrorIs(t, Upgrade(ctx, path), sgam.ErrFormatTooNew)
	require.Equal(t, before, files(t, filepath.Dir(path)))

	alter(t, path, "PRAGMA user_version = 1")
	open(t, path, nil)
}

// more is what the next format adds.
const more = "CREATE TABLE more (x INTEGER) STRICT;\nINSERT INTO more SELECT last_seq FROM tenants;\n"

// next is a format after the current one.
func next(t *testing.T, then string) format {
	t.Helper()
	text, err := fs.ReadFile(migrationFiles, "sql/migrations/00001_format.sql")
	require.NoError(t, err)
	return format{number: 2, files: fstest.MapFS{
		"sql/migrations/00001_format.sql": {Data: text},
		"sql/migrations/00002_more.sql":   {Data: []byte("-- +goose Up\nPRAGMA user_version = 2;\n" + then)},
	}}
}

func TestAnOlderFormatIsBroughtForwardOnlyOnRequest(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	closed(t, path)
	before := files(t, filepath.Dir(path))
	for _, opts := range []*sgam.Options{{}, {ReadOnly: true}, {ReadOnly: true, AutoUpgrade: true}} {
		_, err := next(t, more).open(ctx, path, opts)
		require.ErrorIs(t, err, sgam.ErrFormatOld)
	}
	require.Equal(t, before, files(t, filepath.Dir(path)))

	s, err := next(t, more).open(ctx, path, &sgam.Options{AutoUpgrade: true})
	require.NoError(t, err)
	id, version, err := s.writes.conn.identity()
	require.NoError(t, err)
	require.Equal(t, []int64{applicationID, 2}, []int64{id, version})
	require.NoError(t, s.Close())

	_, err = Open(ctx, path, &sgam.Options{Schemas: plain{}})
	require.ErrorIs(t, err, sgam.ErrFormatTooNew)
	s, err = next(t, more).open(ctx, path, nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestANewFileHasTheNewestFormatAtOnce(t *testing.T) {
	path := newPath(t)
	s, err := next(t, more).open(context.Background(), path, nil)
	require.NoError(t, err)
	_, version, err := s.writes.conn.identity()
	require.NoError(t, err)
	require.EqualValues(t, 2, version)
	require.NoError(t, s.Close())
}

func TestAnUpgradeWantsTheFileForItself(t *testing.T) {
	path := newPath(t)
	closed(t, path)
	busy, err := connect(path, reading)
	require.NoError(t, err)
	_, _, err = busy.identity()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err = next(t, more).open(ctx, path, &sgam.Options{AutoUpgrade: true})
	require.ErrorIs(t, err, sgam.ErrBusy)
	require.NoError(t, busy.close())
	s, err := next(t, more).open(context.Background(), path, &sgam.Options{AutoUpgrade: true})
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestUpgradeLeavesACurrentFileAlone(t *testing.T) {
	path := newPath(t)
	closed(t, path)
	before := files(t, filepath.Dir(path))
	require.NoError(t, Upgrade(context.Background(), path))
	require.Equal(t, before, files(t, filepath.Dir(path)))
}

func TestAMigrationThatFailsLeavesTheFormatThatWas(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	closed(t, path)
	broken := next(t, "CREATE TABLE more (x INTEGER) STRICT;\nINSERT INTO nowhere VALUES (1);\n")
	_, err := broken.open(ctx, path, &sgam.Options{AutoUpgrade: true})
	require.ErrorContains(t, err, "nowhere")
	open(t, path, nil)
}

func TestMemoryIsNoPlaceForALedger(t *testing.T) {
	for _, path := range []string{"", ":memory:"} {
		_, err := Open(context.Background(), path, nil)
		fault, ok := errors.AsType[*sgam.FieldError](err)
		require.True(t, ok, "%v", err)
		require.Contains(t, fault.Want, "ledgertest.NewLedger")
	}
}

func TestPathsMayHoldWhatMeansSomethingInAName(t *testing.T) {
	for _, name := range []string{"a b.db", "a?mode=memory.db", "a#b.db", "a%41.db", "ä.db", "file:x.db", "a&b=c.db"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			closed(t, filepath.Join(dir, name))
			require.Contains(t, files(t, dir), name)
			require.Len(t, files(t, dir), 2)
			open(t, filepath.Join(dir, name), nil)
		})
	}
}

func TestALinkLeadsToTheSameLedgerAndKey(t *testing.T) {
	path := newPath(t)
	closed(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	acme := tenant(t, open(t, link, nil), "acme")
	_, err := acme.Current().Get(context.Background(), "mira", "deadline")
	require.NoError(t, err)
	require.Len(t, files(t, filepath.Dir(link)), 1)
}

func TestAnOldSQLiteIsRefused(t *testing.T) {
	require.ErrorIs(t, sound(3_051_002), ErrOldSQLite)
	require.NoError(t, sound(3_051_003))
}

func TestAReadOnlyLedgerPlansAndWritesNothing(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	closed(t, path)
	before := files(t, filepath.Dir(path))
	l, err := Open(ctx, path, &sgam.Options{Schemas: plain{}, ReadOnly: true})
	require.NoError(t, err)
	acme := tenant(t, l, "acme")
	later := assert("mira", "deadline", "2026-06-30", day(3)).From(message("e2", day(3)))
	_, err = acme.Apply(ctx, later)
	require.ErrorIs(t, err, sgam.ErrReadOnly)
	require.ErrorIs(t, l.Store().Write(ctx, sgam.TenantID{}, &sgam.Call{}, nil), sgam.ErrReadOnly)
	require.ErrorIs(t, l.Store().Register(ctx, document()), sgam.ErrReadOnly)
	planned, err := acme.Preview(ctx, sgam.Batch{Deltas: []sgam.MemoryDelta{later}})
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, planned[0].Outcome)
	f, err := acme.Current().Get(ctx, "mira", "deadline")
	require.NoError(t, err)
	require.JSONEq(t, `"2026-07-15"`, string(f.Value))
	require.NoError(t, l.Close())
	require.Equal(t, before, files(t, filepath.Dir(path)))
}

func TestAClosedStoreAnswersNothing(t *testing.T) {
	ctx := context.Background()
	s, err := OpenStore(ctx, newPath(t), nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Close(), sgam.ErrClosed)
	_, err = s.Read(ctx, sgam.TenantID{}, &sgam.Query{Kind: sgam.QueryClock})
	require.ErrorIs(t, err, sgam.ErrClosed)
	_, err = s.Types(ctx)
	require.ErrorIs(t, err, sgam.ErrClosed)
	_, err = s.Tenants(ctx, "", 10)
	require.ErrorIs(t, err, sgam.ErrClosed)
	require.ErrorIs(t, s.Register(ctx, document()), sgam.ErrClosed)
	require.ErrorIs(t, s.Write(ctx, sgam.TenantID{}, &sgam.Call{}, nil), sgam.ErrClosed)
}

func TestTheMarkInTheHeaderSpellsTheName(t *testing.T) {
	require.Equal(t, "sgam", string(binary.BigEndian.AppendUint32(nil, applicationID)))
	path := newPath(t)
	closed(t, path)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "sgam", string(content[68:72]), "programs that know files by their content find it")
}
