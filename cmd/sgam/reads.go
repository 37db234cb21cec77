package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
)

// place is where a read looks: the flags --valid, --known, --scope and --member.
type place struct {
	valid, known string
	scopes       []string
	member       string
	shapes       []string

	validAt, knownAt *time.Time // what the flags say, after times
	versions         map[string]int
}

// axes adds the two flags that every read takes.
func (pl *place) axes(c *cobra.Command) {
	c.Flags().StringVar(&pl.valid, "valid", "", "valid `time`: about which moment of the world (default now)")
	c.Flags().StringVar(&pl.known, "known", "", "known `time`: as the ledger knew it then (default all that it knows)")
}

// manyScopes adds --scope for the reads that take several.
func (pl *place) manyScopes(c *cobra.Command) {
	c.Flags().StringArrayVar(&pl.scopes, "scope", nil, "a session or agent `id`, may be repeated (default everyone in the tenant)")
}

// oneSlot adds the flags of the reads that walk along one slot.
func (pl *place) oneSlot(c *cobra.Command) {
	c.Flags().StringArrayVar(&pl.scopes, "scope", nil, "one session or agent `id` (default everyone in the tenant)")
	pl.oneMember(c)
}

func (pl *place) oneMember(c *cobra.Command) {
	c.Flags().StringVar(&pl.member, "member", "", "the `value` that names one member of a many-valued attribute")
}

// inVersions adds --as for the reads that show values in the shape of a schema version.
func (pl *place) inVersions(c *cobra.Command) {
	c.Flags().StringArrayVar(&pl.shapes, "as", nil,
		"show values in a schema version, `TYPE@VERSION`, may be repeated (default the one that the tenant reads)")
}

// times reads the two axes, and the versions that values are shown in.
func (p *program) times(c *cobra.Command, pl *place) (err error) {
	if pl.validAt, err = p.moment(c, "valid", pl.valid); err != nil {
		return err
	}
	if pl.knownAt, err = p.moment(c, "known", pl.known); err != nil {
		return err
	}
	pl.versions = map[string]int{}
	for _, s := range pl.shapes {
		typ, text, ok := strings.Cut(s, "@")
		version, err := strconv.Atoi(text)
		if !ok || err != nil || typ == "" || version < 1 {
			return usage("--as %q: want a memory type and a version, such as order@2", s)
		}
		pl.versions[typ] = version
	}
	return nil
}

// view is the place as the library has it.
func (pl *place) view(t *sgam.Tenant) sgam.View {
	v := t.Current()
	if pl.validAt != nil {
		v = t.ValidAt(*pl.validAt)
	}
	if pl.knownAt != nil {
		v = v.KnownAt(*pl.knownAt)
	}
	for typ, version := range pl.versions {
		v = v.AtVersion(typ, version)
	}
	return v.In(pl.scopeList()...)
}

func (pl *place) scopeList() []sgam.Scope {
	scopes := make([]sgam.Scope, len(pl.scopes))
	for i, s := range pl.scopes {
		scopes[i] = sgam.Scope(s)
	}
	return scopes
}

// slot is the slot that the arguments and flags name.
func (pl *place) slot(args []string) (sgam.Slot, error) {
	if len(pl.scopes) > 1 {
		return sgam.Slot{}, usage("--scope: this command reads one scope, and got %d", len(pl.scopes))
	}
	s := sgam.Slot{Subject: args[0], Attribute: args[1]}
	if len(pl.scopes) == 1 {
		s.Scope = sgam.Scope(pl.scopes[0])
	}
	if pl.member != "" {
		s.Member = jsonOrText(pl.member)
	}
	return s, nil
}

// jsonOrText takes what is JSON as it is, and anything else as a string.
func jsonOrText(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil // a string always has a JSON form
	}
	return text
}

// named puts the names of the command line into an error that knows only the fields.
func named(err error, attribute string) error {
	if errors.Is(err, sgam.ErrManyValued) {
		return usage("attribute %q has many values: --member names one, and 'sgam get' lists them", attribute)
	}
	fe, ok := errors.AsType[*sgam.FieldError](err)
	switch {
	case !ok:
		return err
	case fe.Field == "attribute" && fe.Rule == "unknown":
		return usage("no attribute %q in this ledger ('sgam schema list' shows them)", attribute)
	case fe.Field == "memory_type", fe.Field == "schema_version":
		return usage("--as: want %s", fe.Want)
	case fe.Field == "member":
		return usage("--member: want %s", fe.Want)
	case fe.Field == "scope":
		return usage("--scope: want %s", fe.Want)
	}
	return err
}

// asked is the line that says which times an answer is for.
func (w words) asked(pl *place, valid, known time.Time) string {
	return "valid " + w.validText(pl, valid) + " · known " + w.knownText(pl, known)
}

// validText is a valid time in words. Now is shown to the second; programs get all of it.
func (w words) validText(pl *place, valid time.Time) string {
	if pl.validAt == nil {
		return "now (" + w.at(valid.Truncate(time.Second)) + ")"
	}
	return w.at(valid)
}

// knownText says when a known time lies beyond what the ledger holds: it is answered at the last commit.
func (w words) knownText(pl *place, known time.Time) string {
	switch {
	case known.Equal(sgam.Beginning.Time()) && (pl.knownAt == nil || pl.knownAt.After(known)):
		return "nothing yet (the tenant has no commit)"
	case pl.knownAt == nil:
		return w.at(known) + " (last commit)"
	case known.Before(pl.knownAt.Truncate(time.Microsecond)):
		return w.at(known) + " (last commit; asked for " + w.at(*pl.knownAt) + ")"
	}
	return w.at(known)
}

// pin settles the two times of a read that walks along an axis, as the first read of a view does.
func (pl *place) pin(ctx context.Context, t *sgam.Tenant, slot sgam.Slot) (valid, known time.Time, err error) {
	v := pl.view(t)
	if _, err := v.Member(ctx, slot); err != nil && !errors.Is(err, sgam.ErrNoValue) {
		return time.Time{}, time.Time{}, err
	}
	valid, known = v.Pinned()
	return valid, known, nil
}

// noneOf is the verdict when nothing was found along a slot. Of a many-valued attribute without a member only the set as a
// whole was asked, which is easily meant otherwise.
func (p *program) noneOf(ctx context.Context, l *sgam.Ledger, slot sgam.Slot) error {
	if len(slot.Member) > 0 {
		return no()
	}
	stored, err := l.Types(ctx)
	if err != nil {
		return err
	}
	for _, s := range stored {
		for _, a := range s.Attributes {
			if a.Many && (a.Name == slot.Attribute || slices.Contains(a.Aliases, slot.Attribute)) {
				p.err.printf("sgam: note: attribute %q has many values; --member asks about one\n", slot.Attribute)
				return no()
			}
		}
	}
	return no()
}
