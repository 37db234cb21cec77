package postgres

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is one named statement of sql/*.sql. Connections prepare it when they first need it.
type statement struct{ name, text string }

// texts are the statements by name, names their order.
var (
	texts = mustParse(sqlFiles)
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

// mustParse reads files of statements, each of which begins with a line "-- name: N" and ends with a semicolon.
func mustParse(files fs.FS) map[string]string {
	list, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		panic(err)
	}
	found := map[string]string{}
	for _, file := range list {
		content, err := fs.ReadFile(files, file)
		if err != nil {
			panic(err)
		}
		for i, block := range strings.Split(string(content), "-- name: ") {
			if i == 0 {
				continue // what the file says about itself
			}
			name, text, _ := strings.Cut(block, "\n")
			text, ok := strings.CutSuffix(strings.TrimSpace(text), ";")
			if _, twice := found[name]; twice || !ok {
				panic(fmt.Sprintf("postgres: %s: statement %s is doubled, or does not end", file, name))
			}
			found[name] = text
		}
	}
	return found
}
