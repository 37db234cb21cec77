package archtest

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const moduleDir = "../.."

// tree is the source of one module. Paths and folders are slash paths below its top, which is ".".
type tree struct {
	module string
	fset   *token.FileSet
	files  []source
}

type source struct {
	path  string
	dir   string
	lines int
	ast   *ast.File
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// readTree parses every Go file of the module at root, whatever its build constraints. Nested modules are strangers.
func readTree(root string) (tree, error) {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && (isIgnored(d.Name()) || isModule(name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		files[filepath.ToSlash(below)] = string(text)
		return err
	})
	if err != nil {
		return tree{}, err
	}
	module, err := moduleOf(filepath.Join(root, "go.mod"))
	if err != nil {
		return tree{}, err
	}
	return parseTree(module, files)
}

func isIgnored(folder string) bool {
	return folder == "testdata" || folder == "vendor" || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func moduleOf(goMod string) (string, error) {
	text, err := os.ReadFile(goMod)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if module, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(module), nil
		}
	}
	return "", errors.New(goMod + " names no module")
}

// parseTree is readTree for files that are given as text.
func parseTree(module string, files map[string]string) (tree, error) {
	t := tree{module: module, fset: token.NewFileSet()}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parsed, err := parser.ParseFile(t.fset, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return tree{}, err
		}
		t.files = append(t.files, source{path: name, dir: path.Dir(name), lines: strings.Count(files[name], "\n"), ast: parsed})
	}
	return t, nil
}

// shipped yields the files that are no tests.
func (t tree) shipped() []source {
	return slices.DeleteFunc(slices.Clone(t.files), source.isTest)
}

// dirs returns the folders that hold a shipped file.
func (t tree) dirs() []string {
	var dirs []string
	for _, s := range t.shipped() {
		dirs = append(dirs, s.dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// finding is a breach of a rule.
type finding struct {
	path    string
	line    int
	message string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.message) }

func (t tree) found(at ast.Node, format string, args ...any) finding {
	p := t.fset.Position(at.Pos())
	return finding{p.Filename, p.Line, fmt.Sprintf(format, args...)}
}

func byPlace(a, b finding) int {
	return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
}

// imported returns the path of an import.
func imported(spec *ast.ImportSpec) string {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return name
}

func mustReadTree(t *testing.T) tree {
	t.Helper()
	whole, err := readTree(moduleDir)
	require.NoError(t, err)
	require.NotEmpty(t, whole.dirs(), "no packages: every rule would hold")
	return whole
}

func TestTreeIsReadWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"go.mod":                  "module example.com/m\n",
		"a.go":                    "package m\n",
		"a_test.go":               "package m\n",
		"deep/in/b_windows.go":    "//go:build windows\n\npackage in\n",
		"testdata/c.go":           "not Go at all",
		".hidden/c.go":            "not Go at all",
		"_old/c.go":               "not Go at all",
		"tools/go.mod":            "module example.com/tools\n",
		"tools/c.go":              "package tools\n",
		"notes.md":                "not Go at all",
		"deep/in/testdata/x/d.go": "not Go at all",
	})
	read, err := readTree(dir)
	require.NoError(t, err)
	var paths []string
	for _, s := range read.files {
		paths = append(paths, s.path)
	}
	assert.Equal(t, "example.com/m", read.module)
	assert.Equal(t, []string{"a.go", "a_test.go", "deep/in/b_windows.go"}, paths)
	assert.Equal(t, []string{".", "deep/in"}, read.dirs())

	writeFiles(t, dir, map[string]string{"broken.go": "package"})
	_, err = readTree(dir)
	assert.ErrorContains(t, err, "broken.go", "a file that does not parse is not passed over")
}
