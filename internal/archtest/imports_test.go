package archtest

import (
	"path"
	"slices"
	"strings"
)

// room is what the shipped files of a folder, and of the folders below it, may import beside the standard library and
// themselves. The internal packages of the module may be imported from every room, and what such a package imports counts as
// imported by the room.
type room struct {
	own     []string // folders of this module with what is below; "*" is all but cmd
	modules []string // modules of others
}

var rooms = map[string]room{
	".":          {modules: []string{"github.com/google/uuid"}},
	"ledgertest": {own: []string{"."}},
	"migrate":    {own: []string{".", "schema"}},
	"postgres": {
		own:     []string{"."},
		modules: []string{"github.com/jackc/pgx/v5", "github.com/pressly/goose/v3"},
	},
	"schema": {
		own: []string{"."},
		modules: []string{
			"github.com/invopop/jsonschema", "github.com/pb33f/ordered-map/v2", // schemas from structs, and their properties
			"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text", // the judge of values, and its messages
			"github.com/go-playground/validator/v10", // rules in struct tags
			"github.com/google/uuid",                 // the type of ids in structs; the root needs it anyway
		},
	},
	"transfer": {own: []string{"."}},
	"sqlite": {
		own:     []string{"."},
		modules: []string{"github.com/mattn/go-sqlite3", "github.com/pressly/goose/v3"},
	},
	"cmd/sgam": {
		own: []string{"*"},
		modules: []string{
			"github.com/google/uuid", "github.com/spf13/cobra", "github.com/spf13/pflag",
			"github.com/schollz/progressbar/v3", "github.com/jedib0t/go-pretty/v6", "golang.org/x/term",
		},
	},
}

// testModules are for tests alone: a program that uses the library downloads none of them.
var testModules = []string{
	"github.com/stretchr/testify", "pgregory.net/rapid", "github.com/anishathalye/porcupine", "go.uber.org/goleak",
}

var importRules = []rule{
	{
		name:  "each room imports what its row allows",
		why:   "all arrows point to the root, and a program pays only for the rooms that it uses",
		check: checkRooms,
		bad: []sample{
			{"root with a driver", map[string]string{"a.go": "package m\nimport _ \"github.com/mattn/go-sqlite3\""}, "github.com/mattn/go-sqlite3"},
			{"root with cgo", map[string]string{"a.go": "package m\nimport \"C\""}, "\"C\""},
			{"root with a room", map[string]string{"a.go": "package m\nimport _ \"example.com/m/schema\"", "schema/a.go": "package schema"}, "example.com/m/schema"},
			{"root with a driver behind an internal package", map[string]string{
				"a.go":            "package m\nimport _ \"example.com/m/internal/x\"",
				"internal/x/a.go": "package x\nimport _ \"example.com/m/internal/y\"",
				"internal/y/a.go": "package y\nimport _ \"github.com/jackc/pgx/v5\"",
			}, "github.com/jackc/pgx/v5"},
			{"schema with an engine", map[string]string{"schema/a.go": "package schema\nimport _ \"example.com/m/sqlite\""}, "example.com/m/sqlite"},
			{"engine with schema", map[string]string{"sqlite/a.go": "package sqlite\nimport _ \"example.com/m/schema\""}, "example.com/m/schema"},
			{"ledgertest with a test module", map[string]string{"ledgertest/a.go": "package ledgertest\nimport _ \"pgregory.net/rapid\""}, "pgregory.net/rapid"},
			{"ledgertest with ids", map[string]string{"ledgertest/a.go": "package ledgertest\nimport _ \"github.com/google/uuid\""}, "github.com/google/uuid"},
			{"a name that only begins like an allowed one", map[string]string{"a.go": "package m\nimport _ \"github.com/google/uuidx\""}, "github.com/google/uuidx"},
			{"a folder below a room", map[string]string{"schema/deep/a.go": "package deep\nimport _ \"example.com/m/sqlite\""}, "example.com/m/sqlite"},
			{"an unknown room", map[string]string{"recall/a.go": "package recall"}, "has no row"},
		},
		good: []sample{
			{"root", map[string]string{
				"a.go":            "package m\nimport (\n_ \"context\"\n_ \"encoding/json\"\n_ \"github.com/google/uuid\"\n_ \"example.com/m/internal/x\")",
				"internal/x/a.go": "package x\nimport _ \"strconv\"",
			}, ""},
			{"rooms with the root", map[string]string{
				"schema/a.go":     "package schema\nimport _ \"example.com/m\"",
				"schema/b.go":     "package schema\nimport _ \"example.com/m/schema/deep\"",
				"ledgertest/a.go": "package ledgertest\nimport _ \"example.com/m\"",
				"sqlite/a.go":     "package sqlite\nimport (\n_ \"example.com/m\"\n_ \"github.com/pressly/goose/v3/database\")",
			}, ""},
			{"tests are free", map[string]string{"a_test.go": "package m_test\nimport (\n_ \"example.com/m/sqlite\"\n_ \"github.com/stretchr/testify/require\")"}, ""},
			{"the command line over all of it", map[string]string{"cmd/sgam/a.go": "package main\nimport (\n_ \"example.com/m/sqlite\"\n_ \"github.com/spf13/cobra\")"}, ""},
			{"an internal tool that no room imports", map[string]string{"internal/x/a.go": "package x\nimport _ \"example.com/m/sqlite\""}, ""},
		},
	},
	{
		name:  "nothing imports a command",
		why:   "a command is an edge of the module: what others need of it belongs in a room",
		check: checkCommands,
		bad: []sample{
			{"a room", map[string]string{"sqlite/a.go": "package sqlite\nimport _ \"example.com/m/cmd/sgam\""}, "cmd/sgam"},
			{"a test", map[string]string{"a_test.go": "package m\nimport _ \"example.com/m/cmd/sgam/show\""}, "cmd/sgam/show"},
			{"another command", map[string]string{"cmd/other/a.go": "package main\nimport _ \"example.com/m/cmd/sgam/show\""}, "cmd/sgam/show"},
		},
		good: []sample{
			{"its own folders", map[string]string{"cmd/sgam/a.go": "package main\nimport _ \"example.com/m/cmd/sgam/show\""}, ""},
		},
	},
	{
		name:  "test modules stay in tests",
		why:   "a program that uses the library downloads no test module",
		check: checkTestModules,
		bad: []sample{
			{"an internal package", map[string]string{"internal/x/a.go": "package x\nimport _ \"github.com/stretchr/testify/assert\""}, "testify"},
		},
		good: []sample{
			{"a test", map[string]string{"internal/x/a_test.go": "package x\nimport _ \"github.com/stretchr/testify/assert\""}, ""},
		},
	},
	{
		name:  "blank imports are listed",
		why:   "an import for its side effect is magic at a distance: a driver is used by name",
		check: checkBlankImports,
		bad: []sample{
			{"a driver", map[string]string{"sqlite/a.go": "package sqlite\nimport _ \"github.com/mattn/go-sqlite3\""}, "go-sqlite3"},
		},
		good: []sample{
			{"embedded files", map[string]string{"sqlite/a.go": "package sqlite\nimport _ \"embed\""}, ""},
			{"a named import", map[string]string{"sqlite/a.go": "package sqlite\nimport sqlite3 \"github.com/mattn/go-sqlite3\""}, ""},
		},
	},
}

func checkRooms(t tree) (findings []finding) {
	for _, dir := range t.dirs() {
		if within(dir, "internal") {
			continue
		}
		name := roomOf(dir)
		if name == "" {
			first := t.files[slices.IndexFunc(t.files, func(s source) bool { return s.dir == dir })]
			findings = append(findings, t.found(first.ast, "folder %s has no row in the table of rooms", dir))
			continue
		}
		findings = append(findings, t.reach(dir, name, map[string]bool{})...)
	}
	return findings
}

// roomOf returns the row that speaks for a folder: its own or that of the nearest folder above. The root speaks for itself only.
func roomOf(dir string) string {
	for d := dir; ; d = path.Dir(d) {
		if _, ok := rooms[d]; ok && (d != "." || dir == ".") {
			return d
		}
		if d == "." {
			return ""
		}
	}
}

// reach looks at what a folder imports on behalf of a room, going on into the internal packages.
func (t tree) reach(dir, name string, seen map[string]bool) (findings []finding) {
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	for _, s := range t.shipped() {
		if s.dir != dir {
			continue
		}
		for _, spec := range s.ast.Imports {
			target := imported(spec)
			own, isOwn := t.ownDir(target)
			switch {
			case isStandard(target):
			case isOwn && within(own, "internal"):
				findings = append(findings, t.reach(own, name, seen)...)
			case isOwn && rooms[name].admits(own, name):
			case !isOwn && containsPrefix(rooms[name].modules, target):
			default:
				findings = append(findings, t.found(spec, "%q is nothing that room %s may import", target, name))
			}
		}
	}
	return findings
}

func (r room) admits(own, name string) bool {
	return within(own, name) || slices.ContainsFunc(r.own, func(allowed string) bool {
		return allowed == "*" && !within(own, "cmd") || within(own, allowed)
	})
}

// ownDir returns the folder of a package of this module.
func (t tree) ownDir(target string) (dir string, ok bool) {
	if target == t.module {
		return ".", true
	}
	return strings.CutPrefix(target, t.module+"/")
}

// within tells whether dir is room or below it; nothing is below the root.
func within(dir, room string) bool {
	return dir == room || strings.HasPrefix(dir, room+"/")
}

// isStandard goes by the dot that the first part of every other import path has.
func isStandard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".") && first != "C"
}

func containsPrefix(modules []string, target string) bool {
	return slices.ContainsFunc(modules, func(module string) bool { return within(target, module) })
}

func checkCommands(t tree) (findings []finding) {
	for _, s := range t.files {
		for _, spec := range s.ast.Imports {
			own, ok := t.ownDir(imported(spec))
			if ok && within(own, "cmd") && command(own) != command(s.dir) {
				findings = append(findings, t.found(spec, "%s is imported", own))
			}
		}
	}
	return findings
}

// command returns the folder of the command that a folder belongs to, cmd/name, or "" for what belongs to none.
func command(dir string) string {
	rest, ok := strings.CutPrefix(dir, "cmd/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return "cmd/" + name
}

func checkTestModules(t tree) (findings []finding) {
	for _, s := range t.shipped() {
		for _, spec := range s.ast.Imports {
			if target := imported(spec); containsPrefix(testModules, target) {
				findings = append(findings, t.found(spec, "%s outside of a test", target))
			}
		}
	}
	return findings
}

// blankImports may be imported for what they do rather than for what they have.
var blankImports = []string{
	"embed", // the language asks for it beside //go:embed
}

func checkBlankImports(t tree) (findings []finding) {
	for _, s := range t.files {
		for _, spec := range s.ast.Imports {
			if spec.Name != nil && spec.Name.Name == "_" && !slices.Contains(blankImports, imported(spec)) {
				findings = append(findings, t.found(spec, "blank import of %s", imported(spec)))
			}
		}
	}
	return findings
}
