package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/migrate"
)

func TestADryRunTellsWhichAnswersAndCandidatesChange(t *testing.T) {
	b := newBench(t)
	b.file("n1.json", `{"type":"nick","version":1,"attributes":[
		{"tag":1,"name":"nickname","conflict_policy":"confirm_first","schema":{"type":"string"}},
		{"tag":2,"name":"seat","schema":{"type":"object","properties":{"row":{"type":"integer"},"note":{"type":"string"}},"required":["row"]}}]}`)
	b.file("n2.json", `{"type":"nick","version":2,"attributes":[
		{"tag":1,"name":"nickname","conflict_policy":"confirm_first","schema":{"type":"string","maxLength":4}},
		{"tag":2,"name":"seat","schema":{"type":"object","properties":{"row":{"type":"integer"},"deck":{"type":"string"}},"required":["row","deck"]}}]}`)
	b.file("nl.json", `{"type":"nick","version":2,"attributes":[{"tag":2,"ops":[{"op":"drop","prop":"note"},{"op":"add","prop":"deck","default":"main"}]}]}`)
	b.ok("", "schema", "add", "n1.json", "--db", "agent.db")
	b.apply(`{"op":"assert","subject":"mira","attribute":"nickname","value":"Miranda","episode":{"id":"e1","kind":"message","occurred_at":"2026-06-01T09:00Z"}}`,
		`{"op":"assert","subject":"mira","attribute":"seat","value":{"row":3,"note":"aisle"},"source_episode_id":"e1"}`)
	r := b.run("", "schema", "add", "n2.json", "--lens", "nl.json", "--db", "agent.db")
	require.Zero(t, r.code, r.err)
	b.ok("", "migrate", "plan", "nick", "-o", "plan.json", "--db", "agent.db")
	r = b.migrate("dry-run plan.json")
	assert.Equal(t, exitOK, r.code, "a candidate is no fact, and so none comes into quarantine")
	assert.Contains(t, r.out, "LOSSY  FILLED IN")
	assert.Contains(t, r.out, "1 current answer about seat would miss something\n")
	assert.Contains(t, r.out, "1 current answer about seat would have something that nobody said\n")
	assert.Regexp(t, `held candidates that could not be accepted any more:\n +MEMORY +STATUS +ATTRIBUTE +RULE +AT\n +[0-9a-f]{8} +pending +nickname +maxLength +/value\n`, r.out)
	assert.NotContains(t, r.out, "Miranda")
}

func TestNothingToMigrateIsNoFailure(t *testing.T) {
	b := newBench(t)
	b.contacts(4, "default")
	b.file("contact.3.json", `{"type":"contact","version":3,"attributes":[
		{"tag":1,"name":"phone","schema":{"type":"object","properties":{"number":{"type":"string"}},"required":["number"]}},
		{"tag":2,"name":"tier","schema":{"type":"integer"}},{"tag":4,"name":"email","schema":{"type":"string"}}],"reserved":{"tags":[3],"names":["fax"]}}`)
	b.ok("", "schema", "add", "contact.3.json", "--db", "agent.db")
	b.plan("plan.json") // the control, through the version in between
	assert.Contains(t, b.migrate("plan contact --delete fax=keep").out, "contact version 1 → 3, with the lens into version 2\n")
	for _, line := range []string{"run plan.json", "verify contact", "cutover contact --yes", "contract contact --yes"} {
		require.Zero(t, b.migrate(line).code, line)
	}
	r := b.migrate("plan contact --delete fax=keep")
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, "sgam: there is nothing to migrate: no tenant has facts of \"contact\" in an older version\n", r.err)
	r = b.migrate("plan contact --from 2 --to 3")
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, "sgam: both versions read the same values: writers move on by themselves, and nothing is to be migrated\n", r.err)
}

func TestWhatFailsInOneTenantDoesNotHoldUpTheOthers(t *testing.T) {
	b := newBench(t)
	b.contacts(8, "acme", "beta", "rival")
	b.ok("", "schema", "add", "--lens", "other.json", "--db", "agent.db")
	b.plan("plan.json")
	for _, line := range []string{"run plan.json", "verify contact", "cutover contact --yes"} {
		require.Zero(t, b.migrate(line).code, line)
	}
	for _, tenant := range []string{"acme", "rival"} {
		b.ok(`{"op":"assert","subject":"eve","attribute":"tier","value":7,"episode":{"id":"new","kind":"message","occurred_at":"2026-06-02T09:00Z"}}`,
			"apply", "-", "--db", "agent.db", "--tenant", tenant)
	}
	r := b.migrate("rollback contact --yes")
	assert.Equal(t, exitRefused, r.code)
	assert.Regexp(t, `^sgam: tenant "acme" has 1 fact, .*\nsgam: tenant "rival" has 1 fact, .*\n$`, r.err)
	assert.Regexp(t, `^beta: rolled back since `, r.out)
	states := b.states()
	assert.Equal(t, migrate.CutOver, states["acme"].State)
	assert.Equal(t, migrate.RolledBack, states["beta"].State)
	assert.Equal(t, migrate.CutOver, states["rival"].State)
}

func TestQuarantineIsLeftWhereThePlanSaysSo(t *testing.T) {
	b := newBench(t)
	b.contacts(4, "default")
	b.apply(`{"op":"assert","subject":"bob","attribute":"tier","value":"gold","schema_version":1,"episode":{"id":"new","kind":"message","occurred_at":"2026-06-02T09:00Z"}}`)
	b.plan("plan.json", "--leave-quarantine")
	for _, line := range []string{"run plan.json", "verify contact", "cutover contact --yes"} {
		require.Zero(t, b.migrate(line).code, line)
	}
	r := b.run("", "get", "bob", "tier", "--db", "agent.db")
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.out, "bob.tier is unmigrated")
	assert.Contains(t, b.ok("", "get", "bob", "tier", "--as", "contact@1", "--db", "agent.db").out, `"gold"`)
	out := b.ok("", "migrate", "status", "--json", "--db", "agent.db").out
	assert.Contains(t, out, `"in_quarantine":1,"reasons":[{"rule":"spelling","pointer":"/value","facts":1}]`)
}

func TestAVersionThatMayNotFollowIsRefused(t *testing.T) {
	b := newBench(t)
	b.contacts(4, "default")
	b.file("bad.json", `{"type":"contact","version":3,"attributes":[{"tag":2,"name":"tier","schema":{"type":"integer"}}]}`)
	r := b.run("", "schema", "add", "bad.json", "--db", "agent.db")
	assert.Equal(t, exitRefused, r.code)
	assert.Contains(t, r.err, `type "contact" version 3 may not follow version 2: SC0`)
}

func TestAMigrationShowsNoPersonalValue(t *testing.T) {
	b := newBench(t)
	b.file("p1.json", `{"type":"person","version":1,"attributes":[
		{"tag":1,"name":"birthday","sensitivity":"personal","schema":{"type":"string"}},{"tag":2,"name":"floor","schema":{"type":"string"}}]}`)
	b.file("p2.json", `{"type":"person","version":2,"attributes":[
		{"tag":1,"name":"birthday","sensitivity":"personal","schema":{"type":"integer"}},{"tag":2,"name":"floor","schema":{"type":"integer"}}]}`)
	cast := `[{"op":"cast","from":"string","to":"integer"}]`
	b.file("pl.json", `{"type":"person","version":2,"attributes":[{"tag":1,"ops":`+cast+`},{"tag":2,"ops":`+cast+`}]}`)
	b.ok("", "schema", "add", "p1.json", "--db", "agent.db")
	for i, value := range []string{"sesame", "18031977"} {
		b.apply(fmt.Sprintf(`{"op":"assert","subject":"s%d","attribute":"birthday","value":%q,"episode":{"id":"e%d","kind":"message","occurred_at":"2026-06-01T09:00Z"}}`, i, value, i),
			fmt.Sprintf(`{"op":"assert","subject":"s%d","attribute":"floor","value":"4711","source_episode_id":"e%d"}`, i, i))
	}
	b.ok("", "schema", "add", "p2.json", "--lens", "pl.json", "--db", "agent.db")
	all := ""
	for _, line := range []string{
		"plan person -o plan.json", "plan person --json", "dry-run plan.json", "dry-run plan.json --json", "run plan.json", "run plan.json --json",
		"status", "status --json", "verify person", "verify person --json", "cutover person --yes", "rollback person --yes",
	} {
		r := b.migrate(line)
		all += r.out + r.err
	}
	plan, err := os.ReadFile("plan.json")
	require.NoError(t, err)
	all += string(plan)
	assert.NotContains(t, all, "sesame")
	assert.NotContains(t, all, "18031977")
	assert.Contains(t, all, "4711", "an example that may be shown")
}
