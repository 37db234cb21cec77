// Package canon writes JSON in the canonical form of RFC 8785 and refuses every
// document whose meaning that form could not keep.
//
// Two documents with the same meaning have the same canonical bytes, so equality,
// digests and stored values never depend on how a sender spelt them. What readers
// of JSON disagree about (duplicate keys, invalid UTF-8, halves of surrogate
// pairs, U+0000, numbers that a double cannot hold) is refused here, on the bytes
// as sent, before anything is parsed into Go values.
package canon

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how many arrays and objects may be open at once: 128 nested arrays
// are accepted, the 129th is refused.
//
// It bounds the stack that a hostile document can claim, and the work: an object
// with unsorted keys moves its own bytes once, so no byte moves more than MaxDepth
// times. Values that people and models write stay far below it.
const MaxDepth = 128

// Canonical returns the RFC 8785 form of one JSON document: no white space, keys
// in the order of their UTF-16 code units, strings with the shortest escapes,
// numbers as ECMAScript prints the double. White space around the document is
// allowed; any JSON value may stand at the top.
//
// A number is refused when it is not finite as a double, or when the double's
// shortest form is another decimal than the one sent.
//
// The length of raw is not limited here; the time taken grows in proportion to
// it (times log n for the keys of an object). The result shares no memory with
// raw, and raw is not changed. Every error is an *[Error].
func Canonical(raw []byte) ([]byte, error) {
	s := scanner{in: raw, out: make([]byte, 0, len(raw))}
	s.space()
	fault := s.value(0)
	if fault == nil {
		s.space()
		if s.pos < len(s.in) {
			fault = &Error{Rule: ruleTrailing, Want: "nothing after the document"}
		}
	}
	if fault != nil {
		fault.Pointer = pointer(s.path)
		return nil, fault
	}
	return s.out, nil
}

// scanner reads one document from left to right and writes its canonical form as
// it goes.
type scanner struct {
	in      []byte
	pos     int
	out     []byte
	members []member // of all open objects, the innermost last
	decoded []byte   // the keys that need escapes, decoded
	scratch []byte   // an object's members while they are put in order
	path    []string // filled while a fault travels up: innermost token first
}

// member is one key and value of an object that is being read.
type member struct {
	key        []byte // decoded
	start, end int    // where "key":value stands in scanner.out
}

// value reads the value that begins at pos; depth is the number of arrays and
// objects around it.
func (s *scanner) value(depth int) *Error {
	switch c := s.peek(); {
	case c == '"':
		return s.text()
	case c == '-' || isDigit(c):
		return s.number()
	case c == '{' && depth < MaxDepth:
		return s.object(depth)
	case c == '[' && depth < MaxDepth:
		return s.array(depth)
	case c == '{' || c == '[':
		return &Error{Rule: ruleDepth, Want: "at most " + strconv.Itoa(MaxDepth) + " nested arrays and objects"}
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.unexpected("a JSON value")
}

// array reads an array whose opening bracket stands at pos.
func (s *scanner) array(depth int) *Error {
	s.pos++
	s.out = append(s.out, '[')
	s.space()
	if s.peek() == ']' {
		s.pos++
		s.out = append(s.out, ']')
		return nil
	}
	for i := 0; ; i++ {
		if fault := s.value(depth + 1); fault != nil {
			s.path = append(s.path, strconv.Itoa(i))
			return fault
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.out = append(s.out, ',')
			s.space()
		case ']':
			s.pos++
			s.out = append(s.out, ']')
			return nil
		default:
			return s.unexpected("a comma or a closing bracket")
		}
	}
}

// object reads an object whose opening brace stands at pos. Members are written
// in the order sent; only if that was not the canonical order are they moved.
func (s *scanner) object(depth int) *Error {
	s.pos++
	s.out = append(s.out, '{')
	s.space()
	if s.peek() == '}' {
		s.pos++
		s.out = append(s.out, '}')
		return nil
	}
	if s.members == nil {
		s.members = make([]member, 0, 16) // enough for most values, once
	}
	first, sorted := len(s.members), true
	for {
		m, fault := s.member(depth)
		if fault != nil {
			return fault
		}
		if n := len(s.members); n > first && compareUTF16(s.members[n-1].key, m.key) >= 0 {
			sorted = false
		}
		s.members = append(s.members, m)
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.out = append(s.out, ',')
			s.space()
			continue
		case '}':
			s.pos++
		default:
			return s.unexpected("a comma or a closing brace")
		}
		break
	}
	if !sorted {
		if fault := s.sort(s.members[first:]); fault != nil {
			return fault
		}
	}
	s.members = s.members[:first]
	s.out = append(s.out, '}')
	return nil
}

// member reads one key, its colon and its value.
func (s *scanner) member(depth int) (member, *Error) {
	if s.peek() != '"' {
		return member{}, s.unexpected("a key in double quotes")
	}
	m := member{start: len(s.out)}
	if fault := s.text(); fault != nil {
		return member{}, fault
	}
	// What is already in out is never written again while its object is open
	// (growth leaves the old bytes behind), so the key may point there.
	m.key = s.out[m.start+1 : len(s.out)-1]
	if bytes.IndexByte(m.key, '\\') >= 0 {
		from := len(s.decoded)
		s.decoded = appendUnescaped(s.decoded, m.key)
		m.key = s.decoded[from:]
	}
	s.space()
	if s.peek() != ':' {
		return member{}, s.unexpected("a colon after the key")
	}
	s.pos++
	s.out = append(s.out, ':')
	s.space()
	if fault := s.value(depth + 1); fault != nil {
		s.path = append(s.path, string(m.key))
		return member{}, fault
	}
	m.end = len(s.out)
	return m, nil
}

// sort puts the members of one object, which end the output, in canonical order,
// and refuses a key that occurs twice.
func (s *scanner) sort(members []member) *Error {
	start := members[0].start
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.key, b.key) })
	for i, m := range members[1:] {
		if bytes.Equal(members[i].key, m.key) {
			s.path = append(s.path, string(m.key))
			return &Error{Rule: ruleDuplicateKey, Want: "each key once in an object"}
		}
	}
	// From here on the keys are overwritten: they may point into out.
	s.scratch = append(s.scratch[:0], s.out[start:]...)
	s.out = s.out[:start]
	for i, m := range members {
		if i > 0 {
			s.out = append(s.out, ',')
		}
		s.out = append(s.out, s.scratch[m.start-start:m.end-start]...)
	}
	return nil
}

// literal reads one of the three words of JSON.
func (s *scanner) literal(word string) *Error {
	if !bytes.HasPrefix(s.in[s.pos:], []byte(word)) {
		return s.unexpected("a JSON value")
	}
	s.pos += len(word)
	s.out = append(s.out, word...)
	return nil
}

// space skips white space.
func (s *scanner) space() {
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the byte at pos, or 0 at the end of the input. A zero byte in the
// input is wrong everywhere, so the two need no telling apart until [scanner.unexpected].
func (s *scanner) peek() byte {
	if s.pos < len(s.in) {
		return s.in[s.pos]
	}
	return 0
}

// unexpected is the fault for whatever stands at pos instead of what was wanted.
func (s *scanner) unexpected(want string) *Error {
	if s.pos == len(s.in) {
		return &Error{Rule: ruleSyntax, Want: want}
	}
	if s.in[s.pos] == 0 {
		return &Error{Rule: ruleNUL, Want: wantNoNUL}
	}
	if r, size := utf8.DecodeRune(s.in[s.pos:]); r == utf8.RuneError && size == 1 {
		return &Error{Rule: ruleUTF8, Want: wantUTF8}
	}
	return &Error{Rule: ruleSyntax, Want: want}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
