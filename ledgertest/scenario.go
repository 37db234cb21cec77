package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/sgam-ledger/sgam"
)

// Scenario is a story about a ledger that anyone can read: what was said when, and what must be answered afterwards.
// docs/guide/scenarios.md describes the text form.
type Scenario struct {
	Name       string
	attributes []Attribute
	steps      []step
	tolerance  time.Duration
	jump       time.Duration
}

// Failure is one expectation of a scenario that was not met. It holds values: they are the scenario's own.
type Failure struct {
	Line int
	// Asked is the line of the scenario; Want and Got are what it expected there and what the ledger answered.
	Asked, Want, Got string
}

func (f Failure) String() string {
	return fmt.Sprintf("line %d: %s\n    want %s\n    got  %s", f.Line, f.Asked, f.Want, f.Got)
}

// step is one thing to do: a line of the scenario, with the lines that belong to it.
type step struct {
	line int
	text string
	do   func(r *run) error
}

// Schemas declares what the scenario's header declares, and an attribute that takes any value for each one that is
// only written.
func (s *Scenario) Schemas() *Schemas { return NewSchemas(s.attributes...) }

// Options are what the scenario's ledger is to be opened with: its schemas, the clock, and how far that may jump. A
// scenario that says nothing about its clock may go back as it likes.
func (s *Scenario) Options(clock *Clock) *sgam.Options {
	return &sgam.Options{Schemas: s.Schemas(), Clock: clock.Now, ClockTolerance: s.tolerance, MaxForwardJump: s.jump}
}

// Run plays the scenario on a ledger that was opened with its Options, and that holds nothing yet.
// It returns the expectations that were not met. An error means that the run could not go on.
func (s *Scenario) Run(ctx context.Context, l *sgam.Ledger, clock *Clock) ([]Failure, error) {
	r := &run{
		ctx: ctx, l: l, clock: clock, labels: map[string]sgam.MemoryID{}, names: map[sgam.MemoryID]string{}, told: map[string]bool{},
	}
	if err := r.enter("scenario"); err != nil {
		return nil, err
	}
	for i := range s.steps {
		r.step = &s.steps[i]
		if err := r.step.do(r); err != nil {
			return r.failures, fmt.Errorf("%s:%d: %w", s.Name, r.step.line, err)
		}
	}
	return r.failures, nil
}

// run is one playing of a scenario.
type run struct {
	ctx      context.Context
	l        *sgam.Ledger
	clock    *Clock
	tenant   *sgam.Tenant
	step     *step
	labels   map[string]sgam.MemoryID
	names    map[sgam.MemoryID]string
	told     map[string]bool // tenant and episode, of episodes that the ledger holds
	failures []Failure
}

func (r *run) enter(tenant string) error {
	t, err := r.l.Tenant(tenant)
	r.tenant = t
	return err
}

// receiptKind are the clauses of a receipt that need no keyword.
var receiptKind = []string{"outcome", "code"}

// expect notes a failure unless a receipt has everything that the expected one names.
func (r *run) expect(line int, asked string, want, got row) {
	if !got.has(want) {
		r.failures = append(r.failures, Failure{line, asked, want.text(receiptKind, want), got.text(receiptKind, want)})
	}
}

// name is the label of a memory, its id when the scenario gave it none.
func (r *run) name(id sgam.MemoryID) string {
	if name, ok := r.names[id]; ok {
		return name
	}
	return id.String()
}

// label names a memory. The first name is the one that answers show.
func (r *run) label(name string, id sgam.MemoryID) {
	r.labels[name] = id
	if _, named := r.names[id]; !named && !id.IsZero() {
		r.names[id] = name
	}
}

// memory is the id behind a label.
func (r *run) memory(label string) (sgam.MemoryID, error) {
	if label == "none" {
		return sgam.MemoryID{}, nil
	}
	id, ok := r.labels[label]
	if !ok {
		return sgam.MemoryID{}, fmt.Errorf("no statement was labelled %q before", label)
	}
	return id, nil
}

// ParseScenario reads the text form. The name stands before the line number in errors.
func ParseScenario(name string, in io.Reader) (*Scenario, error) {
	p := &parser{scenario: &Scenario{Name: name, tolerance: -1}, declared: map[string]bool{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.number++
		if err := p.take(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.number+1, err)
	}
	if p.batch != nil {
		return nil, fmt.Errorf("%s:%d: the call that begins here has no }", name, p.batch.line)
	}
	if err := p.answered(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.reading.line, err)
	}
	return p.scenario, nil
}

// parser reads a scenario line by line.
type parser struct {
	scenario *Scenario
	declared map[string]bool
	strict   bool
	number   int
	body     string   // the line
	batch    *write   // an open { … }
	reading  *reading // takes the indented lines that follow
}

func (p *parser) take(text string) error {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	body := strings.TrimLeftFunc(text, unicode.IsSpace)
	if body == "" || body[0] == '#' {
		return nil
	}
	c := &cursor{text: body}
	p.body = body
	switch {
	case p.batch != nil:
		return p.inBatch(c)
	case body != text && p.reading != nil:
		return p.reading.expect(c)
	case body != text:
		return errors.New("an indented line belongs to a list, and there is none above it")
	}
	if err := p.answered(); err != nil {
		return err
	}
	switch word := c.word(); word {
	case ">", "~":
		return p.write(c, word == "~")
	case "?":
		return p.read(c)
	case "attribute":
		return p.attribute(c)
	case "strict":
		p.strict = true
		return c.end()
	case "clock":
		return p.clock(c)
	case "tenant":
		name, err := c.name()
		if err != nil {
			return err
		}
		p.add(p.number, body, func(r *run) error { return r.enter(name) })
		return c.end()
	default:
		return fmt.Errorf("a line begins with >, ~, ?, attribute, clock, strict, tenant or #, not with %q", word)
	}
}

// answered ends the list of a read: it has a line at least.
func (p *parser) answered() error {
	if p.reading != nil && len(p.reading.want) == 0 {
		return fmt.Errorf("the read of line %d has no answer: write => nothing, or the lines of the list", p.reading.line)
	}
	p.reading = nil
	return nil
}

func (p *parser) add(line int, text string, do func(*run) error) {
	p.scenario.steps = append(p.scenario.steps, step{line, text, do})
}

// clock reads how far the clock may be behind the last commit, and ahead of it.
func (p *parser) clock(c *cursor) error {
	for !c.done() {
		word := c.word()
		key, value, _ := strings.Cut(word, "=")
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("want a duration such as 10s in %q", word)
		}
		switch key {
		case "tolerance":
			p.scenario.tolerance = d
		case "jump":
			p.scenario.jump = d
		default:
			return fmt.Errorf("unknown property %q of the clock", word)
		}
	}
	return nil
}

// attribute reads a declaration.
func (p *parser) attribute(c *cursor) error {
	name, err := c.name()
	if err != nil {
		return err
	}
	if p.declared[name] {
		return fmt.Errorf("attribute %q is declared already, or was written before its declaration", name)
	}
	a := Attribute{Name: name}
	for !c.done() {
		word := c.word()
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "many":
			a.Many = true
		case "type":
			a.Type = value
		case "value":
			if _, ok := checks[value]; !ok {
				return fmt.Errorf("unknown value type %q", value)
			}
			a.Value = value
		case "policy":
			a.Policy = sgam.ConflictPolicy(value)
		case "ranks":
			for kind := range strings.SplitSeq(value, ",") {
				a.Ranks = append(a.Ranks, sgam.EpisodeKind(kind))
			}
		case "identity":
			a.Identity = value
		case "retention":
			a.Retention = value
		case "aliases":
			a.Aliases = strings.Split(value, ",")
		default:
			return fmt.Errorf("unknown property %q of an attribute", word)
		}
	}
	p.declare(a)
	return nil
}

func (p *parser) declare(a Attribute) {
	p.scenario.attributes = append(p.scenario.attributes, a)
	for _, name := range append([]string{a.Name}, a.Aliases...) {
		p.declared[name] = true
	}
}
