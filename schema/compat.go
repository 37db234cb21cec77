package schema

import (
	"fmt"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// Verdict says whether the values of one version can be read as the other, from the best case to the worst.
type Verdict uint8

// The verdicts, in order.
const (
	// VerdictOK: every value can be read as it is.
	VerdictOK Verdict = iota
	// VerdictLens: a lens has to convert the values.
	VerdictLens
	// VerdictData: whether the values can be read depends on the values, which have to be looked at first.
	VerdictData
	// VerdictDataLens is both: a lens for what can be converted, and a look at the values for the rest.
	VerdictDataLens
	// VerdictBreak: the values cannot be read. What is new belongs into an attribute or a memory type of its own.
	VerdictBreak
	// VerdictForbid: the change is never made, whatever is stored.
	VerdictForbid
)

var verdictWords = []string{"ok", "lens", "data", "data+lens", "break", "forbid"}

// String is the verdict in a word: ok, lens, data, data+lens, break or forbid.
func (v Verdict) String() string {
	if int(v) < len(verdictWords) {
		return verdictWords[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// MarshalText writes the word of the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word of a verdict.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictWords, string(text))
	if i < 0 {
		return &sgam.FieldError{Field: "verdict", Rule: "enum", Want: "one of ok, lens, data, data+lens, break, forbid"}
	}
	*v = Verdict(i) //nolint:gosec // an index of a list of six
	return nil
}

// And is the verdict on two changes together.
func (v Verdict) And(w Verdict) Verdict {
	if min(v, w) == VerdictLens && max(v, w) == VerdictData {
		return VerdictDataLens
	}
	return max(v, w)
}

// Change is one difference between two versions of a memory type, judged by one rule.
type Change struct {
	// Rule is the rule's name for good, such as SC12.
	Rule string `json:"rule"`
	// Path is the place. Attributes are named by tag and the branches of a union by their constant, not by position:
	// "attributes/3/schema/oneOf/card/properties/due/format" is the format of property due in branch "card" of the value
	// of the attribute with tag 3. Entries of reserved are named by themselves. Tokens are escaped as in RFC 6901.
	Path string `json:"path"`
	// Attribute is the name of the attribute that changed, the newer one if it has two; empty when it is the type.
	Attribute string `json:"attribute,omitempty"`
	// Old and New are what stood and what stands there, as JSON values; nil is nothing. Of enums and unions they are only
	// what went and what came.
	Old any `json:"old,omitempty"`
	New any `json:"new,omitempty"`
	// Backward is about values of the older version that are read as the newer one, Forward about values of the newer
	// version that are read as the older one.
	Backward Verdict `json:"backward"`
	Forward  Verdict `json:"forward"`
	// Needs are what has to be there for the change to be made, as words for a program: lens, fallback, scan, disposition…
	Needs []string `json:"needs,omitempty"`
	// Advice says in words what to do; empty when there is nothing to do.
	Advice string `json:"advice,omitempty"`

	kind changeKind
}

// lensed is what is left of one of the change's verdicts once a lens converts the attribute. Of those that break, a lens
// can mend one: it may take a property that is required from elsewhere in the value, or fill it in.
func (c *Change) lensed(v Verdict) Verdict {
	switch {
	case v == VerdictLens, v == VerdictBreak && c.kind == requiredAdded:
		return VerdictOK
	case v == VerdictDataLens:
		return VerdictData
	}
	return v
}

// Compare lists the differences between two versions of one memory type: first what is said of the type, then each
// attribute in order of tag. Versions that mean the same differ in nothing but words, rule SC01. The verdicts know only
// the two documents: whether a lens is declared, or a declassification granted, is for [Check] to weigh.
//
// The verdict ok is a promise: every value that one version allows, the other allows too. The other verdicts are
// careful, and may say data where no value could stand in the way. A default is fixed once a lens leads into the older
// version, because that lens may have filled it in.
//
// The index of an attribute (an object of fts and vector), its evidence and min_confidence are read from the keys
// x-sgam-index, x-sgam-evidence and x-sgam-min-confidence of its schema.
//
// A document that is none is a [*DocumentError], and documents of different types are a [*sgam.FieldError].
func Compare(older, newer sgam.TypeDocument) ([]Change, error) {
	return compare(older, newer, older.Lens != nil)
}

func compare(older, newer sgam.TypeDocument, defaultsUsed bool) ([]Change, error) {
	a, _, err := parse(older.JSON)
	if err != nil {
		return nil, err
	}
	b, _, err := parse(newer.JSON)
	if err != nil {
		return nil, err
	}
	if a.typ != b.typ {
		return nil, &sgam.FieldError{Field: "type", Rule: "type", Want: fmt.Sprintf("two versions of one memory type, not %q and %q", a.typ, b.typ)}
	}
	c := comparer{rows: ruleRows, defaultsUsed: defaultsUsed}
	c.document(a, b)
	return c.found, nil
}

// attributeVerdict is the verdict on everything that has changed in how the values of an attribute are read. Names,
// policies, sensitivity, retention and defaults have no part in it.
func attributeVerdict(older, newer *attribute) (backward, forward Verdict) {
	c := comparer{rows: ruleRows}
	c.attribute(older, newer)
	return c.verdict()
}

// comparer collects the changes between two documents.
type comparer struct {
	rows map[changeKind]ruleRow
	// defaultsUsed says that a lens may have filled in the defaults of the older version.
	defaultsUsed  bool
	attributeName string // that is being compared
	found         []Change
}

// verdict is that on all changes that concern how values are read.
func (c *comparer) verdict() (backward, forward Verdict) {
	for i := range c.found {
		if change := &c.found[i]; c.rows[change.kind].values {
			backward, forward = backward.And(change.Backward), forward.And(change.Forward)
		}
	}
	return backward, forward
}

// add notes a change. More is put behind the advice of the rule.
func (c *comparer) add(k changeKind, path string, was, is any, more ...string) {
	r := c.rows[k]
	change := Change{
		Rule: r.rule, Path: path, Attribute: c.attributeName, Old: was, New: is, Backward: r.backward, Forward: r.forward,
		Needs: slices.Clone(r.needs), Advice: r.advice, kind: k,
	}
	for _, m := range more {
		change.Advice += ": " + m
	}
	c.found = append(c.found, change)
}
