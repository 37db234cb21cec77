//go:build cgo && unix

package crashtest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
	"github.com/sgam-ledger/sgam/sqlite"
)

// migrating tells a child to carry a migration out to its cut-over.
type migrating struct{ Path, Plan string }

// migrateAlone writes on one thread, since strace counts by thread: a run writes where it was called.
func migrateAlone(ctx context.Context, args migrating, _ *parent) error {
	runtime.LockOSThread()
	text, err := os.ReadFile(args.Plan)
	if err != nil {
		return err
	}
	plan, err := migrate.Parse(text)
	if err != nil {
		return err
	}
	l, err := sqlite.Open(ctx, args.Path, &sgam.Options{Schemas: schema.Stored()})
	if err != nil {
		return err
	}
	if err := carryOut(ctx, l, plan); err != nil {
		return err
	}
	return l.Close()
}

// carryOut goes on with a migration from wherever it is.
func carryOut(ctx context.Context, l *sgam.Ledger, plan *migrate.Plan) error {
	if err := migrate.Run(ctx, l, plan, &migrate.RunOptions{Principal: "ops", Holder: "a runner", BatchSize: 8, TakeOver: true}); err != nil {
		return err
	}
	for _, step := range []struct {
		from migrate.State
		take func() error
	}{
		{migrate.Dual, func() error { _, err := migrate.Verify(ctx, l, plan.Target("ops")); return err }},
		{migrate.Verified, func() error { return migrate.Cutover(ctx, l, plan.Target("ops")) }},
	} {
		all, err := migrate.Status(ctx, l)
		if err != nil {
			return err
		}
		if all[0].State != step.from {
			continue
		}
		if err := step.take(); err != nil {
			return err
		}
	}
	return nil
}

const migrated = 30 // facts

// beforeTheRun is a file with facts of one version, a second version with a lens, and a plan.
func beforeTheRun(t *testing.T) migrating {
	t.Helper()
	ctx := t.Context()
	dir := t.TempDir()
	m := migrating{Path: filepath.Join(dir, "a.db"), Plan: filepath.Join(dir, "plan.json")}
	const version = `{"type":"order","version":%d,"attributes":[{"tag":1,"name":"total","schema":%s}]}`
	types := schema.NewRegistry()
	_, err := types.Add(fmt.Appendf(nil, version, 1, `{"type":"number"}`))
	require.NoError(t, err)
	l, err := sqlite.Open(ctx, m.Path, &sgam.Options{Schemas: types})
	require.NoError(t, err)
	acme, err := l.Tenant("acme")
	require.NoError(t, err)
	for n := range migrated {
		d := sgam.MemoryDelta{Op: sgam.Assert, Subject: fmt.Sprintf("s%02d", n%20), Attribute: "total", Value: fmt.Appendf(nil, "%d", n), ValidFrom: new(day(n))}
		r, err := acme.Apply(ctx, d.From(episode(fmt.Sprint("e", n))))
		require.NoError(t, err)
		require.Equal(t, sgam.Applied, r.Outcome)
	}
	_, err = types.Add(fmt.Appendf(nil, version, 2, `{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"]}`))
	require.NoError(t, err)
	require.NoError(t, types.AddLens([]byte(`{"type":"order","version":2,"attributes":[{"tag":1,"ops":[{"op":"wrap","prop":"amount"}]}]}`)))
	docs, err := types.Declared()
	require.NoError(t, err)
	require.NoError(t, l.Register(ctx, docs[1]))
	plan, err := migrate.Draw(ctx, l, migrate.Options{Type: "order"})
	require.NoError(t, err)
	text, err := plan.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.Plan, text, 0o600))
	require.NoError(t, l.Close())
	return m
}

// copied is the prepared ledger in a folder of its own, which strace watches as a whole.
func (m migrating) copied(t *testing.T) (own migrating, log string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	own = migrating{Path: filepath.Join(dir, "ledger", "a.db"), Plan: m.Plan}
	require.NoError(t, os.Mkdir(filepath.Dir(own.Path), 0o700))
	for _, suffix := range []string{"", ".keys"} {
		content, err := os.ReadFile(m.Path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(own.Path+suffix, content, 0o600))
	}
	return own, filepath.Join(dir, "log")
}

// examine requires that a ledger whose migration was cut short is whole, and comes to the same end as any other.
func (m migrating) examine(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	l, err := sqlite.Open(ctx, m.Path, &sgam.Options{Schemas: schema.Stored()})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	acme, err := l.Tenant("acme")
	require.NoError(t, err)
	all, err := migrate.Status(ctx, l)
	require.NoError(t, err)
	for v, err := range acme.Values(ctx, "order", 0) {
		require.NoError(t, err)
		done := len(all) > 0 && v.Number >= all[0].Cursor
		require.Equal(t, done, len(v.Encodings) == 1, "fact %d: the cursor and the forms are of one transaction", v.Number)
	}
	text, err := os.ReadFile(m.Plan)
	require.NoError(t, err)
	plan, err := migrate.Parse(text)
	require.NoError(t, err)
	require.NoError(t, carryOut(ctx, l, plan))
	facts := 0
	for v, err := range acme.Values(ctx, "order", 0) {
		require.NoError(t, err)
		facts++
		require.Len(t, v.Encodings, 1, "fact %d: nothing is lost, and nothing is there twice", v.Number)
		require.JSONEq(t, fmt.Sprintf(`{"amount":%s}`, v.Value), string(v.Encodings[0].Value))
	}
	require.Equal(t, migrated, facts)
	all, err = migrate.Status(ctx, l)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, migrate.CutOver, all[0].State)
	require.Equal(t, int64(migrated), all[0].Counts.Converted)
	got, err := acme.ValidAt(day(40)).Get(ctx, "s07", "total")
	require.NoError(t, err)
	require.JSONEq(t, `{"amount":27}`, string(got.Value))
	prove(t, l, m.Path)
}

// TestDeathAtEveryLastingCallOfAMigration kills a run, its verification and its cut-over right before each system call by
// which they would have left something behind.
func TestDeathAtEveryLastingCallOfAMigration(t *testing.T) {
	needStrace(t)
	prepared := beforeTheRun(t)
	dry, log := prepared.copied(t)
	require.Zero(t, start(t, "migrator", dry, tracing(log, filesOf(dry.Path), "")...).code())
	dry.examine(t)
	calls := countCalls(t, log)
	t.Logf("calls: %v", calls)
	require.Greater(t, calls["pwrite64"], migrated, "the trace sees the ledger's files")
	every := points(calls, slices.Sorted(maps.Keys(calls)))
	for _, p := range sampled(every, few(12, len(every))) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			own, log := prepared.copied(t)
			child := start(t, "migrator", own, tracing(log, filesOf(own.Path), fmt.Sprintf("%s:signal=KILL:when=%d", p.kind, p.n))...)
			require.Equal(t, -int(syscall.SIGKILL), child.code(), "the program survived")
			own.examine(t)
		})
	}
}
