package bench

import (
	"embed"
	"fmt"

	"github.com/sgam-ledger/sgam/internal/statements"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var texts = statements.Must(sqlFiles)

// statement is a named statement of this package.
func statement(name string) (string, error) {
	text, found := texts[name]
	if !found {
		return "", fmt.Errorf("there is no statement %s", name)
	}
	return text, nil
}
