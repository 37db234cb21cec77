package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
	"github.com/sgam-ledger/sgam/transfer"
)

func (b *bench) copyJSON(args ...string) (result, copyJSON) {
	b.t.Helper()
	r := b.run("", append([]string{"copy", "--from", "agent.db", "--to", "copy.db", "--json"}, args...)...)
	var answer copyJSON
	require.NoError(b.t, json.Unmarshal([]byte(r.out), &answer), r.err)
	return r, answer
}

func TestACopyShowsTheDigestsOfBothSides(t *testing.T) {
	b := newBench(t)
	b.mira()
	r, answer := b.copyJSON()
	assert.Zero(t, r.code)
	assert.True(t, answer.Same)
	assert.Empty(t, answer.Differences)
	assert.Equal(t, 1, answer.Types)
	require.Len(t, answer.Tenants, 1)
	copied := answer.Tenants[0]
	assert.Equal(t, transfer.Copied{Tenant: "default", Calls: 2, New: 2, Facts: 2}, copied.Copied)
	assert.Len(t, copied.From, 64)
	assert.Equal(t, copied.From, copied.To)
	_, again := b.copyJSON("--tenant", "default")
	assert.Equal(t, copied.From, again.Tenants[0].From, "the same calls have the same digest")
	assert.Zero(t, again.Tenants[0].New)
}

func TestTheKeyGoesAlongAndIsNeverShown(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.ok("", "copy", "--from", "agent.db", "--to", "copy.db")
	key, err := os.ReadFile("agent.db.keys")
	require.NoError(t, err)
	other, err := os.ReadFile("copy.db.keys")
	require.NoError(t, err)
	assert.Equal(t, key, other)
	info, err := os.Stat("copy.db.keys")
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	secret := strings.Fields(string(key))
	shown := secret[len(secret)-1]
	raw, err := hex.DecodeString(shown)
	require.NoError(t, err)
	require.NoError(t, os.Remove("copy.db.keys"))
	for _, args := range [][]string{
		{"copy", "--from", "agent.db", "--to", "copy.db"}, {"copy", "--from", "agent.db", "--to", "new.db", "--json"},
	} {
		r := b.run("", args...)
		assert.NotContains(t, r.out+r.err, shown)
		assert.NotContains(t, r.out+r.err, string(raw))
	}
}

func TestADifferenceIsToldAndHasAnExitCode(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.ok("", "copy", "--from", "agent.db", "--to", "copy.db")
	edit(t, "copy.db", "UPDATE episodes SET text = 'never said' WHERE name = 'e1'")
	r, answer := b.copyJSON()
	assert.Equal(t, exitTampered, r.code)
	assert.False(t, answer.Same)
	require.Len(t, answer.Differences, 1)
	assert.EqualValues(t, 1, answer.Differences[0].Call)
	assert.NotEqual(t, answer.Tenants[0].From, answer.Tenants[0].To)
	r = b.run("", "copy", "--from", "agent.db", "--to", "copy.db")
	assert.Equal(t, exitTampered, r.code)
	assert.Regexp(t, `(?m)^default +1 +the first call that differs$`, r.out)
	assert.Contains(t, r.out, "\n1 difference\n")
	assert.NotContains(t, r.out, "never said")
}

func TestAnInterruptedCopyGoesOn(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.apply(cities(600))
	var out, errOut bytes.Buffer
	p := b.program("", &out, &errOut)
	ctx, cancel := context.WithCancel(t.Context())
	err := p.between(ctx, ledgerAt{flag: "--from", where: "agent.db"}, ledgerAt{flag: "--to", where: "copy.db"}, func(from, to *sgam.Ledger) error {
		_, err := transfer.Copy(ctx, from, to, &transfer.Options{Progress: func(now transfer.Progress) {
			if now.Done > 0 {
				cancel()
			}
		}})
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
	l, err := sqlite.Open(t.Context(), "copy.db", nil)
	require.NoError(t, err)
	tenant, err := l.Tenant("default")
	require.NoError(t, err)
	begun := 0
	for _, err := range tenant.Calls(t.Context(), sgam.Beginning) {
		require.NoError(t, err)
		begun++
	}
	require.NoError(t, l.Close())
	_, answer := b.copyJSON()
	assert.True(t, answer.Same)
	require.Positive(t, answer.Tenants[0].New)
	assert.EqualValues(t, begun, answer.Tenants[0].Calls-answer.Tenants[0].New, "nothing is copied twice")

	gone, stop := context.WithCancel(t.Context())
	stop()
	r := b.runContext(gone, "", "copy", "--from", "agent.db", "--to", "other.db")
	assert.Equal(t, exitInterrupted, r.code)
}

func TestHowFarAnInterruptedCopyCameIsTold(t *testing.T) {
	w := copyWatch{p: &program{err: newScreen(&bytes.Buffer{}, os.Getenv)}}
	assert.Equal(t, "interrupted before the first call: the same command goes on from there", w.interrupted())
	w.progress(transfer.Progress{Tenant: "acme", Done: 1200, Total: 3000})
	assert.Equal(t, `interrupted after call 1,200 of 3,000 of tenant "acme": the same command goes on from there`, w.interrupted())
}

func TestEnginesAreNamedBeforeAColon(t *testing.T) {
	for text, want := range map[string]string{
		"a.db": "a.db", "sqlite:a.db": "a.db", "sqlite:/var/a:b.db": "/var/a:b.db", `C:\a.db`: `C:\a.db`, "./x:y.db": "./x:y.db",
	} {
		e, where, err := engineOf("--to", text)
		require.NoError(t, err)
		assert.Equal(t, want, where)
		assert.Equal(t, "sqlite", e.scheme)
	}
	_, _, err := engineOf("--to", "mysql://user:word@host/db")
	require.ErrorContains(t, err, `no engine "mysql"`)
	assert.NotContains(t, err.Error(), "word")
}
