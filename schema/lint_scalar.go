package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// wordEdge is what grammars do not know in patterns, beside what RE2 does not know either.
var wordEdge = regexp.MustCompile(`\\[bB]`)

// largeEnum is the number of strings from which on OpenAI counts the characters of an enumeration.
const largeEnum = 250

// constants judges and counts enum and const.
func (l *linter) constants(s map[string]json.RawMessage, path string) {
	if raw, ok := s["const"]; ok {
		l.scalar(raw, join(path, "const"))
	}
	raw, ok := s["enum"]
	if !ok {
		return
	}
	var values []json.RawMessage
	at := join(path, "enum")
	if json.Unmarshal(raw, &values) != nil || len(values) == 0 {
		l.add(at, "enum", "a list of values")
		return
	}
	l.counts["enum_values"] += len(values)
	length := 0
	for _, v := range values {
		length += l.scalar(v, at)
	}
	if len(values) > largeEnum {
		l.counts["enum_text"] = max(l.counts["enum_text"], length)
	}
}

// scalar judges a constant, and counts its characters.
func (l *linter) scalar(raw json.RawMessage, path string) int {
	if raw[0] == '{' || raw[0] == '[' {
		l.add(path, "enum", "strings, numbers, booleans or null")
		return 0
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return 0
	}
	n := len([]rune(text))
	l.counts["text"] += n
	return n
}

// scalars judges the keywords of strings and lists whose values are restricted.
func (l *linter) scalars(s map[string]json.RawMessage, path string) {
	if raw, ok := s["format"]; ok && l.keyword("format", false) {
		var name string
		if json.Unmarshal(raw, &name) != nil || !slices.Contains(l.formats, name) {
			l.add(join(path, "format"), "format", "one of "+strings.Join(l.formats, ", ")+", or the description")
		}
	}
	if l.dialect != Anthropic {
		return
	}
	if raw, ok := s["minItems"]; ok && string(raw) != "0" && string(raw) != "1" {
		l.add(join(path, "minItems"), "minItems", "0 or 1, or the description")
	}
	if raw, ok := s["pattern"]; ok {
		var pattern string
		err := json.Unmarshal(raw, &pattern)
		if err == nil {
			_, err = regexp.Compile(pattern)
		}
		if err != nil || wordEdge.MatchString(pattern) {
			l.add(join(path, "pattern"), "pattern", "an expression without look-around, back-references and word edges")
		}
	}
}

// reference judges $ref.
func (l *linter) reference(s map[string]json.RawMessage, path string) {
	raw, ok := s["$ref"]
	if !ok || !l.keyword("$ref", false) {
		return
	}
	var ref string
	if json.Unmarshal(raw, &ref) != nil || !l.defs[ref] {
		l.add(join(path, "$ref"), "ref", "# or the path of a definition at the root of this schema")
		return
	}
	if l.dialect == OpenAI && len(s) > 1 {
		l.add(join(path, "$ref"), "ref", "nothing beside $ref")
	}
	l.refs[l.inside] = append(l.refs[l.inside], ref)
}

// circles finds definitions that contain themselves, which no grammar without recursion can express.
func (l *linter) circles() {
	if l.dialect != Anthropic {
		return
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(at string)
	visit = func(at string) {
		state[at] = open
		for _, ref := range l.refs[at] {
			switch state[ref] {
			case open:
				l.add(strings.TrimPrefix(strings.TrimPrefix(at, "#"), "/"), "ref", "no schema that contains itself")
			case done:
			default:
				visit(ref)
			}
		}
		state[at] = done
	}
	for _, at := range sortedKeys(l.refs) {
		if state[at] == 0 {
			visit(at)
		}
	}
}
