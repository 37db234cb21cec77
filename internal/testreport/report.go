package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is a line of "go test -json", as "go doc test2json" and "go help buildjson" describe it.
type event struct {
	Action      string
	Package     string
	Test        string
	Elapsed     float64
	Output      string
	ImportPath  string
	FailedBuild string
}

// counts is the outcome of a run. Subtests count like tests; a package that broke outside of any test counts as one failure.
type counts struct {
	passed, failed, skipped int
}

type report struct {
	out     io.Writer
	strict  bool
	allowed []*regexp.Regexp

	packages map[string]*pkg
	builds   map[string]*strings.Builder // what the compiler said, by import path
	skips    []skip
	counts
}

// pkg is a package whose tests are running.
type pkg struct {
	output   strings.Builder
	running  map[string]*strings.Builder // tests without a verdict, and what they printed
	failures int
}

type skip struct {
	pkg, test, reason string
}

func newReport(out io.Writer) *report {
	return &report{out: out, packages: map[string]*pkg{}, builds: map[string]*strings.Builder{}}
}

// read takes a whole stream. A line that is no event, such as a message of the go command itself, is passed on as it is.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var e event
			if text[0] != '{' || json.Unmarshal(text, &e) != nil {
				fmt.Fprintf(r.out, "%s\n", text)
			} else {
				r.take(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	switch {
	case e.Action == "build-output":
		if r.builds[e.ImportPath] == nil {
			r.builds[e.ImportPath] = &strings.Builder{}
		}
		r.builds[e.ImportPath].WriteString(e.Output)
	case e.Package == "":
	case e.Test == "":
		r.takePackage(e)
	default:
		r.takeTest(e)
	}
}

func (r *report) takeTest(e event) {
	p := r.at(e.Package)
	switch e.Action {
	case "run":
		p.running[e.Test] = &strings.Builder{}
	case "output":
		if out := p.running[e.Test]; out != nil && !isProgress(e.Output) {
			out.WriteString(e.Output)
		}
	case "pass":
		r.passed++
		p.settle(e.Test)
	case "fail":
		r.failed++
		p.failures++
		fmt.Fprint(r.out, p.settle(e.Test))
	case "skip":
		r.skips = append(r.skips, skip{e.Package, e.Test, reason(p.settle(e.Test))})
	}
}

// isProgress tells the lines that say no more than that a test goes on.
func isProgress(line string) bool {
	for _, prefix := range []string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

var verdictLine = regexp.MustCompile(`^\s*--- [A-Z]+: `)
var position = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason is the last thing a skipped test printed, which is what it gave to Skip.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		switch line = strings.TrimRight(line, "\n"); {
		case verdictLine.MatchString(line):
		case position.MatchString(line):
			said = []string{position.ReplaceAllString(line, "")}
		case strings.TrimSpace(line) != "":
			said = append(said, strings.TrimSpace(line))
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

func (r *report) takePackage(e event) {
	p := r.at(e.Package)
	switch e.Action {
	case "output":
		p.output.WriteString(e.Output)
	case "pass":
		r.settleBenchmarks(p)
		fmt.Fprintf(r.out, "ok    %s  %.1fs\n", e.Package, e.Elapsed)
		delete(r.packages, e.Package)
	case "fail":
		if p.failures > 0 {
			r.settleBenchmarks(p)
		}
		r.broken(p, e)
		fmt.Fprintf(r.out, "FAIL  %s  %.1fs\n", e.Package, e.Elapsed)
		delete(r.packages, e.Package)
	case "skip": // no test files
		delete(r.packages, e.Package)
	}
}

// settleBenchmarks counts those that ran: the go command gives a benchmark no verdict of its own unless it fails or skips.
func (r *report) settleBenchmarks(p *pkg) {
	for test := range p.running {
		if strings.HasPrefix(test, "Benchmark") {
			r.passed++
			p.settle(test)
		}
	}
}

// broken reports a failed package: the tests that were cut off, as by a deadline or an exit, and what the compiler and the
// package said outside of any test.
func (r *report) broken(p *pkg, e event) {
	for _, test := range slices.Sorted(maps.Keys(p.running)) {
		r.failed++
		p.failures++
		fmt.Fprintf(r.out, "%s--- FAIL: %s did not finish\n", p.settle(test), test)
	}
	if p.failures == 0 {
		r.failed++
	}
	if said := r.builds[e.FailedBuild]; said != nil {
		fmt.Fprint(r.out, said.String())
	}
	for line := range strings.Lines(p.output.String()) {
		if line != "FAIL\n" && !strings.HasPrefix(line, "FAIL\t") {
			fmt.Fprint(r.out, line)
		}
	}
}

// at finds a package, beginning it with its first event.
func (r *report) at(name string) *pkg {
	p := r.packages[name]
	if p == nil {
		p = &pkg{running: map[string]*strings.Builder{}}
		r.packages[name] = p
	}
	return p
}

// settle ends a test and returns what it printed.
func (p *pkg) settle(test string) string {
	out := p.running[test]
	delete(p.running, test)
	if out == nil {
		return ""
	}
	return out.String()
}

// close reports what is left when the stream has ended, and the counts.
func (r *report) close() counts {
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		r.broken(r.packages[name], event{Package: name})
		fmt.Fprintf(r.out, "FAIL  %s  cut off\n", name)
	}
	r.listSkips("skipped:", func(s skip) bool { return !r.strict || r.isAllowed(s) }, &r.skipped)
	r.listSkips("skipped, though it should have run:", func(s skip) bool { return r.strict && !r.isAllowed(s) }, &r.failed)
	if r.passed+r.failed+r.skipped == 0 {
		fmt.Fprintln(r.out, "nothing ran")
		r.failed++
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.counts
}

func (r *report) isAllowed(s skip) bool {
	return slices.ContainsFunc(r.allowed, func(re *regexp.Regexp) bool { return re.MatchString(s.reason) })
}

// listSkips lists the wanted skips. Of many tests of a package with one reason, as without a server, the first stands for all.
func (r *report) listSkips(title string, want func(skip) bool, count *int) {
	const many = 3
	alike := map[skip][]skip{}
	var order []skip
	for _, s := range r.skips {
		if !want(s) {
			continue
		}
		*count++
		why := skip{pkg: s.pkg, reason: s.reason}
		if alike[why] == nil {
			order = append(order, why)
		}
		alike[why] = append(alike[why], s)
	}
	for _, why := range order {
		if title != "" {
			fmt.Fprintln(r.out, title)
			title = ""
		}
		tests := alike[why]
		if len(tests) > many {
			fmt.Fprintf(r.out, "  %s %s and %d more: %s\n", why.pkg, tests[0].test, len(tests)-1, why.reason)
			continue
		}
		for _, s := range tests {
			fmt.Fprintf(r.out, "  %s %s: %s\n", s.pkg, s.test, s.reason)
		}
	}
}
