//go:build cgo

package transfer_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
	"github.com/sgam-ledger/sgam/transfer"
)

// file opens a new file with the key of a ledger in memory.
func (b *bench) file() (*sgam.Ledger, string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "ledger.db")
	s, err := sqlite.OpenStore(b.Context(), path, &sgam.Options{Keys: memoryKey{}})
	require.NoError(b, err)
	return b.over(s), path
}

// memoryKey keeps the key that every ledger in memory has.
type memoryKey struct{}

func (memoryKey) Key(context.Context, string, bool) ([]byte, error) {
	return ledgertest.NewStore(nil).DigestKey(), nil
}

func inFile(tb testing.TB) ledgertest.Place {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "ledger.db")
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		return sqlite.Open(ctx, path, opts)
	}
}

func TestACopyFromAFileAndBackAnswersAsItsOriginal(t *testing.T) {
	ledgertest.Copies(t, 4, 40, inFile(t), ledgertest.InMemory(nil), copyAndCompare)
	ledgertest.Copies(t, 5, 40, ledgertest.InMemory(nil), inFile(t), copyAndCompare)
	ledgertest.Copies(t, 6, 40, inFile(t), inFile(t), copyAndCompare)
}

// tables are all rows of a file, but for what belongs to the file rather than to the ledger.
func tables(t *testing.T, path string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	names := column(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('meta', 'goose_db_version') AND name NOT LIKE 'sqlite_%'")
	found := map[string][]string{}
	for _, name := range names {
		columns := column(t, db, "SELECT 'quote(' || name || ')' FROM pragma_table_info('"+name+"')")
		rows := column(t, db, "SELECT "+strings.Join(columns, " || ' ' || ")+" FROM "+name)
		slices.Sort(rows)
		found[name] = rows
	}
	return found
}

func column(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var all []string
	for rows.Next() {
		var one string
		require.NoError(t, rows.Scan(&one))
		all = append(all, one)
	}
	require.NoError(t, rows.Err())
	return all
}

func TestTheCopyOfAFileThroughAnotherEngineHasTheSameRows(t *testing.T) {
	b := newBench(t)
	from, first := b.file()
	b.story(from)
	between := b.memory()
	b.copied(from, between, nil)
	to, second := b.file()
	b.copied(between, to, nil)
	require.True(t, b.compared(from, to).Same())
	want, got := tables(t, first), tables(t, second)
	require.Greater(t, len(want), 20)
	for _, name := range []string{"facts", "segments", "value_numbers", "points", "candidates"} {
		require.NotEmpty(t, want[name], name)
	}
	for name := range want {
		assert.Equal(t, want[name], got[name], name)
	}
}

// spoil changes a file behind the ledger's back.
func spoil(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, s := range statements {
		done, err := db.ExecContext(t.Context(), s)
		require.NoError(t, err, s)
		n, err := done.RowsAffected()
		require.NoError(t, err)
		if !strings.HasPrefix(s, "DROP") {
			require.NotZero(t, n, s)
		}
	}
}

func TestAComparisonFindsWhatWasChangedBehindTheLedgersBack(t *testing.T) {
	for what, statements := range map[string][]string{
		"confidence": {"DROP TRIGGER facts_are_written_once", "UPDATE facts SET confidence = 0.75 WHERE fact_id = 2"},
		"value":      {"DROP TRIGGER encodings_are_written_once", "UPDATE encodings SET value = '\"c\"' WHERE fact_id = 2"},
		"text":       {"UPDATE episodes SET text = 'never said' WHERE name = 'e3'"},
		"outcome":    {"DROP TRIGGER outcomes_are_written_once", "UPDATE outcomes SET code = 'other' WHERE seq = 3"},
		"candidate":  {"UPDATE candidates SET delta = '{}' WHERE seq = 3"},
		"principal":  {"UPDATE principals SET name = 'eve' WHERE name = 'anna'"},
		"segment":    {"DROP TRIGGER segments_are_closed_once", "UPDATE segments SET valid_to = valid_to - 1 WHERE fact_id = 1 AND node = 0"},
		"point":      {"UPDATE points SET live = 1 - live WHERE number = 1"},
		"number":     {"UPDATE value_numbers SET number = number + 5 WHERE seq = 1"},
		"schema":     {"DROP TRIGGER type_versions_are_frozen", "UPDATE type_versions SET hash = 'other' WHERE type_id = 1"},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t)
			from := b.memory()
			b.story(from)
			path := filepath.Join(t.TempDir(), "ledger.db")
			s, err := sqlite.OpenStore(t.Context(), path, &sgam.Options{Keys: memoryKey{}})
			require.NoError(t, err)
			to, err := sgam.New(t.Context(), s, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, to.Close()) }()
			b.copied(from, to, nil)
			require.True(t, b.compared(from, to).Same())
			spoil(t, path, statements...)
			c := b.compared(from, to)
			require.False(t, c.Same())
			assert.NotContains(t, fmt.Sprint(c.Differences), "never said")
		})
	}
}

func TestContentThatWasErasedIsNotCopiedInSilence(t *testing.T) {
	for what, statement := range map[string]string{
		"fact":      "UPDATE facts SET erased = 1 WHERE fact_id = 2",
		"episode":   "UPDATE episodes SET erased = 1 WHERE name = 'e3'",
		"candidate": "UPDATE candidates SET delta = NULL WHERE seq = 3",
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t)
			from, path := b.file()
			b.story(from)
			spoil(t, path, statement)
			_, err := transfer.Copy(t.Context(), from, b.memory(), nil)
			require.ErrorIs(t, err, sgam.ErrUnsupported)
		})
	}
}

func TestCopiesOfRealHistoriesAnswerTheirQuestions(t *testing.T) {
	for _, name := range []string{"climate", "covid", "endoflife", "gdp", "sgd", "tzdata"} {
		t.Run(name, func(t *testing.T) {
			data := func(part string) *os.File {
				f, err := os.Open(filepath.Join("../testdata", name, part+".jsonl.gz"))
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, f.Close()) })
				return f
			}
			declared, err := ledgertest.InferAttributes(t.Context(), data("facts"))
			require.NoError(t, err)
			opened := func() *sgam.Ledger {
				l, err := inFile(t)(t.Context(), &sgam.Options{Schemas: ledgertest.NewSchemas(declared...), Keys: ledgertest.OneKey{}})
				require.NoError(t, err)
				ledgertest.Proven(t, l)
				return l
			}
			from, to := opened(), opened()
			source, err := from.Tenant("history")
			require.NoError(t, err)
			_, err = ledgertest.LoadFacts(t.Context(), source, data("facts"), nil)
			require.NoError(t, err)
			require.NoError(t, copyAndCompare(t.Context(), from, to))
			target, err := to.Tenant("history")
			require.NoError(t, err)
			card, err := ledgertest.AskQuestions(t.Context(), target, data("questions"), nil)
			require.NoError(t, err)
			require.Zero(t, card.Total().Wrong)
			require.Positive(t, card.Total().Right)
		})
	}
}

// BenchmarkCopy copies ten thousand calls of one fact each from a file to another.
func BenchmarkCopy(b *testing.B) {
	const many = 10_000
	opened := func() *sgam.Ledger {
		l, err := inFile(b)(b.Context(), &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...), Keys: ledgertest.OneKey{}})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, l.Close()) })
		return l
	}
	from := opened()
	source, err := from.Tenant("t")
	require.NoError(b, err)
	var writers sync.WaitGroup
	for w := range 16 {
		writers.Go(func() {
			for i := w; i < many; i += 16 {
				d := sgam.MemoryDelta{Op: sgam.Assert, Subject: strconv.Itoa(i / 10), Attribute: "plain", Value: json.RawMessage(strconv.Itoa(i))}
				at := start.AddDate(0, 0, i%10)
				_, err := source.Apply(b.Context(), d.From(sgam.Episode{ID: strconv.Itoa(i), Kind: sgam.Message, OccurredAt: at}))
				assert.NoError(b, err)
			}
		})
	}
	writers.Wait()
	for b.Loop() {
		_, err := transfer.Copy(b.Context(), from, opened(), nil)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(many)*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}
