package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/pgtest"
)

func TestALedgerGoesToAServerAndBack(t *testing.T) {
	pgtest.Long(t)
	c, err := pgtest.Start(t.Context(), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	require.NoError(t, c.Do(t.Context(), "postgres", "CREATE ROLE owner LOGIN CREATEDB", "CREATE ROLE agent LOGIN", "CREATE DATABASE memory OWNER owner"))
	owner, agent := "postgres:"+c.DSN("memory", "owner"), "postgres:"+c.DSN("memory", "agent")
	b := newBench(t)
	b.mira()

	r := b.run("", "copy", "--from", "agent.db", "--to", agent, "--to-key", "agent.db.keys")
	assert.Equal(t, exitRefused, r.code, r.err)
	assert.Contains(t, r.err, "sgam init")
	b.ok("", "init", owner, "--key", "agent.db.keys", "--role", "agent", "--partitions", "4")
	there := b.ok("", "copy", "--from", "agent.db", "--to", agent, "--to-key", "agent.db.keys")
	assert.Contains(t, there.out, "the same")
	back := b.ok("", "copy", "--from", agent, "--from-key", "agent.db.keys", "--to", "back.db")
	assert.Contains(t, back.out, "the same")
	want, got := b.ok("", "history", "mira", "passport_deadline", "--db", "agent.db", "--json"), b.ok("", "history", "mira", "passport_deadline", "--db", "back.db", "--json")
	assert.NotEmpty(t, want.out)
	assert.Equal(t, want.out, got.out)
	key, err := os.ReadFile("agent.db.keys")
	require.NoError(t, err)
	other, err := os.ReadFile("back.db.keys")
	require.NoError(t, err)
	assert.Equal(t, key, other)

	require.NoError(t, c.Do(t.Context(), "postgres", "CREATE DATABASE other OWNER owner"))
	stranger := "postgres:" + c.DSN("other", "owner")
	b.ok("", "init", stranger, "--key", "other.key", "--role", "agent")
	r = b.run("", "copy", "--from", "agent.db", "--to", "postgres:"+c.DSN("other", "agent"), "--to-key", "other.key")
	assert.Equal(t, exitRefused, r.code)
	assert.Contains(t, r.err, "another key")
}

func TestTablesAreDistributedOnlyWhereCitusIs(t *testing.T) {
	pgtest.Long(t)
	c, err := pgtest.Start(t.Context(), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	require.NoError(t, c.Do(t.Context(), "postgres", "CREATE DATABASE memory"))
	at := "postgres:" + c.DSN("memory", "postgres")
	b := newBench(t)

	r := b.run("", "init", at, "--key", "memory.key", "--distributed", "--partitions", "4")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "--partitions: want 0 to 1024, and 0 when the tables are distributed")
	r = b.run("", "init", at, "--key", "memory.key", "--distributed")
	assert.Equal(t, exitRefused, r.code)
	assert.Contains(t, r.err, "no extension citus")
	b.ok("", "init", at, "--key", "memory.key", "--distributed=false")
}

func TestAServerWantsItsKeyNamed(t *testing.T) {
	b := newBench(t)
	b.mira()
	for args, want := range map[string]string{
		"init agent.db --key x":                                   "a file needs no init",
		"init postgres:host=nowhere":                              "--key is missing",
		"copy --from agent.db --to postgres:host=nowhere":         "--to-key is missing",
		"copy --from postgres:host=nowhere --to copy.db":          "--from-key is missing",
		"copy --from agent.db --from-key agent.db.keys --to b.db": "the key of a file is beside it",
	} {
		r := b.run("", strings.Fields(args)...)
		assert.Equal(t, exitUsage, r.code, args)
		assert.Contains(t, r.err, want)
	}
}
