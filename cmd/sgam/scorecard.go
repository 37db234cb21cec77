package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/schema"
)

// scorecard is what a replay found.
type scorecard struct {
	OK bool `json:"ok"`
	// Inferred are the memory types that the data showed, when no schema was given.
	Inferred []inferredJSON `json:"inferred_types,omitempty"`
	Load     *loadJSON      `json:"load,omitempty"`
	Files    []*fileJSON    `json:"answers"`
}

// inferredJSON is a memory type that the data showed, and how many attributes it has.
type inferredJSON struct {
	Type       string `json:"type"`
	Attributes int    `json:"attributes"`
}

type loadJSON struct {
	Statements int                  `json:"statements"`
	Calls      int                  `json:"calls"`
	Sources    int                  `json:"sources"`
	Outcomes   map[sgam.Outcome]int `json:"outcomes"`
	Refused    []string             `json:"refused,omitempty"`
	Micros     int64                `json:"took_us"`
}

// fileJSON are the answers to one file of questions or cases.
type fileJSON struct {
	File    string      `json:"file"`
	Right   int         `json:"right"`
	Wrong   int         `json:"wrong"`
	Kinds   []kindJSON  `json:"kinds"`
	First   []wrongJSON `json:"first_wrong,omitempty"`
	ReadP50 int64       `json:"read_p50_us"`
	ReadP95 int64       `json:"read_p95_us"`
}

type kindJSON struct {
	Kind  string `json:"kind"`
	Right int    `json:"right"`
	Wrong int    `json:"wrong"`
}

type wrongJSON struct {
	Where string `json:"where"`
	Kind  string `json:"kind"`
	Asked string `json:"asked"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

func (c *scorecard) load(l *ledgertest.Load) {
	c.Load = &loadJSON{l.Lines, l.Calls, l.Sources, l.Outcomes, l.Refused, l.Took.Microseconds()}
}

func (c *scorecard) add(file string, card *ledgertest.Scorecard) {
	total := card.Total()
	f := &fileJSON{
		File: file, Right: total.Right, Wrong: total.Wrong, Kinds: []kindJSON{}, ReadP50: card.P50.Microseconds(), ReadP95: card.P95.Microseconds(),
	}
	for _, kind := range card.Names() {
		s := card.Kinds[kind]
		f.Kinds = append(f.Kinds, kindJSON{kind, s.Right, s.Wrong})
	}
	for _, w := range card.Wrong {
		f.First = append(f.First, wrongJSON(w))
	}
	c.Files = append(c.Files, f)
}

// judge reports whether everything was taken and every answer is right.
func (c *scorecard) judge() bool {
	if c.Load != nil && c.Load.Outcomes[sgam.Rejected] > 0 {
		return false
	}
	return !slices.ContainsFunc(c.Files, func(f *fileJSON) bool { return f.Wrong > 0 })
}

func (p *program) showScorecard(c *scorecard) error {
	c.OK = c.judge()
	if p.flags.json {
		p.out.json(c)
	} else {
		p.out.scorecard(c)
	}
	if !c.OK {
		return no()
	}
	return nil
}

func (s *screen) scorecard(c *scorecard) {
	if len(c.Inferred) > 0 {
		s.println(s.wrap("", "no schema is given: registered what the data shows, "+inferredText(c.Inferred)))
	}
	if l := c.Load; l != nil {
		s.println("loaded ", count(l.Statements, "statement", "statements"), " in ", count(l.Calls, "call", "calls"), " from ",
			count(l.Sources, "source", "sources"), speed(l))
		var parts []string
		for _, o := range []sgam.Outcome{sgam.Applied, sgam.Confirmed, sgam.Duplicate, sgam.Pending, sgam.Disputed, sgam.Rejected} {
			if n := l.Outcomes[o]; n > 0 {
				parts = append(parts, s.paint(outcomeInk(o), count(n, string(o), string(o))))
			}
		}
		s.println("  ", strings.Join(parts, " · "))
		for _, refused := range l.Refused {
			s.println("  ", oneLine(refused))
		}
	}
	for _, f := range c.Files {
		s.answers(f)
	}
}

// inferredText names the memory types that the data showed, the first ones of many.
func inferredText(inferred []inferredJSON) string {
	const named = 6
	var types []string
	for i, t := range inferred {
		if i == named {
			types = append(types, fmt.Sprintf("and %d more types", len(inferred)-named))
			break
		}
		types = append(types, fmt.Sprintf("%s (%s)", printable(t.Type), count(t.Attributes, "attribute", "attributes")))
	}
	return strings.Join(types, ", ")
}

// speed is how fast a history was loaded, when that was measured.
func speed(l *loadJSON) string {
	if l.Micros <= 0 {
		return ""
	}
	rate := int(float64(l.Statements) / (float64(l.Micros) / 1e6))
	return fmt.Sprintf(", %s (%s a second)", micros(l.Micros), count(rate, "statement", "statements"))
}

// micros shows microseconds with three digits.
func micros(us int64) string {
	for _, unit := range []struct {
		name string
		us   float64
	}{{"s", 1e6}, {"ms", 1e3}} {
		if v := float64(us) / unit.us; v >= 1 {
			return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Log10(v))), 64) + " " + unit.name
		}
	}
	return strconv.FormatInt(us, 10) + " µs"
}

// answers prints how the questions of one file came out.
func (s *screen) answers(f *fileJSON) {
	s.println("asked ", printable(f.File), ": a read took ", micros(f.ReadP50), " (p50), ", micros(f.ReadP95), " (p95)")
	s.println()
	l := s.list(column{name: "KIND"}, column{name: "RIGHT", right: true}, column{name: "WRONG", right: true})
	l.indent = "  "
	row := func(name string, right, wrong int) {
		ink := plain
		if wrong > 0 {
			ink = bad
		}
		l.add(name, grouped(right), s.paint(ink, grouped(wrong)))
	}
	for _, k := range f.Kinds {
		row(printable(k.Kind), k.Right, k.Wrong)
	}
	if len(f.Kinds) > 1 {
		row("all", f.Right, f.Wrong)
	}
	l.flush()
	s.println()
	for _, w := range f.First {
		s.println(s.paint(bad, printable(w.Where)+":"), " ", printable(w.Asked), s.paint(quiet, " ("+printable(w.Kind)+")"))
		s.println("  want ", answerText(w.Want))
		s.println("  got  ", answerText(w.Got))
	}
	switch more := f.Wrong - len(f.First); {
	case f.Wrong == 0:
		s.println(s.paint(good, "every answer is right"))
	case more > 0:
		s.println(s.paint(bad, count(f.Wrong, "answer is wrong", "answers are wrong")), ", the first ", grouped(len(f.First)), " are above")
	default:
		s.println(s.paint(bad, count(f.Wrong, "answer is wrong", "answers are wrong")))
	}
}

// timed runs one part of a replay, measures it, and shows on a terminal how far it is.
func (p *program) timed(what string, do func(*ledgertest.ReplayOptions) error) error {
	opts := &ledgertest.ReplayOptions{Now: p.stopwatch}
	if !p.err.tty {
		return do(opts)
	}
	bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(p.err.unbuffered()), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("lines"),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(p.err.color))
	opts.Progress = func(lines int) { p.err.keep(bar.Set(lines)) }
	err := do(opts)
	p.err.keep(bar.Finish())
	return err
}

// declare registers attributes that a history showed, and tells the types.
func declare(registry *schema.Registry, attributes []ledgertest.Attribute) ([]inferredJSON, error) {
	type shown struct {
		Tag    int               `json:"tag"`
		Name   string            `json:"name"`
		Schema map[string]string `json:"schema"`
	}
	types := map[string][]shown{}
	var order []string
	for _, a := range attributes {
		switch a.Value {
		case "object", "array":
			return nil, fmt.Errorf("attribute %q holds values of type %s, and its shape cannot be told from them", a.Name, a.Value)
		case "":
			a.Value = "string" // nothing but absences: any type would do
		}
		if types[a.Type] == nil {
			order = append(order, a.Type)
		}
		types[a.Type] = append(types[a.Type], shown{len(types[a.Type]) + 1, a.Name, map[string]string{"type": a.Value}})
	}
	inferred := make([]inferredJSON, len(order))
	for i, typ := range order {
		raw, err := json.Marshal(map[string]any{"type": typ, "version": 1, "attributes": types[typ]})
		if err != nil {
			return nil, err
		}
		if _, err := registry.Add(raw); err != nil {
			return nil, err
		}
		inferred[i] = inferredJSON{typ, len(types[typ])}
	}
	return inferred, nil
}
