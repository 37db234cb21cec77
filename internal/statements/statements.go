// Package statements reads files of named SQL statements, so that SQL is written where its reader looks for it, and once.
//
// A line "-- name: N" begins the statement N, a line "-- part: N" a piece of SQL that {{N}} stands for in statements, and in parts
// that come after it. Either ends with a semicolon. What a file has before the first of them is what it says about itself.
package statements

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Must is [Parse] for files that are built into a program. It panics when they are not in order.
func Must(files fs.FS) map[string]string {
	texts, err := Parse(files)
	if err != nil {
		panic(err)
	}
	return texts
}

// Parse reads the files sql/*.sql in the order of their names. It returns the statements by name, without the semicolon and
// with every part in its place; the parts are those of all the files.
func Parse(files fs.FS) (map[string]string, error) {
	list, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		return nil, err
	}
	p := parser{texts: map[string]string{}, parts: map[string]string{}, used: map[string]bool{}}
	for _, file := range list {
		content, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		if err := p.read(string(content)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return p.expanded()
}

// parser holds the statements as they are written, and the parts with the parts in them.
type parser struct {
	texts, parts map[string]string
	used         map[string]bool // parts
}

// headline begins a statement or a part.
var headline = regexp.MustCompile(`(?m)^-- (name|part): (.*)\n`)

func (p *parser) read(content string) error {
	heads := headline.FindAllStringSubmatchIndex(content, -1)
	for i, at := range heads {
		kind, name, end := content[at[2]:at[3]], content[at[4]:at[5]], len(content)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		text, ok := strings.CutSuffix(strings.TrimSpace(content[at[1]:end]), ";")
		if !ok {
			return fmt.Errorf("%s %s does not end with a semicolon", kind, name)
		}
		into := p.texts
		if kind == "part" {
			into = p.parts
			var err error
			if text, err = p.expand(aboutItself.ReplaceAllString(text, "")); err != nil {
				return fmt.Errorf("part %s: %w", name, err)
			}
		}
		if _, twice := into[name]; twice {
			return fmt.Errorf("%s %s is there twice", kind, name)
		}
		into[name] = text
	}
	return nil
}

var (
	// aboutItself is what a part says before its SQL. It is not sent with every statement that the part is in.
	aboutItself = regexp.MustCompile(`^(?:--[^\n]*\n)+`)

	// place is where a part goes, or what looks like it.
	place = regexp.MustCompile(`\{\{(\w+)\}\}|\{\{|\}\}`)
)

// expand puts those parts in their places that are known so far.
func (p *parser) expand(text string) (string, error) {
	var err error
	text = place.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "{}")
		part, known := p.parts[name]
		if !known && err == nil {
			err = fmt.Errorf("%s stands for no part", found)
		}
		p.used[name] = true
		return part
	})
	return text, err
}

// expanded are the statements with the parts in their places.
func (p *parser) expanded() (map[string]string, error) {
	for _, name := range slices.Sorted(maps.Keys(p.texts)) {
		text, err := p.expand(p.texts[name])
		if err != nil {
			return nil, fmt.Errorf("statement %s: %w", name, err)
		}
		p.texts[name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(p.parts)) {
		if !p.used[name] {
			return nil, fmt.Errorf("part %s has no user", name)
		}
	}
	return p.texts, nil
}
