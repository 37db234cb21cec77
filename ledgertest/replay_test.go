package ledgertest_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// histories are the folders of a set of histories that hold facts and questions, cases those that hold cases.
var (
	histories = []string{"climate", "covid", "endoflife", "gdp", "sgd", "tzdata"}
	cases     = []string{"sequenced", "mariadb-do-not-copy"}
)

// corpus is where the files of one set of histories are.
type corpus struct{ root, prefix, suffix string }

func (c corpus) file(folder, name string) string {
	return filepath.Join(c.root, folder, c.prefix+name+c.suffix)
}

var reduced = corpus{"../testdata", "", ".jsonl.gz"}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func answersEverything(t *testing.T, c corpus, folder string) {
	t.Helper()
	attributes, err := ledgertest.InferAttributes(t.Context(), open(t, c.file(folder, "facts")))
	require.NoError(t, err)
	require.NotEmpty(t, attributes)
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(attributes...), Rand: ledgertest.IDs(1)})
	tenant, err := l.Tenant(folder)
	require.NoError(t, err)
	timed := &ledgertest.ReplayOptions{Now: time.Now}
	load, err := ledgertest.LoadFacts(t.Context(), tenant, open(t, c.file(folder, "facts")), timed)
	require.NoError(t, err)
	require.Empty(t, load.Refused)
	require.Equal(t, load.Lines, load.Outcomes[sgam.Applied]+load.Outcomes[sgam.Confirmed])
	card, err := ledgertest.AskQuestions(t.Context(), tenant, open(t, c.file(folder, "questions")), timed)
	require.NoError(t, err)
	for _, w := range card.Wrong {
		t.Error(w)
	}
	require.Zero(t, card.Total().Wrong)
	require.Positive(t, card.Total().Right)
	t.Logf("%d facts in %d calls, %s; %d questions, p50 %s, p95 %s", load.Lines, load.Calls, load.Took, card.Total().Right, card.P50, card.P95)
}

func playsEverything(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.CaseAttribute()), Rand: ledgertest.IDs(1)})
	for _, file := range files {
		card, err := ledgertest.PlayCases(t.Context(), l, filepath.Base(file), open(t, file), nil)
		require.NoError(t, err)
		for _, w := range card.Wrong {
			t.Errorf("%s: %s", file, w)
		}
		require.Zero(t, card.Total().Wrong)
		require.Positive(t, card.Total().Right)
		t.Logf("%s: %v", filepath.Base(file), card.Kinds)
	}
}

func TestReducedHistoriesAreAnsweredWithoutAnError(t *testing.T) {
	for _, folder := range histories {
		t.Run(folder, func(t *testing.T) { answersEverything(t, reduced, folder) })
	}
}

func TestPublishedCasesComeOutAsPublished(t *testing.T) {
	playsEverything(t, "../testdata/sequenced/*.json")
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
	full := corpus{root, "dev.", ".jsonl.gz"}
	for _, folder := range histories {
		t.Run(folder, func(t *testing.T) { answersEverything(t, full, folder) })
	}
	for _, folder := range cases {
		t.Run(folder, func(t *testing.T) { playsEverything(t, filepath.Join(root, folder, "dev.*.json")) })
	}
}
