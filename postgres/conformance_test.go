package postgres

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/pgtest"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
)

func TestEngineObeysTheLaws(t *testing.T) {
	pgtest.Long(t)
	ledgertest.Run(t, layout(InitOptions{}))
}

// Every law holds in the partitioned layout too, and for calls whose rows are copied, as those of a large one are.
func TestPartitionsAndCopiedCallsObeyTheLaws(t *testing.T) {
	pgtest.Long(t)
	ledgertest.Run(t, copied(layout(InitOptions{Partitions: 8})))
}

// copied are the same places, where the rows of every call are copied that has more than one fact.
func copied(places func(testing.TB) ledgertest.Place) func(testing.TB) ledgertest.Place {
	return func(tb testing.TB) ledgertest.Place {
		tb.Helper()
		place := places(tb)
		return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
			l, err := place(ctx, opts)
			if err != nil {
				return nil, err
			}
			s, ok := l.Store().(*store)
			require.True(tb, ok)
			require.Positive(tb, s.large, "the role may make temporary tables")
			s.large = 2
			return l, nil
		}
	}
}

// Random histories compare the layouts with each other, and with the engines that need no server.
func TestEngineAnswersWhatTheOthersAnswer(t *testing.T) {
	pgtest.Long(t)
	path := filepath.Join(t.TempDir(), "ledger.db")
	file := func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		return sqlite.Open(ctx, path, opts)
	}
	ledgertest.Equivalent(t, 1, 12, ledgertest.InMemory(nil), file, layout(InitOptions{})(t), layout(InitOptions{Partitions: 8})(t),
		copied(layout(InitOptions{Partitions: 8}))(t))
}

// Statements that a pooler in transaction mode cannot hold across transactions are sent as text, and say the same.
func TestUnpreparedStatementsAnswerTheSame(t *testing.T) {
	name := newDatabase(t, InitOptions{})
	l, err := at(t, name, &Options{Unprepared: true})(t.Context(), &sgam.Options{Schemas: schemas(), ClockTolerance: -1})
	require.NoError(t, err)
	ledgertest.Proven(t, l)
	acme, again := tenant(t, l, "acme"), tenant(t, opened(t, name), "acme")
	for i := range 5 {
		_, err := acme.Apply(t.Context(), assert("mira", "deadline", strconv.Itoa(i), day(i+1)).From(message("e"+strconv.Itoa(i), day(i+1))))
		require.NoError(t, err)
		f, err := acme.ValidAt(day(i+2)).Get(t.Context(), "mira", "deadline")
		require.NoError(t, err)
		other, err := again.ValidAt(day(i+2)).Get(t.Context(), "mira", "deadline")
		require.NoError(t, err)
		require.Equal(t, f, other)
		require.JSONEq(t, strconv.Quote(strconv.Itoa(i)), string(f.Value))
	}
}

// histories are the folders of real histories whose answers are known.
var histories = []string{"climate", "covid", "endoflife", "gdp", "sgd", "tzdata"}

func TestReducedHistoriesAreAnsweredWithoutAnError(t *testing.T) {
	pgtest.Long(t)
	for _, folder := range histories {
		t.Run(folder, func(t *testing.T) {
			answers(t, filepath.Join("../testdata", folder, "facts.jsonl.gz"), filepath.Join("../testdata", folder, "questions.jsonl.gz"))
		})
	}
	plays(t, "../testdata/sequenced/*.json")
}

func file(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func proven(t *testing.T, attributes ...ledgertest.Attribute) *sgam.Ledger {
	t.Helper()
	l, err := layout(InitOptions{})(t)(t.Context(), &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...)})
	require.NoError(t, err)
	ledgertest.Proven(t, l)
	return l
}

func answers(t *testing.T, facts, questions string) {
	t.Helper()
	attributes, err := ledgertest.InferAttributes(t.Context(), file(t, facts))
	require.NoError(t, err)
	history := tenant(t, proven(t, attributes...), "history")
	load, err := ledgertest.LoadFacts(t.Context(), history, file(t, facts), nil)
	require.NoError(t, err)
	require.Empty(t, load.Refused)
	require.Equal(t, load.Lines, load.Outcomes[sgam.Applied]+load.Outcomes[sgam.Confirmed])
	card, err := ledgertest.AskQuestions(t.Context(), history, file(t, questions), nil)
	require.NoError(t, err)
	right(t, card)
}

func plays(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			card, err := ledgertest.PlayCases(t.Context(), proven(t, ledgertest.CaseAttribute()), filepath.Base(name), file(t, name), nil)
			require.NoError(t, err)
			right(t, card)
		})
	}
}

func right(t *testing.T, card *ledgertest.Scorecard) {
	t.Helper()
	for _, w := range card.Wrong {
		t.Error(w)
	}
	require.Zero(t, card.Total().Wrong)
	require.Positive(t, card.Total().Right)
}
