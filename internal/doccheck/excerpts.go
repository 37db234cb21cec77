package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// testText is the text of a module's tests, one file an element, each run of white space reduced to a space.
type testText []string

// readTests reads every test file below root; Example functions are among them, since they live nowhere else.
func readTests(root string) (testText, error) {
	tests := testText{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
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
