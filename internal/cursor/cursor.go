// Package cursor writes down where a page of an engine's answers ended, and reads it when the next page is asked for.
package cursor

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// Cursor is where a page ended: numbers and names, in the order of the rows.
type Cursor struct {
	Numbers []int64
	Names   []string
}

// At is a cursor without names.
func At(numbers ...int64) Cursor { return Cursor{Numbers: numbers} }

// String is the cursor as a page hands it out.
func (c Cursor) String() string {
	var b strings.Builder
	for _, n := range c.Numbers {
		b.WriteString(strconv.FormatInt(n, 10))
		b.WriteByte('.')
	}
	for _, s := range c.Names {
		b.WriteByte('x')
		b.WriteString(hex.EncodeToString([]byte(s)))
		b.WriteByte('.')
	}
	return b.String()
}

// Parse reads what String wrote. An empty text is the start: all numbers as given, all names empty. A text that is no
// cursor with so many numbers and names is a [*sgam.FieldError].
func Parse(text string, start []int64, names int) (Cursor, error) {
	c := Cursor{slices.Clone(start), make([]string, names)}
	if text == "" {
		return c, nil
	}
	wrong := &sgam.FieldError{Field: "after", Rule: "format", Want: "the cursor of a page of the same query"}
	parts := strings.Split(strings.TrimSuffix(text, "."), ".")
	if len(parts) != len(start)+names {
		return c, wrong
	}
	for i, part := range parts {
		if i < len(start) {
			n, err := strconv.ParseInt(part, 10, 64)
			if err != nil {
				return c, wrong
			}
			c.Numbers[i] = n
			continue
		}
		part, ok := strings.CutPrefix(part, "x")
		name, err := hex.DecodeString(part)
		if err != nil || !ok {
			return c, wrong
		}
		c.Names[i-len(start)] = string(name)
	}
	return c, nil
}
