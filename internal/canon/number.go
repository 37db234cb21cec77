package canon

import (
	"bytes"
	"strconv"
)

const (
	// maxDigits is the longest shortest form of a double, in significant digits:
	// a decimal with more is never one.
	maxDigits = 17
	// sureDigits is how many significant digits survive the way into a double and
	// back, whatever they are (DBL_DIG in C): no other decimal of that length is
	// nearer, so such a decimal is its own shortest form.
	sureDigits = 15
	// The point (see decimal) of the decimals for which sureDigits holds: within
	// the normal doubles, far enough from both ends.
	surePointMin, surePointMax = -300, 308
	// The points of the smallest and of the largest double, 5e-324 and 1.8e308.
	// Outside lie only decimals that become zero or infinite.
	pointMin, pointMax = -323, 309
	// exponentLimit stops counting an absurd exponent. No document is long enough
	// to hold the zeros that would bring such a number back into range.
	exponentLimit = 1 << 40
)

// decimal is an exact decimal in its one normal form: 0.DDD × 10^point, where DDD
// neither begins nor ends with zero. Zero has no digits.
type decimal struct {
	digits [maxDigits]byte
	count  int
	point  int64
}

// number reads the number that begins at pos and writes it as ECMAScript would
// print the double.
func (s *scanner) number() *Error {
	start := s.pos
	negative := s.in[s.pos] == '-'
	if negative {
		s.pos++
	}
	whole := s.digits()
	wholeEnd := s.pos
	if len(whole) == 0 {
		return s.unexpected("a digit")
	}
	if len(whole) > 1 && whole[0] == '0' {
		return &Error{Rule: ruleSyntax, Want: "a number without leading zeros"}
	}
	var fraction []byte
	if s.peek() == '.' {
		s.pos++
		if fraction = s.digits(); len(fraction) == 0 {
			return s.unexpected("a digit after the decimal point")
		}
	}
	exponent, fault := s.exponent()
	if fault != nil {
		return fault
	}
	if s.pos == wholeEnd && len(whole) <= sureDigits && whole[0] != '0' {
		s.out = append(s.out, s.in[start:s.pos]...) // a short integer is canonical as it stands
		return nil
	}
	d, ok := newDecimal(whole, fraction, exponent)
	if !ok || !d.shortest() {
		return &Error{Rule: ruleNumber, Want: "a number that a 64-bit double holds as written; send this one as a string"}
	}
	if negative && d.count > 0 {
		s.out = append(s.out, '-')
	}
	s.out = d.appendECMAScript(s.out)
	return nil
}

// digits reads the digits at pos, if any.
func (s *scanner) digits() []byte {
	start := s.pos
	for s.pos < len(s.in) && isDigit(s.in[s.pos]) {
		s.pos++
	}
	return s.in[start:s.pos]
}

// exponent reads the exponent at pos; 0 if there is none.
func (s *scanner) exponent() (int64, *Error) {
	if c := s.peek(); c != 'e' && c != 'E' {
		return 0, nil
	}
	s.pos++
	negative := s.peek() == '-'
	if negative || s.peek() == '+' {
		s.pos++
	}
	digits := s.digits()
	if len(digits) == 0 {
		return 0, s.unexpected("a digit in the exponent")
	}
	var e int64
	for _, c := range digits {
		if e < exponentLimit {
			e = e*10 + int64(c-'0')
		}
	}
	if negative {
		e = -e
	}
	return e, nil
}

// newDecimal normalises a number of JSON without its sign. It reports false if
// that takes more digits than any shortest form has.
func newDecimal(whole, fraction []byte, exponent int64) (decimal, bool) {
	fraction = bytes.TrimRight(fraction, "0")
	whole = bytes.TrimLeft(whole, "0")
	point := int64(len(whole)) + exponent
	if len(whole) == 0 {
		significant := bytes.TrimLeft(fraction, "0")
		point -= int64(len(fraction) - len(significant))
		fraction = significant
	}
	if len(fraction) == 0 {
		whole = bytes.TrimRight(whole, "0")
	}
	d := decimal{count: len(whole) + len(fraction), point: point}
	if d.count > maxDigits {
		return decimal{}, false
	}
	copy(d.digits[copy(d.digits[:], whole):], fraction)
	return d, true
}

// shortest reports whether d is the shortest form of some double, so that reading
// it as a double and printing that double gives d back.
func (d *decimal) shortest() bool {
	switch {
	case d.count == 0:
		return true
	case d.count <= sureDigits && surePointMin <= d.point && d.point <= surePointMax:
		return true
	case d.point < pointMin || d.point > pointMax:
		return false
	}
	var sent, kept [32]byte
	text := d.appendScientific(sent[:0])
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return false // not finite: the grammar was checked before
	}
	return bytes.Equal(text, strconv.AppendFloat(kept[:0], f, 'e', -1, 64))
}

// appendScientific writes d as strconv prints a float with the verb e.
func (d *decimal) appendScientific(dst []byte) []byte {
	dst = d.appendMantissa(dst)
	e, sign := d.point-1, byte('+')
	if e < 0 {
		e, sign = -e, '-'
	}
	dst = append(dst, 'e', sign)
	if e < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, e, 10)
}

// appendMantissa writes the digits with a point after the first.
func (d *decimal) appendMantissa(dst []byte) []byte {
	dst = append(dst, d.digits[0])
	if d.count > 1 {
		dst = append(dst, '.')
		dst = append(dst, d.digits[1:d.count]...)
	}
	return dst
}

// appendECMAScript writes d as ECMAScript's Number::toString lays the shortest digits out:
// plainly from 1e-6 up to below 1e21, with an exponent outside.
func (d *decimal) appendECMAScript(dst []byte) []byte {
	digits, point := d.digits[:d.count], int(d.point)
	switch {
	case d.count == 0:
		return append(dst, '0')
	case d.count <= point && point <= 21:
		return appendZeros(append(dst, digits...), point-d.count)
	case 0 < point && point <= 21:
		dst = append(append(dst, digits[:point]...), '.')
		return append(dst, digits[point:]...)
	case -6 < point && point <= 0:
		dst = appendZeros(append(dst, '0', '.'), -point)
		return append(dst, digits...)
	}
	dst = append(d.appendMantissa(dst), 'e')
	if point > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(point)-1, 10)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}
