//go:build cgo

package sqlite

import (
	"embed"
	"maps"
	"slices"

	"github.com/sgam-ledger/sgam/internal/statements"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one named statement of sql/*.sql. Connections prepare it when they first need it.
type statement struct {
	name, text string
	index      int // in the connections' tables of prepared statements
}

// texts are the statements by name, names their order.
var (
	texts = statements.Must(sqlFiles)
	names = slices.Sorted(maps.Keys(texts))
)

// named is the statement of a name.
func named(name string) *statement {
	index, ok := slices.BinarySearch(names, name)
	if !ok {
		panic("sqlite: there is no statement " + name)
	}
	return &statement{name: name, text: texts[name], index: index}
}
