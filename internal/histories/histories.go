// Package histories plays recorded histories with known answers against an engine: the reduced ones in testdata, and the full
// ones that they were cut from, where those are at hand. testdata/README.md says where they come from.
//
// It is called by tests of packages one level below the module's folder.
package histories

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// Open opens a new ledger that declares the attributes. What proves it and closes it at the end of the test is up to the
// caller.
type Open func(t *testing.T, attributes ...ledgertest.Attribute) *sgam.Ledger

// folders are those of the histories.
var folders = []string{"climate", "covid", "endoflife", "gdp", "sgd", "tzdata"}

// Reduced plays what is in testdata. Every answer has to be right.
func Reduced(t *testing.T, open Open) {
	t.Helper()
	const root = "../testdata"
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			answer(t, open, filepath.Join(root, folder, "facts.jsonl.gz"), filepath.Join(root, folder, "questions.jsonl.gz"))
		})
	}
	play(t, open, filepath.Join(root, "sequenced", "*.json"))
}

// Full plays the full histories, which are in [Folder].
func Full(t *testing.T, open Open) {
	t.Helper()
	root := Folder(t)
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			answer(t, open, filepath.Join(root, folder, "dev.facts.jsonl.gz"), filepath.Join(root, folder, "dev.questions.jsonl.gz"))
		})
	}
	for _, folder := range []string{"sequenced", "mariadb-do-not-copy"} {
		play(t, open, filepath.Join(root, folder, "dev.*.json"))
	}
}

// Folder is that of the full histories. They are not in the repository, so it skips the test where SGAM_CORPORA does not name
// it, and where SGAM_ALL is not set, since they take minutes.
func Folder(t *testing.T) string {
	t.Helper()
	if os.Getenv("SGAM_ALL") == "" {
		t.Skip("the full histories take minutes: set SGAM_ALL=1")
	}
	root := os.Getenv("SGAM_CORPORA")
	if root == "" {
		root = "../../shared/corpora"
	}
	if _, err := os.Stat(root); err != nil { //nolint:gosec // a folder of the tests
		t.Skip("there are no full histories: set SGAM_CORPORA to their folder")
	}
	return root
}

func file(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name) //nolint:gosec // a file of the tests
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// answer loads a history and asks everything that is known of it.
func answer(t *testing.T, open Open, facts, questions string) {
	t.Helper()
	attributes, err := ledgertest.InferAttributes(t.Context(), file(t, facts))
	must(t, err)
	if len(attributes) == 0 {
		t.Fatalf("%s has no attributes", facts)
	}
	tenant, err := open(t, attributes...).Tenant("history")
	must(t, err)
	load, err := ledgertest.LoadFacts(t.Context(), tenant, file(t, facts), nil)
	must(t, err)
	if taken := load.Outcomes[sgam.Applied] + load.Outcomes[sgam.Confirmed]; len(load.Refused) > 0 || taken != load.Lines {
		t.Fatalf("of %d lines %d were taken; refused: %v", load.Lines, taken, load.Refused)
	}
	card, err := ledgertest.AskQuestions(t.Context(), tenant, file(t, questions), nil)
	must(t, err)
	judge(t, card)
}

// play plays the cases of some files, each in a ledger of its own.
func play(t *testing.T, open Open, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	must(t, err)
	if len(files) == 0 {
		t.Fatalf("there is no file %s", pattern)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			card, err := ledgertest.PlayCases(t.Context(), open(t, ledgertest.CaseAttribute()), filepath.Base(name), file(t, name), nil)
			must(t, err)
			judge(t, card)
		})
	}
}

// judge fails on a wrong answer, and when there is no answer at all.
func judge(t *testing.T, card *ledgertest.Scorecard) {
	t.Helper()
	for _, w := range card.Wrong {
		t.Error(w)
	}
	if total := card.Total(); total.Wrong > 0 || total.Right == 0 {
		t.Errorf("%d answers are right and %d are wrong", total.Right, total.Wrong)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
