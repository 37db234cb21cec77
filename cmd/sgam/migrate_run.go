package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

func (p *program) migrateRun() *cobra.Command {
	var wr writer
	var o migrate.RunOptions
	c := &cobra.Command{
		Use:   "run PLAN",
		Short: "Carry out a plan: store every fact in both versions",
		Args:  needs("PLAN"),
		Long: `Store every fact that the plan is about in both versions, batch by batch, from the newest to the oldest. From its start on
what programs write is stored in both too, and what they read is as before until 'sgam migrate cutover'.

A run may be interrupted or killed at any moment: a batch is stored whole or not at all, and the same command goes on from
there. One runner holds a tenant at a time. One that was killed holds it for another minute; --take-over does not wait, and
ends the other one if it is alive after all. A runner with the same --holder goes on at once.

It shows a progress bar on a terminal; --json prints a line for each batch.`,
		Example: `  sgam migrate run plan.json --db agent.db --principal ops`,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("batch") && o.BatchSize < 1 {
				return usage("--batch %d: want a number from 1 on", o.BatchSize)
			}
			plan, err := p.planFile(args[0])
			if err != nil {
				return err
			}
			o.Principal = wr.principal
			if o.Holder == "" {
				if o.Holder, err = processName(); err != nil {
					return err
				}
			}
			return p.writing(c.Context(), false, func(l *sgam.Ledger) error { return p.runPlan(c.Context(), l, plan, &o) })
		},
	}
	c.Flags().StringVar(&o.Holder, "holder", "", "the `name` of this runner towards others (default the host and the process)")
	c.Flags().BoolVar(&o.TakeOver, "take-over", false, "do not wait for a runner that holds a tenant")
	c.Flags().IntVar(&o.BatchSize, "batch", 0, "how many `facts` are stored at once (default 2000)")
	wr.add(c)
	return c
}

// processName tells this process from others.
func processName() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("--holder is missing, and this host has no name: %w", err)
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid()), nil
}

func (p *program) runPlan(ctx context.Context, l *sgam.Ledger, plan *migrate.Plan, o *migrate.RunOptions) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	r := backfillReport{p: p, told: map[string]int64{}}
	o.Progress = r.progress
	err = migrate.Run(ctx, l, plan, o)
	r.close()
	if fe, ok := fieldError(err); ok && fe.Field == "BatchSize" {
		return usage("--batch %d: want %s", o.BatchSize, fe.Want)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &verdict{code: exitInterrupted, line: r.interrupted(), cause: err}
	}
	if err != nil {
		return w.migrationFault(plan.Type, err)
	}
	return p.showRun(ctx, l, w, plan, &r)
}

// backfillReport tells how far a run has come.
type backfillReport struct {
	p    *program
	bar  *progressbar.ProgressBar
	last migrate.Progress
	told map[string]int64 // by tenant, the tenths that were told
}

func (r *backfillReport) progress(now migrate.Progress) {
	if r.bar != nil && now.Tenant != r.last.Tenant {
		r.close()
	}
	r.last = now
	tenth := int64(10)
	if now.Total > 0 {
		tenth = now.Done * 10 / now.Total
	}
	before, ok := r.told[now.Tenant]
	r.told[now.Tenant] = tenth
	out := r.p.out
	switch {
	case r.p.flags.json:
		out.json(now)
	case r.p.err.tty:
		r.draw(&now)
	case !ok || before != tenth:
		out.println(printable(now.Tenant), ": ", ofTotal(&now))
	}
	out.keep(out.flush())
}

// longestTenant is how many characters of a tenant's name stand in front of a progress bar.
const longestTenant = 16

func (r *backfillReport) draw(now *migrate.Progress) {
	screen := r.p.err
	if r.bar == nil {
		r.bar = progressbar.NewOptions64(max(now.Total, now.Done),
			progressbar.OptionSetWriter(screen.unbuffered()), progressbar.OptionSetDescription(cut(printable(now.Tenant), longestTenant)),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false), // a run that goes on would count what another one did as its own
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(screen.color))
	}
	if now.Done > r.bar.GetMax64() { // programs have written since the plan was drawn
		r.bar.ChangeMax64(now.Done)
	}
	screen.keep(r.bar.Set64(now.Done))
}

// close takes the bar away.
func (r *backfillReport) close() {
	if r.bar != nil {
		r.p.err.keep(r.bar.Clear())
		r.bar = nil
	}
}

// ofTotal says how many facts are done. The total is that of the plan, and may have grown since.
func ofTotal(now *migrate.Progress) string {
	return grouped(int(now.Done)) + " of " + facts(max(now.Total, now.Done))
}

func (r *backfillReport) interrupted() string {
	const more = ": the same command goes on from there"
	if r.last.Tenant == "" {
		return "interrupted before the first batch" + more
	}
	return fmt.Sprintf("interrupted after %s of tenant %q%s", ofTotal(&r.last), r.last.Tenant, more)
}

// showRun tells where the tenants of a plan are after a run.
func (p *program) showRun(ctx context.Context, l *sgam.Ledger, w words, plan *migrate.Plan, r *backfillReport) error {
	counts := w.tally([]column{{name: "TENANT", flex: yields, ink: strong}, {name: "STATE"}},
		"FACTS", "CONVERTED", "QUARANTINE", "STAY", "REMOVED", "ERASED")
	waiting := int64(0)
	dual := false
	for i := range plan.Tenants {
		part := &plan.Tenants[i]
		all, err := migrate.Status(ctx, l, part.Tenant)
		if err != nil {
			return err
		}
		n := slices.IndexFunc(all, func(m migrate.Migration) bool { return m.Type == plan.Type && m.Serial == part.Serial })
		if n < 0 {
			continue // nothing was recorded, and so nothing was run
		}
		m, c := &all[n], &all[n].Counts
		counts.add([]string{printable(m.Tenant), stateWord(m.State, m.Paused)}, c.Looked, c.Converted, c.Quarantined, c.Recorded+c.Encoded, c.Removed, c.Erased)
		dual = dual || m.State == migrate.Dual
		if dual && plan.Quarantine == migrate.RefuseQuarantine {
			waiting += c.Quarantined
		}
		if _, ran := r.told[m.Tenant]; p.flags.json && !ran {
			now := migrate.Progress{Tenant: m.Tenant, Done: c.Looked, Cursor: m.Cursor, Counts: *c, State: m.State}
			for j := range part.Attributes {
				now.Total += part.Attributes[j].Facts
			}
			p.out.json(now)
		}
	}
	if p.flags.json {
		return nil
	}
	counts.w.indent = ""
	counts.flush()
	switch {
	case waiting > 0:
		p.out.sentence("the cut-over will wait for ", facts(waiting), " in quarantine: 'sgam migrate status ", printable(plan.Type), "' says why")
	case dual:
		p.out.println("next: sgam migrate verify ", printable(plan.Type))
	}
	return nil
}
