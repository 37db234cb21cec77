package statements_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/statements"
)

// files are files of a folder sql, by name.
func files(contents map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, content := range contents {
		out["sql/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

func TestStatementsAreFoundByNameWithoutTheirEnds(t *testing.T) {
	t.Parallel()
	fsys := files(map[string]string{
		"b.sql":     "-- about\n\n-- name: a\nSELECT 1;\n\n-- name: b\n-- why\nSELECT 2;\n",
		"a.sql":     "-- name: c\nDO $$ BEGIN PERFORM 1; END $$;\n",
		"notes.txt": "-- name: d\nSELECT 3;\n",
	})
	fsys["sql/deeper/e.sql"] = &fstest.MapFile{Data: []byte("-- name: e\nSELECT 4;\n")}
	got, err := statements.Parse(fsys)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "SELECT 1", "b": "-- why\nSELECT 2", "c": "DO $$ BEGIN PERFORM 1; END $$"}, got)
}

func TestPartsStandWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	got, err := statements.Parse(files(map[string]string{
		"a.sql": "-- name: all\nSELECT {{columns}} FROM t\nWHERE {{named}} AND {{named}};\n",
		"parts.sql": "-- part: named\nt.name = $1;\n\n-- part: columns\n-- Two of them,\n-- and one of another table.\nt.a, t.b,\n" +
			"    (SELECT u.c -- the third\n     FROM u WHERE {{named}});\n",
	}))
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"all": "SELECT t.a, t.b,\n    (SELECT u.c -- the third\n     FROM u WHERE t.name = $1) FROM t\nWHERE t.name = $1 AND t.name = $1",
	}, got)
}

func TestAPartAndAStatementMayHaveOneName(t *testing.T) {
	t.Parallel()
	got, err := statements.Parse(files(map[string]string{"a.sql": "-- part: a\nfrom a part;\n-- name: a\nSELECT {{a}};\n"}))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "SELECT from a part"}, got)
}

func TestFilesAreHeldToTheirForm(t *testing.T) {
	t.Parallel()
	const used = "-- name: user\nSELECT {{a}};\n"
	for why, c := range map[string]struct{ content, says string }{
		"a doubled statement":         {"-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n", "sql/x.sql: name a is there twice"},
		"a doubled part":              {"-- part: a\n1;\n-- part: a\n1;\n" + used, "sql/x.sql: part a is there twice"},
		"a statement without an end":  {"-- name: a\nSELECT 1\n-- name: b\nSELECT 2;\n", "sql/x.sql: name a does not end"},
		"a part without an end":       {"-- part: a\n1\n" + used, "sql/x.sql: part a does not end"},
		"nothing but a name":          {"-- name: a\n", "sql/x.sql: name a does not end"},
		"an unknown part":             {"-- part: a\n1;\n" + used + "-- name: b\nSELECT {{A}};\n", "statement b: {{A}} stands for no part"},
		"a statement as a part":       {"-- name: a\n1;\n" + used, "statement user: {{a}} stands for no part"},
		"a part that nobody uses":     {"-- part: a\n1;\n-- part: b\n2;\n" + used, "part b has no user"},
		"a part that uses itself":     {"-- part: a\n{{a}};\n" + used, "sql/x.sql: part a: {{a}} stands for no part"},
		"a part of one that follows":  {"-- part: b\n{{a}};\n-- part: a\n1;\n" + used, "sql/x.sql: part b: {{a}} stands for no part"},
		"a place that is not closed":  {"-- part: a\n1;\n" + used + "-- name: b\nSELECT {{a};\n", "statement b: {{ stands for no part"},
		"a place that is not opened":  {"-- part: a\n1;\n" + used + "-- name: b\nSELECT {a}};\n", "statement b: }} stands for no part"},
		"a place with another word":   {"-- part: a\n1;\n" + used + "-- name: b\nSELECT {{a b}};\n", "statement b: {{ stands for no part"},
		"a place of no name":          {"-- part: a\n1;\n" + used + "-- name: b\nSELECT {{}};\n", "statement b: {{ stands for no part"},
		"a place of no name in parts": {"-- part: a\n{{}};\n" + used, "sql/x.sql: part a: {{ stands for no part"},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			fsys := files(map[string]string{"x.sql": c.content})
			_, err := statements.Parse(fsys)
			require.ErrorContains(t, err, c.says)
			require.PanicsWithError(t, err.Error(), func() { statements.Must(fsys) })
		})
	}
	_, err := statements.Parse(files(map[string]string{"x.sql": "-- name: a\nSELECT 1;\n", "y.sql": "-- name: a\nSELECT 2;\n"}))
	require.ErrorContains(t, err, "sql/y.sql: name a is there twice")
	require.NotPanics(t, func() { statements.Must(files(map[string]string{"x.sql": "-- part: a\n1;\n" + used})) }, "what is in order")
}
