package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDemoAnswersAreRead(t *testing.T) {
	b := newBench(t)
	var told struct {
		DB     string `json:"db"`
		Kept   bool   `json:"kept"`
		Search []struct {
			Episode struct {
				ID string `json:"id"`
			} `json:"episode"`
			Shared int `json:"shared_words"`
			Asked  int `json:"asked_words"`
		} `json:"search"`
		Current, EOL      factForm
		AsOf              answerForm `json:"as_of"`
		EOLThen           answerForm `json:"eol_then"`
		Plans, Maintained []answerForm
		Verified          bool
		Findings          []string
		Loaded            struct{ Statements, Calls, Subjects int }
	}
	require.NoError(t, json.Unmarshal([]byte(b.ok("", "demo", "--json").out), &told))

	require.Len(t, told.Search, 2)
	assert.Equal(t, "e1", told.Search[0].Episode.ID, "the text search finds the stale message first")
	assert.Greater(t, told.Search[0].Shared, told.Search[1].Shared)
	assert.Equal(t, said(`"2026-06-30"`, "e2"), told.Current)
	assert.Equal(t, answerForm{"2026-06-02T00:00:00Z", "2026-06-02T00:00:00Z", "", "", said(`"2026-07-15"`, "e1")}, told.AsOf)

	assert.Equal(t, said(`"2025-01-05"`, "8b6dd9e94cb4"), told.EOL)
	assert.Equal(t, said(`"2023-11-01"`, "0a7226441095"), told.EOLThen.Fact)
	assert.Equal(t, []answerForm{
		{KnownFrom: "2021-08-17T12:42:47Z", KnownTo: "2022-02-24T12:06:44Z", Fact: said(`"2022-11-28"`, "a41778ed579a")},
		{KnownFrom: "2022-02-24T12:06:44Z", KnownTo: "2023-06-08T05:51:07Z", Fact: said(`"2023-11-01"`, "0a7226441095")},
		{KnownFrom: "2023-06-08T05:51:07Z", Fact: said(`"2025-01-05"`, "8b6dd9e94cb4")},
	}, told.Plans)
	assert.Equal(t, []answerForm{
		{"2024-06-01T00:00:00Z", "2023-01-01T00:00:00Z", "", "", said("false", "a41778ed579a")},
		{"2024-06-01T00:00:00Z", "2023-07-01T00:00:00Z", "", "", said("true", "8b6dd9e94cb4")},
	}, told.Maintained)
	assert.True(t, told.Verified)
	assert.Empty(t, told.Findings)
	assert.Equal(t, 255, told.Loaded.Statements)
	assert.Equal(t, 155, told.Loaded.Calls)
	assert.Equal(t, 10, told.Loaded.Subjects)
	assert.False(t, told.Kept)
	assert.NoFileExists(t, told.DB)
}

type factForm struct {
	Value  json.RawMessage `json:"value"`
	Source string          `json:"source_episode_id"`
}

func said(value, source string) factForm { return factForm{json.RawMessage(value), source} }

type answerForm struct {
	ValidAt   string   `json:"valid_at"`
	KnownAt   string   `json:"known_at"`
	KnownFrom string   `json:"known_from"`
	KnownTo   string   `json:"known_to"`
	Fact      factForm `json:"fact"`
}

var demoPath = regexp.MustCompile(`on disk: \S+`)

func TestDemoPrintsTheSameWithEveryRun(t *testing.T) {
	b := newBench(t)
	first := demoPath.ReplaceAllString(b.ok("", "demo").out, "on disk: …")
	second := demoPath.ReplaceAllString(b.ok("", "demo").out, "on disk: …")
	assert.Equal(t, first, second)
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(packageDir, "testdata", "demo.golden"), []byte(first), 0o644))
	}
	golden, err := os.ReadFile(filepath.Join(packageDir, "testdata", "demo.golden"))
	require.NoError(t, err)
	assert.Equal(t, string(golden), first)
}

func TestDemoKeepsTheLedgerOnRequest(t *testing.T) {
	b := newBench(t)
	out := b.ok("", "demo", "--db", "demo.db").out
	assert.FileExists(t, "demo.db")
	_, next, found := strings.Cut(out, "Try next\n")
	require.True(t, found)
	require.Equal(t, 3, strings.Count(next, "\n"))
	for line := range strings.Lines(next) {
		b.ok("", strings.Fields(line)[1:]...)
	}
	r := b.run("", "demo", "--db", "demo.db")
	assert.Equal(t, exitRefused, r.code)
	assert.Equal(t, "sgam: --db: demo.db is there already, and this command writes a new ledger: file already exists\n", r.err)
	assert.Empty(t, r.out)
}

func TestDemoFitsATerminalOf80Columns(t *testing.T) {
	b := newBench(t)
	var out bytes.Buffer
	p := b.program("", &out, &out)
	p.out = terminal(&out, 80)
	p.out.color = false
	require.Zero(t, p.run(t.Context(), []string{"demo"}))
	for line := range bytes.Lines(out.Bytes()) {
		assert.LessOrEqual(t, len([]rune(string(line)))-1, 80, "%s", line)
	}
}
