package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// edit changes a ledger's file behind its back, as somebody with a SQL shell could.
func edit(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, s := range statements {
		_, err := db.ExecContext(t.Context(), s)
		require.NoError(t, err, s)
	}
}

func TestVerifyFindsWhatWasChangedBehindItsBack(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.ok("", "verify", "--db", "agent.db") // the control
	edit(t, "agent.db", "DROP TRIGGER segments_are_closed_once", "UPDATE segments SET valid_to = valid_to - 1000000 WHERE valid_to < 4000000000000000")
	r := b.run("", "verify", "--db", "agent.db")
	assert.Equal(t, exitTampered, r.code)
	assert.Regexp(t, `(?m)^default +passport_deadline +1 +segments +\S`, r.out)
	assert.Regexp(t, `(?m)^\d+ differences in 1 tenant$`, r.out)
	assert.Empty(t, r.err)
	assert.NotContains(t, r.out, "2026-06-30\"", "a finding names no value")

	r = b.run("", "verify", "--db", "agent.db", "--json")
	assert.Equal(t, exitTampered, r.code)
	var found verifiedJSON
	require.NoError(t, json.Unmarshal([]byte(r.out), &found))
	assert.False(t, found.OK)
	assert.Equal(t, []string{"default"}, found.Tenants)
	require.NotEmpty(t, found.Findings)
	assert.Equal(t, "segments", found.Findings[0].Layer)

	b.ok(cities(1), "apply", "-", "--db", "agent.db", "--tenant", "another")
	assert.Contains(t, b.ok("", "verify", "--db", "agent.db", "--tenant", "another").out, "every slot of 1 tenant is")
}

func TestDamagedAndForeignFilesAreNamedAndLeftAlone(t *testing.T) {
	b := newBench(t)
	b.mira()
	whole, err := os.ReadFile("agent.db")
	require.NoError(t, err)
	other := newForeign(t)
	for _, test := range []struct {
		name    string
		content []byte
		reading int // the exit code of a read
	}{
		{"text.db", []byte("not a database, and long enough to hold a header: " + strings.Repeat("x", 4096)), exitUsage},
		{"empty.db", nil, exitUsage},
		{"other.db", other, exitUsage},
		{"headless.db", append(bytes.Repeat([]byte{0}, 100), whole[100:]...), exitUsage},
		{"newer.db", withNumber(whole, 60, 99), exitUnreadable},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(test.name, test.content, 0o600))
			if test.name != "text.db" {
				keys, err := os.ReadFile("agent.db.keys")
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(test.name+".keys", keys, 0o600))
			}
			for command, code := range map[string]int{"facts": test.reading, "verify": exitUnreadable, "withdraw --episode e1": test.reading} {
				if test.name == "empty.db" && command != "facts" && command != "verify" {
					continue // an empty file becomes a ledger when it is opened for writing
				}
				r := b.run("", append(strings.Fields(command), "--db", test.name)...)
				assert.Equal(t, code, r.code, "%s: %s", command, r.err)
				assert.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
				assert.Contains(t, r.err, test.name, command)
				assert.Empty(t, r.out)
			}
			after, err := os.ReadFile(test.name)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(test.content, after), "the file is as it was")
		})
	}
}

// newForeign is a SQLite file that is no ledger.
func newForeign(t *testing.T) []byte {
	t.Helper()
	edit(t, "foreign.sqlite", "CREATE TABLE t (x)")
	content, err := os.ReadFile("foreign.sqlite")
	require.NoError(t, err)
	return content
}

// withNumber sets the big-endian number at a place of a SQLite header; at 60 is the format's.
func withNumber(file []byte, at int, n byte) []byte {
	out := bytes.Clone(file)
	copy(out[at:], []byte{0, 0, 0, n})
	return out
}

func TestALostKeyIsSaid(t *testing.T) {
	b := newBench(t)
	b.mira()
	require.NoError(t, os.Remove("agent.db.keys"))
	r := b.run("", "apply", "-", "--db", "agent.db")
	assert.Equal(t, exitUnreadable, r.code)
	assert.Contains(t, r.err, "key")
	assert.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
}

func TestUpgradeLeavesTheCurrentFormatAlone(t *testing.T) {
	b := newBench(t)
	b.mira()
	assert.Equal(t, "agent.db has the format of this program\n", b.ok("", "upgrade", "--db", "agent.db").out)
	assert.JSONEq(t, `{"db":"agent.db","ok":true}`, b.ok("", "upgrade", "--db", "agent.db", "--json").out)
	b.file("text.txt", "no ledger")
	assert.Equal(t, exitUsage, b.run("", "upgrade", "--db", "text.txt").code)
}
