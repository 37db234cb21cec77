package migrate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// judge compares what a ledger answers with what was said, in the spelling of the services as it knows them.
type judge struct {
	*fleet
	services map[string]*service
	// read is the version that a service is read in, cuts are the known times just before its cut-overs.
	read map[string]int
	cuts map[string][]time.Time
	// stride is one more than how many questions are passed over between two that are asked in every version.
	stride int

	kept  []recorded
	right int
	// wrong are the first wrong answers, misses counts all.
	wrong  []string
	misses int
}

// recorded is an answer about a known time that is over.
type recorded struct {
	query *query
	known time.Time
	text  string
}

func newJudge(f *fleet, services []*service, stride int) *judge {
	j := &judge{fleet: f, services: map[string]*service{}, read: map[string]int{}, cuts: map[string][]time.Time{}, stride: stride}
	for _, s := range services {
		j.services[s.Service], j.read[s.Service] = s, 1
	}
	return j
}

func (j *judge) check(right bool, format string, args ...any) {
	if right {
		j.right++
		return
	}
	if j.misses++; len(j.wrong) < 10 {
		j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
	}
}

// asked are the questions about a service whose whole dialogue is in the ledger once the given migration is done.
func (j *judge) asked(service string, from int) []*query {
	var all []*query
	for i := range j.talk.questions[service] {
		q := &j.talk.questions[service][i]
		if _, late := j.talk.late[q.stream()]; !late || q.stream().due() <= from {
			all = append(all, q)
		}
	}
	return all
}

// view is the place that a question is about, as known at a time; a zero time is now.
func (j *judge) view(q *query, known time.Time) sgam.View {
	t := j.tenant(serviceOf(q.Attribute))
	v := t.Current()
	if q.ValidAt != nil {
		v = t.ValidAt(*q.ValidAt)
	}
	if !known.IsZero() {
		v = v.KnownAt(known)
	}
	return v
}

// ask asks a question of a view that shows a version.
func (j *judge) ask(q *query, known time.Time, v sgam.View, version int) {
	s := j.services[serviceOf(q.Attribute)]
	tag := s.tag(j, q.Attribute)
	want := ""
	if q.Expect != nil {
		want = s.form(j, version, tag, *q.Expect)
	}
	f, err := v.Get(j.Context(), q.Subject, q.Attribute)
	source, none := f.Episode, (*sgam.NoValueError)(nil)
	if errors.As(err, &none) && (errors.Is(err, sgam.ErrUnknown) || errors.Is(err, sgam.ErrAbsent)) {
		if err = nil; none.By != nil {
			source = none.By.Episode
		}
	}
	right := err == nil && string(f.Value) == want && !f.Lossy && len(f.Defaulted) == 0 && (want == "" || s.same(version, f.SchemaVersion, tag))
	if q.Source != nil {
		right = right && slices.Contains(append([]string{*q.Source}, q.Also...), source)
	}
	j.check(right, "%s %s valid %v known %v in version %d: want %s, got version %d: %s from %s, %v",
		q.Subject, q.Attribute, q.ValidAt, known, version, want, f.SchemaVersion, f.Value, source, err)
}

// oldReaders ask every question about a service as the program asked it that knew the first version only.
func (j *judge) oldReaders(service string, from int) {
	for _, q := range j.asked(service, from) {
		j.ask(q, time.Time{}, j.view(q, time.Time{}).AtVersion(service, 1), 1)
	}
}

// everyReader asks some questions in every version, and without one: now, and as known before each cut-over.
func (j *judge) everyReader(service string, from int) {
	s := j.services[service]
	for i, q := range j.asked(service, from) {
		if i%j.stride != 0 {
			continue
		}
		times := []time.Time{{}}
		if _, late := j.talk.late[q.stream()]; !late {
			times = append(times, j.cuts[service]...)
		}
		for n, known := range times {
			reads := n // before the first cut-over it was version 1
			if known.IsZero() {
				reads = j.read[service]
			}
			view := j.view(q, known)
			j.ask(q, known, view, reads)
			for version := 1; version <= s.newest(); version++ {
				j.ask(q, known, view.AtVersion(service, version), version)
			}
		}
	}
}

// text is an answer to the byte, without a version being asked for.
func (j *judge) text(q *query, known time.Time) string {
	f, err := j.view(q, known).Get(j.Context(), q.Subject, q.Attribute)
	if err != nil {
		require.ErrorIs(j, err, sgam.ErrNoValue)
		return err.Error()
	}
	text, err := json.Marshal(f)
	require.NoError(j, err)
	return string(text)
}

// keep records n answers about a service: as known now and, where there are fewer questions, as known earlier.
func (j *judge) keep(service string, n int) {
	now := j.clock.Now()
	all := j.talk.questions[service]
	for i := range n {
		q, known := &all[i%len(all)], now
		if then := all[(i*7)%len(all)].ValidAt; i >= len(all) && then != nil {
			known = *then
		}
		j.kept = append(j.kept, recorded{q, known, j.text(q, known)})
	}
}

// compare asks for the recorded answers about a service again.
func (j *judge) compare(service string) {
	for _, r := range j.kept {
		if serviceOf(r.query.Attribute) == service {
			got := j.text(r.query, r.known)
			j.check(got == r.text, "known %v: want %s, got %s", r.known, r.text, got)
		}
	}
}

// encodings holds every form of every value against what was said, and counts those that were appended. There must be
// one for each other shape that the value had since it was said, and none where a version left the shape as it was.
func (j *judge) encodings() (total int64) {
	for _, s := range j.services {
		facts, want := int64(0), int64(0)
		for tag := range s.tags() {
			want += j.values[s.attribute(1, tag)]
		}
		for v, err := range j.tenant(s.Service).Values(j.Context(), s.Service, 0) {
			require.NoError(j, err)
			facts++
			total += int64(len(v.Encodings))
			j.forms(s, &v)
		}
		j.check(facts == want, "%s: want %d values, got %d", s.Service, want, facts)
	}
	return total
}

func (j *judge) forms(s *service, v *sgam.StoredValue) {
	tag := 0
	for t := range s.tags() {
		if v.Attribute == s.attribute(s.newest(), t) {
			tag = t
		}
	}
	since := 1
	at := stream{v.Subject, s.Service}
	if _, late := j.talk.late[at]; late {
		since = at.due()
	}
	want := []int{}
	for version := since; version <= s.newest(); version++ {
		if !s.same(version, v.Version, tag) && (version == since || s.changes(version, tag)) {
			want = append(want, version)
		}
	}
	said := j.unwrap(s, v.Version, tag, v.Value)
	have := []int{}
	for _, e := range v.Encodings {
		have = append(have, e.Version)
		form := s.form(j, e.Version, tag, said)
		j.check(string(e.Value) == form && !e.Lossy && len(e.Defaulted) == 0, "fact %d of %s in version %d: want %s, got %s", v.Number, v.Attribute, e.Version, form, e.Value)
	}
	slices.Sort(have)
	j.check(slices.Equal(want, have), "fact %d of %s: want forms in versions %v, got %v", v.Number, v.Attribute, want, have)
}

// unwrap is what somebody said, out of the shape of a version.
func (j *judge) unwrap(s *service, version, tag int, value []byte) string {
	if version > 1 && tag != s.intent() {
		var wrapped map[string]string
		require.NoError(j, json.Unmarshal(value, &wrapped))
		return wrapped[s.in(version).Slots[tag-1]]
	}
	var said string
	require.NoError(j, json.Unmarshal(value, &said))
	if tag == s.intent() && said != noIntent {
		return s.Intents[slices.Index(s.intents(version), said)]
	}
	return said
}
