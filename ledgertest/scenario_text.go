package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// cursor walks along one line.
type cursor struct{ text string }

func (c *cursor) skip() { c.text = strings.TrimLeft(c.text, " \t") }

func (c *cursor) done() bool {
	c.skip()
	return c.text == ""
}

// end is an error unless the line is used up.
func (c *cursor) end() error {
	if c.done() {
		return nil
	}
	return fmt.Errorf("unexpected %q", c.text)
}

// word takes everything up to the next space.
func (c *cursor) word() string {
	c.skip()
	n := strings.IndexAny(c.text, " \t")
	if n < 0 {
		n = len(c.text)
	}
	word := c.text[:n]
	c.text = c.text[n:]
	return word
}

func (c *cursor) peek() string {
	own := *c
	return own.word()
}

// take takes the next word if it is the given one.
func (c *cursor) take(word string) bool {
	if c.peek() != word {
		return false
	}
	c.word()
	return true
}

// value takes one JSON value and brings it into canonical form.
func (c *cursor) value() (json.RawMessage, error) {
	c.skip()
	dec := json.NewDecoder(strings.NewReader(c.text))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("want a JSON value at %q", c.text)
	}
	c.text = c.text[dec.InputOffset():]
	return raw, nil
}

// name takes a bare name, or a quoted one that may hold anything. Bare names end at a space or at one of =.(),
func (c *cursor) name() (string, error) {
	c.skip()
	if strings.HasPrefix(c.text, `"`) {
		raw, err := c.value()
		if err != nil {
			return "", err
		}
		var s string
		err = json.Unmarshal(raw, &s)
		return s, err
	}
	n := strings.IndexAny(c.text, " \t=(),.")
	if n < 0 {
		n = len(c.text)
	}
	if n == 0 {
		return "", fmt.Errorf("want a name at %q", c.text)
	}
	name := c.text[:n]
	c.text = c.text[n:]
	return name, nil
}

// slot takes subject.attribute.
func (c *cursor) slot() (sgam.Slot, error) {
	subject, err := c.name()
	if err != nil {
		return sgam.Slot{}, err
	}
	rest, ok := strings.CutPrefix(c.text, ".")
	if !ok {
		return sgam.Slot{}, fmt.Errorf("want subject.attribute, and %q has no dot after it; quote what holds a dot", subject)
	}
	c.text = rest
	attribute, err := c.name()
	return sgam.Slot{Subject: subject, Attribute: attribute}, err
}

// list takes names with commas between them.
func (c *cursor) list() ([]string, error) {
	var names []string
	for {
		name, err := c.name()
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		rest, more := strings.CutPrefix(c.text, ",")
		if !more {
			return names, nil
		}
		c.text = rest
	}
}

func (c *cursor) time() (time.Time, error) {
	word := c.word()
	t, err := sgam.ParseTime(word, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("want a time such as 2026-06-03T10:00Z, or a date, not %q", word)
	}
	return t, nil
}

// interval takes [from, to) and writes it the way the ledger's intervals are written.
func (c *cursor) interval() (string, error) {
	c.skip()
	inside, rest, ok := strings.Cut(c.text, ")")
	inside, begins := strings.CutPrefix(inside, "[")
	from, to, comma := strings.Cut(inside, ",")
	if !ok || !begins || !comma {
		return "", fmt.Errorf("want an interval [from, to) at %q", c.text)
	}
	c.text = rest
	var bounds [2]string
	for i, bound := range []string{from, to} {
		bound = strings.TrimSpace(bound)
		if isOpen(bound) {
			bounds[i] = openEnd
			continue
		}
		t, err := sgam.ParseTime(bound, nil)
		if err != nil {
			return "", fmt.Errorf("want a time or – in an interval, not %q", bound)
		}
		bounds[i] = textOf(t)
	}
	return "[" + bounds[0] + ", " + bounds[1] + ")", nil
}

const openEnd = "–"

func isOpen(s string) bool { return slices.Contains([]string{openEnd, "-", "open", ""}, s) }

// textOf writes a time in one way only.
func textOf(t time.Time) string {
	if t.IsZero() {
		return openEnd
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func textOfInterval(i sgam.Interval) string {
	to := openEnd
	if i.To != nil {
		to = textOf(*i.To)
	}
	return "[" + textOf(i.From) + ", " + to + ")"
}

// textOfValue writes a JSON value in one way only.
func textOfValue(raw json.RawMessage) string {
	text, err := canon.Canonical(raw)
	if err != nil {
		return "unreadable value: " + err.Error()
	}
	return string(text)
}

// errorNames are the errors that a scenario can expect, by name.
var errorNames = []struct {
	name string
	err  error
}{
	{"closed", sgam.ErrClosed}, {"read_only", sgam.ErrReadOnly}, {"unsupported", sgam.ErrUnsupported}, {"busy", sgam.ErrBusy},
	{"clock_behind", sgam.ErrClockBehind}, {"clock_jump", sgam.ErrClockJump}, {"known_time", sgam.ErrKnownTime},
	{"empty_interval", sgam.ErrEmptyInterval}, {"foreign_tenant", sgam.ErrForeignTenant}, {"not_found", sgam.ErrNotFound},
	{"many_valued", sgam.ErrManyValued}, {"one_scope", sgam.ErrOneScope}, {"rejected", sgam.ErrRejected},
}

// textOfError is the name of an error, or the field and rule of a fault. The bool says whether it has such a name:
// what has none ends the run.
func textOfError(err error) (string, bool) {
	for _, e := range errorNames {
		if errors.Is(err, e.err) {
			return "error " + e.name, true
		}
	}
	if fe, ok := errors.AsType[*sgam.FieldError](err); ok {
		return "error " + fe.Field + " " + fe.Rule, true
	}
	return "", false
}
