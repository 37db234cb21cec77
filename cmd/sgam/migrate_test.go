package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/migrate"
)

const (
	contactSchema1 = `{"type":"contact","version":1,"attributes":[
		{"tag":1,"name":"phone","schema":{"type":"string"}},
		{"tag":2,"name":"tier","schema":{"type":"string"}},
		{"tag":3,"name":"fax","sensitivity":"personal","schema":{"type":"string"}}]}`
	contactSchema2 = `{"type":"contact","version":2,"attributes":[
		{"tag":1,"name":"phone","schema":{"type":"object","properties":{"number":{"type":"string"}},"required":["number"]}},
		{"tag":2,"name":"tier","schema":{"type":"integer"}}],"reserved":{"tags":[3],"names":["fax"]}}`
	contactLens = `{"type":"contact","version":2,"attributes":[
		{"tag":1,"ops":[{"op":"wrap","prop":"number"}]},{"tag":2,"ops":[{"op":"cast","from":"string","to":"integer"}]}]}`
	// otherLens knows one tier.
	otherLens = `{"type":"contact","version":2,"attributes":[
		{"tag":1,"ops":[{"op":"wrap","prop":"number"}]},
		{"tag":2,"ops":[{"op":"map_enum","pairs":[["gold",3]],"up_fallback":0,"down_fallback":"0"}]}]}`
)

// contacts makes a ledger in which each tenant has n facts of a type with a second version and a lens into it.
func (b *bench) contacts(n int, tenants ...string) {
	b.t.Helper()
	for name, text := range map[string]string{
		"contact.1.json": contactSchema1, "contact.2.json": contactSchema2, "lens.json": contactLens, "other.json": otherLens,
	} {
		b.file(name, text)
	}
	b.ok("", "schema", "add", "contact.1.json", "--db", "agent.db")
	for _, tenant := range tenants {
		var lines strings.Builder
		for i := range n {
			fmt.Fprintf(&lines, `{"op":"assert","subject":"s%d","attribute":"%s","value":"%d","episode":{"id":"e%d","kind":"message",`+
				`"occurred_at":"2026-06-01T09:00Z"}}`+"\n", i, []string{"phone", "tier", "phone", "fax"}[i%4], i, i)
		}
		b.ok(lines.String(), "apply", "-", "--db", "agent.db", "--tenant", tenant)
	}
	b.ok("", "schema", "add", "contact.2.json", "--lens", "lens.json", "--db", "agent.db")
}

// plan draws a plan.
func (b *bench) plan(name string, flags ...string) {
	b.t.Helper()
	b.ok("", append([]string{"migrate", "plan", "contact", "--delete", "fax=keep", "-o", name, "--db", "agent.db"}, flags...)...)
}

func (b *bench) migrate(line string) result {
	b.t.Helper()
	return b.run("", append(append([]string{"migrate"}, shellWords(b.t, line)...), "--db", "agent.db")...)
}

// states are the states of all migrations, by tenant; of several, the last counts.
func (b *bench) states() map[string]migrate.Migration {
	b.t.Helper()
	all := map[string]migrate.Migration{}
	for line := range strings.Lines(b.ok("", "migrate", "status", "--json", "--db", "agent.db").out) {
		var m migrate.Migration
		require.NoError(b.t, json.Unmarshal([]byte(line), &m))
		all[m.Tenant] = m
	}
	return all
}

// watcher is told of each write.
type watcher func(text string)

func (w watcher) Write(b []byte) (int, error) {
	w(string(b))
	return len(b), nil
}

// during runs a plan batch by batch, and does something after the first batch.
func (b *bench) during(do func(stop func())) result {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	var out, errOut bytes.Buffer
	p := b.program("", &out, &errOut)
	first := true
	p.out = newScreen(watcher(func(text string) {
		out.WriteString(text)
		if first {
			first = false
			do(stop)
		}
	}), os.Getenv)
	code := p.run(ctx, strings.Fields("migrate run plan.json --db agent.db --batch 10 --holder first --json"))
	return result{code, out.String(), errOut.String()}
}

func TestAnInterruptedRunGoesOn(t *testing.T) {
	b := newBench(t)
	b.contacts(40, "default")
	b.plan("plan.json")
	r := b.during(func(stop func()) { stop() })
	assert.Equal(t, exitInterrupted, r.code)
	assert.Equal(t, "sgam: interrupted after 10 of 40 facts of tenant \"default\": the same command goes on from there\n", r.err)
	m := b.states()["default"]
	assert.Equal(t, migrate.Expanding, m.State)
	assert.Equal(t, int64(10), m.Counts.Looked)
	assert.Contains(t, b.migrate("status").out, "expanding   25%")

	// Another runner need not wait: the lease was given back.
	out := b.ok("", "migrate", "run", "plan.json", "--db", "agent.db", "--batch", "10", "--holder", "other").out
	assert.Contains(t, out, "default: 20 of 40 facts\ndefault: 30 of 40 facts\ndefault: 40 of 40 facts\n")
	m = b.states()["default"]
	assert.Equal(t, migrate.Dual, m.State)
	assert.Equal(t, migrate.Counts{Looked: 40, Converted: 30, Removed: 10}, m.Counts)
	b.ok("", "migrate", "verify", "contact", "--db", "agent.db")
}

func TestALongRunIsToldInTenths(t *testing.T) {
	b := newBench(t)
	b.contacts(100, "default")
	b.plan("plan.json")
	out := b.ok("", "migrate", "run", "plan.json", "--db", "agent.db", "--batch", "1").out
	assert.LessOrEqual(t, strings.Count(out, " of 100 facts\n"), 11)
	assert.Contains(t, out, "default: 50 of 100 facts\n")
	assert.Contains(t, out, "default: 100 of 100 facts\n")
}

func TestATerminalGetsABarForEachTenant(t *testing.T) {
	var out, errOut bytes.Buffer
	p := newProgram("sgam", nil, &out, &errOut)
	p.err = terminal(&errOut, 80)
	p.err.color = false
	r := backfillReport{p: p, told: map[string]int64{}}
	for _, tenant := range []string{"acme", "a tenant with a name that is long"} {
		r.progress(migrate.Progress{Tenant: tenant, Done: 10, Total: 40})
		r.progress(migrate.Progress{Tenant: tenant, Done: 41, Total: 40}) // a program wrote one meanwhile
	}
	r.close()
	require.NoError(t, p.out.flush())
	require.NoError(t, p.err.flush())
	assert.Empty(t, out.String())
	assert.Regexp(t, `\racme +25% \|█+ +\| \(10/40\)`, errOut.String())
	assert.Regexp(t, `\ra tenant with a…  25% `, errOut.String())
}

func TestASecondRunnerIsRefusedUnlessItTakesOver(t *testing.T) {
	b := newBench(t)
	b.contacts(40, "default")
	b.plan("plan.json")
	var refused, took result
	r := b.during(func(func()) {
		refused = b.migrate("run plan.json --holder second")
		took = b.migrate("run plan.json --holder second --take-over")
	})
	assert.Equal(t, exitRefused, refused.code)
	assert.Regexp(t, `^sgam: "first" is at work on tenant "default" until 2026-06-20 09:01\S* at least: wait, or give --take-over if it is dead\n$`, refused.err)
	assert.Zero(t, took.code, took.err)
	assert.Equal(t, exitRefused, r.code)
	assert.Equal(t, "sgam: another runner has taken over, and goes on from the last batch of this one\n", r.err)
	m := b.states()["default"]
	assert.Equal(t, migrate.Dual, m.State)
	assert.Equal(t, "second", m.Holder)
	assert.Equal(t, int64(40), m.Counts.Looked)
}

func TestStatusCanBeAskedWhileARunHoldsTheLease(t *testing.T) {
	b := newBench(t)
	b.contacts(40, "default")
	b.plan("plan.json")
	var text, paused result
	r := b.during(func(func()) {
		text = b.migrate("status contact --zone Europe/Berlin")
		paused = b.migrate("pause contact")
	})
	assert.Zero(t, text.code, text.err)
	assert.Contains(t, text.out, "expanding   25%")
	assert.Regexp(t, `default  contact  10 facts  first   2026-06-20 11:01\S*\+02:00`, text.out)
	assert.Contains(t, text.out, "run, pause, rollback")
	assert.Zero(t, paused.code, paused.err)
	assert.Contains(t, paused.out, "default: expanding, paused since ")
	assert.Equal(t, exitRefused, r.code)
	assert.Equal(t, "sgam: the migration of tenant \"default\" is paused: 'sgam migrate resume contact' lets it go on\n", r.err)
	b.ok("", "migrate", "resume", "contact", "--db", "agent.db")
	assert.Contains(t, b.migrate("status").out, "nobody has to", "a paused run holds nobody back")
	assert.Zero(t, b.migrate("run plan.json").code)
}

func TestAPlanThatTheLedgerHasMovedAwayFromIsRefused(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "default")
	b.plan("plan.json")
	require.Zero(t, b.migrate("dry-run plan.json").code)
	b.ok("", "schema", "add", "--lens", "other.json", "--db", "agent.db")
	for _, line := range []string{"dry-run plan.json", "run plan.json"} {
		r := b.migrate(line)
		assert.Equal(t, exitRefused, r.code, line)
		assert.Empty(t, r.out)
		assert.Equal(t, "sgam: the plan is stale: the lens into version 2 has changed since: draw a new one with 'sgam migrate plan'\n", r.err)
	}
	assert.Empty(t, b.states())
}

func TestAPlanIsAFileThatNobodyChanges(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "default")
	b.plan("plan.json")
	text, err := os.ReadFile("plan.json")
	require.NoError(t, err)
	again := b.migrate("plan contact --delete fax=keep -o plan.json")
	assert.Equal(t, exitRefused, again.code)
	kept, err := os.ReadFile("plan.json")
	require.NoError(t, err)
	assert.Equal(t, string(text), string(kept))

	piped := b.migrate("plan contact --delete fax=keep -o -")
	assert.Contains(t, piped.err, "facts, by what becomes of them", "what a person reads does not mix with the plan")
	assert.Zero(t, b.run(piped.out, "migrate", "dry-run", "-", "--db", "agent.db").code)
	compact := b.migrate("plan contact --delete fax=keep --json")
	assert.Zero(t, b.run(compact.out, "migrate", "dry-run", "-", "--db", "agent.db").code)
	assert.Equal(t, 1, strings.Count(compact.out, "\n"))

	b.file("changed.json", strings.Replace(string(text), "keep_readable", "erase", 1))
	r := b.migrate("run changed.json")
	assert.Equal(t, exitUsage, r.code)
	assert.Equal(t, "sgam: changed.json was changed after it was drawn: draw a new plan with other decisions instead\n", r.err)
	assert.Zero(t, b.migrate("run plan.json").code, "the control")
}

func TestWhatARefusedVersionChangesIsListed(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "default")
	b.file("many.json", `{"type":"contact","version":3,"attributes":[
		{"tag":1,"name":"phone","cardinality":"many","schema":{"type":"object","properties":{"number":{"type":"string"}},"required":["number"]}},
		{"tag":2,"name":"tier","schema":{"type":"integer"}}],"reserved":{"tags":[3],"names":["fax"]}}`)
	b.ok("", "schema", "add", "many.json", "--db", "agent.db")
	r := b.migrate("plan contact --delete fax=keep")
	assert.Equal(t, exitRefused, r.code)
	assert.Contains(t, r.out, "SC31")
	assert.Equal(t, "sgam: such facts belong in an attribute of their own: no migration makes others of them\n", r.err)
	assert.Contains(t, b.migrate("plan contact --delete fax=keep --json").out, `{"refused":[{"rule":"SC31",`)
}

func TestTheCommandsMeanEveryTenantOrTheOneThatIsNamed(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "acme", "rival")
	b.plan("plan.json", "--tenant", "acme")
	require.Zero(t, b.migrate("run plan.json").code)
	assert.Len(t, b.states(), 1)
	b.plan("rest.json")
	require.Zero(t, b.migrate("run rest.json").code)
	require.Zero(t, b.migrate("verify contact --tenant acme").code)

	r := b.migrate("cutover contact --yes")
	assert.Equal(t, exitRefused, r.code)
	assert.Contains(t, r.err, `the migration of tenant "rival" is dual, which allows verify, pause, rollback; nothing was done`)
	assert.Equal(t, migrate.Verified, b.states()["acme"].State)
	assert.Zero(t, b.migrate("cutover contact --yes --tenant acme").code)
	assert.Equal(t, migrate.CutOver, b.states()["acme"].State)
	assert.Equal(t, migrate.Dual, b.states()["rival"].State)

	// Those that are further are no reason to refuse.
	out := b.migrate("verify contact").out
	assert.Contains(t, out, "acme: already cut over\n")
	assert.Contains(t, out, "verified: both versions of 1 tenant agree")
	assert.Zero(t, b.migrate("cutover contact --yes").code)
	assert.Equal(t, migrate.CutOver, b.states()["rival"].State)
	assert.Equal(t, exitRefused, b.migrate("cutover order --yes").code, "there is no migration of that type")
}

func TestWhatIsHardToUndoAsksFirst(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "default")
	b.plan("plan.json")
	require.Zero(t, b.migrate("run plan.json").code)
	require.Zero(t, b.migrate("verify contact").code)
	for _, step := range []struct {
		verb        string
		from, state migrate.State
	}{
		{"cutover", migrate.Verified, migrate.CutOver}, {"contract", migrate.CutOver, migrate.Done},
	} {
		r := b.migrate(step.verb + " contact")
		assert.Equal(t, exitRefused, r.code)
		assert.Empty(t, r.out)
		assert.Contains(t, r.err, step.verb+" of contact: the new version ")
		assert.Contains(t, r.err, "sgam: nothing was done: there is no terminal to ask on, and --yes was not given\n")
		assert.Equal(t, step.from, b.states()["default"].State)
		assert.Zero(t, b.migrate(step.verb+" contact --yes").code)
		assert.Equal(t, step.state, b.states()["default"].State)
	}
}

func TestOnlyAYesIsAYes(t *testing.T) {
	b := newBench(t)
	for answer, want := range map[string]int{"y\n": exitOK, "YES\n": exitOK, "yes": exitOK, "n\n": exitRefused, "\n": exitRefused, "": exitRefused, "yesterday\n": exitRefused} {
		var out bytes.Buffer
		p := b.program(answer, &out, &out)
		code, _ := p.judge(t.Context(), p.ask(t.Context(), "go on? [y/N] "))
		assert.Equal(t, want, code, "%q", answer)
		assert.Equal(t, "go on? [y/N] ", out.String())
	}
}

func TestAContractThatHasToDeleteNeedsSomebodyWhoDoes(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "default")
	b.ok("", "migrate", "plan", "contact", "--delete", "fax=erase", "-o", "plan.json", "--db", "agent.db")
	for _, line := range []string{"run plan.json", "verify contact", "cutover contact --yes"} {
		require.Zero(t, b.migrate(line).code, line)
	}
	r := b.migrate("contract contact --yes")
	assert.Equal(t, exitRefused, r.code)
	assert.Equal(t, `sgam: the plan says that facts are to be expired or erased, and this program has no way to delete any: tenant "default", attributes fax: `+
		"a program that hands a Deleter to migrate.Contract ends the migration\n", r.err)
	assert.Equal(t, migrate.CutOver, b.states()["default"].State)
}

func TestARollbackThatLosesSomethingIsForced(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "default")
	b.ok("", "schema", "add", "--lens", "other.json", "--db", "agent.db")
	b.plan("plan.json")
	for _, line := range []string{"run plan.json", "verify contact", "cutover contact --yes"} {
		require.Zero(t, b.migrate(line).code, line)
	}
	b.apply(`{"op":"assert","subject":"eve","attribute":"tier","value":7,"episode":{"id":"new","kind":"message","occurred_at":"2026-06-02T09:00Z"}}`)
	r := b.migrate("rollback contact --yes")
	assert.Equal(t, exitRefused, r.code)
	assert.Contains(t, r.err, `tenant "default" has 1 fact, recorded since the migration began, that the old version shows with a loss or not at all: --force`)
	assert.Equal(t, migrate.CutOver, b.states()["default"].State)
	assert.Zero(t, b.migrate("rollback contact --yes --force").code)
	assert.Equal(t, migrate.RolledBack, b.states()["default"].State)
}

func TestMigrationsFitTheTerminal(t *testing.T) {
	for _, width := range []int{80, 120} {
		b := newBench(t)
		b.contacts(40, "default", "a-tenant-with-a-longer-name")
		b.apply(`{"op":"assert","subject":"bob","attribute":"tier","value":"gold","episode":{"id":"new","kind":"message","occurred_at":"2026-06-02T09:00Z"}}`)
		fits := func(want int, line string) string {
			t.Helper()
			var out bytes.Buffer
			p := b.program("", &out, &out)
			p.out, p.err = terminal(&out, width), terminal(&out, width)
			p.out.color, p.err.color = false, false
			require.Equal(t, want, p.run(t.Context(), append(shellWords(t, "migrate "+line), "--db", "agent.db")), "%s: %s", line, out.String())
			for printed := range strings.Lines(out.String()) {
				if !strings.HasPrefix(printed, "sgam: ") && !strings.Contains(printed, "\r") {
					assert.LessOrEqual(t, len([]rune(strings.TrimRight(printed, "\n"))), width, "%s: %s", line, printed)
				}
			}
			return out.String()
		}
		fits(exitOK, "plan contact --delete fax=keep -o plan.json")
		fits(exitNo, "dry-run plan.json")
		var held string
		b.during(func(func()) { held = fits(exitOK, "status") })
		assert.Contains(t, held, "runners:")
		assert.Contains(t, fits(exitOK, "run plan.json"), "dual")
		fits(exitOK, "status contact")
		fits(exitTampered, "verify contact")
		fits(exitOK, "pause contact")
		fits(exitOK, "resume contact")
		fits(exitRefused, "rollback contact")
	}
}
