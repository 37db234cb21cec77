package canon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam/internal/canon"
)

func TestAcceptedDocumentsInCanonicalForm(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"null at the top", `null`, `null`},
		{"true at the top", `true`, `true`},
		{"false at the top", `false`, `false`},
		{"a string at the top", `"2026-06-30"`, `"2026-06-30"`},
		{"white space around and between", " \t\r\n{ \"a\" : [ 1 , 2 ] } \n", `{"a":[1,2]}`},
		{"white space inside strings stays", `" a  b "`, `" a  b "`},
		{"empty array and object", `[ [ ] , { } ]`, `[[],{}]`},
		{"the empty string and the empty key", `{"":""}`, `{"":""}`},
		{"keys out of order", `{"b":1,"a":2,"c":3}`, `{"a":2,"b":1,"c":3}`},
		{"a prefix comes first", `{"ab":1,"a":2}`, `{"a":2,"ab":1}`},
		{"upper case before lower", `{"a":1,"B":2}`, `{"B":2,"a":1}`},
		{"digits are text", `{"10":1,"9":2}`, `{"10":1,"9":2}`},
		{"nested objects are sorted too", `{"z":{"b":1,"a":[{"d":1,"c":2}]},"a":0}`, `{"a":0,"z":{"a":[{"c":2,"d":1}],"b":1}}`},
		{"arrays keep their order", `[3,1,2]`, `[3,1,2]`},
		{"escaped keys are ordered decoded", `{"\u0062":1,"\u0061":2}`, `{"a":2,"b":1}`},
		{"control characters come before letters", `{"a":1,"\t":2,"\u001f":3}`, `{"\t":2,"\u001f":3,"a":1}`},
		{"escapes within one key", `{"\"\\\b\f\n\r\t\u0001":1,"!":2}`, `{"!":2,"\"\\\b\f\n\r\t\u0001":1}`},
		{"the same key on two levels", `{"a":{"a":{"a":1}}}`, `{"a":{"a":{"a":1}}}`},
		{"keys that differ in one accent or case", `{"é":1,"e":2,"E":3,"e\u0301":4}`, "{\"E\":3,\"e\":2,\"e\u0301\":4,\"é\":1}"},
		{"surrogate pair", `"\uD83D\uDE02"`, `"😂"`},
		{"upper-case hexadecimal", `"\u00E9\u000B"`, `"é\u000b"`},
		{"short escapes", `"\u0008\u0009\u000a\u000c\u000d"`, `"\b\t\n\f\r"`},
		{"a solidus needs no escape", `"\/"`, `"/"`},
		{"markup needs no escape", `"<script>&\u2028\u2029"`, "\"<script>&\u2028\u2029\""},
		{"delete needs no escape", `"\u007f"`, "\"\u007f\""},
		{"nothing is normalised to NFC", `"e\u0301"`, "\"e\u0301\""},
		{"noncharacters are characters", `"\uffff\ufffd"`, "\"\uffff\ufffd\""},
	} {
		t.Run(c.why, func(t *testing.T) {
			assert.Equal(t, c.want, canonical(t, c.in))
			assert.Equal(t, c.want, canonical(t, c.want), "a canonical document is its own canonical form")
		})
	}
}

func TestRefusedDocumentsNameRuleAndPlace(t *testing.T) {
	for _, c := range []struct{ why, in, rule, pointer string }{
		{"nothing at all", ``, "syntax", ""},
		{"white space alone", " \n", "syntax", ""},
		{"no JSON value", `x`, "syntax", ""},
		{"an unfinished word", `[tru]`, "syntax", "/0"},
		{"a word in capitals", `True`, "syntax", ""},
		{"a byte order mark", "\ufeff1", "syntax", ""},
		{"single quotes", `{'a':1}`, "syntax", ""},
		{"a comment", `[1/**/]`, "syntax", ""},
		{"an open array", `[1`, "syntax", ""},
		{"an array without its first element", `[,1]`, "syntax", "/0"},
		{"a comma before the end of an array", `[1,]`, "syntax", "/1"},
		{"a missing comma", `[1 2]`, "syntax", ""},
		{"the wrong bracket", `[1}`, "syntax", ""},
		{"an open object", `{"a":1`, "syntax", ""},
		{"a comma before the end of an object", `{"a":1,}`, "syntax", ""},
		{"a key without quotes", `{a:1}`, "syntax", ""},
		{"a number as a key", `{"a":{1:2}}`, "syntax", "/a"},
		{"a key without a colon", `{"a" 1}`, "syntax", ""},
		{"a key without a value", `{"a":}`, "syntax", "/a"},
		{"an open string", `["a`, "syntax", "/0"},
		{"an open escape", `"a\`, "syntax", ""},
		{"an unknown escape", `"\x41"`, "syntax", ""},
		{"a short unicode escape", `"\u12"`, "syntax", ""},
		{"a unicode escape that is not hexadecimal", `"\u12g4"`, "syntax", ""},
		{"a raw line feed in a string", "{\"a\":\"x\ny\"}", "syntax", "/a"},
		{"a raw tab in a key", "{\"a\":{\"x\ty\":1}}", "syntax", "/a"},
		{"a lone minus", `-`, "syntax", ""},
		{"a plus sign", `+1`, "syntax", ""},
		{"a leading zero", `{"n":[007]}`, "syntax", "/n/0"},
		{"a leading zero after a minus", `-01`, "syntax", ""},
		{"a point without whole digits", `.5`, "syntax", ""},
		{"a point without fraction", `1.`, "syntax", ""},
		{"an exponent without digits", `1e`, "syntax", ""},
		{"an exponent with only a sign", `1e+`, "syntax", ""},
		{"hexadecimal", `0x10`, "trailing", ""},

		{"two documents", `{} {}`, "trailing", ""},
		{"a word with more letters", `nulls`, "trailing", ""},
		{"a bracket too many", `[]]`, "trailing", ""},

		{"the same key twice", `{"a":1,"a":1}`, "duplicate_key", "/a"},
		{"the same key apart", `{"a":1,"b":2,"c":3,"a":4}`, "duplicate_key", "/a"},
		{"the same key once unescaped", `{"a":1,"\u0061":2}`, "duplicate_key", "/a"},
		{"the same key beyond the BMP", `{"😂":1,"\ud83d\ude02":2}`, "duplicate_key", "/😂"},
		{"the same control character", `{"\t":1,"\u0009":2}`, "duplicate_key", "/\t"},
		{"the empty key twice", `{"":1,"":2}`, "duplicate_key", "/"},
		{"deep inside", `[0,{"x":[{"y":1,"y":2}]}]`, "duplicate_key", "/1/x/0/y"},

		{"a stray byte", "\"\xff\"", "utf8", ""},
		{"an overlong encoding", "{\"a\":\"\xc0\xaf\"}", "utf8", "/a"},
		{"an overlong NUL", "[\"\xc0\x80\"]", "utf8", "/0"},
		{"a sequence cut by the quote", "[1,\"\xe2\x82\"]", "utf8", "/1"},
		{"a sequence cut by an escape", "\"\xe2\x82\\u00ac\"", "utf8", ""},
		{"a surrogate encoded as UTF-8", "\"\xed\xa0\x80\"", "utf8", ""},
		{"beyond U+10FFFF", "\"\xf4\x90\x80\x80\"", "utf8", ""},
		{"in a key", "{\"a\":{\"\xff\":1}}", "utf8", "/a"},
		{"outside a string", "[\xff]", "utf8", "/0"},

		{"a high surrogate alone", `{"a":"\ud83d"}`, "surrogate", "/a"},
		{"a high surrogate before text", `"\ud83dx"`, "surrogate", ""},
		{"a high surrogate before another escape", `"\ud83d\n"`, "surrogate", ""},
		{"a high surrogate before a letter's escape", `"\ud83d\u0041"`, "surrogate", ""},
		{"two high surrogates", `"\ud83d\ud83d\ude02"`, "surrogate", ""},
		{"a low surrogate alone", `["\ude02"]`, "surrogate", "/0"},
		{"the halves the wrong way round", `"\ude02\ud83d"`, "surrogate", ""},
		{"half a pair in a key", `{"k":{"\ud83d":1}}`, "surrogate", "/k"},

		{"an escaped NUL", `{"a":["\u0000"]}`, "nul", "/a/0"},
		{"a raw NUL in a string", "[\"a\x00b\"]", "nul", "/0"},
		{"a raw NUL between tokens", "[1,\x00 2]", "nul", "/1"},
		{"a NUL in a key", `{"a":{"b\u0000":1}}`, "nul", "/a"},

		{"a number in an object in an array", `[{"due":9007199254740993}]`, "number", "/0/due"},
		{"pointer tokens are escaped", `{"a/b":{"m~n":1e400}}`, "number", "/a~1b/m~0n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			fault := refusal(t, c.in)
			assert.Equal(t, c.rule, fault.Rule)
			assert.Equal(t, c.pointer, fault.Pointer)
			assert.NotEmpty(t, fault.Want)
			if c.rule == "syntax" || c.rule == "trailing" {
				assert.False(t, json.Valid([]byte(c.in)), "only what is not JSON is called that")
			}
		})
	}
}

func TestNestingIsAcceptedUpToTheLimit(t *testing.T) {
	arrays := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string {
		return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat("}", n-1)
	}

	assert.Equal(t, arrays(canon.MaxDepth), canonical(t, arrays(canon.MaxDepth)))
	assert.Equal(t, objects(canon.MaxDepth), canonical(t, objects(canon.MaxDepth)))

	fault := refusal(t, arrays(canon.MaxDepth+1))
	assert.Equal(t, "depth", fault.Rule)
	assert.Equal(t, strings.Repeat("/0", canon.MaxDepth), fault.Pointer)

	fault = refusal(t, objects(canon.MaxDepth+1))
	assert.Equal(t, "depth", fault.Rule)
	assert.Equal(t, strings.Repeat("/a", canon.MaxDepth), fault.Pointer)

	siblings := "[" + strings.TrimSuffix(strings.Repeat(arrays(canon.MaxDepth-1)+",", 3), ",") + "]"
	assert.Equal(t, siblings, canonical(t, siblings), "depth counts what is open, not what was")
}

func TestErrorsNeverCarryValues(t *testing.T) {
	const secret = "5551234567890123456789"
	for _, document := range []string{
		secret,
		`{"a":` + secret + `}`,
		`"` + secret + `\u0000"`,
		`"` + secret + `\ud800"`,
		`"` + secret + "\xff\"",
		`"` + secret + "\n\"",
		`"` + secret,
		`["` + secret + `" 1]`,
		`"` + secret + `" 1`,
		`{"a":"` + secret + `","a":1}`,
		secret + `x`,
		`{"` + secret + `\u0000":1}`,
	} {
		fault := refusal(t, document)
		assert.NotContains(t, fault.Error(), secret[:4])
		assert.NotContains(t, fmt.Sprintf("%#v", fault), secret[:4])
	}
	fault := refusal(t, `{"`+secret+`":1e400}`)
	assert.Contains(t, fault.Error(), secret, "a key does show, in the pointer")
}

func TestErrorTextIsOneShortLine(t *testing.T) {
	fault := refusal(t, `{"due":[1,9007199254740993]}`)
	assert.EqualError(t, fault,
		`canonical JSON: number at "/due/1": want a number that a 64-bit double holds as written; send this one as a string`)

	long := strings.Repeat("é\n", 1<<20)
	quoted, err := json.Marshal(map[string]any{long: json.RawMessage(`1e400`)})
	require.NoError(t, err)
	fault = refusal(t, string(quoted))
	assert.Equal(t, "/"+long, fault.Pointer)
	assert.Less(t, len(fault.Error()), 400)
	assert.NotContains(t, fault.Error(), "\n")
	assert.NotContains(t, fault.Error(), `\x`, "cut between characters")
}

func TestResultSharesNoMemoryWithInput(t *testing.T) {
	for _, document := range []string{`"text"`, `42`, `{"b":"x","a":[1.5,true]}`} {
		raw := []byte(document)
		got, err := canon.Canonical(raw)
		require.NoError(t, err)
		require.Equal(t, document, string(raw), "the input is not changed")

		kept := bytes.Clone(got)
		for i := range raw {
			raw[i] = '!'
		}
		assert.Equal(t, kept, got)
	}
}

// Anything quadratic in these would take hours: the test's own deadline is the
// assertion, besides what each document must give.
func TestTenMebibytesOfHostileInputAreReadInLinearTime(t *testing.T) {
	const size = 10 << 20
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	list := func(unit string) string { return "[" + fill(unit+",") + "0]" }
	var descending strings.Builder
	for i := range size / 11 {
		fmt.Fprintf(&descending, `"%06d":0,`, size-i)
	}
	nested := strings.Repeat(`{"b":`, canon.MaxDepth) + `"` + fill("x") + `"` + strings.Repeat(`,"a":0}`, canon.MaxDepth)

	for _, c := range []struct{ why, in, rule string }{
		{"white space", fill(" ") + "1", ""},
		{"one string", `"` + fill("x") + `"`, ""},
		{"escapes only", `"` + fill(`\u00e9`) + `"`, ""},
		{"short numbers", list("1e20"), ""},
		{"numbers on the slow path", list("1.7976931348623157e308"), ""},
		{"empty objects", list("{}"), ""},
		{"keys in descending order", `{` + descending.String() + `"":0}`, ""},
		{"the same key again and again", `{` + fill(`"k":0,`) + `"k":0}`, "duplicate_key"},
		{"every level out of order", nested, ""},
		{"opening brackets", fill("["), "depth"},
		{"digits", fill("7"), "number"},
		{"zeros after the point", "0." + fill("0"), ""},
		{"zeros made good by the exponent", "0." + fill("0") + "1e" + fmt.Sprint(size), ""},
		{"digits of an exponent", "1e" + fill("9"), "number"},
		{"zeros before an exponent", "1e" + fill("0") + "1", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.rule != "" {
				assert.Equal(t, c.rule, refusal(t, c.in).Rule)
				return
			}
			assert.NotEmpty(t, canonical(t, c.in))
		})
	}
}
