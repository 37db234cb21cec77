package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // for the history
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// The demo's tenants: one is Mira's assistant, the other keeps software release cycles.
const (
	demoAssistant = "acme"
	demoReleases  = "eol"
)

// eolFacts is a real history: demodata/README.md says where it comes from.
//
//go:embed demodata/eol.facts.jsonl
var eolFacts []byte

// demoRelease are the attributes of one release cycle of a piece of software.
type demoRelease struct {
	EOLDate       sgam.Date `json:"eol_date"`
	Maintained    bool      `json:"maintained"`
	ActiveSupport bool      `json:"active_support"`
	LatestVersion string    `json:"latest_version"`
}

// demoSchemas are the memory types of the demo.
func demoSchemas() (*schema.Registry, sgam.Attribute[sgam.Date], error) {
	registry := schema.NewRegistry()
	deadline, err := schema.Define[sgam.Date](registry, "passport_deadline", 1, &schema.Spec{
		Retention: "identity_documents", Description: "The day by which a passport has to be renewed.",
	})
	if err != nil {
		return nil, deadline, err
	}
	_, err = schema.DefineType[demoRelease](registry, "release", 1, &schema.TypeSpec{
		Description: "One release cycle of a piece of software, as endoflife.date knows it.",
	})
	return registry, deadline, err
}

// miraEpisodes are the two messages of the stale passport.
func miraEpisodes() []sgam.Episode {
	return []sgam.Episode{
		{
			ID: "e1", Kind: sgam.Message, OccurredAt: time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC),
			Text: "Mira's passport renewal deadline is 2026-07-15.",
		},
		{
			ID: "e2", Kind: sgam.Message, OccurredAt: time.Date(2026, 6, 3, 10, 0, 0, 0, time.UTC),
			Text: "Mira corrected the deadline. It is now 2026-06-30.",
		},
	}
}

// writeMira tells the ledger what the two messages say, each at the time at which it came.
func writeMira(ctx context.Context, l *sgam.Ledger, deadline sgam.Attribute[sgam.Date], now *time.Time) error {
	t, err := l.Tenant(demoAssistant)
	if err != nil {
		return err
	}
	days := []sgam.Date{{Year: 2026, Month: time.July, Day: 15}, {Year: 2026, Month: time.June, Day: 30}}
	for i, e := range miraEpisodes() {
		*now = e.OccurredAt
		r, err := t.As("assistant").Apply(ctx, deadline.Assert("mira", days[i], e.OccurredAt).From(e))
		if err != nil {
			return err
		}
		if err := r.Err(); err != nil {
			return err
		}
	}
	return nil
}

// eolLine is one statement of the history.
type eolLine struct {
	RecordedAt time.Time       `json:"recorded_at"`
	Op         sgam.Op         `json:"op"`
	Subject    string          `json:"subject"`
	Attribute  string          `json:"attribute"`
	Value      json.RawMessage `json:"value"`
	ValidFrom  *time.Time      `json:"valid_from"`
	ValidTo    *time.Time      `json:"valid_to"`
	Source     string          `json:"source"`
}

// loaded counts what went into the demo's ledger.
type loaded struct {
	Statements int `json:"statements"`
	Calls      int `json:"calls"`
	Subjects   int `json:"subjects"`
}

// writeReleases replays the history: statements that were recorded together are one call, at the time of the recording.
func writeReleases(ctx context.Context, l *sgam.Ledger) (loaded, error) {
	var sum loaded
	t, err := l.Tenant(demoReleases)
	if err != nil {
		return sum, err
	}
	subjects := map[string]bool{}
	var batch sgam.Batch
	flush := func() error {
		if len(batch.Deltas) == 0 {
			return nil
		}
		receipts, err := t.As("import").ApplyBatch(ctx, batch)
		if err != nil {
			return err
		}
		for _, r := range receipts {
			if err := r.Err(); err != nil {
				return err
			}
		}
		sum.Calls++
		batch = sgam.Batch{}
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(eolFacts))
	for lines.Scan() {
		var line eolLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return sum, fmt.Errorf("the demo's history: %w", err)
		}
		if batch.KnownAt == nil || !batch.KnownAt.Equal(line.RecordedAt) {
			if err := flush(); err != nil {
				return sum, err
			}
			batch.KnownAt = &line.RecordedAt
		}
		batch.Deltas = append(batch.Deltas, line.delta())
		subjects[line.Subject] = true
		sum.Statements++
	}
	if err := lines.Err(); err != nil {
		return sum, fmt.Errorf("the demo's history: %w", err)
	}
	err = flush()
	sum.Subjects = len(subjects)
	return sum, err
}

// delta is the line as a candidate change of memory; the commit that it was read from is its episode.
func (line *eolLine) delta() sgam.MemoryDelta {
	_, at, _ := strings.Cut(line.Source, "@")
	commit, _, _ := strings.Cut(at, ":")
	d := sgam.MemoryDelta{
		Op: line.Op, Subject: line.Subject, Attribute: line.Attribute, Value: line.Value, ValidFrom: line.ValidFrom, ValidTo: line.ValidTo,
		Provenance: sgam.Provenance{Evidence: line.Source},
	}
	return d.From(sgam.Episode{
		ID: commit, Kind: sgam.File, SourceID: "https://github.com/endoflife-date/endoflife.date", OccurredAt: line.RecordedAt,
	})
}
