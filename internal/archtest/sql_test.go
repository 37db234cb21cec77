package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var sqlRule = rule{
	name:  "SQL lives in sql/*.sql",
	why:   "a statement in a file has a name, a query-plan test and a reader who knows SQL",
	check: checkSQL,
	bad: []sample{
		sqlSample("SELECT value FROM facts WHERE id = ?"),
		sqlSample("SELECT sqlite_version()"),
		sqlSample("\n\t-- the newest\n\tselect value\n\tfrom facts\n"),
		sqlSample("INSERT INTO facts VALUES (?, ?)"),
		sqlSample("insert or ignore into facts (id) values (?)"),
		sqlSample("UPDATE facts SET known_to = ?"),
		sqlSample("delete from facts where id = ?"),
		sqlSample("DELETE FROM facts"),
		sqlSample("CREATE TABLE facts (id INTEGER)"),
		sqlSample("create unique index i on facts (id)"),
		sqlSample("DROP TABLE facts"),
		sqlSample("PRAGMA wal_checkpoint(TRUNCATE)"),
		sqlSample("pragma optimize"),
		sqlSample("BEGIN IMMEDIATE"),
		sqlSample("COMMIT"),
		sqlSample("SAVEPOINT a"),
		sqlSample("VACUUM"),
		sqlSample("WITH open AS (SELECT 1) SELECT * FROM open"),
		sqlSample("EXPLAIN QUERY PLAN "),
		sqlSample(" WHERE tenant = ?"),
		sqlSample(" AND f.known_to IS NULL"),
		sqlSample(" ORDER BY valid_from"),
		sqlSample(" LIMIT ?"),
		sqlSample("ok; DELETE FROM facts"),
		{"a setting read outside of the engine", map[string]string{"schema/a.go": "package schema\nvar x = \"PRAGMA journal_mode\""}, "looks like SQL"},
	},
	good: []sample{
		{"words", map[string]string{"a.go": "package m\nvar x = []string{\"select a tenant\", \"DELETE\", \"commit\", \"update failed: set a clock\", " +
			"\"create a ledger\", \"with a view\", \"begin\", \"delete from a set\", \"insert into a map\", \"the limit is 3\", \"/v1/facts\"}"}, ""},
		{"a tag and an import", map[string]string{"a.go": "package m\nimport _ \"database/sql\"\ntype f struct { A int `sql:\"SELECT a FROM b\"` }"}, ""},
		{"a comment", map[string]string{"a.go": "package m\n// SELECT value FROM facts\nvar x = 1"}, ""},
		{"a setting read back", map[string]string{"sqlite/a.go": "package sqlite\nvar x = \"PRAGMA journal_mode\""}, ""},
		{"a test", map[string]string{"sqlite/a_test.go": "package sqlite\nvar x = \"SELECT 1\""}, ""},
	},
}

func sqlSample(statement string) sample {
	return sample{statement, map[string]string{"sqlite/a.go": "package sqlite\nvar x = `" + statement + "`"}, "looks like SQL"}
}

// sqlShapes are what statements and pieces of them look like. Single words count in capitals only, so that prose may use them;
// in other spellings it takes the structure of a statement.
var sqlShapes = []*regexp.Regexp{
	regexp.MustCompile(`(?:^|;)\s*(?:--[^\n]*\n\s*)*(?:(?:SELECT|INSERT|UPDATE|DELETE FROM|REPLACE INTO|PRAGMA|CREATE|ALTER|DROP|BEGIN|SAVEPOINT|RELEASE|ROLLBACK TO|ATTACH|DETACH|REINDEX|EXPLAIN)\s+\S*|(?:BEGIN|COMMIT|ROLLBACK|VACUUM|ANALYZE)\s*(?:;|$)|WITH\s+(?:RECURSIVE\s|\w+\s+AS\b))`),
	regexp.MustCompile(`(?is)(?:^|;)\s*(?:--[^\n]*\n\s*)*(?:select\s.+\sfrom\s+\w+\s*(?:;|$|where\b|join\b|order\b|as\b)|insert\s+(?:or\s+\w+\s+)?into\s+\w+\s*(?:\(|values\b|select\b)|update\s+\w+\s+set\s+\w+\s*=|delete\s+from\s+\w+\s*(?:;|$|where\b)|pragma\s+\w+\s*(?:=|\(|;|$)|create\s+(?:temp\w*\s+|unique\s+|virtual\s+)?(?:table|index|view|trigger)\s|alter\s+table\s|drop\s+(?:table|index|view|trigger)\s|begin\s+(?:immediate|exclusive|deferred|transaction)\b)`),
	regexp.MustCompile(`\b(?:WHERE|AND|OR|ON)\s+[\w.]+\s*(?:=|<|>|!=|IS\b|IN\b|LIKE\b|BETWEEN\b)|\b(?:ORDER|GROUP|PARTITION) BY\s|\bLIMIT\s+[?:$\d]|\bJOIN\s+\w+\s+ON\b|\bVALUES\s*\(`),
}

// sqlAllowed are literals that look like statements and may stay in Go, by folder.
var sqlAllowed = []struct {
	folder string
	text   *regexp.Regexp
	why    string
}{
	{"sqlite", regexp.MustCompile(`^PRAGMA (?:[a-z_]+|%s)$`), "settings of a connection are read back by name after opening, since a misspelt one is ignored"},
}

func checkSQL(t tree) (findings []finding) {
	for _, s := range t.shipped() {
		tags := map[*ast.BasicLit]bool{}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				tags[n.Tag] = true
			case *ast.BasicLit:
				if n.Kind == token.STRING && !tags[n] && isSQL(quoted(n)) && !isAllowedSQL(s.dir, quoted(n)) {
					findings = append(findings, t.found(n, "%.60s looks like SQL", n.Value))
				}
			}
			return true
		})
	}
	return findings
}

func isSQL(text string) bool {
	return slices.ContainsFunc(sqlShapes, func(shape *regexp.Regexp) bool { return shape.MatchString(text) })
}

func isAllowedSQL(dir, text string) bool {
	for _, allowed := range sqlAllowed {
		if within(dir, allowed.folder) && allowed.text.MatchString(text) {
			return true
		}
	}
	return false
}

// quoted returns the text of a string literal.
func quoted(lit *ast.BasicLit) string {
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return strings.Trim(lit.Value, "\"`")
	}
	return text
}
