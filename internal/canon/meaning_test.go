package canon_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam/internal/canon"
)

func TestEverySpellingOfAValueHasOneCanonicalFormWithItsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := drawValue(t, 3)
		one, other := spell(t, value), spell(t, value)

		got, err := canon.Canonical([]byte(one))
		require.NoError(t, err, "%q", one)
		again, err := canon.Canonical([]byte(other))
		require.NoError(t, err, "%q", other)
		require.Equal(t, string(got), string(again), "%q and %q mean the same", one, other)

		twice, err := canon.Canonical(got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(twice), "canonical is final")

		var meaning any
		require.NoError(t, json.Unmarshal(got, &meaning))
		require.Equal(t, value, meaning)
	})
}

func TestDifferentValuesHaveDifferentCanonicalForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawValue(t, 2), drawValue(t, 2)
		one, err := canon.Canonical([]byte(spell(t, a)))
		require.NoError(t, err)
		other, err := canon.Canonical([]byte(spell(t, b)))
		require.NoError(t, err)
		require.Equal(t, assert.ObjectsAreEqual(a, b), string(one) == string(other))
	})
}

func TestKeysStandInTheOrderOfTheirUTF16CodeUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{}
		for range rapid.IntRange(0, 8).Draw(t, "members") {
			object[drawText(t, "key")] = float64(len(object))
		}
		got, err := canon.Canonical([]byte(spell(t, object)))
		require.NoError(t, err)

		var keys [][]uint16
		decoder := json.NewDecoder(strings.NewReader(string(got)))
		for {
			token, err := decoder.Token()
			if err != nil {
				break // the end: what Canonical writes is valid, another test says
			}
			if key, ok := token.(string); ok {
				keys = append(keys, utf16.Encode([]rune(key)))
			}
		}
		require.Len(t, keys, len(object))
		require.True(t, slices.IsSortedFunc(keys, slices.Compare[[]uint16]), "%q", got)
	})
}

// FuzzCanonical holds, for any bytes at all: no panic; what is accepted is JSON to
// encoding/json too, means the same to it, and is final; what is called not JSON is
// not JSON to encoding/json; an error says where.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `null`, `true`, `fals`, `0`, `-0`, `-`, `01`, `1.0`, `1e20`, `1e21`, `1e-7`, `1e400`, `1e999999999`,
		`0.1`, `9007199254740993`, `5e-324`, `4e-324`, `1.7976931348623157e308`, `123456789012345678`, `1.`, `.5`, `1e+`,
		`"a"`, `"\u00e9\uD83D\ude02"`, `"\ud83d"`, `"\ude02\ud83d"`, `"\u0000"`, "\"\x00\"", "\"\xff\"", "\"\xed\xa0\x80\"",
		`"\/\"\\\b\f\n\r\t"`, `"\x"`, `"\u12`, "\"\n\"", "\ufeff1", "\x00", "\xff",
		`[]`, `[1,2]`, `[1,]`, `[1 2]`, `[[[]]]`, `]`, `1 2`, `{}x`,
		`{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"€":1,"\r":2,"דּ":3,"1":4,"😂":5,"":6,"ö":7}`,
		`{"a":{"d":1,"c":{"f":[],"e":{}}}}`, `{"a" 1}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"\n":1,"\\":2,"\u001f":3}`,
		`{"~/":{"":9007199254740993}}`, strings.Repeat("[", canon.MaxDepth+1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		sent := string(raw)
		got, err := canon.Canonical(raw)
		require.Equal(t, sent, string(raw), "the input is not changed")
		if err != nil {
			require.Nil(t, got)
			fault, ok := errors.AsType[*canon.Error](err)
			require.True(t, ok)
			require.NotEmpty(t, fault.Want)
			require.True(t, fault.Pointer == "" || fault.Pointer[0] == '/', "%q", fault.Pointer)
			require.True(t, utf8.ValidString(fault.Error()))
			switch fault.Rule {
			case "syntax", "trailing":
				require.False(t, json.Valid(raw))
			case "duplicate_key", "utf8", "surrogate", "nul", "number", "depth":
			default:
				t.Fatalf("rule %q is not documented", fault.Rule)
			}
			return
		}
		require.True(t, json.Valid(raw))
		require.True(t, json.Valid(got))

		again, err := canon.Canonical(got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))

		var before, after any
		require.NoError(t, json.Unmarshal(raw, &before))
		require.NoError(t, json.Unmarshal(got, &after))
		require.Equal(t, before, after)
	})
}
