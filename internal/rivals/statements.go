package rivals

import (
	"embed"

	"github.com/sgam-ledger/sgam/internal/statements"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var texts = statements.Must(sqlFiles)
