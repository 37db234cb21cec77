package canon

import (
	"unicode/utf16"
	"unicode/utf8"
)

const (
	lowerHex     = "0123456789abcdef"
	escapeLength = len(`\u0000`)
)

// text reads the string that begins at pos and writes its canonical form: the
// characters themselves, but for the quote, the backslash and the controls below
// U+0020.
func (s *scanner) text() *Error {
	s.pos++
	s.out = append(s.out, '"')
	for {
		if fault := s.plain(); fault != nil {
			return fault
		}
		switch c := s.peek(); {
		case c == '"':
			s.pos++
			s.out = append(s.out, '"')
			return nil
		case c == '\\':
			if fault := s.escape(); fault != nil {
				return fault
			}
		case s.pos == len(s.in):
			return &Error{Rule: ruleSyntax, Want: "a closing quote"}
		case c == 0:
			return &Error{Rule: ruleNUL, Want: wantNoNUL}
		default:
			return &Error{Rule: ruleSyntax, Want: "control characters escaped"}
		}
	}
}

// plain copies characters up to the next quote, backslash or control character.
// All three are ASCII, so a UTF-8 sequence never spans two runs.
func (s *scanner) plain() *Error {
	from, seen := s.pos, byte(0)
	for s.pos < len(s.in) {
		c := s.in[s.pos]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		seen |= c
		s.pos++
	}
	run := s.in[from:s.pos]
	if seen >= utf8.RuneSelf && !utf8.Valid(run) {
		return &Error{Rule: ruleUTF8, Want: wantUTF8}
	}
	s.out = append(s.out, run...)
	return nil
}

// escape reads the escape sequence whose backslash stands at pos.
func (s *scanner) escape() *Error {
	s.pos++
	c := s.peek()
	switch c {
	case 'u':
		return s.unicodeEscape()
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	default:
		return s.unexpected("an escape sequence of JSON")
	}
	s.pos++
	s.out = appendEscaped(s.out, rune(c))
	return nil
}

// unicodeEscape reads a \u escape, and the second one if the first is a high
// surrogate. Its letter u stands at pos.
func (s *scanner) unicodeEscape() *Error {
	s.pos--
	r, ok := hexEscape(s.in[s.pos:])
	if !ok {
		return &Error{Rule: ruleSyntax, Want: `four hexadecimal digits after \u`}
	}
	s.pos += escapeLength
	switch {
	case r == 0:
		return &Error{Rule: ruleNUL, Want: wantNoNUL}
	case utf16.IsSurrogate(r):
		low, _ := hexEscape(s.in[s.pos:])
		r = utf16.DecodeRune(r, low)
		if r == utf8.RuneError {
			return &Error{Rule: ruleSurrogate, Want: "both halves of a surrogate pair"}
		}
		s.pos += escapeLength
	}
	s.out = appendEscaped(s.out, r)
	return nil
}

// hexEscape reads the code unit of the \uXXXX that b begins with.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < escapeLength || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:escapeLength] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendEscaped writes one character as RFC 8785 spells it inside a string.
func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if r < ' ' {
		return append(dst, '\\', 'u', '0', '0', lowerHex[r>>4], lowerHex[r&0xF])
	}
	return utf8.AppendRune(dst, r)
}

// appendUnescaped undoes [appendEscaped] for a whole canonical string, given
// without its quotes.
func appendUnescaped(dst, canonical []byte) []byte {
	for i := 0; i < len(canonical); i++ {
		c := canonical[i]
		if c == '\\' {
			i++
			switch c = canonical[i]; c {
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'u':
				r, _ := hexEscape(canonical[i-1:]) // canonical, so well formed
				dst = utf8.AppendRune(dst, r)
				i += escapeLength - 2
				continue
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// compareUTF16 orders two valid UTF-8 strings by their UTF-16 code units.
//
// That is the order of the bytes, except that characters beyond U+FFFF (first
// byte F0 and up), being surrogates in UTF-16, come before U+E000 to U+FFFF (first
// byte EE or EF). A byte from EE up is always a first byte.
func compareUTF16(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		if x < y {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
