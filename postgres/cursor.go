package postgres

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// cursor is where a page ended: numbers and names, in the order of the rows.
type cursor struct {
	numbers []int64
	names   []string
}

// String is the cursor as a page hands it out.
func (c cursor) String() string {
	var b strings.Builder
	for _, n := range c.numbers {
		b.WriteString(strconv.FormatInt(n, 10))
		b.WriteByte('.')
	}
	for _, s := range c.names {
		b.WriteByte('x')
		b.WriteString(hex.EncodeToString([]byte(s)))
		b.WriteByte('.')
	}
	return b.String()
}

// parseCursor reads what String wrote. An empty text is the start: all numbers as given, all names empty.
func parseCursor(text string, start []int64, names int) (cursor, error) {
	c := cursor{append([]int64(nil), start...), make([]string, names)}
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
			c.numbers[i] = n
			continue
		}
		part, ok := strings.CutPrefix(part, "x")
		name, err := hex.DecodeString(part)
		if err != nil || !ok {
			return c, wrong
		}
		c.names[i-len(start)] = string(name)
	}
	return c, nil
}
