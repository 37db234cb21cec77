package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
)

// proseLine is a line of a document outside of the fences.
type proseLine struct {
	number int
	text   string
}

var (
	codeSpan = regexp.MustCompile("`+[^`]*`+")
	// The text of a link may begin on an earlier line, so its closing bracket is where one is recognised.
	linkTargets = []*regexp.Regexp{
		regexp.MustCompile(`\]\(\s*<?([^()<>\s]+)>?(?:\s+["'][^)]*)?\)`), // [text](target "title")
		regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s*<?([^<>\s]+)>?`),        // [label]: target
		regexp.MustCompile(`\b(?:href|src)="([^"]+)"`),
	}
)

// brokenLinks returns a fault for each link of a document to a file or folder that is not in the module. Links to other
// sites are not followed, and those within a document are not checked.
func brokenLinks(module fs.FS, name string, prose []proseLine) (faults []string) {
	for _, line := range prose {
		text := codeSpan.ReplaceAllString(line.text, "")
		for _, targets := range linkTargets {
			for _, m := range targets.FindAllStringSubmatch(text, -1) {
				if why := broken(module, name, m[1]); why != "" {
					faults = append(faults, fmt.Sprintf("%s:%d: the link to %s %s", name, line.number, m[1], why))
				}
			}
		}
	}
	return faults
}

// broken says what is wrong with one target, empty when nothing is.
func broken(module fs.FS, name, target string) string {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return "is not a URL"
	case u.IsAbs() || u.Host != "" || u.Path == "":
		return ""
	case path.IsAbs(u.Path):
		return "is not relative"
	}
	file := path.Join(path.Dir(name), u.Path)
	if !fs.ValidPath(file) {
		return "leads out of the module"
	}
	if _, err := fs.Stat(module, file); err != nil {
		return "leads to no file"
	}
	return ""
}
