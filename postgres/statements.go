package postgres

import (
	"embed"
	"maps"
	"slices"

	"github.com/sgam-ledger/sgam/internal/statements"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one named statement of sql/*.sql. Connections prepare it when they first need it.
type statement struct{ name, text string }

// texts are the statements by name, names their order.
var (
	texts = statements.Must(sqlFiles)
	names = slices.Sorted(maps.Keys(texts))
)

// named is the statement of a name.
func named(name string) *statement {
	text, ok := texts[name]
	if !ok {
		panic("postgres: there is no statement " + name)
	}
	return &statement{name: name, text: text}
}
