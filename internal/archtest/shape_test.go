package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

const (
	maxRootFiles = 26
	maxFileLines = 400
)

var shapeRules = []rule{
	{
		name:  "the root stays small",
		why:   fmt.Sprintf("a newcomer reads the root in one sitting: at most %d files that are no tests, none over %d lines", maxRootFiles, maxFileLines),
		check: checkRootSize,
		bad: []sample{
			{"one file too many", manyFiles(maxRootFiles + 1), "27 files"},
			{"one line too many", map[string]string{"a.go": "package m\n" + strings.Repeat("\n", maxFileLines)}, "401 lines"},
		},
		good: []sample{
			{"as many as allowed", manyFiles(maxRootFiles), ""},
			{"as long as allowed", map[string]string{"a.go": "package m\n" + strings.Repeat("\n", maxFileLines-1)}, ""},
			{"tests are as long as they are", map[string]string{"a_test.go": "package m\n" + strings.Repeat("\n", 2*maxFileLines)}, ""},
			{"other folders do not count", map[string]string{"schema/a.go": "package schema\n" + strings.Repeat("\n", 2*maxFileLines)}, ""},
		},
	},
	{
		name:  "names say what is inside",
		why:   "a file or package named for no subject collects every subject",
		check: checkNames,
		bad: []sample{
			{"a package", map[string]string{"internal/util/a.go": "package util"}, "util"},
			{"a package that ends so", map[string]string{"internal/timeutil/a.go": "package timeutil"}, "timeutil"},
			{"a package clause", map[string]string{"internal/x/a.go": "package helpers"}, "helpers"},
			{"a file", map[string]string{"common.go": "package m"}, "common"},
			{"a test file", map[string]string{"sqlite/test_helpers_test.go": "package sqlite"}, "helpers"},
		},
		good: []sample{
			{"subjects", map[string]string{"internal/canon/number.go": "package canon", "utility_bill.go": "package m", "commons.go": "package m"}, ""},
		},
	},
}

func manyFiles(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("file%d.go", i)] = "package m"
	}
	return files
}

func checkRootSize(t tree) (findings []finding) {
	n := 0
	for _, s := range t.shipped() {
		if s.dir != "." {
			continue
		}
		if n++; n == maxRootFiles+1 {
			findings = append(findings, t.found(s.ast, "%d files in the root", countRoot(t)))
		}
		if s.lines > maxFileLines {
			findings = append(findings, t.found(s.ast, "%d lines", s.lines))
		}
	}
	return findings
}

func countRoot(t tree) (n int) {
	for _, s := range t.shipped() {
		if s.dir == "." {
			n++
		}
	}
	return n
}

var emptyNames = []string{"util", "utils", "helper", "helpers", "common", "misc"}

func checkNames(t tree) (findings []finding) {
	for _, s := range t.files {
		base := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_test")
		names := append(strings.Split(s.dir, "/"), s.ast.Name.Name, base)
		for _, name := range names {
			if bad := emptyName(name); bad != "" {
				findings = append(findings, t.found(s.ast, "the name %s says %q", name, bad))
				break
			}
		}
	}
	return findings
}

// emptyName returns the word of a name that stands for no subject; a name such as timeutil has it at its end.
func emptyName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range words {
		if slices.Contains(emptyNames, word) {
			return word
		}
		for _, end := range []string{"util", "utils", "helper", "helpers"} {
			if strings.HasSuffix(word, end) {
				return end
			}
		}
	}
	return ""
}
