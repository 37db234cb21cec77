package sgam

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimesAreInstantsAndNeverText(t *testing.T) {
	want := time.Date(2026, 6, 3, 10, 0, 0, 0, time.UTC)
	for _, s := range []string{
		"2026-06-03T10:00:00Z", "2026-06-03 10:00:00Z", "2026-06-03T12:00:00+02:00", "2026-06-03T10:00Z", "2026-06-03 12:00+02:00",
		"2026-06-03T10:00:00.000000Z",
	} {
		got, err := ParseTime(s, nil)
		require.NoError(t, err, s)
		require.True(t, got.Equal(want), "%s is %s", s, got)
	}
	auckland, err := time.LoadLocation("Pacific/Auckland")
	require.NoError(t, err)
	day, err := ParseTime("2026-06-03", auckland)
	require.NoError(t, err)
	require.Equal(t, "2026-06-02T12:00:00Z", day.Format(time.RFC3339), "a plain date is the start of that day in the named zone")
	day, err = ParseTime("2026-06-03", nil)
	require.NoError(t, err)
	require.Equal(t, "2026-06-03T00:00:00Z", day.Format(time.RFC3339))
	for _, s := range []string{"2026-06-03T10:00:00", "2026-06-03 10:00", "10:00", "", "tomorrow", "2026-02-30", "20260603", "1780480800"} {
		_, err := ParseTime(s, auckland)
		fe, ok := errors.AsType[*FieldError](err)
		require.True(t, ok, "%q is refused", s)
		require.Equal(t, "format", fe.Rule)
	}
}

func TestAFaultInJSONNamesItsField(t *testing.T) {
	for text, want := range map[string][2]string{
		`{"op":"assert","subject":"s","subject":"t"}`:               {"subject", "duplicate_key"},
		`{"op":"assert","colour":1}`:                                {"colour", "unknown"},
		`{"op":"assert","subject":7}`:                               {"subject", "type"},
		`{"op":"assert","confidence":"high"}`:                       {"confidence", "type"},
		`{"op":"assert","valid_from":"2026-06-03T10:00:00"}`:        {"valid_from", "format"},
		`{"op":"assert","valid_to":7}`:                              {"valid_to", "type"},
		`{"op":"assert","value":9007199254740993}`:                  {"value", "number"},
		`{"op":"assert","value":"\u0000"}`:                          {"value", "nul"},
		`{"op":"assert","value":"\ud800"}`:                          {"value", "surrogate"},
		`{"op":"assert","episode":{"id":"e","occurred_at":"noon"}}`: {"episode/occurred_at", "format"},
		`{"op":"assert","episode":{"id":"e","mood":1}}`:             {"episode/mood", "unknown"},
		`{"op":"assert","expect_current":"m1"}`:                     {"expect_current", "format"},
		`{"op":"assert","provenance":{"evidence":3}}`:               {"provenance/evidence", "type"},
	} {
		var d MemoryDelta
		err := json.Unmarshal([]byte(text), &d)
		fe, ok := errors.AsType[*FieldError](err)
		require.True(t, ok, "%s: %v", text, err)
		require.Equal(t, want, [2]string{fe.Field, fe.Rule}, text)
	}
}

func TestADeltaSurvivesItsJSONForm(t *testing.T) {
	from, to := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	conf, guard := 0.5, MemoryID{}
	d := MemoryDelta{
		Op: Correct, Scope: "session-1", Subject: "mira", Attribute: "deadline", Value: json.RawMessage(`"x"`), ValidFrom: &from, ValidTo: &to,
		EpisodeID: "e1", Episode: &Episode{ID: "e1", Kind: Message, OccurredAt: from, Text: "hi", Sequence: 3}, Confidence: &conf,
		ExpectCurrent: &guard, Provenance: Provenance{Evidence: "hi", Contradicts: "yes"},
	}
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"expect_current":"none"`)
	var back MemoryDelta
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, d, back)
}

func TestDecodeReadsObjectsArraysAndLines(t *testing.T) {
	tenant := &Tenant{l: &Ledger{}, id: TenantID{"acme"}}
	for _, text := range []string{
		`{"op":"end","subject":"a"}{"op":"end","subject":"b"}`,
		"{\"op\":\"end\",\"subject\":\"a\"}\n\n{\"op\":\"end\",\"subject\":\"b\"}\n",
		`[{"op":"end","subject":"a"},{"op":"end","subject":"b","tenant_id":"acme"}]`,
	} {
		deltas, err := tenant.Decode(strings.NewReader(text))
		require.NoError(t, err, text)
		require.Len(t, deltas, 2)
		require.Equal(t, "b", deltas[1].Subject)
	}
	_, err := tenant.Decode(strings.NewReader(`[{"op":"end","subject":"a"},{"op":"end","tenant_id":"Acme"}]`))
	require.ErrorIs(t, err, ErrForeignTenant)
	require.ErrorContains(t, err, "deltas/1/tenant_id")
	for _, text := range []string{`{"op":"end"`, `[{"op":"end"}`, `nonsense`, `7`, `[7]`, `{"op":"end"} x`} {
		_, err := tenant.Decode(strings.NewReader(text))
		fe, ok := errors.AsType[*FieldError](err)
		require.True(t, ok, "%s: %v", text, err)
		require.Contains(t, fe.Field, "deltas/")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"op":"assert","subject":"mira","attribute":"deadline","value":"2026-06-30","valid_from":"2026-06-03T10:00:00Z","source_episode_id":"e2"}`)
	f.Add(`[{"op":"end","value":{"a":[1,2,{"b":null}]},"valid_to":"2026-06-03","episode":{"id":"e","kind":"message","occurred_at":"2026-06-03"}}]`)
	f.Add(`{"op":"void","expect_current":"none","confidence":0.25,"tenant_id":"acme"}`)
	tenant := &Tenant{l: &Ledger{}, id: TenantID{"acme"}}
	f.Fuzz(func(t *testing.T, text string) {
		deltas, err := tenant.Decode(strings.NewReader(text))
		if err != nil {
			if _, ok := errors.AsType[*FieldError](err); !ok {
				t.Fatalf("not a field error: %v", err)
			}
			return
		}
		for _, d := range deltas {
			if d.TenantID != "" && d.TenantID != "acme" {
				t.Fatal("a foreign delta came through")
			}
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatalf("decoded, but cannot be written: %v", err)
			}
			again, err := tenant.Decode(strings.NewReader(string(raw)))
			if err != nil || len(again) != 1 {
				t.Fatalf("written, but cannot be read: %v\n%s", err, raw)
			}
		}
	})
}
