//go:build cgo && unix

package migrate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
	"github.com/sgam-ledger/sgam/sqlite"
)

const (
	roleVariable = "SGAM_MIGRATE_ROLE"
	argsVariable = "SGAM_MIGRATE_ARGS"
	lifetime     = 2 * time.Minute
)

// child is what a child process is told.
type child struct {
	Path string // of the ledger
	Plan string // the file of the plan
	Name string
}

// runChild plays a role when this process is a child, and reports whether it was one.
func runChild() bool {
	role := os.Getenv(roleVariable)
	if role == "" {
		return false
	}
	time.AfterFunc(lifetime, func() { os.Exit(3) })
	var c child
	err := json.Unmarshal([]byte(os.Getenv(argsVariable)), &c)
	if err == nil {
		err = c.play(context.Background(), role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	return true
}

func (c *child) play(ctx context.Context, role string) error {
	l, err := sqlite.Open(ctx, c.Path, &sgam.Options{Schemas: schema.Stored()})
	if err != nil {
		return err
	}
	if role == "runner" {
		err = c.migrate(ctx, l)
	} else {
		err = c.write(ctx, l)
	}
	if err != nil {
		return err
	}
	return l.Close()
}

// migrate runs the plan, and says each batch.
func (c *child) migrate(ctx context.Context, l *sgam.Ledger) error {
	text, err := os.ReadFile(c.Plan)
	if err != nil {
		return err
	}
	plan, err := migrate.Parse(text)
	if err != nil {
		return err
	}
	opts := &migrate.RunOptions{Holder: c.Name, BatchSize: 3, TakeOver: true, Progress: func(p migrate.Progress) { fmt.Println(p.Done) }}
	return migrate.Run(ctx, l, plan, opts)
}

// write makes statements under both versions in turn, and says each one that was acknowledged.
func (c *child) write(ctx context.Context, l *sgam.Ledger) error {
	tenant, err := l.Tenant("acme")
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s-%d", c.Name, i)
		d := sgam.MemoryDelta{Op: sgam.Assert, Subject: name, Attribute: "profile", SchemaVersion: 1 + i%2}
		d.Value = fmt.Appendf(nil, []string{`{"name":%q}`, `{"full_name":%q}`}[i%2], name)
		r, err := tenant.Apply(ctx, d.From(sgam.Episode{ID: name, Kind: sgam.Message, OccurredAt: dayOne}))
		if err == nil {
			err = r.Err()
		}
		if err != nil {
			return err
		}
		fmt.Println(name)
	}
}

// running is a child at work.
type running struct {
	*exec.Cmd
	out    *bufio.Reader
	errors strings.Builder
	heard  []string
}

func (c child) start(t *testing.T, role string) *running {
	t.Helper()
	args, err := json.Marshal(c)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	r := &running{Cmd: exec.CommandContext(t.Context(), self)}
	r.Env = append(os.Environ(), roleVariable+"="+role, argsVariable+"="+string(args))
	r.Stderr = &r.errors
	out, err := r.StdoutPipe()
	require.NoError(t, err)
	r.out = bufio.NewReader(out)
	require.NoError(t, r.Start())
	return r
}

// hear waits for a line, and reports whether there was one before the end.
func (r *running) hear(t *testing.T) bool {
	t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		require.ErrorIs(t, err, io.EOF)
		return false // a line that death cut short was never said
	}
	r.heard = append(r.heard, strings.TrimSpace(line))
	return true
}

// die kills the child and hears what it said before.
func (r *running) die(t *testing.T) {
	t.Helper()
	require.NoError(t, r.Process.Kill())
	r.end(t)
}

func (r *running) end(t *testing.T) {
	t.Helper()
	for r.hear(t) {
	}
	_ = r.Wait() // it was killed, or has said why on standard error
	require.Empty(t, r.errors.String())
}

// TestDeathAtAnyTimeLosesNothing kills runs at random moments while somebody writes under both versions.
func TestDeathAtAnyTimeLosesNothing(t *testing.T) {
	kills, facts := 6, 120
	if os.Getenv("SGAM_ALL") != "" {
		kills, facts = 60, 1500
	}
	const seed = 20260601
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	c := child{Path: filepath.Join(dir, "a.db"), Plan: filepath.Join(dir, "plan.json")}
	w := newWorld(t, engine{"sqlite", func(testing.TB) func(context.Context, *sgam.Options) (sgam.Store, error) {
		return func(ctx context.Context, opts *sgam.Options) (sgam.Store, error) {
			return sqlite.OpenStore(ctx, c.Path, opts)
		}
	}})
	w.clock.Set(time.Now())
	w.fill(facts)
	w.register(lens2)
	plan := w.draw()
	text, err := plan.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.Plan, text, 0o600))

	// The window must be open before anybody writes under version 2.
	w.begin(plan)
	var acknowledged []string
	deaths := 0
	for n := range kills {
		c.Name = fmt.Sprintf("w%d", n)
		writer := c.start(t, "writer")
		require.True(t, writer.hear(t), writer.errors.String())
		runner := c.start(t, "runner")
		for range random.IntN(4) {
			runner.hear(t)
		}
		for range random.IntN(6) {
			require.True(t, writer.hear(t), writer.errors.String())
		}
		runner.die(t)
		writer.die(t)
		if w.standing().State == migrate.Expanding {
			deaths++
		}
		acknowledged = append(acknowledged, writer.heard...)
	}
	require.NotZero(t, deaths, "some run was killed before its end")
	w.clock.Set(time.Now())
	require.NoError(t, migrate.Run(t.Context(), w.Ledger, plan, &migrate.RunOptions{TakeOver: true}))
	w.whole()
	require.Equal(t, int64(facts), w.standing().Counts.Looked, "nothing is counted twice")
	w.verify()
	w.cutover()
	for _, name := range acknowledged {
		require.JSONEq(t, fmt.Sprintf(`{"full_name":%q}`, name), string(w.get(w.tenant.Current(), name, "profile").Value))
		require.JSONEq(t, fmt.Sprintf(`{"name":%q}`, name), string(w.get(w.tenant.Current().AtVersion("contact", 1), name, "profile").Value))
	}
	t.Logf("%d runs were killed at work, %d statements acknowledged", deaths, len(acknowledged))
}
