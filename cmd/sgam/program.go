package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// program is one run of the command line and everything that it takes from outside, so that a test can be that outside.
type program struct {
	name string // as the user called it
	in   io.Reader
	out  *screen
	err  *screen
	// clock and rand go to the ledger; nil is the ledger's own default.
	clock func() time.Time
	rand  io.Reader
	// stopwatch measures how long things take.
	stopwatch   func() time.Time
	open        func(ctx context.Context, path string, opts *sgam.Options) (*sgam.Ledger, error)
	upgradeFile func(ctx context.Context, path string) error

	flags globalFlags
}

// globalFlags are understood by every command.
type globalFlags struct {
	db, tenant, zone string
	json             bool
	tenantGiven      bool
}

func newProgram(name string, in io.Reader, out, err io.Writer) *program {
	return &program{
		name: name, in: in, out: newScreen(out, os.Getenv), err: newScreen(err, os.Getenv), stopwatch: time.Now,
		open: sqlite.Open, upgradeFile: sqlite.Upgrade,
	}
}

// run carries out one command line and returns its exit code. It can be called once.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root() //nolint:contextcheck // each command gets the context from cobra
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if flushed := p.out.flush(); err == nil && flushed != nil {
		err = fmt.Errorf("write the output: %w", flushed)
	}
	code, line := p.judge(ctx, err)
	if line != "" {
		p.err.printf("sgam: %s\n", line)
	}
	if p.err.flush() != nil && code == exitOK {
		return exitUnreadable
	}
	return code
}

const (
	groupWrite = "write"
	groupRead  = "read"
	groupCheck = "check"
)

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sgam",
		Short: "A ledger of typed facts on two time axes: when it was true, and when we knew",
		Long: `sgam keeps typed facts on two time axes: valid time, when something was true in the world, and known time, when the
ledger learned it. Every flag that takes a time says which axis it means. A time is text with an offset, such as
2026-06-03T10:00Z, or a plain date: the start of that day, UTC unless --zone names a time zone.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetIn(p.in)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%s (see '%s --help')", oneLine(err.Error()), c.CommandPath())
	})
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		p.flags.tenantGiven = c.Flags().Changed("tenant")
	}
	f := root.PersistentFlags()
	f.StringVar(&p.flags.db, "db", "", "the ledger's `file`")
	f.StringVar(&p.flags.tenant, "tenant", "default", "whose memory it is: the `name` of a tenant")
	f.BoolVar(&p.flags.json, "json", false, "print JSON: one document, or one a line for lists and receipts")
	f.StringVar(&p.flags.zone, "zone", "UTC", "the time `zone` of plain dates in flags and of the times shown, such as Europe/Berlin")

	root.AddGroup(
		&cobra.Group{ID: groupWrite, Title: "Write:"},
		&cobra.Group{ID: groupRead, Title: "Read:"},
		&cobra.Group{ID: groupCheck, Title: "Check and try:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add(groupWrite, p.schema(), p.apply(), p.withdraw(), p.accept(), p.decline(), p.migrate(), p.copy(), p.initLedger(), p.upgrade())
	add(groupRead, p.get(), p.facts(), p.timeline(), p.history(), p.believed(), p.diff(), p.explain(), p.outcomes())
	add(groupCheck, p.demo(), p.verify(), p.replay(), p.scenario(), p.version())
	root.SetHelpCommandGroupID(groupCheck)
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// noSuchCommand refuses arguments of a command that only has subcommands.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	line := fmt.Sprintf("unknown command %q", args[0])
	c.SuggestionsMinimumDistance = 2
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		return usage("%s: did you mean %q?", line, like[0])
	}
	return usage("%s (see '%s --help')", line, c.CommandPath())
}

// needs checks the number of a command's arguments. A last name that ends in "…" takes one or more.
func needs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		n := len(names)
		many := n > 0 && strings.HasSuffix(names[n-1], "…")
		switch {
		case len(args) == n || many && len(args) > n:
			return nil
		case n == 0:
			return usage("%s takes no arguments, and got %q", c.CommandPath(), args[0])
		default:
			return usage("%s needs %s: %d given", c.CommandPath(), strings.Join(names, " and "), len(args))
		}
	}
}

// atMostOne refuses flags that exclude each other.
func atMostOne(c *cobra.Command, flags ...string) error {
	var given []string
	for _, f := range flags {
		if c.Flags().Changed(f) {
			given = append(given, "--"+f)
		}
	}
	if len(given) > 1 {
		return usage("%s exclude each other", strings.Join(given, " and "))
	}
	return nil
}
