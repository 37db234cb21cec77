package schema

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

var errNoIdentity = errors.New("schema: the value lacks the part that identifies it")

// pointerTokens splits an RFC 6901 pointer that names a part of a value. The whole value has no pointer here.
func pointerTokens(pointer string) ([]string, bool) {
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, false
	}
	tokens := strings.Split(rest, "/")
	for i, t := range tokens {
		plain := strings.NewReplacer("~0", "", "~1", "").Replace(t)
		if strings.Contains(plain, "~") {
			return nil, false
		}
		tokens[i] = strings.NewReplacer("~0", "~", "~1", "/").Replace(t)
	}
	return tokens, true
}

// identifies reports whether every value of a normalised schema has a non-null part at the given place.
func identifies(node map[string]any, tokens []string) bool {
	if branches, ok := node["oneOf"].([]any); ok {
		for _, b := range branches {
			if !identifies(asSchema(b), tokens) {
				return false
			}
		}
		return true
	}
	if _, nullable := node["type"].([]any); nullable {
		return false
	}
	if len(tokens) == 0 {
		return true
	}
	required, _ := node["required"].([]any)
	properties, _ := node["properties"].(map[string]any)
	part, ok := properties[tokens[0]]
	return ok && slices.Contains(required, any(tokens[0])) && identifies(asSchema(part), tokens[1:])
}

// identity cuts the part at the given place out of a canonical value. What it returns is canonical too.
func identity(tokens []string) func(value []byte) ([]byte, error) {
	return func(value []byte) ([]byte, error) {
		part := json.RawMessage(value)
		for _, token := range tokens {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(part, &members); err != nil {
				return nil, errNoIdentity
			}
			member, ok := members[token]
			if !ok {
				return nil, errNoIdentity
			}
			part = member
		}
		return part, nil
	}
}
