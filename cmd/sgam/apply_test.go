package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cities are n statements about n subjects, the first of which brings the episode along.
func cities(n int) string {
	var b strings.Builder
	b.WriteString(`{"episode":{"id":"e","kind":"file","occurred_at":"2026-06-01"}}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, `{"op":"assert","subject":"s%d","attribute":"city","value":"Oslo","confidence":1,"source_episode_id":"e"}`+"\n", i)
	}
	return b.String()
}

// receiptsOf are the lines of apply --json.
func receiptsOf(t *testing.T, out string) (receipts []struct{ Input, Outcome, KnownAt string }) {
	t.Helper()
	for line := range strings.Lines(out) {
		var r struct {
			Input, Outcome string
			KnownAt        string `json:"known_at"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		receipts = append(receipts, struct{ Input, Outcome, KnownAt string }{r.Input, r.Outcome, r.KnownAt})
	}
	return receipts
}

func TestEachLineIsACallUnlessTheyAreBatched(t *testing.T) {
	for batch, want := range map[string]int{"1": 10, "3": 4, "100": 1} {
		b := newBench(t)
		b.mira()
		known := map[string]bool{}
		receipts := receiptsOf(t, b.ok(cities(10), "apply", "-", "--db", "agent.db", "--json", "--batch", batch).out)
		require.Len(t, receipts, 11)
		for i, r := range receipts[1:] {
			assert.Equal(t, fmt.Sprintf("stdin:%d", i+2), r.Input)
			assert.Equal(t, "applied", r.Outcome)
			known[r.KnownAt] = true
		}
		assert.Len(t, known, want, "batch %s", batch)
	}
}

func TestLongInputsAreToldInNumbers(t *testing.T) {
	b := newBench(t)
	b.mira()
	wrong := `{"op":"assert","subject":"otto","attribute":"salary","value":"much","source_episode_id":"e"}` + "\n"
	r := b.run(cities(listed-2)+wrong, "apply", "-", "--db", "agent.db")
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, 1+listed+1, strings.Count(r.out, "\n"), "the head, each line, the numbers")

	r = b.run(cities(1000)+wrong, "apply", "-", "--db", "agent.db", "--batch", "50")
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, 3, strings.Count(r.out, "\n"), r.out)
	assert.Contains(t, r.out, "\nstdin:1002  rejected  otto.salary  value: type: want a whole number\n")
	assert.Contains(t, r.out, "\n1,002 lines · 1 recorded · 982 applied · 18 duplicate · 1 rejected\n")
	assert.Empty(t, r.err)

	r = b.run(cities(0)+strings.Repeat(wrong, listedAttention+7), "apply", "-", "--db", "agent.db", "--batch", "50")
	assert.Equal(t, 1+1+listedAttention+2, strings.Count(r.out, "\n"), "the head, the episode, the rejected, two lines of numbers")
	assert.Contains(t, r.out, "\n… and 7 lines of that kind; --json shows each\n208 lines · 1 recorded · 207 rejected\n")
}

func TestOnlyATerminalGetsAProgressBar(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.file("long.jsonl", cities(3000))
	b.file("short.jsonl", cities(3))
	bar := func(tty bool, file string) string {
		var out, errOut bytes.Buffer
		p := b.program("", &out, &errOut)
		if tty {
			p.err = terminal(&errOut, 80)
		}
		require.Zero(t, p.run(t.Context(), []string{"apply", file, "--db", "agent.db", "--batch", "1000"}))
		return errOut.String()
	}
	assert.Contains(t, bar(true, "long.jsonl"), "applying")
	assert.Empty(t, bar(true, "short.jsonl"))
	assert.Empty(t, bar(false, "long.jsonl"))
}

func TestInputsOfOtherEditorsAreRead(t *testing.T) {
	b := newBench(t)
	b.mira()
	text := "\xef\xbb\xbf" + strings.ReplaceAll(cities(2), "\n", "\r\n") + "\r\n   \r\n"
	text += `{"op":"assert","subject":"last","attribute":"city","value":"Oslo","confidence":1,"source_episode_id":"e"}` // without a newline
	receipts := receiptsOf(t, b.ok(text, "apply", "-", "--db", "agent.db", "--json").out)
	require.Len(t, receipts, 4)
	assert.Equal(t, "stdin:6", receipts[3].Input)
}

func TestBadJSONNamesItsLineAndField(t *testing.T) {
	b := newBench(t)
	b.mira()
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	deepest := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	for says, line := range map[string]string{
		"syntax: want one JSON object a line, and this one is not finished\n": `{`,
		"syntax: want one JSON object a line\n":                               `{"op":assert}`,
		"type: want one JSON object a line":                                   `"a string"`,
		"episode: duplicate_key: want each key":                               `{"episode":{"id":"a"},"episode":{"id":"b"}}`,
		"episode/color: unknown: want a field":                                `{"episode":{"id":"a","kind":"file","occurred_at":"2026-01-01","color":"red"}}`,
		"episode/occurred_at: format: want a time":                            `{"episode":{"id":"a","kind":"file","occurred_at":"2026-01-01T00:00"}}`,
		"episode/occurred_at: required: want":                                 `{"episode":{"id":"a","kind":"file"}}`,
		"episode/id: required: want a name; episode/kind: enum: want":         `{"episode":{"id":"","kind":"rumour","occurred_at":"2026-01-01"}}`,
		"episode: type: want":                                                 `{"episode":7}`,
		"value: ":                                                             `{"op":"assert","subject":"a","attribute":"city","value":"\ud800","source_episode_id":"e1"}`,
		"valid_from: format: want a time":                                     `{"op":"assert","subject":"a","attribute":"city","value":"x","valid_from":"1 June","source_episode_id":"e1"}`,
		"confidence: type: want":                                              `{"op":"assert","subject":"a","attribute":"city","value":"x","confidence":"high","source_episode_id":"e1"}`,
		"subject: ":                                                           "{\"op\":\"assert\",\"subject\":\"\xff\",\"attribute\":\"city\"}",
		"value: depth: want at most 128 nested arrays and objects\n":          `{"op":"assert","subject":"a","attribute":"city","value":` + deep + `}`,
		"value: depth: want at most 128":                                      `{"op":"assert","value":` + deepest + `}`,
		"episode: depth: want at most 128 nested arrays and objects\n":        `{"episode":` + deepest + `}`,
		"nul: want no U+0000\n":                                               "{\x00}",
		"value: number: want":                                                 `{"op":"assert","subject":"a","attribute":"salary","value":9007199254740993,"source_episode_id":"e1"}`,
	} {
		r := b.run("\n"+line+"\n"+cities(1), "apply", "-", "--db", "agent.db")
		assert.Equal(t, exitNo, r.code, line)
		assert.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
		assert.True(t, strings.HasPrefix(r.err, "sgam: stdin:2: "+says), "want %s\ngot %.300s", says, r.err)
		assert.NotContains(t, r.out, "not submitted", "the others go on")
		assert.Contains(t, r.out, "3 lines · 1 recorded · 1 ", line)
	}
}

func TestNoMessageCarriesAValue(t *testing.T) {
	b := newBench(t)
	b.mira()
	for _, line := range []string{
		`{"op":"assert","subject":"a","attribute":"salary","value":"s3cret","source_episode_id":"e1"}`,
		`{"op":"assert","subject":"a","attribute":"city","value":"s3cret","confidence":"s3cret"}`,
		`{"op":"s3cret","subject":"a","attribute":"city","value":"s3cret","source_episode_id":"e1"}`,
		`{"op":"assert","subject":"a","attribute":"city","value":"s3cret","valid_from":"s3cret"}`,
		`{"op":"assert","value":"s3cret"`,
	} {
		r := b.run(line, "apply", "-", "--db", "agent.db")
		assert.Equal(t, exitNo, r.code, line)
		assert.NotContains(t, r.out+r.err, "s3cret", line)
	}
}

func TestAllOrNothingWritesNothingOverOneBadLine(t *testing.T) {
	b := newBench(t)
	b.mira()
	for _, wrong := range []string{
		`{"op":"assert"`, `{"op":"assert","subject":"a","attribute":"city","value":"x"}`,
		`{"op":"assert","subject":"a","attribute":"salary","value":"x","source_episode_id":"e"}`,
		`{"episode":{"id":"e","kind":"file","occurred_at":"2027-01-01"}}`,
		`{"episode":{"id":"e1","kind":"file","occurred_at":"2027-01-01"}}`,
	} {
		r := b.run(cities(2)+wrong, "apply", "-", "--db", "agent.db", "--all-or-nothing")
		assert.Equal(t, exitNo, r.code, wrong)
		assert.Equal(t, exitNo, b.run("", "facts", "--db", "agent.db", "--attribute", "city").code, wrong)
	}
	b.ok(cities(2), "apply", "-", "--db", "agent.db", "--all-or-nothing") // the control
	b.ok("", "facts", "--db", "agent.db", "--attribute", "city")
}

func TestALineThatDoesNotFitDoesNotSpoilItsBatch(t *testing.T) {
	b := newBench(t)
	b.mira()
	other := `{"episode":{"id":"e1","kind":"file","occurred_at":"2027-01-01"}}` + "\n" // e1 is there with another content
	r := b.run(other+cities(3)+other, "apply", "-", "--db", "agent.db", "--batch", "100")
	assert.Equal(t, exitNo, r.code)
	assert.Contains(t, r.out, "6 lines · 1 recorded · 3 applied · 2 bad\n")
	assert.Equal(t, "sgam: stdin:1: episode/id: unique: want one content for one episode id\n"+
		"sgam: stdin:6: episode/id: unique: want one content for one episode id\n", r.err)
}

func TestALargeValueIsOneLine(t *testing.T) {
	b := newBench(t)
	b.mira()
	line := `{"op":"assert","subject":"a","attribute":"city","value":"` + strings.Repeat("x", 4<<20) + `","confidence":1,"source_episode_id":"e1"}`
	assert.NotContains(t, b.ok(line, "apply", "-", "--db", "agent.db").out, "xxx")
	assert.Greater(t, len(b.ok("", "get", "a", "city", "--db", "agent.db", "--json").out), 4<<20)
}
