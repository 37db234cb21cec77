package schema

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// mapEnum gives constants other names. The first pair that has a value on its side counts. Null stays null unless a pair
// or a fallback has it.
type mapEnum struct {
	place
	pairs                    [][2]any
	upFallback, downFallback literal
}

const (
	left  = 0
	right = 1
)

func (o *mapEnum) up(t *trip, v *datum) (*datum, error)   { return o.convert(t, v, left) }
func (o *mapEnum) down(t *trip, w *datum) (*datum, error) { return o.convert(t, w, right) }

// convert takes a constant to the other side. What the other side would not bring back is kept.
func (o *mapEnum) convert(t *trip, n *datum, side int) (*datum, error) {
	if n.members != nil || n.isArray {
		return nil, n.fault("type", "a string, a number, true, false or null")
	}
	if kept, ok := t.had(o.place); ok {
		if back, _, known := o.other(kept.scalar, right-side); known && back == n.scalar {
			return n.with(kept.scalar), nil
		}
	}
	to, fallback, known := o.other(n.scalar, side)
	if !known {
		return nil, n.fault("enum", "a value that a pair of the lens names")
	}
	if back, _, known := o.other(to, right-side); !known || back != n.scalar {
		t.keep(o.place, n)
	}
	if fallback {
		return fill(to, n.from), nil
	}
	return n.with(to), nil
}

// other finds what stands for a value on the other side, and whether that is the fallback.
func (o *mapEnum) other(v any, side int) (to any, fallback, known bool) {
	for _, pair := range o.pairs {
		if pair[side] == v {
			return pair[right-side], false, true
		}
	}
	rest := o.upFallback
	if side == right {
		rest = o.downFallback
	}
	switch {
	case v == nil && !o.namesNull():
		return nil, false, true
	case rest.set:
		return rest.value, true, true
	}
	return nil, false, false
}

func (o *mapEnum) namesNull() bool {
	return slices.ContainsFunc(o.pairs, func(pair [2]any) bool { return pair[left] == nil || pair[right] == nil })
}

func (o *mapEnum) reshape(f *faults, s map[string]any) map[string]any {
	if b := base(s); b == "array" || b == "object" {
		f.add(o.path, "type", "a string, a number, true or false here: "+found(s))
		return s
	}
	made := hole{path: o.path}
	for i, pair := range o.pairs {
		if !holds(s, pair[left]) {
			f.add(o.path+"/pairs/"+strconv.Itoa(i)+"/0", "enum", "a value that the older version allows: "+words(s))
		}
		made.values = append(made.values, pair[right])
	}
	if o.downFallback.set && !holds(s, o.downFallback.value) {
		f.add(o.path+"/down_fallback", "enum", "a value that the older version allows: "+words(s))
	}
	if o.upFallback.set {
		made.values = append(made.values, o.upFallback.value)
	}
	if !slices.ContainsFunc(made.values, func(v any) bool { _, text := v.(string); return !text }) {
		made.types = []string{"string"} // so that text can be made of it
	}
	return made.schema()
}

func (o *mapEnum) touches([]string) bool { return true }

// cast writes the same value in another type. Null stays null.
type cast struct {
	place
	from, to string
}

func (o *cast) up(_ *trip, v *datum) (*datum, error)   { return castDatum(v, o.from, o.to) }
func (o *cast) down(_ *trip, w *datum) (*datum, error) { return castDatum(w, o.to, o.from) }

// castable are the pairs of types between which each value has one spelling.
var castable = map[[2]string]bool{
	{"string", "integer"}: true, {"string", "number"}: true, {"string", "boolean"}: true, {"integer", "number"}: true,
	{"integer", "string"}: true, {"number", "string"}: true, {"boolean", "string"}: true, {"number", "integer"}: true,
}

func castDatum(n *datum, from, to string) (*datum, error) {
	if n.null() {
		return n, nil
	}
	switch v := n.scalar.(type) {
	case bool:
		if from == "boolean" {
			return n.with(strconv.FormatBool(v)), nil
		}
	case float64:
		whole := v == math.Trunc(v)
		if from == "string" || from == "boolean" {
			break
		}
		if (from == "integer" || to == "integer") && !whole {
			return nil, n.fault("type", typeWords["integer"])
		}
		if to != "string" {
			return n, nil
		}
		text, err := canonical(v)
		if err != nil {
			return nil, n.fault("number", typeWords["number"])
		}
		return n.with(string(text)), nil
	case string:
		if from == "string" {
			return spelled(n, v, to)
		}
	}
	return nil, n.fault("type", typeWords[from])
}

// spelled reads a string that is spelled as the type would be written, so that writing it gives the same string.
func spelled(n *datum, s, to string) (*datum, error) {
	if to == "boolean" {
		if s == "true" || s == "false" {
			return n.with(s == "true"), nil
		}
		return nil, n.fault("spelling", "true or false as text")
	}
	text, err := canon.Canonical([]byte(s))
	if err == nil && string(text) == s && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') {
		if v, err := strconv.ParseFloat(s, 64); err == nil && (to == "number" || v == math.Trunc(v)) {
			return n.with(v), nil
		}
	}
	return nil, n.fault("spelling", typeWords[to]+" as text, as JSON would write it: no spaces, no plus sign, no leading zeros")
}

func (o *cast) reshape(f *faults, s map[string]any) map[string]any {
	if b := base(s); b != o.from && (b != "integer" || o.from != "number") {
		f.add(o.path+"/from", "type", "the type that the value has here: "+found(s))
	}
	return hole{path: o.path + "/to", types: []string{o.to}}.schema()
}

func (o *cast) touches([]string) bool { return true }

// affine is another unit of the same quantity: a·v + b, exactly. Null stays null.
type affine struct {
	place
	a, b *big.Rat
}

func (o *affine) up(_ *trip, v *datum) (*datum, error) {
	return onNumber(v, func(r *big.Rat) *big.Rat { return r.Add(r.Mul(r, o.a), o.b) })
}

func (o *affine) down(_ *trip, w *datum) (*datum, error) {
	return onNumber(w, func(r *big.Rat) *big.Rat { return r.Quo(r.Sub(r, o.b), o.a) })
}

// onNumber calculates with a number as it is written, not with the double that is nearest to it.
func onNumber(n *datum, change func(*big.Rat) *big.Rat) (*datum, error) {
	if n.null() {
		return n, nil
	}
	v, ok := n.scalar.(float64)
	if !ok {
		return nil, n.fault("type", typeWords["number"])
	}
	result := change(written(v))
	to, _ := result.Float64()
	if math.IsInf(to, 0) || written(to).Cmp(result) != 0 {
		return nil, n.fault("exact", "a number whose conversion a JSON number holds exactly")
	}
	return n.with(to), nil
}

// written is a double as JSON writes it.
func written(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}

func (o *affine) reshape(f *faults, s map[string]any) map[string]any {
	if b := base(s); b != "number" && b != "integer" {
		f.add(o.path, "type", fmt.Sprintf("a number here: %s", found(s)))
	}
	return hole{path: o.path, types: []string{"number", "integer"}}.schema()
}

func (o *affine) touches([]string) bool { return true }
