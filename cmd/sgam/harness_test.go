package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/ledgertest"
)

// packageDir is where the tests begin; each of them then goes into a folder of its own.
var packageDir = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

// bench is a folder of its own and a clock, on which command lines are run one after the other.
type bench struct {
	t     *testing.T
	dir   string
	clock *ledgertest.Clock
	watch *ledgertest.Clock // each reading takes a millisecond
	runs  uint64
}

// newBench makes an empty folder the current one, so that file names in messages are the same everywhere.
func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	watch := ledgertest.NewClock(time.Date(2026, 6, 20, 9, 0, 0, 0, time.UTC))
	watch.Tick(time.Millisecond)
	return &bench{t: t, dir: dir + string(os.PathSeparator), clock: ledgertest.NewClock(watch.Now()), watch: watch}
}

func (b *bench) file(name, content string) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(name, []byte(content), 0o600))
}

// result is what one command line left behind.
type result struct {
	code     int
	out, err string
}

// run runs one command line. Each run draws its own memory ids, the same ones in every test.
func (b *bench) run(stdin string, args ...string) result {
	b.t.Helper()
	return b.runContext(b.t.Context(), stdin, args...)
}

func (b *bench) runContext(ctx context.Context, stdin string, args ...string) result {
	b.t.Helper()
	var out, err bytes.Buffer
	p := b.program(stdin, &out, &err)
	code := p.run(ctx, args)
	return result{code, out.String(), strings.ReplaceAll(err.String(), b.dir, "")} // an engine names whole paths
}

func (b *bench) program(stdin string, out, err *bytes.Buffer) *program {
	p := newProgram("sgam", strings.NewReader(stdin), out, err)
	b.runs++
	p.clock, p.rand, p.stopwatch = b.clock.Now, ledgertest.IDs(b.runs), b.watch.Now
	return p
}

// ok runs a command line that has to end well.
func (b *bench) ok(stdin string, args ...string) result {
	b.t.Helper()
	r := b.run(stdin, args...)
	require.Zero(b.t, r.code, "sgam %s\n%s%s", strings.Join(args, " "), r.out, r.err)
	return r
}

const identitySchema = `{
  "type": "identity",
  "version": 1,
  "attributes": [
    {"tag": 1, "name": "passport_deadline", "schema": {"type": "string", "format": "date"}, "retention": "identity_documents"},
    {"tag": 2, "name": "allergies", "cardinality": "many", "schema": {"type": "string"}},
    {"tag": 3, "name": "salary", "conflict_policy": "confirm_first", "schema": {"type": "integer"}},
    {"tag": 4, "name": "city", "conflict_policy": "keep_highest_confidence", "schema": {"type": "string"}}
  ]
}
`

// mira is the two statements of the stale passport.
func (b *bench) mira() {
	b.t.Helper()
	b.file("identity.json", identitySchema)
	b.ok("", "schema", "add", "identity.json", "--db", "agent.db")
	b.clock.Set(time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC))
	b.apply(`{"op":"assert","subject":"mira","attribute":"passport_deadline","value":"2026-07-15","episode":{"id":"e1","kind":"message",` +
		`"occurred_at":"2026-06-01T09:00Z","text":"Mira's passport renewal deadline is 2026-07-15."}}`)
	b.clock.Set(time.Date(2026, 6, 3, 10, 0, 0, 0, time.UTC))
	b.apply(`{"op":"assert","subject":"mira","attribute":"passport_deadline","value":"2026-06-30","episode":{"id":"e2","kind":"message",` +
		`"occurred_at":"2026-06-03T10:00Z","text":"Mira corrected the deadline. It is now 2026-06-30."}}`)
	b.clock.Set(time.Date(2026, 6, 20, 9, 0, 0, 0, time.UTC))
}

// apply submits lines that have to be taken.
func (b *bench) apply(lines ...string) {
	b.t.Helper()
	b.ok(strings.Join(lines, "\n"), "apply", "-", "--db", "agent.db")
}
