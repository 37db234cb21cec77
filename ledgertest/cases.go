package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
)

// CaseAttribute is the attribute that [PlayCases] writes: a row's value, of any JSON type. Open the ledger with
// [NewSchemas] of it, or with a schema of this attribute that takes any value.
func CaseAttribute() Attribute { return Attribute{Name: "row", Type: TypeName("row")} }

// sequenced is one published case of sequenced modification.
type sequenced struct {
	Name    string            `json:"name"`
	Source  string            `json:"source"`
	Licence string            `json:"licence"`
	Overlap bool              `json:"overlaps_allowed"`
	Steps   []sequencedStep   `json:"steps"`
	Expect  []expectedState   `json:"expect"`
	known   map[int]time.Time // of each step, from 1; 0 is before all of them
	keys    []string
	tenant  *sgam.Tenant
}

// sequencedStep is one modification, in the words of its source and as primitive steps. What the source's words say
// beside the interval is of no use here.
type sequencedStep struct {
	Op        string          `json:"op"`
	Key       *string         `json:"key"`
	Value     json.RawMessage `json:"value"`
	ValidFrom timeOrNull      `json:"valid_from"`
	ValidTo   timeOrNull      `json:"valid_to"`
	Error     string          `json:"expect_error"`
	Primitive []primitive     `json:"primitive"`
}

type primitive struct {
	Op        string          `json:"op"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	ValidFrom timeOrNull      `json:"valid_from"`
	ValidTo   timeOrNull      `json:"valid_to"`
}

// expectedState is what must be there after some steps, as it was known after one of them.
type expectedState struct {
	After     int                        `json:"after_step"`
	Known     *int                       `json:"known_step"`
	KnownAt   *string                    `json:"known_at"`
	Keys      []string                   `json:"keys"`
	ValidAt   *string                    `json:"valid_at"`
	Rows      []expectedRow              `json:"rows"`
	Coalesced *[]expectedRow             `json:"rows_coalesced"`
	Values    map[string]json.RawMessage `json:"values"`
}

type expectedRow struct {
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	ValidFrom timeOrNull      `json:"valid_from"`
	ValidTo   timeOrNull      `json:"valid_to"`
}

// PlayCases plays a file of sequenced cases, in the format of docs/guide/replay.md, gzip or plain, each case in a tenant
// of its own, and compares every expected state as soon as its steps are done and once more when all are. A step that
// must fail because of its interval has to be refused; one that must fail because rows overlap is passed over, since a
// ledger supersedes. The name tells files of one ledger apart.
func PlayCases(ctx context.Context, l *sgam.Ledger, name string, cases io.Reader, opts *ReplayOptions) (*Scorecard, error) {
	in, err := Uncompressed(cases)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	var all []sequenced
	if err := json.Unmarshal(text, &all); err != nil {
		if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = mistyped(te)
		}
		return nil, fmt.Errorf("%s: not a list of cases, each an object with a name, steps and expect: %w", name, err)
	}
	card := &Scorecard{Kinds: map[string]Score{}}
	for i := range all {
		c := &all[i]
		if c.tenant, err = l.Tenant(fmt.Sprintf("%s/%d", name, i+1)); err != nil {
			return card, err
		}
		if err := c.play(ctx, card, opts); err != nil {
			return card, fmt.Errorf("%s: case %q: %w", name, c.Name, err)
		}
		opts.progress(i + 1)
	}
	card.finish()
	return card, nil
}

// stepTime is the known time of a step. Steps of the sources share recorded times, calls of a ledger never do.
func stepTime(step int) time.Time {
	return time.Date(2001, 1, 1, 0, 0, step, 0, time.UTC)
}

func (c *sequenced) play(ctx context.Context, card *Scorecard, opts *ReplayOptions) error {
	c.known = map[int]time.Time{0: stepTime(0)}
	keys := map[string]bool{}
	for i, s := range c.Steps {
		if s.Primitive == nil {
			return fmt.Errorf(`step %d: field "primitive" is missing`, i+1)
		}
		for _, p := range s.Primitive {
			keys[p.Key] = true
		}
		c.known[i+1] = stepTime(i + 1)
	}
	c.keys = slices.Sorted(maps.Keys(keys))
	right := make([]bool, len(c.Expect))
	first := make([]WrongAnswer, len(c.Expect))
	for done := 0; done <= len(c.Steps); done++ {
		if done > 0 {
			if err := c.step(ctx, done, card); err != nil {
				return fmt.Errorf("step %d: %w", done, err)
			}
		}
		for i := range c.Expect {
			if c.Expect[i].After != done {
				continue
			}
			var err error
			if right[i], first[i], err = c.state(ctx, i, card, opts); err != nil {
				return fmt.Errorf("expectation %d: %w", i+1, err)
			}
		}
	}
	for i := range c.Expect {
		if c.Expect[i].After < 0 || c.Expect[i].After > len(c.Steps) {
			return fmt.Errorf("expectation %d: there is no step %d", i+1, c.Expect[i].After)
		}
		again, wrong, err := c.state(ctx, i, card, opts)
		if err != nil {
			return fmt.Errorf("expectation %d: %w", i+1, err)
		}
		if !right[i] {
			wrong = first[i]
		}
		card.count(right[i] && again, wrong)
	}
	return nil
}

// step makes the call of one step, or has it refused.
func (c *sequenced) step(ctx context.Context, number int, card *Scorecard) error {
	s := &c.Steps[number-1]
	switch s.Error {
	case "":
		return c.modify(ctx, number, s.Primitive)
	case "overlap":
		return nil
	case "reversed_period", "empty_period":
	default:
		return fmt.Errorf("unknown class of error %q", s.Error)
	}
	key := "any"
	if s.Key != nil {
		key = *s.Key
	}
	p := primitive{Op: "assert", Key: key, Value: s.Value, ValidFrom: s.ValidFrom, ValidTo: s.ValidTo}
	if isNull(s.Value) {
		p.Op = "retract"
	}
	d, err := p.delta()
	if err != nil {
		return err
	}
	at := c.known[number]
	receipts, err := c.tenant.ApplyBatch(ctx, sgam.Batch{Deltas: []sgam.MemoryDelta{d.From(stepEpisode(number, at))}, KnownAt: &at})
	if err != nil {
		return err
	}
	refused := receipts[0].Outcome == sgam.Rejected && errors.Is(receipts[0].Err(), sgam.ErrEmptyInterval)
	card.count(refused, WrongAnswer{
		Where: fmt.Sprintf("%s, step %d", c.Name, number), Kind: "must_fail", Asked: s.Op, Want: s.Error, Got: string(receipts[0].Outcome),
	})
	return nil
}

func stepEpisode(number int, at time.Time) sgam.Episode {
	return sgam.Episode{ID: fmt.Sprintf("step %d", number), Kind: sgam.BusinessEvent, OccurredAt: at}
}

// modify makes one call of a step's primitive steps. One without any is a call too: the known times of the steps must
// not depend on what the steps do.
func (c *sequenced) modify(ctx context.Context, number int, primitives []primitive) error {
	at := c.known[number]
	b := sgam.Batch{Episodes: []sgam.Episode{stepEpisode(number, at)}, KnownAt: &at, AllOrNothing: true}
	for i := range primitives {
		d, err := primitives[i].delta()
		if err != nil {
			return err
		}
		b.Deltas = append(b.Deltas, d.FromID(b.Episodes[0].ID))
	}
	receipts, err := c.tenant.ApplyBatch(ctx, b)
	if err != nil {
		return err
	}
	for _, r := range receipts {
		if err := r.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (p *primitive) delta() (sgam.MemoryDelta, error) {
	d := sgam.MemoryDelta{Subject: p.Key, Attribute: CaseAttribute().Name}
	switch p.Op {
	case "assert":
		d.Op, d.Value = sgam.Correct, p.Value
	case "retract":
		d.Op = sgam.Void
	default:
		return d, fmt.Errorf("unknown primitive step %q", p.Op)
	}
	from, err := p.ValidFrom.time("valid_from")
	if err != nil {
		return d, err
	}
	if d.ValidFrom = from; from == nil {
		d.ValidFrom = &time.Time{}
	}
	d.ValidTo, err = p.ValidTo.time("valid_to")
	return d, err
}

// state compares one expected state with the ledger's.
func (c *sequenced) state(ctx context.Context, number int, card *Scorecard, opts *ReplayOptions) (bool, WrongAnswer, error) {
	e := &c.Expect[number]
	wrong := WrongAnswer{Where: fmt.Sprintf("%s, expectation %d", c.Name, number+1), Kind: e.kind(), Asked: fmt.Sprintf("after step %d", e.After)}
	at := e.After
	if e.Known != nil {
		at = *e.Known
		wrong.Asked += fmt.Sprintf(", as known after step %d", at)
	}
	known, ok := c.known[at]
	if !ok || at > e.After {
		return false, wrong, fmt.Errorf("there is no step %d", at)
	}
	want, err := e.want()
	if err != nil {
		return false, wrong, err
	}
	keys := e.Keys
	if keys == nil {
		keys = c.keys
	}
	began := opts.now()
	got, err := c.rows(ctx, keys, known, e)
	if err != nil {
		return false, wrong, err
	}
	card.took = append(card.took, opts.now().Sub(began))
	slices.Sort(want)
	slices.Sort(got)
	wrong.Want, wrong.Got = textOfState(want), textOfState(got)
	return slices.Equal(want, got), wrong, nil
}

func textOfState(rows []string) string {
	if len(rows) == 0 {
		return "nothing"
	}
	return strings.Join(rows, "\n         ")
}

func (e *expectedState) kind() string {
	kind := "rows"
	if e.Values != nil {
		kind = "values"
	}
	if e.Known != nil {
		kind += "_as_known"
	}
	return kind
}

// want are the expected rows, joined, or the expected values, one text each.
func (e *expectedState) want() ([]string, error) {
	var out []string
	if e.Values != nil {
		if e.ValidAt == nil {
			return nil, errors.New(`field "valid_at" is missing`)
		}
		for key, value := range e.Values {
			if !isNull(value) {
				out = append(out, key+" "+textOfValue(value))
			}
		}
		return out, nil
	}
	if e.Coalesced == nil {
		return nil, errors.New(`field "rows_coalesced" or "values" is missing`)
	}
	for _, r := range *e.Coalesced {
		var i sgam.Interval
		from, err := r.ValidFrom.time("valid_from")
		if err != nil {
			return nil, err
		}
		if from != nil {
			i.From = *from
		}
		if i.To, err = r.ValidTo.time("valid_to"); err != nil {
			return nil, err
		}
		out = append(out, r.Key+" "+textOfValue(r.Value)+" "+textOfInterval(i))
	}
	return out, nil
}

// rows are the ledger's rows of the keys, joined by the timeline, or its values at one instant.
func (c *sequenced) rows(ctx context.Context, keys []string, known time.Time, e *expectedState) ([]string, error) {
	var at *time.Time
	if e.ValidAt != nil {
		t, err := moment("valid_at", *e.ValidAt)
		if err != nil {
			return nil, err
		}
		at = &t
	}
	var out []string
	for _, key := range keys {
		if e.Values != nil {
			h, err := found(c.tenant.ValidAt(*at).KnownAt(known).Get(ctx, key, CaseAttribute().Name))
			if err != nil {
				return nil, err
			}
			if h.value != "" {
				out = append(out, key+" "+h.value)
			}
			continue
		}
		slot := sgam.Slot{Subject: key, Attribute: CaseAttribute().Name}
		for s, err := range c.tenant.KnownAt(known).Timeline(ctx, slot) {
			if err != nil {
				return nil, err
			}
			if s.Reason == nil && (at == nil || s.Valid.Contains(*at)) {
				out = append(out, key+" "+textOfValue(s.Fact.Value)+" "+textOfInterval(s.Valid))
			}
		}
	}
	return out, nil
}
