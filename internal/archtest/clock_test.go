package archtest

import (
	"go/ast"
	"slices"
)

// clockFiles may read the machine's clock: the default of Options.Clock is there.
var clockFiles = []string{"ledger.go"}

// clockFolders may read it too.
var clockFolders = []string{
	"cmd",             // "now" is a default of its flags, and it measures how long it takes
	"internal/bench",  // measures
	"internal/rivals", // measures, and asks servers that have the machine's clock
}

var clockRule = rule{
	name:  "one place reads the clock",
	why:   "all else takes the time from the injected clock, or a test cannot make it jump, stall and go back",
	check: checkClock,
	bad: []sample{
		{"a call", map[string]string{"asof.go": "package m\nimport \"time\"\nvar x = func() any { return time.Now() }"}, "time.Now"},
		{"a value", map[string]string{"sqlite/a.go": "package sqlite\nimport \"time\"\nvar clock = time.Now"}, "time.Now"},
		{"another name", map[string]string{"sqlite/a.go": "package sqlite\nimport clock \"time\"\nvar x = clock.Now"}, "time.Now"},
		{"no name", map[string]string{"sqlite/a.go": "package sqlite\nimport . \"time\"\nvar x = Now"}, "dot import"},
		{"in disguise", map[string]string{"sqlite/a.go": "package sqlite\nimport \"time\"\nfunc f(t time.Time) any { return time.Since(t) }"}, "time.Since"},
		{"the same file name elsewhere", map[string]string{"sqlite/ledger.go": "package sqlite\nimport \"time\"\nvar clock = time.Now"}, "time.Now"},
		{"an entry that is out of date", map[string]string{"ledger.go": "package m\nimport \"time\"\nvar x time.Time"}, "no longer"},
	},
	good: []sample{
		{"the clock itself", map[string]string{"ledger.go": "package m\nimport \"time\"\nvar clock = time.Now"}, ""},
		{"tests and commands", map[string]string{
			"a_test.go":           "package m\nimport \"time\"\nvar x = time.Now",
			"cmd/sgam/get.go":     "package main\nimport \"time\"\nvar x = time.Now",
			"internal/bench/a.go": "package bench\nimport \"time\"\nvar x = time.Now",
		}, ""},
		{"other things named Now", map[string]string{"a.go": "package m\ntype c struct{ Now int }\nfunc f(time c) int { return time.Now }"}, ""},
		{"other things of time", map[string]string{"a.go": "package m\nimport \"time\"\nvar x = time.Unix(0, 0)"}, ""},
	},
}

func checkClock(t tree) (findings []finding) {
	for _, s := range t.shipped() {
		if slices.ContainsFunc(clockFolders, func(folder string) bool { return within(s.dir, folder) }) {
			continue
		}
		reads := t.clockReads(s)
		switch allowed := slices.Contains(clockFiles, s.path); {
		case !allowed:
			findings = append(findings, reads...)
		case len(reads) == 0:
			findings = append(findings, t.found(s.ast, "no longer reads the clock: take it off the list"))
		}
	}
	return findings
}

func (t tree) clockReads(s source) (findings []finding) {
	name := ""
	for _, spec := range s.ast.Imports {
		if imported(spec) != "time" {
			continue
		}
		name = "time"
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			return []finding{t.found(spec, "dot import of time")}
		}
	}
	if name == "" {
		return nil
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == name {
			findings = append(findings, t.found(sel, "time.%s", sel.Sel.Name))
		}
		return true
	})
	return findings
}
