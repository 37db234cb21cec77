package archtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// strangers are modules that a program with a ledger in a local file has no use for.
var strangers = slices.Concat(testModules, []string{
	"github.com/jackc/pgx/v5", "github.com/lib/pq",
	"github.com/danielgtaylor/huma/v2", "github.com/gin-gonic/gin", "github.com/labstack/echo/v4", "github.com/go-chi/chi/v5",
	"go.opentelemetry.io/otel",
	"github.com/openai/openai-go/v3", "github.com/anthropics/anthropic-sdk-go",
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/spf13/cobra",
})

func TestProgramDownloadsNoStrangers(t *testing.T) {
	t.Parallel()
	whole := mustReadTree(t)
	var packages []string
	for _, dir := range []string{".", "sqlite"} {
		if slices.Contains(whole.dirs(), dir) {
			packages = append(packages, strings.TrimSuffix(whole.module+"/"+dir, "/."))
		}
	}
	require.NotEmpty(t, packages, "a program that imports nothing downloads nothing")

	root, err := filepath.Abs(moduleDir)
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)

	named := tidied(t, packages, string(sums), map[string]string{whole.module: root})
	assert.Contains(t, named, whole.module)
	assert.Empty(t, strangersAmong(named))
}

// A library that needs a stranger, and one whose tests alone need it, show that the test above can tell them apart.
func TestProgramWithStrangersIsFoundOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	modules := map[string]string{
		"github.com/jackc/pgx/v5":     filepath.Join(dir, "pgx"),
		"github.com/stretchr/testify": filepath.Join(dir, "testify"),
		"example.com/m":               filepath.Join(dir, "m"),
	}
	writeFiles(t, dir, map[string]string{
		"pgx/go.mod":     "module github.com/jackc/pgx/v5\n\ngo 1.26.0\n",
		"pgx/a.go":       "package pgx\n",
		"testify/go.mod": "module github.com/stretchr/testify\n\ngo 1.26.0\n",
		"testify/a.go":   "package testify\n",
		"m/go.mod":       "module example.com/m\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/jackc/pgx/v5 v5.0.0\n\tgithub.com/stretchr/testify v1.0.0\n)\n",
		"m/a.go":         "package m\n",
		"m/a_test.go":    "package m\n\nimport _ \"github.com/stretchr/testify\"\n",
		"m/driver/a.go":  "package driver\n\nimport _ \"github.com/jackc/pgx/v5\"\n",
	})
	assert.Empty(t, strangersAmong(tidied(t, []string{"example.com/m"}, "", modules)), "a test's dependency")
	assert.Equal(t, []string{"github.com/jackc/pgx/v5"}, strangersAmong(tidied(t, []string{"example.com/m", "example.com/m/driver"}, "", modules)))
}

// tidied writes a program that imports the packages, tidies its module and returns the modules that its go.mod then names.
// Modules in replaced are taken from their folders.
func tidied(t *testing.T, packages []string, sums string, replaced map[string]string) (modules []string) {
	t.Helper()
	var program, goMod strings.Builder
	program.WriteString("package main\n\nimport (\n")
	for _, name := range packages {
		fmt.Fprintf(&program, "\t_ %q\n", name)
	}
	program.WriteString(")\n\nfunc main() {}\n")
	goMod.WriteString("module example.com/agent\n\ngo 1.26.0\n")
	for _, name := range slices.Sorted(maps.Keys(replaced)) {
		fmt.Fprintf(&goMod, "\nreplace %s => %q\n", name, replaced[name])
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"go.mod": goMod.String(), "go.sum": sums, "main.go": program.String()})

	goCommand(t, dir, "mod", "tidy")
	var mod struct{ Require []struct{ Path string } }
	require.NoError(t, json.Unmarshal(goCommand(t, dir, "mod", "edit", "-json"), &mod))
	for _, r := range mod.Require {
		modules = append(modules, r.Path)
	}
	return modules
}

func strangersAmong(modules []string) (found []string) {
	for _, module := range modules {
		if containsPrefix(strangers, module) {
			found = append(found, module)
		}
	}
	return found
}

func goCommand(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	require.NoError(t, err, complaints.String())
	return out
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}
