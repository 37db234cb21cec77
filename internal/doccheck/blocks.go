package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// block is a fenced piece of Go in a document.
type block struct {
	file string // slash path below the module
	line int    // of the first line of code, from 1
	code string
}

func (b block) at() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

var packageClause = regexp.MustCompile(`(?m)\A(\s*//.*\n|\s*\n)*\s*package\s+\w+`)

// isProgram tells a whole file from an excerpt.
func (b block) isProgram() bool { return packageClause.MatchString(b.code) }

// readDocuments returns the Go blocks of a module's README.md and docs/, and the faults of the fences themselves and of the links.
// Documents that do not exist have no blocks.
func readDocuments(module fs.FS) (blocks []block, faults []string, err error) {
	for _, top := range []string{"README.md", "docs"} {
		err := fs.WalkDir(module, top, func(name string, d fs.DirEntry, err error) error {
			if name == top && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() || path.Ext(name) != ".md" {
				return err
			}
			text, err := fs.ReadFile(module, name)
			if err != nil {
				return err
			}
			found, prose, fault := split(name, string(text))
			blocks = append(blocks, found...)
			faults = append(faults, brokenLinks(module, name, prose)...)
			if fault != "" {
				faults = append(faults, fault)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return blocks, faults, nil
}

// A fence may be indented, as in a list, and what closes it is at least as long as what opened it.
var fence = regexp.MustCompile("^([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)$")

// split returns the blocks of one document whose info string begins with the word "go", the lines outside of all fences, and a
// fault when a fence is never closed.
func split(name, text string) (blocks []block, prose []proseLine, fault string) {
	var open []string // the submatches of the fence that is open
	var start int
	var code strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		m := fence.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case open == nil && m != nil:
			open, start = m, n
			code.Reset()
		case open != nil && m != nil && strings.HasPrefix(m[2], open[2]) && strings.TrimSpace(m[3]) == "":
			if info := strings.Fields(open[3]); len(info) > 0 && info[0] == "go" {
				blocks = append(blocks, block{file: name, line: start + 1, code: code.String()})
			}
			open = nil
		case open != nil:
			code.WriteString(strings.TrimPrefix(line, open[1]))
		default:
			prose = append(prose, proseLine{n, line})
		}
	}
	if open != nil {
		fault = fmt.Sprintf("%s:%d: this fence is never closed", name, start)
	}
	return blocks, prose, fault
}
