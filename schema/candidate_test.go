package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/schema"
)

var heard = time.Date(2026, time.June, 3, 10, 0, 0, 0, time.UTC)

// ledgerOf is a tenant of a new ledger that holds these types.
func ledgerOf(t *testing.T, docs ...sgam.TypeDocument) *sgam.Tenant {
	t.Helper()
	types := schema.NewRegistry()
	for _, doc := range docs {
		_, err := types.Add(doc.JSON)
		require.NoError(t, err)
	}
	tenant, err := ledgertest.NewLedger(t, &sgam.Options{Schemas: types, Clock: func() time.Time { return heard.AddDate(0, 0, 1) }}).Tenant("t")
	require.NoError(t, err)
	return tenant
}

func message() sgam.Episode {
	return sgam.Episode{ID: "e1", Kind: sgam.Message, OccurredAt: heard, Text: "…"}
}

// entry is one candidate as a model writes it, with some members replaced.
func entry(statement string, others ...string) string {
	members := map[string]string{
		"evidence": `"words"`, "compared": "null", "reasoning": `"because"`, "contradicts": "null", "intent": `"stating"`, "subject": `"mira"`,
		"statement": statement, "valid_from": "null", "valid_to": "null", "confidence": "null",
	}
	for i := 0; i < len(others); i += 2 {
		members[others[i]] = others[i+1]
	}
	var list []string
	for name, value := range members {
		list = append(list, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(list, ",") + "}"
}

func answerOf(entries ...string) []byte {
	return []byte(`{"candidates":[` + strings.Join(entries, ",") + `]}`)
}

// G4: recorded replies of both services become deltas. A deadline that was corrected is a change of the world, so the
// first one ends where the second begins, and nobody has rewritten the past.
func TestG4RecordedRepliesOfBothServicesBecomeDeltas(t *testing.T) {
	doc := readDocument(t, "golden", "deadline.in.json")
	for _, d := range []schema.Dialect{schema.OpenAI, schema.Anthropic} {
		t.Run(string(d), func(t *testing.T) {
			form := formFor(t, d, doc)
			body, err := os.ReadFile(filepath.Join("testdata", "dialect", "mira."+string(d)+".reply.json"))
			require.NoError(t, err)
			candidates, err := form.DecodeReply(body)
			require.NoError(t, err)
			require.Len(t, candidates, 2)
			tenant := ledgerOf(t, doc)
			for i, c := range candidates {
				require.NoError(t, c.Err)
				assert.False(t, c.Unsure)
				assert.Equal(t, sgam.Assert, c.Delta.Op)
				assert.Equal(t, "passport_deadline", c.Delta.MemoryType)
				assert.Equal(t, 1, c.Delta.SchemaVersion)
				e := sgam.Episode{ID: fmt.Sprintf("e%d", i+1), Kind: sgam.Message, OccurredAt: heard, Text: c.Delta.Provenance.Evidence}
				receipt, err := tenant.Apply(t.Context(), c.Delta.From(e))
				require.NoError(t, err)
				require.NoError(t, receipt.Err())
			}
			assert.Equal(t, "She corrected the deadline. It is now 2026-06-30.", candidates[1].Delta.Provenance.Evidence)
			assert.Equal(t, "correcting", candidates[1].Delta.Provenance.Intent)
			assert.Equal(t, "passport_deadline 2026-07-15", candidates[1].Delta.Provenance.Compared)

			now, err := tenant.Current().Get(t.Context(), "mira", "passport_deadline")
			require.NoError(t, err)
			assert.Equal(t, `"2026-06-30"`, string(now.Value))
			then, err := tenant.ValidAt(heard.AddDate(0, 0, -1)).Get(t.Context(), "mira", "passport_deadline")
			require.NoError(t, err)
			assert.Equal(t, `"2026-07-15"`, string(then.Value))
			require.NotNil(t, then.Valid.To)
			assert.Equal(t, heard, *then.Valid.To)
		})
	}
}

func TestWordsForAChangeBecomeOperations(t *testing.T) {
	form := formFor(t, schema.OpenAI, document(t, `"tag":1,"name":"a","schema":{"type":"string"}`))
	for _, test := range []struct {
		why, entry string
		op         sgam.Op
		unsure     bool
	}{
		{"a statement", entry(`{"attribute":"a","change":"now_is","value":"x"}`), sgam.Assert, false},
		{"the past, with evidence and a start", entry(`{"attribute":"a","change":"was_always","value":"x"}`, "valid_from", `"2026-01-01"`), sgam.Correct, false},
		{"the past, from nobody knows when", entry(`{"attribute":"a","change":"was_always","value":"x"}`), sgam.Assert, true},
		{"the past, and nobody said so", entry(`{"attribute":"a","change":"was_always","value":"x"}`, "valid_from", `"2026-01-01"`, "evidence", `" "`), sgam.Assert, true},
		{"an end", entry(`{"no_value_of":"a","change":"no_longer"}`), sgam.End, false},
		{"nothing, ever", entry(`{"no_value_of":"a","change":"never_was"}`), sgam.Void, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			candidates, err := form.Decode(answerOf(test.entry))
			require.NoError(t, err)
			require.Len(t, candidates, 1)
			require.NoError(t, candidates[0].Err)
			assert.Equal(t, test.op, candidates[0].Delta.Op)
			assert.Equal(t, test.unsure, candidates[0].Unsure)
			assert.Equal(t, "a", candidates[0].Delta.Attribute)
		})
	}
}

// An endpoint that keeps to the form lets all of these through. The ledger does not.
func TestWhatTheFormAllowsIsJudgedAgain(t *testing.T) {
	doc := document(t, `"tag":1,"name":"due","schema":{"type":"string","format":"date"}`, `"tag":2,"name":"seats","schema":{"type":"integer","maximum":4}`)
	old := document(t, `"tag":1,"name":"due","schema":{"type":"string","format":"date"}`)
	next, err := schema.ParseDocument([]byte(strings.Replace(string(old.JSON), `"version":1`, `"version":2`, 1)))
	require.NoError(t, err)
	for _, test := range []struct {
		why, entry, code, pointer string
		as                        sgam.TypeDocument
	}{
		{"an empty subject", entry(`{"attribute":"seats","change":"now_is","value":"2"}`, "subject", `""`), "invalid", "subject", doc},
		{"a day in words", entry(`{"attribute":"due","change":"now_is","value":"yesterday"}`), "schema", "value", doc},
		{"a confidence of seven", entry(`{"attribute":"seats","change":"now_is","value":"2"}`, "confidence", "7"), "invalid", "confidence", doc},
		{"a value over its limit", entry(`{"attribute":"seats","change":"now_is","value":"5"}`), "schema", "value", doc},
		{"an answer to another version", entry(`{"attribute":"due","change":"now_is","value":"2026-06-30"}`), "schema_version", "schema_version", next},
	} {
		t.Run(test.why, func(t *testing.T) {
			form := formFor(t, schema.Generic, test.as)
			require.NoError(t, accepts(t, strictly(t, form), answerOf(test.entry)))
			candidates, err := form.Decode(answerOf(test.entry))
			require.NoError(t, err)
			require.NoError(t, candidates[0].Err)
			tenant := ledgerOf(t, doc)
			receipt, err := tenant.Apply(t.Context(), candidates[0].Delta.From(message()))
			require.NoError(t, err)
			assert.Equal(t, sgam.Rejected, receipt.Outcome)
			assert.Equal(t, test.code, receipt.Code)
			require.NotEmpty(t, receipt.Faults)
			assert.Equal(t, test.pointer, receipt.Faults[0].Field)
			_, err = tenant.Current().Get(t.Context(), "mira", candidates[0].Delta.Attribute)
			assert.ErrorIs(t, err, sgam.ErrUnknown)
		})
	}
	// The control: what is right in the same ways is written.
	form := formFor(t, schema.Generic, doc)
	candidates, err := form.Decode(answerOf(entry(`{"attribute":"seats","change":"now_is","value":"4"}`, "confidence", "1")))
	require.NoError(t, err)
	tenant := ledgerOf(t, doc)
	receipt, err := tenant.Apply(t.Context(), candidates[0].Delta.From(message()))
	require.NoError(t, err)
	assert.Equal(t, sgam.Applied, receipt.Outcome)
}

func TestOneUnreadableCandidateLosesNoOther(t *testing.T) {
	form := formFor(t, schema.OpenAI, document(t, `"tag":1,"name":"a","schema":{"type":"object","properties":{"x":{"type":"string"}}}`))
	good := entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`)
	for _, test := range []struct{ why, entry, path, rule string }{
		{"no object", `7`, "candidates/1", "type"},
		{"a word that is none of ours", entry(`{"attribute":"a","change":"correct","value":{"x":"y"}}`), "candidates/1/statement/change", "enum"},
		{"no change", entry(`{"attribute":"a","value":{"x":"y"}}`), "candidates/1/statement/change", "enum"},
		{"no statement", entry(`null`), "candidates/1/statement", "required"},
		{"two statements in one", entry(`{"attribute":"a","no_value_of":"a","change":"no_longer"}`), "candidates/1/statement/no_value_of", "unique"},
		{"a time in words", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`, "valid_from", `"yesterday"`), "candidates/1/valid_from", "format"},
		{"a time without an offset", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`, "valid_to", `"2026-06-30T09:00:00"`), "candidates/1/valid_to", "format"},
		{"confidence in words", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`, "confidence", `"high"`), "candidates/1/confidence", "type"},
		{"evidence that is a list", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`, "evidence", `[]`), "candidates/1/evidence", "type"},
		{"another tenant", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`, "tenant_id", `"other"`), "candidates/1/tenant_id", "unknown"},
		{"an episode of its own", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`, "episode", `{"id":"e9"}`), "candidates/1/episode", "unknown"},
		{"a known time", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"},"known_at":"2020-01-01"}`), "candidates/1/statement/known_at", "unknown"},
		{"content that strayed into a name", entry(`{"attribute":"a","change":"now_is","value":{"x":"y"}}`, "my secret is 42", `1`), "candidates/1", "unknown"},
		{"a doubled field", `{"subject":"a","subject":"b"}`, "candidates/1/subject", "duplicate_key"},
		{"a doubled field in the value", entry(`{"attribute":"a","change":"now_is","value":{"secret":1,"secret":2}}`), "candidates/1/statement/value", "duplicate_key"},
		{"half of a character", entry(`{"attribute":"a","change":"now_is","value":{"x":"\ud800"}}`), "candidates/1/statement/value", "surrogate"},
	} {
		t.Run(test.why, func(t *testing.T) {
			candidates, err := form.Decode(answerOf(good, test.entry, good))
			require.NoError(t, err)
			require.Len(t, candidates, 3)
			for _, i := range []int{0, 2} {
				require.NoError(t, candidates[i].Err)
				assert.JSONEq(t, `{"x":"y"}`, string(candidates[i].Delta.Value))
			}
			var ve *sgam.ValidationError
			require.ErrorAs(t, candidates[1].Err, &ve)
			assert.ErrorIs(t, candidates[1].Err, sgam.ErrRejected)
			assert.Equal(t, test.path, ve.Faults[0].Field)
			assert.Equal(t, test.rule, ve.Faults[0].Rule)
			assert.NotContains(t, candidates[1].Err.Error(), "secret")
			assert.Equal(t, sgam.MemoryDelta{}, candidates[1].Delta)
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	form := formFor(t, schema.OpenAI, document(t, `"tag":1,"name":"a","schema":{"type":"string"}`))
	for _, test := range []struct{ why, answer, path, rule string }{
		{"prose", `Sure! Here is the JSON.`, "", "syntax"},
		{"prose around it", "```json\n{\"candidates\":[]}\n```", "", "syntax"},
		{"half of it", `{"candidates":[`, "", "syntax"},
		{"nothing", ``, "", "syntax"},
		{"a list", `[]`, "", "type"},
		{"an empty object", `{}`, "candidates", "required"},
		{"no list", `{"candidates":{}}`, "candidates", "type"},
		{"null for a list", `{"candidates":null}`, "candidates", "type"},
		{"something beside it", `{"candidates":[],"tenant_id":"other"}`, "", "unknown"},
		{"two lists", `{"candidates":[],"candidates":[]}`, "", "unknown"},
	} {
		t.Run(test.why, func(t *testing.T) {
			_, err := form.Decode([]byte(test.answer))
			var fe *sgam.FieldError
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, test.path, fe.Field)
			assert.Equal(t, test.rule, fe.Rule)
		})
	}
	none, err := form.Decode([]byte(`{"candidates":[]}`))
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestNullsInAValueAreWhatWasLeftOut(t *testing.T) {
	value := `{"type":"object","required":["r"],"properties":{"r":{"type":["string","null"]},"o":{"type":"string"},"n":{"type":["string","null"]},
		"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}}}},
		"u":{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},"v":{"type":"string"}},"required":["k"]},
			{"type":"object","properties":{"k":{"const":"b"},"v":{"type":["string","null"]}},"required":["k","v"]}]}}}`
	doc := document(t, `"tag":1,"name":"a","schema":`+value)
	for _, test := range []struct{ written, read string }{
		{`{"r":null,"o":null,"n":null,"l":null,"u":null}`, `{"r":null}`},
		{`{"r":"x","o":"","n":"y","l":[{"x":null,"y":0}],"u":{"k":"a","v":null}}`, `{"l":[{"y":0}],"n":"y","o":"","r":"x","u":{"k":"a"}}`},
		{`{"r":"x","o":null,"n":null,"l":[],"u":{"k":"b","v":null}}`, `{"l":[],"r":"x","u":{"k":"b","v":null}}`},
	} {
		text, err := json.Marshal(test.written)
		require.NoError(t, err)
		for d, written := range map[schema.Dialect]string{schema.OpenAI: test.written, schema.Generic: string(text)} {
			form := formFor(t, d, doc)
			answer := answerOf(entry(`{"attribute":"a","change":"now_is","value":` + written + `}`))
			require.NoError(t, accepts(t, strictly(t, form), answer))
			candidates, err := form.Decode(answer)
			require.NoError(t, err)
			require.NoError(t, candidates[0].Err)
			assert.Equal(t, test.read, string(candidates[0].Delta.Value), d)
		}
	}
}

func TestValuesAsTextAreReadByTheirAttribute(t *testing.T) {
	form := formFor(t, schema.Generic, document(t, `"tag":1,"name":"s","schema":{"type":"string"}`, `"tag":2,"name":"n","schema":{"type":"integer"}`))
	for statement, want := range map[string]string{
		`{"attribute":"s","change":"now_is","value":"7"}`:       `"7"`,
		`{"attribute":"n","change":"now_is","value":" 7 "}`:     `7`,
		`{"attribute":"unknown","change":"now_is","value":"7"}`: `"7"`,
		`{"attribute":"n","change":"no_longer","value":null}`:   ``,
		`{"attribute":"s","change":"now_is","value":"\"7\"\n"}`: `"\"7\"\n"`,
	} {
		candidates, err := form.Decode(answerOf(entry(statement)))
		require.NoError(t, err)
		require.NoError(t, candidates[0].Err, statement)
		assert.Equal(t, want, string(candidates[0].Delta.Value), statement)
	}
	for _, value := range []string{`"seven"`, `7`} {
		candidates, err := form.Decode(answerOf(entry(`{"attribute":"n","change":"now_is","value":` + value + `}`)))
		require.NoError(t, err)
		var fe *sgam.FieldError
		require.ErrorAs(t, candidates[0].Err, &fe)
		assert.Equal(t, "candidates/0/statement/value", fe.Field)
		assert.NotContains(t, fe.Error(), "seven")
	}
}

func TestRepliesWithoutAnAnswer(t *testing.T) {
	const full = `{\"candidates\":[]}`
	chat := func(message, reason string) string {
		return `{"choices":[{"message":` + message + `,"finish_reason":"` + reason + `"}]}`
	}
	messages := func(content, reason string) string {
		return `{"type":"message","content":[` + content + `],"stop_reason":"` + reason + `"}`
	}
	for _, test := range []struct {
		why     string
		dialect schema.Dialect
		body    string
		want    error
	}{
		{"an answer", schema.OpenAI, chat(`{"content":"`+full+`","refusal":null}`, "stop"), nil},
		{"a function call", schema.OpenAI, chat(`{"content":null,"tool_calls":[{"function":{"name":"remember","arguments":"`+full+`"}}]}`, "tool_calls"), nil},
		{"an answer of an engine that speaks the same wire", schema.Generic, chat(`{"content":"`+full+`"}`, "stop"), nil},
		{"cut off, though it happens to be JSON", schema.OpenAI, chat(`{"content":"`+full+`"}`, "length"), schema.ErrTruncated},
		{"cut off while thinking", schema.OpenAI, chat(`{"content":""}`, "length"), schema.ErrTruncated},
		{"a refusal", schema.OpenAI, chat(`{"content":null,"refusal":"I can not help with my secret."}`, "stop"), schema.ErrRefused},
		{"a filter", schema.OpenAI, chat(`{"content":"`+full+`"}`, "content_filter"), schema.ErrRefused},
		{"nothing", schema.OpenAI, chat(`{"content":""}`, "stop"), schema.ErrNoAnswer},
		{"an error of the service", schema.OpenAI, `{"error":{"message":"secret"}}`, schema.ErrNoAnswer},
		{"no JSON", schema.OpenAI, `<html>`, schema.ErrNoAnswer},
		{"an answer", schema.Anthropic, messages(`{"type":"thinking","thinking":"…"},{"type":"text","text":"`+full+`"}`, "end_turn"), nil},
		{"a tool call", schema.Anthropic, messages(`{"type":"text","text":"Let me see."},{"type":"tool_use","name":"remember","input":{"candidates":[]}}`, "tool_use"), nil},
		{"cut off", schema.Anthropic, messages(`{"type":"text","text":"`+full+`"}`, "max_tokens"), schema.ErrTruncated},
		{"a window that is full", schema.Anthropic, messages(`{"type":"text","text":"`+full+`"}`, "model_context_window_exceeded"), schema.ErrTruncated},
		{"a refusal", schema.Anthropic, messages(`{"type":"text","text":"my secret"}`, "refusal"), schema.ErrRefused},
		{"an error of the service", schema.Anthropic, `{"type":"error","error":{"message":"secret"}}`, schema.ErrNoAnswer},
		{"no JSON", schema.Anthropic, `<html>`, schema.ErrNoAnswer},
	} {
		t.Run(string(test.dialect)+" "+test.why, func(t *testing.T) {
			form := formFor(t, test.dialect, document(t, `"tag":1,"name":"a","schema":{"type":"string"}`))
			candidates, err := form.DecodeReply([]byte(test.body))
			assert.Empty(t, candidates)
			if test.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, test.want)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}
