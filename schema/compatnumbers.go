package schema

import (
	"math"
	"math/big"
	"strconv"
)

// numbers compares the keywords of numbers.
func (c *comparer) numbers(path string, a, b map[string]any) {
	c.bound(path, a, b, lowerSide)
	c.bound(path, a, b, upperSide)
	c.multiples(path+"/multipleOf", a, b)
}

// rangeSide is one end of a range, seen so that a higher number is a tighter bound.
type rangeSide struct {
	sign            float64
	closed, without string // the keywords
}

var (
	lowerSide = rangeSide{1, "minimum", "exclusiveMinimum"}
	upperSide = rangeSide{-1, "maximum", "exclusiveMaximum"}
)

// endpoint is where a range ends.
type endpoint struct {
	at   float64
	open bool // the number itself is outside
}

func (l endpoint) tighter(m endpoint) bool { return l.at > m.at || l.at == m.at && l.open && !m.open }

// exactBelow is the end of the numbers up to which a float64 has every integer.
const exactBelow = 1 << 53

// end is the bound that both keywords of a side set together.
func (s rangeSide) end(schema map[string]any) endpoint {
	l := endpoint{at: math.Inf(-1)}
	if f, ok := schema[s.closed].(float64); ok {
		l.at = s.sign * f
	}
	if f, ok := schema[s.without].(float64); ok {
		if m := (endpoint{s.sign * f, true}); m.tighter(l) {
			l = m
		}
	}
	if base, _ := typeAndNull(schema); base == "integer" && math.Abs(l.at) < exactBelow {
		if l.open {
			return endpoint{at: math.Floor(l.at) + 1}
		}
		return endpoint{at: math.Ceil(l.at)}
	}
	return l
}

// bound compares one end of a range.
func (c *comparer) bound(path string, a, b map[string]any, s rangeSide) {
	closed, without := a[s.closed] != b[s.closed], a[s.without] != b[s.without]
	if !closed && !without {
		return
	}
	key := s.closed
	var was, is any
	switch {
	case closed && without:
		was, is = s.keywords(a), s.keywords(b)
	case closed:
		was, is = a[key], b[key]
	default:
		key = s.without
		was, is = a[key], b[key]
	}
	k := boundRewritten
	switch old, now := s.end(a), s.end(b); {
	case now.tighter(old):
		k = boundTightened
	case old.tighter(now):
		k = boundRelaxed
	}
	c.add(k, path+"/"+key, was, is)
}

// keywords are what a schema says of one side.
func (s rangeSide) keywords(schema map[string]any) any {
	out := map[string]any{}
	for _, key := range []string{s.closed, s.without} {
		if v, ok := schema[key]; ok {
			out[key] = v
		}
	}
	return out
}

// multiples compares multipleOf in exact arithmetic.
func (c *comparer) multiples(path string, a, b map[string]any) {
	if a["multipleOf"] == b["multipleOf"] {
		return
	}
	k := multipleOther
	was, is := stepOf(a), stepOf(b)
	finer, coarser := divides(is, was), divides(was, is)
	switch {
	case finer && coarser:
		k = multipleRewritten
	case finer:
		k = multipleFiner
	case coarser:
		k = multipleCoarser
	}
	c.add(k, path, a["multipleOf"], b["multipleOf"])
}

// stepOf is what every number that a schema allows is a multiple of, nil when there is nothing. Integers are multiples of
// one besides.
func stepOf(s map[string]any) *big.Rat {
	base, _ := typeAndNull(s)
	f, ok := s["multipleOf"].(float64)
	if !ok {
		if base == "integer" {
			return big.NewRat(1, 1)
		}
		return nil
	}
	// As the judge of values reads it: the decimal number, not the binary one next to it.
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if ok && base == "integer" {
		// The least common multiple of one and p/q, which has no common factor, is p.
		r.SetInt(r.Num())
	}
	return r
}

// divides reports whether every multiple of n is one of d.
func divides(d, n *big.Rat) bool {
	if d == nil || n == nil {
		return d == nil
	}
	return new(big.Rat).Quo(n, d).IsInt()
}
