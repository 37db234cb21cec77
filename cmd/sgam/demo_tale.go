package main

import (
	"context"
	"errors"
	"time"

	"github.com/sgam-ledger/sgam"
)

const (
	demoQuestion = "When is Mira's passport renewal deadline?"
	demoProduct  = "drupal/7"
)

// tale is everything that the demo shows. Each field was read from the ledger.
type tale struct {
	DB     string `json:"db"`
	Kept   bool   `json:"kept"`
	Loaded loaded `json:"loaded"`

	Question string     `json:"question"`
	Search   []hit      `json:"search"`
	Current  sgam.Fact  `json:"current"`
	AsOf     answerJSON `json:"as_of"`

	// EOL is the end of life as it stands, EOLThen what it was believed to be on a day.
	EOL     sgam.Fact  `json:"eol"`
	EOLThen answerJSON `json:"eol_then"`
	// Plans are what it was ever believed to be, with the known times at which the ledger learned it.
	Plans []heldJSON `json:"plans"`
	// Maintained is one question about valid time, asked at two known times.
	Maintained []answerJSON `json:"maintained"`

	Verified bool     `json:"verified"`
	Findings []string `json:"findings,omitempty"`

	lastKnown time.Time
	believed  []sgam.Belief
	timelines [][]sgam.Stretch
}

// day is a moment of the demo.
func day(year int, month time.Month, dayOfMonth int) time.Time {
	return time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC)
}

// tell asks the ledger everything that the demo shows.
func tell(ctx context.Context, l *sgam.Ledger) (*tale, error) {
	t := &tale{Question: demoQuestion}
	if err := t.passport(ctx, l); err != nil {
		return nil, err
	}
	if err := t.releases(ctx, l); err != nil {
		return nil, err
	}
	t.Verified = true
	for err := range l.Verify(ctx) {
		if _, ok := errors.AsType[*sgam.VerifyError](err); !ok {
			return nil, err
		}
		t.Verified = false
		t.Findings = append(t.Findings, oneLine(err.Error()))
	}
	return t, nil
}

// ask puts one question and takes "there is no value" for an answer.
func ask(ctx context.Context, v sgam.View, subject, attribute string) (answerJSON, error) {
	f, err := v.Get(ctx, subject, attribute)
	none, isNone := errors.AsType[*sgam.NoValueError](err)
	if err != nil && !isNone {
		return answerJSON{}, err
	}
	valid, known := v.Pinned()
	if isNone {
		return answerJSON{valid, known, beliefOf(none.By, none.Reason)}, nil
	}
	return answerJSON{valid, known, beliefOf(&f, nil)}, nil
}

// passport asks about Mira: the text search first, then the ledger, now and as of an earlier day.
func (t *tale) passport(ctx context.Context, l *sgam.Ledger) error {
	acme, err := l.Tenant(demoAssistant)
	if err != nil {
		return err
	}
	var episodes []sgam.Episode
	for _, sent := range miraEpisodes() {
		e, err := acme.Episode(ctx, sent.ID)
		if err != nil {
			return err
		}
		episodes = append(episodes, e)
	}
	t.Search = searchText(demoQuestion, episodes)
	if t.Current, err = acme.Current().Get(ctx, "mira", "passport_deadline"); err != nil {
		return err
	}
	june2 := day(2026, time.June, 2)
	t.AsOf, err = ask(ctx, acme.ValidAt(june2).KnownAt(june2), "mira", "passport_deadline")
	return err
}

// releases asks about a real deadline that moved.
func (t *tale) releases(ctx context.Context, l *sgam.Ledger) (err error) {
	eol, err := l.Tenant(demoReleases)
	if err != nil {
		return err
	}
	current := eol.Current()
	if t.EOL, err = current.Get(ctx, demoProduct, "eol_date"); err != nil {
		return err
	}
	then := day(2022, time.December, 31)
	if t.EOLThen, err = ask(ctx, eol.ValidAt(then).KnownAt(then), demoProduct, "eol_date"); err != nil {
		return err
	}
	var valid time.Time
	valid, t.lastKnown = current.Pinned()
	if t.believed, err = beliefsUpTo(ctx, eol, sgam.Slot{Subject: demoProduct, Attribute: "eol_date"}, valid, t.lastKnown); err != nil {
		return err
	}
	for i := range t.believed {
		t.Plans = append(t.Plans, heldOf(&t.believed[i]))
	}
	for _, known := range []time.Time{day(2023, time.January, 1), day(2023, time.July, 1)} {
		v := eol.ValidAt(day(2024, time.June, 1)).KnownAt(known)
		answer, err := ask(ctx, v, demoProduct, "maintained")
		if err != nil {
			return err
		}
		t.Maintained = append(t.Maintained, answer)
		var stretches []sgam.Stretch
		for s, err := range v.Timeline(ctx, sgam.Slot{Subject: demoProduct, Attribute: "maintained"}) {
			if err != nil {
				return err
			}
			stretches = append(stretches, s)
		}
		t.timelines = append(t.timelines, stretches)
	}
	return nil
}
