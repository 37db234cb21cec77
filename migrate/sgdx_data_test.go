package migrate_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// dialogues are a history of what people said to services, and the questions about it.
type dialogues struct {
	// early are the statements that are there before the first migration, as the history has them and in its order.
	early []line
	// said counts the early values of each attribute.
	said map[string]int64
	// late are the turns that are written while migrations are under way, for each stream in order.
	late map[stream][][]utterance
	// questions are those about each service.
	questions map[string][]query
}

// line is a statement as the history has it.
type line struct {
	service string
	text    []byte
}

// stream is what one dialogue says to one service.
type stream struct{ subject, service string }

// utterance is one statement about a slot.
type utterance struct {
	RecordedAt time.Time `json:"recorded_at"`
	Op         sgam.Op   `json:"op"`
	Subject    string    `json:"subject"`
	Attribute  string    `json:"attribute"`
	Value      *string   `json:"value"`
	ValidFrom  time.Time `json:"valid_from"`
	Source     string    `json:"source"`
}

func (u *utterance) stream() stream { return stream{u.Subject, serviceOf(u.Attribute)} }

// query is one question with its answer. A nil time is now, a nil answer none.
type query struct {
	Subject   string     `json:"subject"`
	Attribute string     `json:"attribute"`
	ValidAt   *time.Time `json:"valid_at"`
	Expect    *string    `json:"expect"`
	Source    *string    `json:"expect_source"`
	Also      []string   `json:"also_acceptable_sources"`
}

func (q *query) stream() stream { return stream{q.Subject, serviceOf(q.Attribute)} }

func serviceOf(attribute string) string {
	service, _, _ := strings.Cut(attribute, ".")
	return service
}

// dealt is a number below n that follows from a name alone.
func dealt(name string, n uint32) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name) // a hash takes everything
	return int(h.Sum32() % n)
}

// theDialogues reads a folder of dialogues. One subject in a number of them is kept for the migrations.
func theDialogues(tb testing.TB, facts, questions string, oneIn uint32) *dialogues {
	tb.Helper()
	d := &dialogues{said: map[string]int64{}, late: map[stream][][]utterance{}, questions: map[string][]query{}}
	eachLine(tb, facts, func(text []byte) { d.say(tb, text, oneIn) })
	eachLine(tb, questions, func(text []byte) {
		var q query
		require.NoError(tb, json.Unmarshal(text, &q))
		service := serviceOf(q.Attribute)
		d.questions[service] = append(d.questions[service], q)
	})
	require.NotEmpty(tb, d.late)
	return d
}

func (d *dialogues) say(tb testing.TB, text []byte, oneIn uint32) {
	tb.Helper()
	var u utterance
	require.NoError(tb, json.Unmarshal(text, &u))
	s := u.stream()
	if dealt(u.Subject, oneIn) > 0 {
		d.early = append(d.early, line{s.service, bytes.Clone(text)})
		if u.Value != nil {
			d.said[u.Attribute]++
		}
		return
	}
	turns := d.late[s]
	if n := len(turns); n > 0 && turns[n-1][0].Source == u.Source && turns[n-1][0].RecordedAt.Equal(u.RecordedAt) {
		turns[n-1] = append(turns[n-1], u)
	} else {
		d.late[s] = append(turns, []utterance{u})
	}
}

// mention makes up a few words to a service that nobody speaks to, so that there is something to migrate: in the first of
// three dialogues that are early and in one that is late, one value for each attribute.
func (d *dialogues) mention(tb testing.TB, s *service, oneIn uint32) {
	tb.Helper()
	at := time.Date(2029, time.January, 1, 0, 0, 0, 0, time.UTC)
	early, late := 0, 0
	for n := 0; early < 3 || late < 1; n++ {
		subject := fmt.Sprintf("made-up/%s/%d", s.Service, n)
		count := &early
		if dealt(subject, oneIn) == 0 {
			count = &late
		}
		if *count++; count == &early && early > 3 || count == &late && late > 1 {
			continue
		}
		for tag := range s.tags() {
			value := "made up " + subject
			if tag == s.intent() {
				value = s.Intents[n%len(s.Intents)]
			}
			source := fmt.Sprintf("%s/%d", subject, tag)
			u := utterance{RecordedAt: at, Op: sgam.Assert, Subject: subject, Attribute: s.attribute(1, tag), Value: &value, ValidFrom: at, Source: source}
			text, err := json.Marshal(struct {
				utterance
				ValidTo *time.Time `json:"valid_to"`
			}{u, nil})
			require.NoError(tb, err)
			d.say(tb, text, oneIn)
			d.questions[s.Service] = append(d.questions[s.Service], query{Subject: subject, Attribute: u.Attribute, Expect: &value, Source: &source})
		}
	}
}

func eachLine(tb testing.TB, name string, take func(text []byte)) {
	tb.Helper()
	lines := bufio.NewScanner(bytes.NewReader(wholeFile(tb, name)))
	for lines.Scan() {
		take(lines.Bytes())
	}
	require.NoError(tb, lines.Err())
}

// wholeFile reads a file, compressed or not.
func wholeFile(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(name)
	require.NoError(tb, err)
	defer func() { require.NoError(tb, f.Close()) }()
	in, err := ledgertest.Uncompressed(f)
	require.NoError(tb, err)
	text, err := io.ReadAll(in)
	require.NoError(tb, err)
	return text
}

// only leaves out what is about other services.
func (d *dialogues) only(services ...*service) {
	other := func(name string) bool {
		return !slices.ContainsFunc(services, func(s *service) bool { return s.Service == name })
	}
	d.early = slices.DeleteFunc(d.early, func(l line) bool { return other(l.service) })
	maps.DeleteFunc(d.said, func(name string, _ int64) bool { return other(serviceOf(name)) })
	maps.DeleteFunc(d.late, func(s stream, _ [][]utterance) bool { return other(s.service) })
	maps.DeleteFunc(d.questions, func(name string, _ []query) bool { return other(name) })
}
