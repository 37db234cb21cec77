package postgres

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/histories"
	"github.com/sgam-ledger/sgam/internal/pgtest"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
)

func TestEngineObeysTheLaws(t *testing.T) {
	pgtest.Long(t)
	t.Parallel()
	ledgertest.Run(t, layout(InitOptions{}))
}

// Every law holds in the partitioned layout too, and for calls whose rows are copied, as those of a large one are.
func TestPartitionsAndCopiedCallsObeyTheLaws(t *testing.T) {
	pgtest.Long(t)
	t.Parallel()
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
	t.Parallel()
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

func TestReducedHistoriesAreAnsweredWithoutAnError(t *testing.T) {
	pgtest.Long(t)
	t.Parallel()
	histories.Reduced(t, proven)
}

func TestFullHistoriesAreAnsweredWithoutAnError(t *testing.T) {
	pgtest.Long(t)
	t.Parallel()
	histories.Full(t, proven)
}

// proven opens a ledger that proves itself and is closed at the end of the test, however long that takes.
func proven(t *testing.T, attributes ...ledgertest.Attribute) *sgam.Ledger {
	t.Helper()
	l, err := layout(InitOptions{})(t)(t.Context(), &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...)})
	require.NoError(t, err)
	t.Cleanup(func() {
		for err := range l.Verify(context.Background()) {
			t.Error(err)
		}
		require.NoError(t, l.Close())
	})
	return l
}
