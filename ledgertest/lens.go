package ledgertest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// Lens takes the values of one attribute into the next version: v becomes {"Wrap": v}, and with Fill {"Wrap": v, "Fill": ""},
// which nobody said. The way back unwraps; what was filled in may be lost, so a filled one that says something makes the
// way back lossy.
type Lens struct {
	Tag  int    `json:"tag"`
	Wrap string `json:"wrap"`
	Fill string `json:"fill,omitempty"`
	// Refuse is a value, as JSON, that has no form in the next version.
	Refuse string `json:"refuse,omitempty"`
}

func encodeLenses(lenses []Lens) *sgam.LensDocument {
	text, err := json.Marshal(lenses)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	sum := sha256.Sum256(text)
	return &sgam.LensDocument{JSON: text, Hash: hex.EncodeToString(sum[:])}
}

// Steps reads the lens of the newer version; without one for an attribute its values go over as they are.
func (s *Schemas) Steps(older, newer sgam.TypeDocument) ([]sgam.AttributeStep, error) {
	var lenses []Lens
	if newer.Lens != nil {
		if err := json.Unmarshal(newer.Lens.JSON, &lenses); err != nil {
			return nil, fmt.Errorf("ledgertest: not a lens of this package: %w", err)
		}
	}
	var steps []sgam.AttributeStep
	for _, a := range newer.Attributes {
		if !slices.ContainsFunc(older.Attributes, func(b sgam.AttributeName) bool { return b.Tag == a.Tag }) {
			continue
		}
		step := sgam.AttributeStep{Tag: a.Tag}
		if i := slices.IndexFunc(lenses, func(l Lens) bool { return l.Tag == a.Tag }); i >= 0 {
			step.Up, step.Down = lenses[i].up, lenses[i].down
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// Follows lets every version follow.
func (s *Schemas) Follows(sgam.TypeDocument, sgam.TypeDocument) error { return nil }

func (l Lens) up(in sgam.Converted) (sgam.Converted, error) {
	if string(in.Value) == l.Refuse {
		return sgam.Converted{}, &sgam.FieldError{Rule: "domain", Want: "a value that the next version can hold"}
	}
	members := map[string]json.RawMessage{l.Wrap: in.Value}
	c := sgam.Converted{}
	for _, p := range in.Defaulted {
		c.Defaulted = append(c.Defaulted, "/"+l.Wrap+p)
	}
	if l.Fill != "" {
		members[l.Fill], c.Defaulted = json.RawMessage(`""`), append(c.Defaulted, "/"+l.Fill)
	}
	text, err := json.Marshal(members) // keys in order, so it is canonical as long as the value is
	c.Value = text
	return c, err
}

func (l Lens) down(in sgam.Converted) (sgam.Converted, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(in.Value, &members); err != nil {
		return sgam.Converted{}, &sgam.FieldError{Rule: "type", Want: "object"}
	}
	wrapped, ok := members[l.Wrap]
	if !ok || len(members) > 2 || len(members) == 2 && members[l.Fill] == nil {
		return sgam.Converted{}, &sgam.FieldError{Field: l.Wrap, Rule: "domain", Want: "an object with this member and no others"}
	}
	filled := members[l.Fill]
	out := sgam.Converted{Value: wrapped, Lossy: filled != nil && string(filled) != `""`}
	for _, p := range in.Defaulted {
		if rest, inside := strings.CutPrefix(p, "/"+l.Wrap); inside {
			out.Defaulted = append(out.Defaulted, rest)
		}
	}
	return out, nil
}
