package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// write is one call of a scenario.
type write struct {
	line      int
	text      string
	preview   bool
	at        time.Time
	given     bool // the time is the known time itself, not the clock's
	together  bool // all or nothing
	jump      bool // accept the clock
	principal string
	items     []item
	want      row // of the whole call, an error
}

// item is one statement or command of a call.
type item struct {
	line  int
	text  string
	label string
	want  row
	// delta makes the statement; it is nil for an episode that is only recorded, and for a command.
	delta   func(*run) (sgam.MemoryDelta, error)
	episode *sgam.Episode
	command func(*run, *sgam.Tenant, *write) (sgam.Receipt, error)
}

// write reads a line that writes.
func (p *parser) write(c *cursor, preview bool) error {
	w := &write{line: p.number, text: p.body, preview: preview, given: c.take("known")}
	var err error
	if w.at, err = c.time(); err != nil {
		return err
	}
	for {
		switch {
		case c.take("by"):
			if w.principal, err = c.name(); err != nil {
				return err
			}
			continue
		case c.take("all-or-nothing"):
			w.together = true
			continue
		case c.take("accept-clock"):
			w.jump = true
			continue
		}
		break
	}
	if c.take("{") {
		p.batch = w
		return c.end()
	}
	it, err := p.item(c, w)
	if err != nil {
		return err
	}
	w.items = []item{it}
	p.add(w.line, w.text, w.do)
	return nil
}

// inBatch reads a line between { and }.
func (p *parser) inBatch(c *cursor) error {
	w := p.batch
	if !c.take("}") {
		it, err := p.item(c, w)
		if err == nil && it.command != nil {
			err = errors.New("a call with { } holds statements and episodes only")
		}
		w.items = append(w.items, it)
		return err
	}
	p.batch = nil
	if c.take("=>") {
		var err error
		if w.want, err = c.row("outcome"); err != nil {
			return err
		}
	}
	p.add(w.line, w.text, w.do)
	return c.end()
}

func (p *parser) item(c *cursor, w *write) (item, error) {
	it := item{line: p.number, text: p.body}
	var err error
	switch word := c.peek(); word {
	case "withdraw":
		err = p.withdraw(c, &it)
	case "accept", "decline":
		c.word()
		var label string
		label, err = c.name()
		it.command = func(r *run, t *sgam.Tenant, _ *write) (sgam.Receipt, error) {
			id, err := r.memory(label)
			if err != nil {
				return sgam.Receipt{}, unusable{err}
			}
			if word == "accept" {
				return t.Accept(r.ctx, id)
			}
			return t.Decline(r.ctx, id)
		}
	case "record":
		c.word()
		it.episode, _, err = c.episode(w.at)
	default:
		err = p.statement(c, w, &it)
	}
	if err != nil {
		return it, err
	}
	if c.take("as") {
		if it.label, err = c.name(); err != nil {
			return it, err
		}
	}
	if !c.take("=>") {
		return it, c.end()
	}
	if it.want, err = c.row(receiptKind...); err == nil && c.take("as") {
		it.label, err = c.name()
	}
	return it, err
}

// unusable marks an error of the scenario itself, which no expectation can meet.
type unusable struct{ error }

func (p *parser) withdraw(c *cursor, it *item) error {
	c.word()
	var label string
	var w sgam.Withdrawal
	var err error
	switch what := c.word(); what {
	case "memory":
		label, err = c.name()
	case "episode":
		w.Episode, err = c.name()
	case "source":
		w.SourceKind = sgam.EpisodeKind(c.word())
		w.SourceID, err = c.name()
	default:
		err = fmt.Errorf("want memory, episode or source, not %q", what)
	}
	if err == nil && c.take("because") {
		w.Reason, err = c.name()
	}
	it.command = func(r *run, t *sgam.Tenant, call *write) (sgam.Receipt, error) {
		own := w
		own.AcceptClock = call.jump
		if label != "" {
			id, err := r.memory(label)
			if err != nil {
				return sgam.Receipt{}, unusable{err}
			}
			own.Memory = id
		}
		return t.Withdraw(r.ctx, own)
	}
	return err
}

// episode takes an episode's name with what is said about it. The bool says whether anything was.
func (c *cursor) episode(at time.Time) (*sgam.Episode, bool, error) {
	name, err := c.name()
	if err != nil {
		return nil, false, err
	}
	e := &sgam.Episode{ID: name, Kind: sgam.Message, OccurredAt: at}
	if !strings.HasPrefix(c.text, "(") {
		return e, false, nil
	}
	c.text = c.text[1:]
	for {
		c.skip()
		if rest, closed := strings.CutPrefix(c.text, ")"); closed {
			c.text = rest
			return e, true, nil
		}
		key, err := c.name()
		if err != nil {
			return nil, false, err
		}
		rest, ok := strings.CutPrefix(c.text, "=")
		if !ok {
			return nil, false, fmt.Errorf("want = after %q", key)
		}
		c.text = rest
		if err := c.property(e, key); err != nil {
			return nil, false, err
		}
	}
}

func (c *cursor) property(e *sgam.Episode, key string) error {
	if key == "occurred" {
		n := strings.IndexAny(c.text, " )")
		if n < 0 {
			return errors.New("the episode has no )")
		}
		t, err := sgam.ParseTime(c.text[:n], nil)
		e.OccurredAt, c.text = t, c.text[n:]
		return err
	}
	value, err := c.name()
	if err != nil {
		return err
	}
	switch key {
	case "kind":
		e.Kind = sgam.EpisodeKind(value)
	case "source":
		e.SourceID = value
	case "session":
		e.Session = value
	case "thread":
		e.Thread = value
	case "actor":
		e.Actor = value
	case "text":
		e.Text = value
	default:
		return fmt.Errorf("unknown property %q of an episode", key)
	}
	return nil
}

// statement reads EPISODE [OP] SLOT [= VALUE] and its clauses.
func (p *parser) statement(c *cursor, w *write, it *item) error {
	e, described, err := c.episode(w.at)
	if err != nil {
		return err
	}
	d := sgam.MemoryDelta{Op: sgam.Assert}
	if op := sgam.Op(c.peek()); slices.Contains([]sgam.Op{sgam.Assert, sgam.Correct, sgam.End, sgam.Void}, op) {
		d.Op = op
		c.word()
	}
	slot, err := c.slot()
	if err != nil {
		return err
	}
	d.Subject, d.Attribute = slot.Subject, slot.Attribute
	if c.take("=") {
		if d.Value, err = c.value(); err != nil {
			return err
		}
	}
	var expect string
	for err == nil {
		switch {
		case c.take("from"):
			d.ValidFrom, err = c.bound()
		case c.take("until"):
			d.ValidTo, err = c.bound()
		case c.take("in"):
			var scope string
			scope, err = c.name()
			d.Scope = sgam.Scope(scope)
		case c.take("confidence"):
			var n float64
			n, err = strconv.ParseFloat(c.word(), 64)
			d.Confidence = &n
		case c.take("key"):
			d.IdempotencyKey, err = c.name()
		case c.take("expect"):
			expect, err = c.name()
		case c.take("version"):
			d.SchemaVersion, err = strconv.Atoi(c.word())
		case c.take("type"):
			d.MemoryType, err = c.name()
		case c.take("retention"):
			d.RetentionPolicy, err = c.name()
		default:
			if !p.declared[d.Attribute] && !p.strict {
				p.declare(Attribute{Name: d.Attribute})
			}
			it.delta = func(r *run) (sgam.MemoryDelta, error) { return r.bring(d, e, described, expect) }
			return nil
		}
	}
	return err
}

// bound takes a time; the open start or end is –.
func (c *cursor) bound() (*time.Time, error) {
	if isOpen(c.peek()) && !c.done() {
		c.word()
		return &time.Time{}, nil
	}
	t, err := c.time()
	return &t, err
}

// bring completes a delta: an episode comes along when it is named for the first time, or described.
func (r *run) bring(d sgam.MemoryDelta, e *sgam.Episode, described bool, expect string) (sgam.MemoryDelta, error) {
	if d.ValidTo != nil && d.ValidTo.IsZero() {
		d.ValidTo = nil
	}
	if expect != "" {
		id, err := r.memory(expect)
		if err != nil {
			return d, err
		}
		d.ExpectCurrent = &id
	}
	if r.told[r.heard(e.ID)] && !described {
		return d.FromID(e.ID), nil
	}
	return d.From(*e), nil
}

// heard is the key of an episode of the tenant in told.
func (r *run) heard(episode string) string { return r.tenant.Name() + "\x00" + episode }

// do makes the call and compares its receipts.
func (w *write) do(r *run) error {
	if !w.given {
		r.clock.Set(w.at)
	}
	t := r.tenant.As(w.principal)
	if cmd := w.items; len(cmd) == 1 && cmd[0].command != nil {
		receipt, err := cmd[0].command(r, t, w)
		return r.received(&cmd[0], receipt, err)
	}
	b := sgam.Batch{AllOrNothing: w.together, AcceptClock: w.jump}
	if w.given {
		b.KnownAt = &w.at
	}
	var said []*item
	for i := range w.items {
		it := &w.items[i]
		if it.episode != nil {
			b.Episodes = append(b.Episodes, *it.episode)
			r.told[r.heard(it.episode.ID)] = true
			continue
		}
		d, err := it.delta(r)
		if err != nil {
			return err
		}
		b.Deltas, said = append(b.Deltas, d), append(said, it)
	}
	apply := t.ApplyBatch
	if w.preview {
		apply = t.Preview
	}
	receipts, err := apply(r.ctx, b)
	want := w.want
	if len(w.items) == 1 && want == nil {
		want = w.items[0].want
	}
	switch {
	case err != nil:
		return r.refused(w.line, w.text, want, err)
	case w.want != nil:
		r.expect(w.line, w.text, w.want, row{"outcome": "a decision"})
		return nil
	}
	for i, it := range said {
		if receipts[i].Outcome != sgam.Rejected && !w.preview {
			r.told[r.heard(b.Deltas[i].EpisodeID)] = true
		}
		if err := r.received(it, receipts[i], nil); err != nil {
			return err
		}
	}
	return nil
}
