package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sgam-ledger/sgam"
)

// Mode says which versions have to be able to read which, and so what [Check] lets pass. In every mode what is
// forbidden fails.
type Mode string

// The modes. Backward: the new version reads what the older one wrote. Forward: the older one reads what the new one
// writes. Full: both. The transitive ones look at every older version, the others at the last one only.
const (
	ModeNone               Mode = "none"
	ModeBackward           Mode = "backward"
	ModeForward            Mode = "forward"
	ModeFull               Mode = "full"
	ModeBackwardTransitive Mode = "backward-transitive"
	ModeForwardTransitive  Mode = "forward-transitive"
	ModeFullTransitive     Mode = "full-transitive"
)

// Modes lists the modes.
func Modes() []Mode {
	return []Mode{
		ModeNone, ModeBackward, ModeForward, ModeFull, ModeBackwardTransitive, ModeForwardTransitive, ModeFullTransitive,
	}
}

// parts takes a mode apart.
func (m Mode) parts() (backward, forward, transitive bool) {
	direction, transitive := strings.CutSuffix(string(m), "-transitive")
	return direction == "backward" || direction == "full", direction == "forward" || direction == "full", transitive
}

// Disposition says what becomes of the facts of an attribute that a version removes.
type Disposition string

// The dispositions.
const (
	// KeepReadable keeps the facts: readers of older versions find them.
	KeepReadable Disposition = "keep_readable"
	// Expire lets the retention class of the attribute end them.
	Expire Disposition = "expire"
	// Erase erases them.
	Erase Disposition = "erase"
)

var dispositions = []Disposition{KeepReadable, Expire, Erase}

// Declassification is who lowers the sensitivity of attributes, and why. Both are required. A version that says it of an
// attribute itself ([Spec], "declassified" in a document) may be registered, and the registry keeps it for ever.
type Declassification struct {
	Actor  string `json:"actor"`
	Reason string `json:"reason"`
}

// CheckOptions are the decisions that a check takes into account.
type CheckOptions struct {
	// Declassify lets sensitivities be lowered (SC36); nil forbids it.
	Declassify *Declassification
	// Dispositions say what becomes of removed attributes (SC03), by the name that the attribute had last. A removed
	// attribute without one fails in every mode but none.
	Dispositions map[string]Disposition
	// Allow is the worst verdict that passes: VerdictLens where the lenses are declared elsewhere, VerdictData or
	// VerdictDataLens where the stored values are scanned before the version is used. Zero passes what is ok by itself or
	// by a lens that the newer version declares. More than VerdictDataLens is an error: nothing lets a break pass.
	Allow Verdict
}

// Report is what a check of one version found.
type Report struct {
	Type    string `json:"type"`
	Version int    `json:"version"`
	Mode    Mode   `json:"mode"`
	// OK says that the version may be registered.
	OK bool `json:"ok"`
	// Compared has an entry for each older version that was looked at, from the newest to the oldest. Without any there is
	// nothing to be compatible with.
	Compared []Comparison `json:"compared"`
}

// Comparison is what a check found against one older version.
type Comparison struct {
	Version  int       `json:"version"`
	Findings []Finding `json:"findings"`
}

// Finding is a change as a check judges it.
type Finding struct {
	Change
	// Fails says why the change does not pass; empty when it passes.
	Fails string `json:"fails,omitempty"`
	// Declassified is who let a sensitivity be lowered, for the records.
	Declassified *Declassification `json:"declassified,omitempty"`
}

// Check judges whether a version of a memory type may follow the older ones. Of the older documents it takes those of
// the same type with a lower version that are no drafts, in any order: a draft never has facts. A lens that newer or an
// older version on the way declares makes the verdict lens pass for the attributes that it converts. Declassifications and dispositions are asked for where a
// change is made, which is against the last version alone.
//
// Nil options are the zero ones. Wrong options and modes are a [*sgam.FieldError]. An older document of the same version
// with another meaning is [sgam.ErrSchemaDrift], unless that one is a draft, and a document that is none a
// [*DocumentError].
func Check(mode Mode, older []sgam.TypeDocument, newer sgam.TypeDocument, opts *CheckOptions) (Report, error) {
	if opts == nil {
		opts = &CheckOptions{}
	}
	if err := opts.check(mode); err != nil {
		return Report{}, err
	}
	r := Report{Type: newer.Type, Version: newer.Version, Mode: mode, OK: true, Compared: []Comparison{}}
	var history []sgam.TypeDocument // from the newest to the oldest
	defaultsUsed := false
	for _, doc := range older {
		switch {
		case doc.Type != newer.Type || doc.Draft || doc.Version > newer.Version:
		case doc.Version < newer.Version:
			history = append(history, doc)
			defaultsUsed = defaultsUsed || doc.Lens != nil
		case doc.Semantic != newer.Semantic:
			return Report{}, fmt.Errorf("schema: type %q version %d is another one already: %w", doc.Type, doc.Version, sgam.ErrSchemaDrift)
		}
	}
	slices.SortFunc(history, func(a, b sgam.TypeDocument) int { return cmp.Compare(b.Version, a.Version) })
	_, _, transitive := mode.parts()
	if !transitive {
		history = history[:min(1, len(history))]
	}
	lensed := lensedTags{}
	lensed.add(newer)
	for n, doc := range history {
		changes, err := compare(doc, newer, defaultsUsed)
		if err != nil {
			return Report{}, err
		}
		compared := Comparison{Version: doc.Version, Findings: make([]Finding, len(changes))}
		for i, change := range changes {
			compared.Findings[i] = opts.weigh(mode, change, lensed.cover(change), n == 0)
			r.OK = r.OK && compared.Findings[i].Fails == ""
		}
		r.Compared = append(r.Compared, compared)
		lensed.add(doc) // on the way from the one before it
	}
	return r, nil
}

// CheckSet judges the documents of a program against those of an earlier one: each against the older versions of its
// type in both, as [Check] does. With whole, newer is all that the program declares, and a type that has none there is
// removed (SC41). The reports are in order of type and version, which is 0 for a removed type.
func CheckSet(mode Mode, older, newer []sgam.TypeDocument, whole bool, opts *CheckOptions) ([]Report, error) {
	all := slices.Concat(older, newer)
	types := map[string]bool{}
	reports := []Report{}
	for _, doc := range newer {
		types[doc.Type] = true
		r, err := Check(mode, all, doc, opts)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	last := map[string]int{}
	for _, doc := range older {
		if whole && !doc.Draft && !types[doc.Type] {
			last[doc.Type] = max(last[doc.Type], doc.Version)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(last)) {
		c := comparer{rows: ruleRows}
		c.add(typeRemoved, "type", typ, nil)
		reports = append(reports, Report{
			Type: typ, Mode: mode,
			Compared: []Comparison{{Version: last[typ], Findings: []Finding{{Change: c.found[0], Fails: failForbidden}}}},
		})
	}
	slices.SortStableFunc(reports, func(a, b Report) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), cmp.Compare(a.Version, b.Version))
	})
	return reports, nil
}

func (o *CheckOptions) check(mode Mode) error {
	wrong := func(field, rule, want string) error { return &sgam.FieldError{Field: field, Rule: rule, Want: want} }
	if !slices.Contains(Modes(), mode) {
		words := make([]string, len(Modes()))
		for i, m := range Modes() {
			words[i] = string(m)
		}
		return wrong("mode", "enum", "one of "+strings.Join(words, ", "))
	}
	if d := o.Declassify; d != nil && (strings.TrimSpace(d.Actor) == "" || strings.TrimSpace(d.Reason) == "") {
		return wrong("declassify", "required", "an actor and a reason")
	}
	for _, name := range sortedKeys(o.Dispositions) {
		if !slices.Contains(dispositions, o.Dispositions[name]) {
			return wrong("dispositions/"+name, "enum", "one of keep_readable, expire, erase")
		}
	}
	if o.Allow > VerdictDataLens {
		return wrong("allow", "enum", "at most data+lens")
	}
	return nil
}

const (
	failForbidden   = "forbidden"
	failDisposition = "no disposition"
)

// lensedTags are the attributes for which lenses on the way have operations, as paths of changes begin.
type lensedTags map[string]bool

func (l lensedTags) add(doc sgam.TypeDocument) {
	if doc.Lens == nil {
		return
	}
	var lens struct {
		Attributes []struct{ Tag int }
	}
	if json.Unmarshal(doc.Lens.JSON, &lens) != nil {
		return // a lens that cannot be read covers nothing
	}
	for _, a := range lens.Attributes {
		l["attributes/"+strconv.Itoa(a.Tag)] = true
	}
}

// cover reports whether a change is of an attribute that a lens converts. Of a removed one there is nothing to convert.
func (l lensedTags) cover(c Change) bool {
	parts := strings.SplitN(c.Path, "/", 3)
	return len(parts) >= 2 && l[parts[0]+"/"+parts[1]]
}

// weigh decides whether a change passes. Last says that it is one from the last version.
func (o *CheckOptions) weigh(mode Mode, change Change, lens, last bool) Finding {
	f := Finding{Change: change}
	switch {
	case change.kind == sensitivityLowered && !last:
		return f
	case change.kind == sensitivityLowered && o.Declassify != nil:
		f.Declassified = o.Declassify
		return f
	case change.Backward == VerdictForbid || change.Forward == VerdictForbid:
		f.Fails = failForbidden
		return f
	case change.kind == attributeRemoved && last && mode != ModeNone && o.disposition(change) == "":
		f.Fails = failDisposition
		return f
	}
	backward, forward, _ := mode.parts()
	var why []string
	for _, d := range []struct {
		asked   bool
		verdict Verdict
		word    string
	}{{backward, change.Backward, "backward"}, {forward, change.Forward, "forward"}} {
		left := d.verdict
		if lens {
			left = change.lensed(left)
		}
		if d.asked && left > o.Allow {
			why = append(why, d.word+" "+left.String())
		}
	}
	f.Fails = strings.Join(why, ", ")
	return f
}

// disposition is what becomes of the attribute that a change removes.
func (o *CheckOptions) disposition(change Change) Disposition {
	name, _ := change.Old.(string)
	return o.Dispositions[name]
}
