package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
)

// scenarioJSON is the answer about one scenario.
type scenarioJSON struct {
	File     string        `json:"file"`
	OK       bool          `json:"ok"`
	Failures []failureJSON `json:"failures"`
}

type failureJSON struct {
	Line  int    `json:"line"`
	Asked string `json:"asked"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

func (p *program) scenario() *cobra.Command {
	return &cobra.Command{
		Use:   "scenario FILE…",
		Short: "Run stories about a ledger, written as text, and compare every answer",
		Args:  needs("FILE…"),
		Long: `Run text scenarios: what was said when, and what must be answered afterwards. Each file gets a new ledger of its own and
a clock that stands where the story says; "-" is standard input. docs/guide/scenarios.md describes the text.

The ledger is a temporary file and goes away, unless --db names a new file for the one scenario that is run.`,
		Example: `  sgam scenario passport.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			if p.flags.db != "" && len(args) > 1 {
				return usage("--db keeps the ledger of one scenario, and %d are named", len(args))
			}
			if p.flags.db != "" {
				if err := mustBeNew(p.flags.db); err != nil {
					return err
				}
			}
			wrong := false
			for _, name := range args {
				ok, err := p.play(c.Context(), name)
				if err != nil {
					return err
				}
				wrong = wrong || !ok
			}
			if wrong {
				return no()
			}
			return nil
		},
	}
}

// play runs one scenario and reports it. It returns whether every answer was the expected one.
func (p *program) play(ctx context.Context, name string) (ok bool, err error) {
	scenario, err := p.readScenario(name)
	if err != nil {
		return false, err
	}
	clock := ledgertest.NewClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	opts := scenario.Options(clock)
	opts.Rand = p.rand
	var failures []ledgertest.Failure
	err = p.scratchLedger(ctx, opts, func(l *sgam.Ledger) (err error) {
		failures, err = scenario.Run(ctx, l, clock)
		return err
	})
	if err != nil && codeOf(err) == exitUnreadable && ctx.Err() == nil {
		return false, usage("%w", err) // the story itself cannot go on
	}
	if err != nil {
		return false, err
	}
	p.reportScenario(scenario.Name, failures)
	return len(failures) == 0, nil
}

func (p *program) readScenario(name string) (_ *ledgertest.Scenario, err error) {
	in := io.NopCloser(p.in)
	if name == "-" {
		name = "stdin"
	} else if in, err = openInput(name); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	scenario, err := ledgertest.ParseScenario(name, in)
	if err != nil {
		return nil, usage("%w", err)
	}
	return scenario, nil
}

func (p *program) reportScenario(name string, failures []ledgertest.Failure) {
	if p.flags.json {
		out := scenarioJSON{File: name, OK: len(failures) == 0, Failures: []failureJSON{}}
		for _, f := range failures {
			out.Failures = append(out.Failures, failureJSON(f))
		}
		p.out.json(out)
		return
	}
	for _, f := range failures {
		p.out.println(p.out.paint(bad, fmt.Sprintf("%s:%d:", name, f.Line)), " ", printable(strings.TrimSpace(f.Asked)))
		p.out.println("  want ", answerText(f.Want))
		p.out.println("  got  ", answerText(f.Got))
	}
	if len(failures) == 0 {
		p.out.println(name, ": ", p.out.paint(good, "every answer is the expected one"))
		return
	}
	p.out.println(name, ": ", p.out.paint(bad, count(len(failures), "answer is wrong", "answers are wrong")))
}

// answerText keeps an answer of several lines readable under its label.
func answerText(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = printable(strings.TrimSpace(lines[i]))
	}
	return strings.Join(lines, "\n       ")
}
