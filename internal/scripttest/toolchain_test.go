package scripttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeGo writes a go command of some version and returns its place.
func fakeGo(t *testing.T, version, envFile string) string {
	t.Helper()
	place := filepath.Join(t.TempDir(), "go")
	text := "#!/bin/sh\ncase $1 in\nversion) echo go version " + version + " linux/amd64 ;;\nenv) echo " + envFile + " ;;\nesac\n"
	require.NoError(t, os.WriteFile(place, []byte(text), 0o700))
	return place
}

func TestGoIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		versions []string // of the go commands of the machine, in the order they are looked at
		pinned   string   // GOTOOLCHAIN
		written  string   // by go env -w
		chosen   int      // which of them comes first in PATH afterwards; -1 for none
		mode     string   // GOTOOLCHAIN afterwards
		says     string
	}{
		{name: "the version asked for", versions: []string{"go1.26.0"}, mode: "unset"},
		{name: "a newer one", versions: []string{"go1.27.3"}, mode: "unset"},
		{name: "the version asked for, pinned", versions: []string{"go1.26.0"}, pinned: "local", mode: "local"},
		{name: "an older one fetches it", versions: []string{"go1.21.0"}, mode: "auto", says: "it fetches Go 1.26.0 by itself"},
		{name: "an older one that may", versions: []string{"go1.24.4"}, pinned: "local+auto", mode: "local+auto", says: "it fetches Go 1.26.0"},
		{name: "an older one told which to fetch", versions: []string{"go1.24.4"}, pinned: "go1.26.1", mode: "go1.26.1", says: "it fetches Go 1.26.0"},
		{name: "an older one told to fetch too old a one", versions: []string{"go1.24.4"}, pinned: "go1.25.0", chosen: -1, says: "GOTOOLCHAIN=go1.25.0 keeps it from fetching Go 1.26.0"},
		{name: "an older one that may not", versions: []string{"go1.24.4"}, pinned: "local", chosen: -1, says: "GOTOOLCHAIN=local keeps it from fetching Go 1.26.0"},
		{name: "an older one that may not, by go env -w", versions: []string{"go1.24.4"}, written: "GOTOOLCHAIN=local\n", chosen: -1, says: "GOTOOLCHAIN=local in front"},
		{name: "one that is too old", versions: []string{"go1.20.14"}, chosen: -1, says: "is Go 1.20.14"},
		{name: "one that is far too old", versions: []string{"go1.9"}, chosen: -1, says: "is Go 1.9"},
		{name: "a release candidate", versions: []string{"go1.27rc1"}, mode: "unset"},
		{name: "one of two fits", versions: []string{"go1.19.8", "go1.26.2"}, chosen: 1, mode: "unset"},
		{name: "no fetching when another fits", versions: []string{"go1.24.4", "go1.26.2"}, chosen: 1, mode: "unset"},
		{name: "too old, then one that fetches", versions: []string{"go1.19.8", "go1.22.1"}, chosen: 1, mode: "auto", says: "it fetches"},
		{name: "no Go at all", chosen: -1, says: "not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			envFile := filepath.Join(t.TempDir(), "env")
			require.NoError(t, os.WriteFile(envFile, []byte(c.written), 0o600))
			var places []string
			for _, version := range c.versions {
				places = append(places, fakeGo(t, version, envFile))
			}
			var env []string
			if c.pinned != "" {
				env = append(env, "GOTOOLCHAIN="+c.pinned)
			}
			got := bash(t, `go_places() { printf '%s\n' "$PLACES"; }
if find_go; then printf '%s %s\n' "$(command -v go)" "${GOTOOLCHAIN:-unset}"; else say "$(describe go)"; say "$go_blocked"; fi`,
				"", append(env, "PLACES="+strings.Join(places, "\n"))...)
			require.Equal(t, 0, got.code, got.err)
			if c.chosen >= 0 {
				assert.Equal(t, places[c.chosen]+" "+c.mode+"\n", got.out)
			} else {
				assert.Empty(t, got.out)
			}
			if c.written != "" {
				c.says = "GOTOOLCHAIN=auto in front of this command"
			}
			assert.Contains(t, got.err, c.says)
		})
	}
}

func TestVersionsAreComparedAsNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		have, want string
		atLeast    bool
	}{
		{"1.26.0", "1.26.0", true},
		{"1.26", "1.26.0", true},
		{"1.26.1", "1.26", true},
		{"1.26.0", "1.26.1", false},
		{"1.9", "1.21", false},
		{"1.100", "1.21", true},
		{"2.0", "1.26.9", true},
		{"0.99.99", "1.0", false},
	} {
		got := bash(t, "if version_at_least "+c.have+" "+c.want+"; then echo yes; fi", "")
		require.Equal(t, 0, got.code, got.err)
		assert.Equal(t, c.atLeast, got.out == "yes\n", "%s at least %s", c.have, c.want)
	}
}

func TestCompilerIsTriedRatherThanLookedFor(t *testing.T) {
	t.Parallel()
	const report = "\nif find_cc; then echo \"found ${CC:-gcc}\"; else echo none; fi"
	for _, c := range []struct {
		name, works, want string
		env               []string
	}{
		{name: "gcc", works: "gcc clang", want: "found gcc\n"},
		{name: "clang alone is told to cgo", works: "clang", want: "found clang\n"},
		{name: "cc alone is told to cgo", works: "cc", want: "found cc\n"},
		{name: "none compiles", want: "none\n"},
		{name: "the user's own", works: "mycc", env: []string{"CC=mycc"}, want: "found mycc\n"},
		{name: "the user's own does not compile", works: "gcc", env: []string{"CC=mycc"}, want: "none\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := bash(t, "compiles() { case ' "+c.works+" ' in *\" $1 \"*) return 0 ;; esac; return 1; }"+report, "", c.env...)
			assert.Equal(t, outcome{0, c.want, ""}, got)
		})
	}
	t.Run("for real", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, 0, bash(t, "find_cc", "").code, "these tests are built by a C compiler")
		assert.NotEqual(t, 0, bash(t, "compiles nothing-by-this-name", "").code)
	})
}

func TestWrongFlagsAreUsageErrors(t *testing.T) {
	t.Parallel()
	got := command(t, moduleDir, "", nil, "./test", "--everything")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "unknown argument --everything")

	help := command(t, moduleDir, "", nil, "./test", "--help")
	assert.Equal(t, 0, help.code)
	assert.Contains(t, help.out, "--all")
	assert.Contains(t, help.out, "--yes")
}
