package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/sqlite"
)

// place is one new file: every open of it is another open of the same ledger.
func place(tb testing.TB) ledgertest.Place {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "ledger.db")
	return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
		return sqlite.Open(ctx, path, opts)
	}
}

func TestEngineObeysTheLaws(t *testing.T) { ledgertest.Run(t, place) }

func TestEngineAnswersWhatTheOracleAnswers(t *testing.T) {
	seeds := 4
	if os.Getenv("SGAM_ALL") != "" {
		seeds = 40
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			ledgertest.Equivalent(t, uint64(seed), 60, place(t), ledgertest.InMemory(nil))
		})
	}
}

// histories are the folders of real histories whose answers are known.
var histories = []string{"climate", "covid", "endoflife", "gdp", "sgd", "tzdata"}

func TestReducedHistoriesAreAnsweredWithoutAnError(t *testing.T) {
	for _, folder := range histories {
		t.Run(folder, func(t *testing.T) {
			answers(t, filepath.Join("../testdata", folder, "facts.jsonl.gz"), filepath.Join("../testdata", folder, "questions.jsonl.gz"))
		})
	}
	plays(t, "../testdata/sequenced/*.json")
}

func TestFullHistoriesAreAnsweredWithoutAnError(t *testing.T) {
	if os.Getenv("SGAM_ALL") == "" {
		t.Skip("the full histories take minutes: set SGAM_ALL=1")
	}
	root := os.Getenv("SGAM_CORPORA")
	if root == "" {
		root = "../../shared/corpora"
	}
	if _, err := os.Stat(root); err != nil {
		t.Skip("there are no full histories: set SGAM_CORPORA to their folder")
	}
	for _, folder := range histories {
		t.Run(folder, func(t *testing.T) {
			answers(t, filepath.Join(root, folder, "dev.facts.jsonl.gz"), filepath.Join(root, folder, "dev.questions.jsonl.gz"))
		})
	}
	plays(t, filepath.Join(root, "sequenced", "dev.*.json"))
	plays(t, filepath.Join(root, "mariadb-do-not-copy", "dev.*.json"))
}

func opened(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// proven opens a ledger that proves itself and is closed at the end of the test.
func proven(t *testing.T, attributes ...ledgertest.Attribute) *sgam.Ledger {
	t.Helper()
	l, err := place(t)(t.Context(), &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...)})
	require.NoError(t, err)
	t.Cleanup(func() {
		for err := range l.Verify(context.Background()) {
			t.Error(err)
		}
		require.NoError(t, l.Close())
	})
	return l
}

func answers(t *testing.T, facts, questions string) {
	t.Helper()
	attributes, err := ledgertest.InferAttributes(t.Context(), opened(t, facts))
	require.NoError(t, err)
	tenant, err := proven(t, attributes...).Tenant("history")
	require.NoError(t, err)
	load, err := ledgertest.LoadFacts(t.Context(), tenant, opened(t, facts), nil)
	require.NoError(t, err)
	require.Empty(t, load.Refused)
	require.Equal(t, load.Lines, load.Outcomes[sgam.Applied]+load.Outcomes[sgam.Confirmed])
	card, err := ledgertest.AskQuestions(t.Context(), tenant, opened(t, questions), nil)
	require.NoError(t, err)
	right(t, card)
}

func plays(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			card, err := ledgertest.PlayCases(t.Context(), proven(t, ledgertest.CaseAttribute()), filepath.Base(file), opened(t, file), nil)
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
