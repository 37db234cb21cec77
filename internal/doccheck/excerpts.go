package main

import (
	"io/fs"
	"strings"
)

// testText is the text of a module's tests, one file an element, each run of white space reduced to a space.
type testText []string

// readTests reads every test file of a module; Example functions are among them, since they live nowhere else.
func readTests(module fs.FS) (testText, error) {
	tests := testText{}
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		tests = append(tests, normal(string(text)))
		return nil
	})
	return tests, err
}

// normal surrounds the words with spaces, so that an excerpt cannot begin or end inside of a word.
func normal(code string) string {
	return " " + strings.Join(strings.Fields(code), " ") + " "
}

func (tests testText) contain(code string) bool {
	want := normal(code)
	for _, text := range tests {
		if strings.Contains(text, want) {
			return true
		}
	}
	return false
}
