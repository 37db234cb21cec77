package ledgertest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/internal/canon"
)

// ReplayOptions configure a replay. Nil options are allowed.
type ReplayOptions struct {
	// Now measures how long things take. Nil measures nothing, and the times stay zero.
	Now func() time.Time
	// Progress is told how many lines are done, after every call or question. Nil is told nothing.
	Progress func(lines int)
}

func (o *ReplayOptions) now() time.Time {
	if o == nil || o.Now == nil {
		return time.Time{}
	}
	return o.Now()
}

func (o *ReplayOptions) progress(lines int) {
	if o != nil && o.Progress != nil {
		o.Progress(lines)
	}
}

// statement is one line of a history.
type statement struct {
	RecordedAt string          `json:"recorded_at"`
	Op         sgam.Op         `json:"op"`
	Subject    string          `json:"subject"`
	Attribute  string          `json:"attribute"`
	Value      json.RawMessage `json:"value"`
	ValidFrom  timeOrNull      `json:"valid_from"`
	ValidTo    timeOrNull      `json:"valid_to"`
	Source     string          `json:"source"`
}

// Uncompressed reads gzip and plain data alike.
func Uncompressed(in io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	return gzip.NewReader(buffered)
}

// eachLine decodes JSON lines strictly: an unknown, doubled or mistyped field is an error that names the line. Empty
// lines are passed over.
func eachLine[T any](ctx context.Context, in io.Reader, take func(number int, item *T) error) error {
	in, err := Uncompressed(in)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(in, 1<<16)
	for number, last := 1, false; !last; number++ {
		line, err := lines.ReadBytes('\n')
		if last = errors.Is(err, io.EOF); err != nil && !last {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		item := new(T)
		if err := decode(text, item); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := take(number, item); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

// decode reads one JSON object of the format and nothing else. Errors name fields and never show values.
func decode(text []byte, into any) error {
	if _, err := canon.Canonical(text); err != nil {
		return fmt.Errorf("not JSON that can be kept: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return mistyped(te)
	}
	return err
}

// mistyped says in the words of JSON which field is of another type than the format has.
func mistyped(te *json.UnmarshalTypeError) error {
	var want string
	switch te.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice:
		want = "a list"
	case reflect.Struct, reflect.Map:
		want = "an object"
	default:
		want = "a number"
	}
	if te.Field == "" {
		return fmt.Errorf("it is not %s", want)
	}
	return fmt.Errorf("field %q is not %s", te.Field, want)
}

// isNull reports whether a JSON field is missing or null.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// moment reads a time of the format.
func moment(field, text string) (time.Time, error) {
	t, err := sgam.ParseTime(text, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("field %q: want a time with an offset, or a date", field)
	}
	return t, nil
}

// timeOrNull is a field that must be there and may be null, which is not the same as being forgotten.
type timeOrNull struct {
	named bool
	text  *string
}

func (n *timeOrNull) UnmarshalJSON(raw []byte) error {
	n.named = true
	return json.Unmarshal(raw, &n.text)
}

func (n timeOrNull) time(field string) (*time.Time, error) {
	if !n.named {
		return nil, fmt.Errorf("field %q is missing; write null for none", field)
	}
	if n.text == nil {
		return nil, nil
	}
	t, err := moment(field, *n.text)
	return &t, err
}

// delta is the statement as the ledger takes it. A null valid_from is the open start.
func (s *statement) delta() (sgam.MemoryDelta, error) {
	d := sgam.MemoryDelta{Op: s.Op, Subject: s.Subject, Attribute: s.Attribute, EpisodeID: s.Source}
	states := s.Op == sgam.Assert || s.Op == sgam.Correct
	switch {
	case !states && s.Op != sgam.End && s.Op != sgam.Void:
		return d, errors.New(`field "op": want assert, correct, end or void`)
	case s.Source == "":
		return d, errors.New(`field "source" is missing`)
	case states && isNull(s.Value):
		return d, fmt.Errorf(`field "value" is missing: %s needs one`, s.Op)
	case states:
		d.Value = s.Value
	case !isNull(s.Value):
		return d, fmt.Errorf(`field "value": %s has none`, s.Op)
	}
	from, err := s.ValidFrom.time("valid_from")
	if err != nil {
		return d, err
	}
	if d.ValidFrom = from; from == nil {
		d.ValidFrom = &time.Time{}
	}
	d.ValidTo, err = s.ValidTo.time("valid_to")
	return d, err
}

// InferAttributes finds out what a history is about: each attribute with the JSON type of its values, in order of
// their names. Two JSON types in one attribute are an error that names a line of each.
func InferAttributes(ctx context.Context, facts io.Reader) ([]Attribute, error) {
	type seen struct {
		json string
		line int
	}
	found := map[string]seen{}
	err := eachLine(ctx, facts, func(number int, s *statement) error {
		have, known := found[s.Attribute]
		if isNull(s.Value) {
			if !known {
				found[s.Attribute] = seen{}
			}
			return nil
		}
		typ := jsonType(s.Value)
		if have.json != "" && have.json != typ {
			return fmt.Errorf("attribute %q holds a %s here and a %s in line %d", s.Attribute, typ, have.json, have.line)
		}
		if have.json == "" {
			found[s.Attribute] = seen{typ, number}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	attributes := make([]Attribute, 0, len(found))
	for name, s := range found {
		attributes = append(attributes, Attribute{Name: name, Type: TypeName(name), Value: s.json})
	}
	slices.SortFunc(attributes, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	return attributes, nil
}

// jsonType is the type of a JSON value that is not null.
func jsonType(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}

// Load says what became of a history.
type Load struct {
	// Lines are the statements, Calls the transactions that they were loaded in, Sources the episodes.
	Lines, Calls, Sources int
	// Outcomes counts the receipts.
	Outcomes map[sgam.Outcome]int
	// Refused says of the first ten statements that were rejected why, by line and without values.
	Refused []string
	// Took is how long it took, when [ReplayOptions.Now] is set.
	Took time.Duration
}

const shown = 10 // refused statements and wrong answers that are told in full

// LoadFacts loads a history into a tenant, in the format of docs/guide/replay.md, gzip or plain: the lines with one
// recorded_at are one call at that known time, and each source is an episode. A rejected statement is counted, not an
// error; a line that is not of the format, or out of order, is one.
func LoadFacts(ctx context.Context, t *sgam.Tenant, facts io.Reader, opts *ReplayOptions) (Load, error) {
	l := loader{ctx: ctx, tenant: t, opts: opts, load: Load{Outcomes: map[sgam.Outcome]int{}}, told: map[string]bool{}}
	began := opts.now()
	err := eachLine(ctx, facts, l.take)
	if err == nil {
		err = l.flush()
	}
	l.load.Took = opts.now().Sub(began)
	return l.load, err
}

// loader gathers the statements of one call.
type loader struct {
	ctx    context.Context
	tenant *sgam.Tenant
	opts   *ReplayOptions
	load   Load
	told   map[string]bool
	known  time.Time
	batch  sgam.Batch
	lines  []int
}

func (l *loader) take(number int, s *statement) error {
	known, err := moment("recorded_at", s.RecordedAt)
	if err != nil {
		return err
	}
	d, err := s.delta()
	if err != nil {
		return err
	}
	switch {
	case len(l.lines) == 0:
	case known.Before(l.known):
		return fmt.Errorf(`field "recorded_at" is earlier than that of the line before`)
	case known.After(l.known):
		if err := l.flush(); err != nil {
			return err
		}
	}
	l.known = known
	if !l.told[s.Source] {
		l.told[s.Source] = true
		l.load.Sources++
		l.batch.Episodes = append(l.batch.Episodes, sgam.Episode{ID: s.Source, Kind: sgam.File, OccurredAt: known})
	}
	// A source may say the same thing again later, and then it is news again: the time and the place in the call tell
	// the statements apart.
	d.IdempotencyKey = textOf(known) + "#" + strconv.Itoa(len(l.lines)+1)
	l.batch.Deltas, l.lines = append(l.batch.Deltas, d), append(l.lines, number)
	return nil
}

// flush makes the call.
func (l *loader) flush() error {
	if len(l.lines) == 0 {
		return nil
	}
	known := l.known
	l.batch.KnownAt = &known
	receipts, err := l.tenant.ApplyBatch(l.ctx, l.batch)
	if err != nil {
		return fmt.Errorf("the call of lines %d to %d: %w", l.lines[0], l.lines[len(l.lines)-1], err)
	}
	for i, r := range receipts {
		l.load.Outcomes[r.Outcome]++
		if r.Outcome == sgam.Rejected && len(l.load.Refused) < shown {
			l.load.Refused = append(l.load.Refused, fmt.Sprintf("line %d: %v", l.lines[i], r.Err()))
		}
	}
	l.load.Calls++
	l.load.Lines += len(l.lines)
	l.batch, l.lines = sgam.Batch{}, nil
	l.opts.progress(l.load.Lines)
	return nil
}
