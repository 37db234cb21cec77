package ledgertest

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// reading is one question of a scenario.
type reading struct {
	line    int
	text    string
	valid   *time.Time // nil is now
	known   *time.Time // nil is everything known
	scopes  []sgam.Scope
	kind    []string // the leading clauses of a row
	ordered bool
	ask     func(*run, sgam.View) ([]row, error)
	want    []row
}

// read reads a line that asks.
func (p *parser) read(c *cursor) error {
	q := &reading{line: p.number, text: p.body, ordered: true}
	if err := q.view(c); err != nil {
		return err
	}
	verb := c.peek()
	parse, ok := verbs[verb]
	if ok {
		c.word()
	} else {
		parse = (*reading).point
	}
	if err := parse(q, c); err != nil {
		return err
	}
	p.add(q.line, q.text, q.do)
	if !c.take("=>") {
		p.reading = q
		return c.end()
	}
	if c.take("nothing") {
		return c.end()
	}
	return q.expect(c)
}

func (q *reading) view(c *cursor) error {
	for {
		var err error
		switch {
		case c.take("current"):
		case c.take("valid"):
			q.valid, err = c.bound()
		case c.take("known"):
			q.known, err = c.bound()
		case c.take("in"):
			var names []string
			names, err = c.list()
			for _, name := range names {
				q.scopes = append(q.scopes, sgam.Scope(name))
			}
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// expect reads one line of the answer. An error is one answer of its own, whatever the rows look like.
func (q *reading) expect(c *cursor) error {
	kind := q.kind
	if c.peek() == "error" {
		kind = []string{"answer"}
	}
	want, err := c.row(kind...)
	if err != nil {
		return err
	}
	q.want = append(q.want, want)
	return nil
}

// do asks the ledger and compares.
func (q *reading) do(r *run) error {
	var v sgam.View
	switch {
	case q.valid == nil:
		v = r.tenant.Current()
	default:
		v = r.tenant.ValidAt(*q.valid)
	}
	if q.known != nil {
		v = v.KnownAt(*q.known)
	}
	if q.scopes != nil {
		v = v.In(q.scopes...)
	}
	got, err := q.ask(r, v)
	if err != nil {
		text, named := textOfError(err)
		if _, bad := errors.AsType[unusable](err); bad || !named {
			return err
		}
		got = []row{{"answer": text}}
	}
	if !q.ordered { // engines may choose the order; messages should not change with it
		slices.SortFunc(got, func(a, b row) int { return strings.Compare(a.text(q.kind, a), b.text(q.kind, b)) })
	}
	if !q.met(got) {
		r.failures = append(r.failures, Failure{q.line, q.text, q.rowsText(q.want), q.rowsText(got)})
	}
	return nil
}

func (q *reading) met(got []row) bool {
	if len(got) != len(q.want) {
		return false
	}
	got = slices.Clone(got)
	for i, want := range q.want {
		from := i
		if !q.ordered {
			from = slices.IndexFunc(got[i:], func(g row) bool { return g.has(want) }) + i
		}
		if from < i || !got[from].has(want) {
			return false
		}
		got[i], got[from] = got[from], got[i]
	}
	return true
}

// rowsText writes the rows of an answer, each cut down to the clauses that the expectation beside it names.
func (q *reading) rowsText(rows []row) string {
	if len(rows) == 0 {
		return "nothing"
	}
	var lines []string
	for i, one := range rows {
		var beside row
		if i < len(q.want) {
			beside = q.want[i]
		}
		if _, failed := one["answer"]; failed && len(one) == 1 {
			lines = append(lines, one["answer"])
			continue
		}
		lines = append(lines, one.text(q.kind, beside))
	}
	return strings.Join(lines, "\n         ")
}

// verbs are the reads that are more than the value of one slot.
var verbs = map[string]func(*reading, *cursor) error{
	"member": (*reading).member, "members": (*reading).members, "facts": (*reading).facts, "timeline": (*reading).timeline,
	"believed": (*reading).believed, "history": (*reading).history, "diff": (*reading).diff, "table": (*reading).table,
	"explain": (*reading).explain, "memory": (*reading).memory, "episode": (*reading).episode, "outcomes": (*reading).outcomes,
	"held": (*reading).held, "pinned": (*reading).pinned, "tenants": (*reading).tenants, "verify": (*reading).verify,
}

// gather turns a sequence into rows.
func gather[T any](seq iter.Seq2[T, error], text func(*T) row) ([]row, error) {
	var rows []row
	for item, err := range seq {
		if err != nil {
			return nil, err
		}
		rows = append(rows, text(&item))
	}
	return rows, nil
}

func textOfReason(reason error) string {
	for text, known := range reasons {
		if errors.Is(reason, known) {
			return text
		}
	}
	return fmt.Sprintf("error of an unknown reason: %v", reason)
}

// fact writes a fact, or the absence that it states, as a row.
func (r *run) fact(f *sgam.Fact, reason error) row {
	if f == nil {
		return row{"answer": textOfReason(reason)}
	}
	out := row{
		"slot": textOfSlot(sgam.Slot{Subject: f.Subject, Attribute: f.Attribute}), "in": string(f.Scope), "op": string(f.Op),
		"from": f.Episode, "by": r.name(f.ID), "over": textOfInterval(f.Valid), "asserted": textOfInterval(f.Asserted),
		"known": textOfInterval(f.Known), "recorded": textOf(f.RecordedAt), "supersedes": r.name(f.Supersedes),
		"principal": f.Principal, "retention": f.RetentionPolicy, "version": strconv.Itoa(f.SchemaVersion), "confidence": "nothing",
	}
	switch {
	case reason != nil:
		out["answer"] = textOfReason(reason)
	case f.Value != nil:
		out["answer"] = textOfValue(f.Value)
	default:
		out["answer"] = "absent"
	}
	if f.Confidence != nil {
		out["confidence"] = strconv.FormatFloat(*f.Confidence, 'g', -1, 64)
	}
	if f.Provenance.Reasoning != "" {
		out["because"] = strconv.Quote(f.Provenance.Reasoning)
	}
	return out
}

// answered writes the result of a point read as a row.
func (r *run) answered(f sgam.Fact, err error) ([]row, error) {
	if none, ok := errors.AsType[*sgam.NoValueError](err); ok {
		return []row{r.fact(none.By, none.Reason)}, nil
	}
	if err != nil {
		return nil, err
	}
	return []row{r.fact(&f, nil)}, nil
}
