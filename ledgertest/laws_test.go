package ledgertest_test

import (
	"testing"

	"github.com/sgam-ledger/sgam/ledgertest"
)

func TestTheEngineInMemoryKeepsTheLaws(t *testing.T) {
	for name, opts := range map[string]*ledgertest.StoreOptions{
		"as the port says":         nil,
		"loading more than needed": {Whole: true},
		"in pages of seven":        {PageRows: 7},
	} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, func(testing.TB) ledgertest.Place { return ledgertest.InMemory(opts) })
		})
	}
}
