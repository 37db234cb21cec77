package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sgam-ledger/sgam"
)

// datum is a value, or a part of one, on its way through a lens. A node is never changed once made: what an operation
// keeps for the way back is shared with the value that it came from.
type datum struct {
	scalar  any               // string, float64, bool or nil; only where there are neither members nor items
	members map[string]*datum // of an object, else nil
	items   []*datum          // of an array
	isArray bool
	from    string // where it stands in the value that the way began with, with slashes
	filled  bool   // a default or a fallback, which nobody said
}

// newDatum makes the nodes of a decoded JSON value.
func newDatum(v any, from string) *datum {
	n := &datum{from: from}
	switch v := v.(type) {
	case map[string]any:
		n.members = make(map[string]*datum, len(v))
		for name, member := range v {
			n.members[name] = newDatum(member, join(from, name))
		}
	case []any:
		n.isArray = true
		n.items = make([]*datum, len(v))
		for i, item := range v {
			n.items[i] = newDatum(item, join(from, strconv.Itoa(i)))
		}
	default:
		n.scalar = v
	}
	return n
}

// fill makes a node of what nobody said.
func fill(v any, from string) *datum {
	n := newDatum(v, from)
	n.filled = true
	return n
}

// fillAt marks what an earlier lens filled in, in a value that was just decoded.
func (n *datum) fillAt(pointer string) {
	if pointer == "" {
		n.filled = true
		return
	}
	tokens, _ := pointerTokens(pointer)
	for _, token := range tokens {
		next := n.members[token]
		if at, err := strconv.Atoi(token); err == nil && n.isArray && at >= 0 && at < len(n.items) {
			next = n.items[at]
		}
		if next == nil {
			return
		}
		n = next
	}
	n.filled = true
}

// with is a scalar in the place of another.
func (n *datum) with(scalar any) *datum {
	return &datum{scalar: scalar, from: n.from, filled: n.filled}
}

// null reports whether the node is null.
func (n *datum) null() bool { return n.members == nil && !n.isArray && n.scalar == nil }

// object copies the members of an object, for a new one.
func (n *datum) object() (map[string]*datum, bool) {
	if n.members == nil {
		return nil, false
	}
	members := make(map[string]*datum, len(n.members))
	for name, member := range n.members {
		members[name] = member
	}
	return members, true
}

// remade is the node with other members.
func (n *datum) remade(members map[string]*datum) *datum {
	return &datum{members: members, from: n.from, filled: n.filled}
}

// plain is the node as a decoded JSON value. Pointers to what is filled in are added to the list, in order.
func (n *datum) plain(pointer string, filled *[]string) any {
	if n.filled {
		*filled = append(*filled, pointer)
		filled = new([]string) // the whole says it of its parts
	}
	switch {
	case n.members != nil:
		out := make(map[string]any, len(n.members))
		for _, name := range sortedKeys(n.members) {
			out[name] = n.members[name].plain(pointer+"/"+join("", name), filled)
		}
		return out
	case n.isArray:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.plain(pointer+"/"+strconv.Itoa(i), filled)
		}
		return out
	}
	return n.scalar
}

// origin is where a part of the node, or what is missing there, stands in the value that the way began with.
func (n *datum) origin(path string) string {
	if path == "" {
		return n.from
	}
	tokens, _ := pointerTokens("/" + path)
	for i, token := range tokens {
		next := n.members[token]
		if at, err := strconv.Atoi(token); err == nil && n.isArray && at >= 0 && at < len(n.items) {
			next = n.items[at]
		}
		if next == nil {
			from := n.from
			for _, rest := range tokens[i:] {
				from = join(from, rest)
			}
			return from
		}
		n = next
	}
	return n.from
}

// complement is what one side of a lens has and the other cannot hold, by operation and place. What it holds is nil where
// an empty object is all there was.
//
// The laws are stated with it: up gives a value and a complement, from which down makes the first value again, exactly;
// and the other way round. The ledger never stores one: it keeps every encoding of a fact, so the value that a fact was
// written with is there, and is the complement.
type complement map[string]*datum

// trip is one conversion of one value.
type trip struct {
	kept  complement // what the way here left out
	lost  complement // what this way leaves out, nil for nothing
	items []string   // the place in the arrays around the node at hand
}

// key names a place where an operation works.
func (t *trip) key(o place) string { return o.id + " " + strings.Join(t.items, " ") }

// keep records what an operation leaves out.
func (t *trip) keep(o place, n *datum) {
	if t.lost == nil {
		t.lost = complement{}
	}
	t.lost[t.key(o)] = n
}

// had is what an operation left out on the way here.
func (t *trip) had(o place) (n *datum, ok bool) {
	if len(t.kept) == 0 {
		return nil, false
	}
	n, ok = t.kept[t.key(o)]
	return n, ok
}

// fault is a value outside the domain of an operation.
func (n *datum) fault(rule, want string) error {
	return &sgam.FieldError{Field: n.from, Rule: rule, Want: want}
}

// member is [datum.fault] for a member of the node.
func (n *datum) member(name string) *datum {
	if m, ok := n.members[name]; ok {
		return m
	}
	return &datum{from: join(n.from, name)}
}

// decodeDatum reads a canonical value.
func decodeDatum(value []byte) (*datum, error) {
	if text, ok := asciiText(value); ok {
		return &datum{scalar: text}, nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return nil, &sgam.FieldError{Rule: "syntax", Want: "JSON"}
	}
	return newDatum(v, ""), nil
}

// asciiText is what a JSON string of ASCII without escapes says. Many values are one, and need no decoder.
func asciiText(value []byte) (text string, ok bool) {
	n := len(value)
	if n < 2 || value[0] != '"' || value[n-1] != '"' {
		return "", false
	}
	for _, c := range value[1 : n-1] {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(value[1 : n-1]), true
}
