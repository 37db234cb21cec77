package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/schema"
)

// replaying are the flags of replay.
type replaying struct {
	facts, questions string
	schemas, cases   []string
}

func (p *program) replay() *cobra.Command {
	var r replaying
	c := &cobra.Command{
		Use:   "replay --facts FILE --questions FILE | --cases FILE",
		Short: "Load a recorded history and ask it questions with known answers",
		Args:  needs(),
		Long: `Load a history, one call for each recorded_at with that known time, ask every question, and print a scorecard. Files may be
compressed with gzip. docs/guide/replay.md describes them: they are how to test the ledger on a history of your own.

Without --schema the history's own types are registered: an attribute for each name, of the JSON type that its values have.
--cases plays published cases of sequenced modification instead. The ledger is a temporary file and goes away, unless --db
names one. The exit code is 0 only if every answer is right.`,
		Example: `  sgam replay --facts facts.jsonl.gz --questions questions.jsonl.gz
  sgam replay --facts facts.jsonl --questions questions.jsonl --schema types.json --db history.db
  sgam replay --cases cases.json`,
		RunE: func(c *cobra.Command, _ []string) error {
			history := r.facts != "" || r.questions != "" || len(r.schemas) > 0
			switch {
			case len(r.cases) > 0 && history:
				return usage("--cases excludes --facts, --questions and --schema")
			case len(r.cases) > 0:
				return p.replayCases(c.Context(), r.cases)
			case r.facts == "" || r.questions == "":
				return usage("%s needs --facts and --questions, or --cases", c.CommandPath())
			}
			return p.replayHistory(c.Context(), &r)
		},
	}
	c.Flags().StringVar(&r.facts, "facts", "", "the history: a `file` of JSON lines")
	c.Flags().StringVar(&r.questions, "questions", "", "the questions and their answers: a `file` of JSON lines")
	c.Flags().StringArrayVar(&r.schemas, "schema", nil, "a schema document: a `file`, may be repeated")
	c.Flags().StringArrayVar(&r.cases, "cases", nil, "sequenced cases: a `file`, may be repeated")
	return c
}

// refusals remembers a call that the ledger did not decide, which tells a failing ledger from a faulty file.
type refusals struct{ err error }

func (r *refusals) Refused(_ string, err error) { r.err = err }

// Decided, Retried and Read are of no interest here.
func (*refusals) Decided(string, string, sgam.Outcome, string) {}

func (*refusals) Retried(string, int, error) {}

func (*refusals) Read(string, sgam.QueryKind, int, time.Duration) {}

// inFile names the file in an error, unless the error does, and makes a fault of the file one of usage.
func (r *refusals) inFile(name string, err error) error {
	if !strings.HasPrefix(err.Error(), filepath.Base(name)+":") {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if r.err == nil && codeOf(err) == exitUnreadable && !errors.Is(err, context.Canceled) {
		return usage("%w", err)
	}
	return err
}

func (p *program) replayHistory(ctx context.Context, r *replaying) (err error) {
	registry, inferred, err := p.historyTypes(ctx, r)
	if err != nil {
		return err
	}
	// Both files are opened before anything is written.
	facts, err := openInput(r.facts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, facts.Close()) }()
	questions, err := openInput(r.questions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, questions.Close()) }()

	var seen refusals
	card := &scorecard{Inferred: inferred}
	err = p.scratchLedger(ctx, &sgam.Options{Schemas: registry, Observe: &seen}, func(l *sgam.Ledger) error {
		t, err := l.Tenant(p.flags.tenant)
		if err != nil {
			return usage("--tenant %q: %w", p.flags.tenant, err)
		}
		err = p.timed("loading", func(opts *ledgertest.ReplayOptions) error {
			load, err := ledgertest.LoadFacts(ctx, t, facts, opts)
			card.load(&load)
			return err
		})
		if err != nil {
			return seen.inFile(r.facts, err)
		}
		var answers *ledgertest.Scorecard
		err = p.timed("asking", func(opts *ledgertest.ReplayOptions) (err error) {
			answers, err = ledgertest.AskQuestions(ctx, t, questions, opts)
			return err
		})
		if err != nil {
			return seen.inFile(r.questions, err)
		}
		card.add(r.questions, answers)
		return nil
	})
	if err != nil {
		return err
	}
	return p.showScorecard(card)
}

// historyTypes are the memory types of a history: the given ones, or what the data shows.
func (p *program) historyTypes(ctx context.Context, r *replaying) (registry *schema.Registry, inferred []inferredJSON, err error) {
	registry = schema.NewRegistry()
	for _, name := range r.schemas {
		doc, err := p.document(name)
		if err != nil {
			return nil, nil, err
		}
		if _, err := registry.Add(doc.JSON); err != nil {
			return nil, nil, usage("--schema %s: %w", name, err)
		}
	}
	if len(r.schemas) > 0 {
		return registry, nil, nil
	}
	facts, err := openInput(r.facts)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, facts.Close()) }()
	attributes, err := ledgertest.InferAttributes(ctx, facts)
	if err != nil {
		return nil, nil, (&refusals{}).inFile(r.facts, err)
	}
	inferred, err = declare(registry, attributes)
	if err != nil {
		return nil, nil, usage("%s: %w; --schema may describe it", r.facts, err)
	}
	return registry, inferred, nil
}

func (p *program) replayCases(ctx context.Context, names []string) error {
	card := &scorecard{}
	var seen refusals
	opts := &sgam.Options{Schemas: ledgertest.NewSchemas(ledgertest.CaseAttribute()), Observe: &seen}
	err := p.scratchLedger(ctx, opts, func(l *sgam.Ledger) error {
		for _, name := range names {
			if err := p.playCases(ctx, l, name, card, &seen); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.showScorecard(card)
}

func (p *program) playCases(ctx context.Context, l *sgam.Ledger, name string, card *scorecard, seen *refusals) (err error) {
	in, err := openInput(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	var answers *ledgertest.Scorecard
	err = p.timed("playing", func(opts *ledgertest.ReplayOptions) (err error) {
		answers, err = ledgertest.PlayCases(ctx, l, filepath.Base(name), in, opts)
		return err
	})
	if err != nil {
		return seen.inFile(name, err)
	}
	card.add(name, answers)
	return nil
}
