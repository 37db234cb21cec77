package bench

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// statement is a named statement of a file of this package, each of which begins with a line "-- name: N".
func statement(file, name string) (string, error) {
	content, err := sqlFiles.ReadFile("sql/" + file)
	if err != nil {
		return "", err
	}
	_, text, found := strings.Cut(string(content), "-- name: "+name+"\n")
	if !found {
		return "", fmt.Errorf("%s has no statement %s", file, name)
	}
	text, _, _ = strings.Cut(text, ";\n")
	return text, nil
}
