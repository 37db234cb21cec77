package ledgertest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// fenced are the blocks of a guide page that are marked with a word.
func fenced(t *testing.T, page, mark string) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/guide/" + page)
	require.NoError(t, err)
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```"+mark+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	require.NotEmpty(t, blocks)
	return blocks
}

func TestTheScenariosOfTheGuideComeTrue(t *testing.T) {
	for _, block := range fenced(t, "scenarios.md", "scenario") {
		for _, f := range play(t, block) {
			t.Errorf("%s\n%s", f, block)
		}
	}
}

func TestTheHistoryOfTheGuideIsAnswered(t *testing.T) {
	blocks := fenced(t, "replay.md", "json")
	require.Len(t, blocks, 3)
	tenant, load := loaded(t, blocks[0])
	require.Equal(t, 3, load.Calls)
	card, err := ledgertest.AskQuestions(t.Context(), tenant, strings.NewReader(blocks[1]), nil)
	require.NoError(t, err)
	require.Equal(t, ledgertest.Score{Right: 2}, card.Total(), "%v", card.Wrong)

	l := ledgertest.NewLedger(t, &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.CaseAttribute())})
	card, err = ledgertest.PlayCases(t.Context(), l, "guide", strings.NewReader(blocks[2]), nil)
	require.NoError(t, err)
	require.Equal(t, ledgertest.Score{Right: 3}, card.Total(), "%v", card.Wrong)
}
