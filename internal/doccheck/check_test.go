package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// library is a module with one function and one example.
var library = map[string]string{
	"go.mod": "module example.com/library\n\ngo 1.26.0\n",
	"lib.go": "package library\n\n// Two returns two.\nfunc Two() int { return 2 }\n",
	"example_test.go": "package library_test\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/library\"\n)\n\n" +
		"func ExampleTwo() {\n\tn := library.Two()\n\tfmt.Println(n)\n\t// Output: 2\n}\n",
}

const program = "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/library\"\n)\n\nfunc main() { fmt.Println(library.Two()) }\n"

func fenced(code string) string { return "# Doc\n\n```go\n" + code + "```\n" }

// module writes the library and the given documents, and returns where.
func module(t *testing.T, documents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := maps.Clone(library)
	maps.Copy(files, documents)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		documents map[string]string
		code      int
		prints    []string
	}{
		{name: "no documents", prints: []string{"0 blocks, 0 faults\n"}},
		{name: "no blocks", documents: map[string]string{"README.md": "# Doc\n"}, prints: []string{"0 blocks, 0 faults\n"}},
		{
			name:      "a program and an excerpt that hold",
			documents: map[string]string{"README.md": fenced(program), "docs/guide/reading.md": fenced("n := library.Two()\n    fmt.Println(n)\n")},
			prints:    []string{"2 blocks, 0 faults\n"},
		},
		{
			name:      "a test that compiles",
			documents: map[string]string{"README.md": fenced("package mine\n\nimport \"testing\"\n\nfunc TestMine(t *testing.T) {}\n")},
			prints:    []string{"1 blocks, 0 faults\n"},
		},
		{
			name:      "a program that calls what is not there",
			documents: map[string]string{"docs/a.md": fenced(strings.ReplaceAll(program, "Two()", "Three()"))},
			code:      1,
			prints:    []string{"docs/a.md:4: does not compile", "docs/a.md:12:", "undefined: library.Three", "1 blocks, 1 faults\n"},
		},
		{
			name:      "a program that vet refuses",
			documents: map[string]string{"README.md": fenced(strings.ReplaceAll(program, "Println(", "Printf(\"%s\", "))},
			code:      1,
			prints:    []string{"README.md:4: does not compile", "1 blocks, 1 faults\n"},
		},
		{
			name:      "one broken program does not hide that the other holds",
			documents: map[string]string{"README.md": fenced(program) + fenced("package main\n\nfunc main() { nothing() }\n")},
			code:      1,
			prints:    []string{"undefined: nothing", "2 blocks, 1 faults\n"},
		},
		{
			name:      "an import that does not exist",
			documents: map[string]string{"README.md": fenced("package main\n\nimport _ \"example.com/library/missing\"\n\nfunc main() {}\n")},
			code:      1,
			prints:    []string{"cannot be resolved", "example.com/library/missing"},
		},
		{
			name:      "an excerpt that no test has",
			documents: map[string]string{"docs/b.md": fenced("n := library.Two() + 1\n")},
			code:      1,
			prints:    []string{"docs/b.md:4: this code is in no test", "1 blocks, 1 faults\n"},
		},
		{
			name:      "an empty block",
			documents: map[string]string{"README.md": fenced("")},
			code:      1,
			prints:    []string{"README.md:4: empty block"},
		},
		{
			name:      "a fence that is never closed",
			documents: map[string]string{"README.md": "```go\nn := library.Two()\n"},
			code:      1,
			prints:    []string{"README.md:1: this fence is never closed"},
		},
		{
			name:      "links that lead somewhere",
			documents: map[string]string{"README.md": "[a](docs/a.md)\n", "docs/a.md": "[a](../lib.go)\n"},
			prints:    []string{"0 blocks, 0 faults\n"},
		},
		{
			name:      "a link that leads nowhere",
			documents: map[string]string{"docs/a.md": "[a](b.md)\n"},
			code:      1,
			prints:    []string{"docs/a.md:1: the link to b.md leads to no file", "0 blocks, 1 faults\n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			code := run(t.Context(), module(t, c.documents), &out)
			assert.Equal(t, c.code, code, out.String())
			for _, want := range c.prints {
				assert.Contains(t, out.String(), want)
			}
		})
	}
}
