package postgres

import (
	"testing"

	"github.com/sgam-ledger/sgam/ledgertest"
)

func TestEngineObeysTheLaws(t *testing.T) {
	ledgertest.Run(t, layout(InitOptions{}))
}
