package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const history = `{"recorded_at":"2026-01-01","op":"assert","subject":"s","attribute":"a","value":"x","valid_from":"2026-01-01","valid_to":null,"source":"one"}
{"recorded_at":"2026-01-02","op":"assert","subject":"s","attribute":"t.n","value":1,"valid_from":null,"valid_to":null,"source":"two"}
`

const question = `{"subject":"s","attribute":"a","valid_at":null,"known_at":null,"kind":"current","expect":"x","expect_source":"one"}` + "\n"

// A reduced real history is answered on the real engine, sources included.
func TestRealHistoriesAreAnswered(t *testing.T) {
	b := newBench(t)
	folder := filepath.Join(packageDir, "..", "..", "testdata", "sgd")
	r := b.ok("", "replay", "--facts", filepath.Join(folder, "facts.jsonl.gz"), "--questions", filepath.Join(folder, "questions.jsonl.gz"), "--json")
	var card scorecard
	require.NoError(t, json.Unmarshal([]byte(r.out), &card))
	assert.True(t, card.OK)
	assert.Equal(t, 929, card.Load.Statements)
	require.Len(t, card.Files, 1)
	assert.Equal(t, 2000, card.Files[0].Right)
	assert.Zero(t, card.Files[0].Wrong)
}

func TestPublishedCasesAreAnswered(t *testing.T) {
	b := newBench(t)
	folder := filepath.Join(packageDir, "..", "..", "testdata", "sequenced")
	out := b.ok("", "replay", "--cases", filepath.Join(folder, "bitempura.json"), "--cases", filepath.Join(folder, "xtdb.json")).out
	assert.Equal(t, 2, strings.Count(out, "every answer is right\n"))
}

func TestAReplayedLedgerIsKeptOnRequest(t *testing.T) {
	b := newBench(t)
	b.file("facts.jsonl", history)
	b.file("questions.jsonl", question)
	b.ok("", "replay", "--facts", "facts.jsonl", "--questions", "questions.jsonl", "--db", "history.db", "--tenant", "h")
	assert.Contains(t, b.ok("", "get", "s", "a", "--db", "history.db", "--tenant", "h").out, `s.a = "x"`)
	b.ok(`{"op":"assert","subject":"s","attribute":"t.n","value":2,"episode":{"id":"later","kind":"file","occurred_at":"2026-06-01"}}`,
		"apply", "--db", "history.db", "--tenant", "h")
	r := b.run("", "replay", "--facts", "facts.jsonl", "--questions", "questions.jsonl", "--db", "history.db", "--tenant", "h")
	assert.Equal(t, exitRefused, r.code, "what is there is later")
	b.ok("", "replay", "--facts", "facts.jsonl", "--questions", "questions.jsonl", "--db", "history.db", "--tenant", "another")
}

func TestSchemasOfTheUserJudgeAHistory(t *testing.T) {
	b := newBench(t)
	b.file("facts.jsonl", history)
	b.file("questions.jsonl", question)
	b.file("types.json", `{"type":"mine","version":1,"attributes":[{"tag":1,"name":"a","schema":{"type":"string"}},{"tag":2,"name":"t.n","schema":{"type":"number","minimum":5}}]}`)
	r := b.run("", "replay", "--facts", "facts.jsonl", "--questions", "questions.jsonl", "--schema", "types.json")
	assert.Equal(t, exitNo, r.code, "a statement was rejected")
	assert.NotContains(t, r.out, "no schema is given")
	assert.Contains(t, r.out, "  1 applied · 1 rejected\n  line 2: rejected (schema); value: ")
	assert.Contains(t, r.out, "every answer is right\n")
}

func TestFaultyReplaysGetOneLine(t *testing.T) {
	b := newBench(t)
	b.file("facts.jsonl", history)
	b.file("questions.jsonl", question)
	b.file("mixed.jsonl", history+strings.Replace(strings.Split(history, "\n")[0], `"x"`, "7", 1))
	b.file("shapes.jsonl", strings.Replace(history, `"x"`, `{"k":1}`, 1))
	b.file("back.jsonl", history+strings.Split(history, "\n")[0])
	b.file("cut.jsonl", history[:len(history)-20])
	b.file("asked.jsonl", question+`{"subject":"s"}`)
	b.file("cases.json", `[{"name":"c"`)
	b.file("types.json", `{"type":"mine"}`)
	b.file("steps.json", `[{"name":"c","steps":"none"}]`)
	b.file("list.jsonl", "[]\n")
	for line, says := range map[string]string{
		"":                                       "sgam replay needs --facts and --questions, or --cases",
		"--facts facts.jsonl":                    "sgam replay needs --facts and --questions, or --cases",
		"--cases cases.json --facts facts.jsonl": "--cases excludes --facts, --questions and --schema",
		"--facts absent.jsonl --questions questions.jsonl":                     "absent.jsonl: no such file or directory",
		"--facts facts.jsonl --questions absent.jsonl":                         "absent.jsonl: no such file or directory",
		"--facts . --questions questions.jsonl":                                ". is a folder: want a file",
		"--facts mixed.jsonl --questions questions.jsonl":                      `mixed.jsonl: line 3: attribute "a" holds a number here and a string in line 1`,
		"--facts shapes.jsonl --questions questions.jsonl":                     `shapes.jsonl: attribute "a" holds values of type object`,
		"--facts back.jsonl --questions questions.jsonl":                       `back.jsonl: line 3: field "recorded_at" is earlier`,
		"--facts cut.jsonl --questions questions.jsonl":                        "cut.jsonl: line 2: not JSON that can be kept",
		"--facts facts.jsonl --questions asked.jsonl":                          "asked.jsonl: line 2: ",
		"--facts facts.jsonl --questions questions.jsonl --schema types.json":  "types.json: ",
		"--facts facts.jsonl --questions questions.jsonl --schema absent.json": "absent.json: no such file or directory",
		"--facts list.jsonl --questions questions.jsonl":                       "list.jsonl: line 1: it is not an object",
		"--cases cases.json":  "cases.json: not a list of cases, each an object with a name, steps and expect: unexpected end of JSON input",
		"--cases types.json":  "types.json: not a list of cases, each an object with a name, steps and expect: it is not a list",
		"--cases steps.json":  `steps.json: not a list of cases, each an object with a name, steps and expect: field "steps" is not a list`,
		"--cases absent.json": "absent.json: no such file or directory",
	} {
		r := b.run("", append([]string{"replay"}, strings.Fields(line)...)...)
		assert.Equal(t, exitUsage, r.code, line)
		assert.Empty(t, r.out, line)
		assert.True(t, strings.HasPrefix(r.err, "sgam: "+says), "%s\nwant %s\ngot  %s", line, says, r.err)
		assert.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
	}
}

func TestOnlyATerminalSeesHowFarAReplayIs(t *testing.T) {
	b := newBench(t)
	b.file("facts.jsonl", history)
	b.file("questions.jsonl", question)
	for _, tty := range []bool{true, false} {
		var out, errOut bytes.Buffer
		p := b.program("", &out, &errOut)
		if tty {
			p.err = terminal(&errOut, 80)
		}
		require.Zero(t, p.run(t.Context(), []string{"replay", "--facts", "facts.jsonl", "--questions", "questions.jsonl"}))
		assert.Equal(t, tty, strings.Contains(errOut.String(), "loading"), errOut.String())
		assert.Equal(t, tty, strings.Contains(errOut.String(), "asking"), errOut.String())
		assert.Contains(t, out.String(), "every answer is right\n")
	}
}

func TestDurationsHaveThreeDigits(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0 µs", 7: "7 µs", 999: "999 µs", 1_000: "1.00 ms", 18_010: "18.0 ms", 103_400: "103 ms", 5_244_000: "5.24 s", 75_000_000: "75.0 s",
		1_234_000_000: "1234 s",
	} {
		assert.Equal(t, want, micros(us))
	}
}
