package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/sgam-ledger/sgam"
)

// Scorecard counts right and wrong answers.
type Scorecard struct {
	// Kinds counts by the kind of the question.
	Kinds map[string]Score
	// Wrong are the first ten wrong answers, in full.
	Wrong []WrongAnswer
	// P50 and P95 are how long a read took, when [ReplayOptions.Now] is set.
	P50, P95 time.Duration

	took []time.Duration
}

// Score is how many answers of one kind were right and wrong.
type Score struct{ Right, Wrong int }

// WrongAnswer is one question that was answered wrong. It holds values: they are the history's own.
type WrongAnswer struct {
	// Where is the line of the question, or the case and the expectation.
	Where            string
	Kind             string
	Asked, Want, Got string
}

func (w WrongAnswer) String() string {
	return fmt.Sprintf("%s (%s): %s\n    want %s\n    got  %s", w.Where, w.Kind, w.Asked, w.Want, w.Got)
}

// Total is the sum over all kinds.
func (c *Scorecard) Total() Score {
	var total Score
	for _, s := range c.Kinds {
		total.Right += s.Right
		total.Wrong += s.Wrong
	}
	return total
}

// Names are the kinds in order.
func (c *Scorecard) Names() []string { return slices.Sorted(maps.Keys(c.Kinds)) }

func (c *Scorecard) count(right bool, wrong WrongAnswer) {
	if c.Kinds == nil {
		c.Kinds = map[string]Score{}
	}
	s := c.Kinds[wrong.Kind]
	if right {
		s.Right++
	} else {
		s.Wrong++
		if len(c.Wrong) < shown {
			c.Wrong = append(c.Wrong, wrong)
		}
	}
	c.Kinds[wrong.Kind] = s
}

// finish works out the percentiles.
func (c *Scorecard) finish() {
	slices.Sort(c.took)
	if n := len(c.took); n > 0 {
		c.P50, c.P95 = c.took[n/2], c.took[n*95/100]
	}
	c.took = nil
}

// question is one line of a file of questions.
type question struct {
	Subject   string          `json:"subject"`
	Attribute string          `json:"attribute"`
	ValidAt   timeOrNull      `json:"valid_at"`
	KnownAt   timeOrNull      `json:"known_at"`
	Kind      string          `json:"kind"`
	Expect    json.RawMessage `json:"expect"`
	Source    *string         `json:"expect_source"`
	Also      []string        `json:"also_acceptable_sources"`
}

// AskQuestions asks every question of a file, in the format of docs/guide/replay.md, gzip or plain. Values are compared
// exactly and by type; where a question names a source, the source is compared too. An attribute that the ledger does
// not know has no value. A line that is not of the format is an error.
func AskQuestions(ctx context.Context, t *sgam.Tenant, questions io.Reader, opts *ReplayOptions) (*Scorecard, error) {
	card := &Scorecard{Kinds: map[string]Score{}}
	asked := 0
	err := eachLine(ctx, questions, func(number int, q *question) error {
		v, err := q.view(t)
		if err != nil {
			return err
		}
		began := opts.now()
		f, err := v.Get(ctx, q.Subject, q.Attribute)
		card.took = append(card.took, opts.now().Sub(began))
		got, err := found(f, err)
		if err != nil {
			return err
		}
		want := q.want()
		card.count(got.meets(want), WrongAnswer{
			Where: fmt.Sprintf("line %d", number), Kind: q.Kind, Asked: q.text(), Want: want.String(), Got: got.String(),
		})
		asked++
		opts.progress(asked)
		return nil
	})
	card.finish()
	return card, err
}

func (q *question) view(t *sgam.Tenant) (sgam.View, error) {
	if q.Subject == "" || q.Attribute == "" {
		return sgam.View{}, errors.New(`field "subject" or "attribute" is missing`)
	}
	if len(q.Expect) == 0 {
		return sgam.View{}, errors.New(`field "expect" is missing; write null for no value`)
	}
	valid, err := q.ValidAt.time("valid_at")
	if err != nil {
		return sgam.View{}, err
	}
	known, err := q.KnownAt.time("known_at")
	if err != nil {
		return sgam.View{}, err
	}
	v := t.Current()
	if valid != nil {
		v = t.ValidAt(*valid)
	}
	if known != nil {
		v = v.KnownAt(*known)
	}
	return v, nil
}

func (q *question) text() string {
	text := textOfSlot(sgam.Slot{Subject: q.Subject, Attribute: q.Attribute})
	if q.ValidAt.text != nil {
		text += " valid " + *q.ValidAt.text
	}
	if q.KnownAt.text != nil {
		text += " known " + *q.KnownAt.text
	}
	return text
}

// held is what a slot holds: a value and its source, or why there is none.
type held struct {
	value   string // canonical JSON, "" when there is none
	why     string
	sources []string
}

func (h held) String() string {
	text := h.value
	if text == "" {
		text = h.why
	}
	for i, s := range h.sources {
		if s != "" {
			text += [2]string{" from ", " or "}[min(i, 1)] + s
		}
	}
	return text
}

// meets reports whether an answer is the wanted one. Unknown and absent are both no value; expired and erased are not
// what a history asks for.
func (h held) meets(want held) bool {
	if h.value != want.value || h.value == "" && h.why != "unknown" && h.why != "absent" {
		return false
	}
	return len(want.sources) == 0 || slices.Contains(want.sources, h.sources[0])
}

func (q *question) want() held {
	want := held{why: "no value"}
	if !isNull(q.Expect) {
		want.value = textOfValue(q.Expect)
	}
	if q.Source != nil {
		want.sources = append([]string{*q.Source}, q.Also...)
	}
	return want
}

// found is the answer of a point read. Only what kept the ledger from answering is an error.
func found(f sgam.Fact, err error) (held, error) {
	if none, ok := errors.AsType[*sgam.NoValueError](err); ok {
		h := held{why: textOfReason(none.Reason), sources: []string{""}}
		if none.By != nil {
			h.sources[0] = none.By.Episode
		}
		return h, nil
	}
	if fe, ok := errors.AsType[*sgam.FieldError](err); ok && fe.Field == "attribute" && fe.Rule == "unknown" {
		return held{why: "unknown", sources: []string{""}}, nil
	}
	if text, named := textOfError(err); err != nil && named {
		return held{why: text, sources: []string{""}}, nil
	}
	return held{value: textOfValue(f.Value), sources: []string{f.Episode}}, err
}
