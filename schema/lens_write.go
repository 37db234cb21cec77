package schema

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sgam-ledger/sgam/internal/canon"
)

// encode is the node as canonical JSON and as a decoded JSON value. Pointers to what is filled in are added to the list, in
// order.
func (n *datum) encode(filled *[]string) (text []byte, plain any, err error) {
	w := datumWriter{text: make([]byte, 0, 96), filled: filled}
	plain = w.node(n, false)
	if !w.odd {
		return w.text, plain, nil
	}
	text, err = canonical(plain)
	if ce, ok := errors.AsType[*canon.Error](err); ok {
		return nil, nil, n.fault(ce.Rule, ce.Want)
	}
	if err == nil {
		plain = nil
		err = json.Unmarshal(text, &plain)
	}
	return text, plain, err
}

// datumWriter writes a datum in one walk. It knows how almost every value is spelt; what it does not know makes the text
// odd, which is then good for nothing.
type datumWriter struct {
	text   []byte
	odd    bool
	at     []string // where the node at hand stands
	filled *[]string
}

// node writes a node. What nobody said is told once: the whole says it of its parts.
func (w *datumWriter) node(n *datum, told bool) any {
	if n.filled && !told {
		told = true
		pointer := ""
		for _, token := range w.at {
			pointer += "/" + join("", token)
		}
		*w.filled = append(*w.filled, pointer)
	}
	switch {
	case n.members != nil:
		return w.object(n, told)
	case n.isArray:
		w.deepen()
		out := make([]any, len(n.items))
		w.text = append(w.text, '[')
		for i, item := range n.items {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			w.at = append(w.at, strconv.Itoa(i))
			out[i] = w.node(item, told)
			w.at = w.at[:len(w.at)-1]
		}
		w.text = append(w.text, ']')
		return out
	}
	return w.scalar(n.scalar)
}

// deepen notes when there are too many arrays and objects around one.
func (w *datumWriter) deepen() { w.odd = w.odd || len(w.at) >= canon.MaxDepth }

func (w *datumWriter) object(n *datum, told bool) any {
	w.deepen()
	names := make([]string, 0, 8)
	for name := range n.members {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make(map[string]any, len(names))
	w.text = append(w.text, '{')
	for i, name := range names {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		if !w.string(name) {
			w.odd = true // the canonical order is that of ASCII only among ASCII
		}
		w.text = append(w.text, ':')
		w.at = append(w.at, name)
		out[name] = w.node(n.members[name], told)
		w.at = w.at[:len(w.at)-1]
	}
	w.text = append(w.text, '}')
	return out
}

func (w *datumWriter) scalar(v any) any {
	switch s := v.(type) {
	case nil:
		w.text = append(w.text, "null"...)
	case bool:
		w.text = strconv.AppendBool(w.text, s)
	case string:
		w.string(s)
	case float64:
		switch size := math.Abs(s); {
		case size == 0: // zero has no sign
			w.text = append(w.text, '0')
			return float64(0)
		case size >= 1e-6 && size < 1e21: // outside, and for what is no number, JavaScript writes no plain digits
			w.text = strconv.AppendFloat(w.text, s, 'f', -1, 64)
		default:
			w.odd = true
		}
	default:
		w.odd = true
	}
	return v
}

// string writes text that needs no escapes, and reports whether it is all ASCII.
func (w *datumWriter) string(s string) (ascii bool) {
	ascii = true
	for i := range len(s) {
		c := s[i]
		w.odd = w.odd || c < ' ' || c == '"' || c == '\\'
		ascii = ascii && c < utf8.RuneSelf
	}
	w.odd = w.odd || !ascii && !utf8.ValidString(s)
	w.text = append(w.text, '"')
	w.text = append(w.text, s...)
	w.text = append(w.text, '"')
	return ascii
}
