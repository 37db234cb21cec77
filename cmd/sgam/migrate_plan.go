package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

// planning are the decisions that go into a plan, as flags.
type planning struct {
	from, to  int
	deletions []string
	leave     bool
	out       string
}

// deletionWords are the deletion rules as --delete takes them.
var deletionWords = map[string]schema.Disposition{"keep": schema.KeepReadable, "expire": schema.Expire, "erase": schema.Erase}

func (p *program) migratePlan() *cobra.Command {
	var f planning
	c := &cobra.Command{
		Use:   "plan TYPE -o FILE",
		Short: "Count what would become of every fact, and keep that as a plan",
		Args:  needs("TYPE"),
		Long: `Read every fact of a memory type, convert it, count what would become of it, and keep that with every decision in one file,
which 'sgam migrate run' carries out. Nothing in the ledger is changed. Of several tenants, those that read the oldest version
are migrated unless --from names another one; the plan says who is left out and why.

An attribute that the new version removes needs a deletion rule: keep leaves its facts readable in the old version, expire and
erase delete them when the migration is contracted.

A plan file that is there is not overwritten: a run that was interrupted goes on with its own plan alone. The exit code is 1
when there is nothing to migrate, and 3 when the new version changes what no migration may change, or a decision is missing.`,
		Example: `  sgam migrate plan contact --delete fax=keep -o plan.json --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			opts, err := f.options(c, args[0])
			if err != nil {
				return err
			}
			if err := f.mustBeNew(); err != nil {
				return err
			}
			opts.Clock = p.stopwatch
			return p.reading(c.Context(), func(l *sgam.Ledger) error { return p.drawPlan(c.Context(), l, opts, &f) })
		},
	}
	c.Flags().IntVar(&f.from, "from", 0, "the `version` to migrate from (default the oldest that a tenant reads)")
	c.Flags().IntVar(&f.to, "to", 0, "the `version` to migrate to (default the newest)")
	c.Flags().StringArrayVar(&f.deletions, "delete", nil, "`NAME=WHAT` becomes of a removed attribute's facts: keep, expire or erase; can be given again")
	c.Flags().BoolVar(&f.leave, "leave-quarantine", false, "cut over although facts have no form in the new version")
	c.Flags().StringVarP(&f.out, "output", "o", "", "the `file` that the plan is written to, - for standard output (default it is only shown)")
	return c
}

// options reads the decisions among the flags.
func (f *planning) options(c *cobra.Command, typ string) (migrate.Options, error) {
	o := migrate.Options{Type: typ, From: f.from, To: f.to, Deletions: map[string]schema.Disposition{}}
	for _, flag := range []string{"from", "to"} {
		if n := map[string]int{"from": f.from, "to": f.to}[flag]; c.Flags().Changed(flag) && n < 1 {
			return o, usage("--%s %d: want a version from 1 on", flag, n)
		}
	}
	for _, d := range f.deletions {
		name, word, _ := strings.Cut(d, "=")
		rule, ok := deletionWords[word]
		if !ok || name == "" {
			return o, usage("--delete %q: want NAME=WHAT with keep, expire or erase", d)
		}
		o.Deletions[name] = rule
	}
	if f.leave {
		o.Quarantine = migrate.LeaveQuarantine
	}
	return o, nil
}

// toFile says whether the plan goes to a file.
func (f *planning) toFile() bool { return f.out != "" && f.out != "-" }

// mustBeNew looks before every fact is read.
func (f *planning) mustBeNew() error {
	if !f.toFile() {
		return nil
	}
	_, err := os.Lstat(f.out)
	if err == nil {
		return f.there(fs.ErrExist)
	}
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(f.out))
	}
	if err != nil {
		return usage("--output: %w", fileFault(err))
	}
	return nil
}

func (f *planning) there(err error) error {
	return refused(err, "--output: %s is there already, and a plan is not overwritten", f.out)
}

func (p *program) drawPlan(ctx context.Context, l *sgam.Ledger, opts migrate.Options, f *planning) error {
	w, err := p.words()
	if err != nil {
		return err
	}
	if opts.Tenants, err = p.migrationTenants(ctx, l); err != nil {
		return err
	}
	plan, err := migrate.Draw(ctx, l, opts)
	if err != nil {
		return p.planFault(ctx, l, &opts, err)
	}
	text, err := plan.Encode()
	if err != nil {
		return err
	}
	if err := f.write(text); err != nil {
		return err
	}
	switch {
	case p.flags.json:
		p.out.json(json.RawMessage(text))
		return nil
	case f.out == "-":
		p.out.println(string(text))
		w.s = p.err
	}
	digest, err := plan.Digest()
	if err != nil {
		return err
	}
	p.showPlan(w, plan)
	switch {
	case f.toFile():
		w.s.sentence("plan ", digest[:8], " written to ", f.out, ": 'sgam migrate dry-run' shows what it would do, value by value")
	case f.out == "":
		w.s.println("plan ", digest[:8], " is not kept: -o writes it to a file")
	}
	return nil
}

// write keeps the plan, whole or not at all.
func (f *planning) write(text []byte) (err error) {
	if !f.toFile() {
		return nil
	}
	out, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return f.there(err)
	}
	if err != nil {
		return usage("--output: %w", fileFault(err))
	}
	_, err = out.Write(append(text, '\n'))
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("--output: %w", errors.Join(err, os.Remove(f.out)))
	}
	return nil
}

// planFault says what to do when there can be no plan.
func (p *program) planFault(ctx context.Context, l *sgam.Ledger, o *migrate.Options, err error) error {
	if missing, ok := errors.AsType[*migrate.DeletionRuleError](err); ok {
		flags := make([]string, len(missing.Attributes))
		for i, a := range missing.Attributes {
			flags[i] = "--delete " + a + "=keep"
		}
		return refused(err, "the new version removes %s, and nothing says what becomes of the facts: give %s, or expire or erase instead of keep",
			strings.Join(missing.Attributes, ", "), strings.Join(flags, " "))
	}
	if r, ok := errors.AsType[*migrate.RefusedError](err); ok {
		return p.showRefusal(r)
	}
	if fe, ok := fieldError(err); ok {
		switch attribute, deletion := strings.CutPrefix(fe.Field, "deletions/"); {
		case fe.Field == "type":
			return &verdict{code: exitNo, line: notThere(o.Type, 0), cause: err}
		case fe.Field == "from", fe.Field == "to":
			return usage("--%s: want %s", fe.Field, fe.Want)
		case deletion:
			return usage("--delete %s: want %s", attribute, fe.Want)
		}
	}
	switch {
	case errors.Is(err, migrate.ErrNothing):
		under, failed := migrate.Status(ctx, l, o.Tenants...)
		if failed != nil {
			return errors.Join(err, failed)
		}
		for i := range under {
			if m := &under[i]; m.Type == o.Type && underWay(m.State) {
				return refused(err, "a migration of tenant %q is %s already: end it first, or roll it back", m.Tenant, stateWord(m.State, m.Paused))
			}
		}
		return &verdict{code: exitNo, line: fmt.Sprintf("there is nothing to migrate: no tenant has facts of %q in an older version", o.Type), cause: err}
	case errors.Is(err, migrate.ErrSameShape):
		return &verdict{code: exitNo, line: "both versions read the same values: writers move on by themselves, and nothing is to be migrated", cause: err}
	}
	return err
}

// showRefusal lists the changes that stand in the way.
func (p *program) showRefusal(r *migrate.RefusedError) error {
	if p.flags.json {
		p.out.json(struct {
			Refused []schema.Change `json:"refused"`
		}{r.Changes})
	} else {
		rows := p.out.list(append([]column{{name: "RULE"}}, changeColumns...)...)
		var todo todoList
		for _, c := range r.Changes {
			rows.add(append([]string{c.Rule}, changeCells(c)...)...)
			todo.add(c)
		}
		rows.flush()
		p.showTodo(todo, "")
	}
	if errors.Is(r, migrate.ErrNewAttribute) {
		return refused(r, "such facts belong in an attribute of their own: no migration makes others of them")
	}
	return refused(r, "the new version changes what no migration may change")
}
