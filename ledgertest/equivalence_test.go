package ledgertest_test

import (
	"flag"
	"testing"

	"github.com/sgam-ledger/sgam/ledgertest"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random histories")
	seedCount = flag.Uint64("seeds", 4, "how many random histories")
)

func TestWhatAnEngineLoadsDoesNotChangeItsAnswers(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		ledgertest.Equivalent(t, seed, 60, ledgertest.InMemory(nil), ledgertest.InMemory(&ledgertest.StoreOptions{Whole: true, PageRows: 3}))
	}
}
