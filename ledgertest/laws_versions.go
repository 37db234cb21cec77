package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sgam-ledger/sgam"
)

// versionLaws are about several versions of a memory type in one tenant.
func versionLaws() []law {
	return []law{
		{"versions-wait-for-a-migration", "a new version that cannot read the old values changes nothing for tenants that have some, and is where new tenants begin", versionsWait},
		{"versions-that-read-each-other", "a new version that reads the old values as they stand is written at once, without a migration", versionsThatRead},
		{"G18-both-versions-in-the-window", "while a migration is under way both versions are written, each is read in either shape, and the slot is one", bothVersions},
		{"G18-unmigrated-is-an-error", "a fact that has no form in the version that is read is an explicit error, in lists too, never an absence", unmigratedIsAnError},
		{"G23-known-time-before-the-cut-over", "what was answered before a cut-over is answered in the same words afterwards, and again after it was rolled back", beforeTheCutOver},
		{"versions-know-equal-values", "a value is known again whichever version says it: it confirms, and a second delivery is a duplicate", equalInEitherVersion},
		{"versions-refuse-what-decides-cannot-hold", "a value that the deciding version cannot hold is refused with its place; one that only the other cannot hold is stored, and waits in quarantine", whatCannotGoOver},
		{"versions-of-held-candidates", "a candidate that was held under an older version is accepted in the version of the acceptance", heldAcrossVersions},
		{"versions-keep-their-lens", "the lens of a version that some tenant reads or writes is not replaced; before that it may be", lensInUse},
		{"versions-say-what-a-lens-made", "an answer says which version was stored, which is shown, what a lens left out, and what nobody said", saidByALens},
		{"versions-in-a-stale-program", "a program that was open before an epoch began writes and reads by the new one", staleEpoch},
		{"versions-drafts-take-no-facts", "a draft may be replaced because nothing was written under it, and nothing follows it until it is frozen", draftsTakeNoFacts},
		{"versions-of-members", "members of a many-valued attribute keep their identity across versions", membersAcrossVersions},
		{"versions-backfilled", "facts of before are given their form in pages from the newest to the oldest, erased or withdrawn ones no more than once", backfilled},
	}
}

// shop is a ledger with orders of two versions: version 2 wraps the total. Version 1 was written before version 2 came.
type shop struct {
	*bench
	place   Place
	opts    *sgam.Options
	schemas *Schemas
	l       *sgam.Ledger
	t       *sgam.Tenant
}

var (
	totalV1 = Attribute{Type: "order", Name: "total", Tag: 1, Value: "number"}
	totalV2 = Attribute{Type: "order", Name: "amount", Aliases: []string{"total"}, Tag: 1, Value: "object"}
	cents   = Lens{Tag: 1, Wrap: "value", Fill: "currency", Refuse: "13"}
)

func newShop(b *bench) *shop {
	b.Helper()
	s := &shop{bench: b, place: b.fresh(b.TB), opts: b.options(1), schemas: NewSchemas(totalV1)}
	s.opts.Schemas = s.schemas
	s.l = b.open(s.place, s.opts)
	s.t = b.tenant(s.l, "acme")
	b.apply(s.t, inVersion(1, "ann", "total", "10", at(0), "e1"), sgam.Applied)
	b.clock.Advance(time.Hour)
	b.ok(s.l.Register(b.Context(), s.schemas.NextThrough("order", []Lens{cents}, totalV2)))
	return s
}

func inVersion(version int, subject, attribute, value string, from time.Time, episode string) sgam.MemoryDelta {
	d := say(sgam.Assert, subject, attribute, value, from, episode)
	d.SchemaVersion = version
	return d
}

// begin appends an epoch.
func (s *shop) begin(read, write, second int) {
	s.Helper()
	s.clock.Advance(time.Hour)
	s.ok(s.t.Migrate(s.Context(), "order", func(*sgam.MigrationStep) (*sgam.MigrationWrite, error) {
		return &sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: read, Write: write, Second: second}}, nil
	}))
	s.clock.Advance(time.Hour)
}

// backfill gives every fact its form in version 2, and reports how many got one and how many were put into quarantine.
func (s *shop) backfill() (done, refused int) {
	s.Helper()
	const version = 2
	w := &sgam.MigrationWrite{}
	for v, err := range s.t.Values(s.Context(), "order", 0) {
		s.ok(err)
		if v.Version == version || v.Erased || len(v.Encodings) > 0 {
			continue
		}
		c, err := s.l.Convert(s.Context(), v.Attribute, v.Version, version, v.Value)
		if fe, unfit := errors.AsType[*sgam.FieldError](err); unfit {
			w.Quarantined = append(w.Quarantined, sgam.Quarantined{Fact: v.Number, Version: version, Rule: fe.Rule, Pointer: "/value" + fe.Field})
			continue
		}
		s.ok(err)
		w.Encodings = append(w.Encodings, s.t.Encode(&v, version, c))
	}
	s.ok(s.t.Migrate(s.Context(), "order", func(*sgam.MigrationStep) (*sgam.MigrationWrite, error) { return w, nil }))
	return len(w.Encodings), len(w.Quarantined)
}

// shown is the answer about one subject in one version; 0 asks for none.
func (s *shop) shown(v sgam.View, version int, subject string) string {
	if version != 0 {
		v = v.AtVersion("order", version)
	}
	f, err := v.Get(s.Context(), subject, "total")
	if errors.Is(err, sgam.ErrUnmigrated) {
		return "unmigrated"
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s v%d", f.Attribute, f.Value, f.SchemaVersion)
}

func versionsWait(b *bench) {
	s := newShop(b)
	b.same("the old tenant reads", "total 10 v1", s.shown(s.t.Current(), 0, "ann"))
	b.apply(s.t, inVersion(1, "ann", "total", "11", at(1), "e2"), sgam.Applied)
	r := b.apply(s.t, inVersion(2, "ann", "total", `{"value":12}`, at(2), "e3"), sgam.Rejected)
	b.same("code of the other version", "schema_version", r.Code)
	r = b.apply(s.t, say(sgam.Assert, "ann", "amount", `{"value":12}`, at(2), "e4"), sgam.Rejected)
	b.same("code of a name that is not yet written", "schema_version", r.Code)
	b.same("the old tenant reads on", "total 11 v1", s.shown(s.t.ValidAt(at(2)), 0, "ann"))
	b.same("in the other shape", `amount {"currency":"","value":11} v2`, s.shown(s.t.ValidAt(at(2)), 2, "ann"))
	young := b.tenant(s.l, "young")
	b.apply(young, inVersion(2, "ann", "amount", `{"value":12}`, at(0), "e1"), sgam.Applied)
	b.apply(young, inVersion(1, "ann", "total", "12", at(1), "e2"), sgam.Rejected)
	b.same("the young tenant reads", `amount {"value":12} v2`, s.shown(young.ValidAt(at(2)), 0, "ann"))
	b.same("in the old shape", "total 12 v1", s.shown(young.ValidAt(at(2)), 1, "ann"))
	epochs, err := s.t.Epochs(b.Context())
	b.ok(err)
	if len(epochs) != 1 || epochs[0].Read != 1 || epochs[0].Write != 1 || epochs[0].Second != 0 {
		b.Errorf("the old tenant's epochs are %+v", epochs)
	}
	for _, wrong := range []int{-1, 3} {
		if _, err := s.t.Current().AtVersion("order", wrong).Get(b.Context(), "ann", "total"); err == nil {
			b.Errorf("version %d was answered", wrong)
		}
	}
}

func versionsThatRead(b *bench) {
	s := newShop(b)
	b.ok(s.l.Register(b.Context(), s.schemas.Next("order", totalV2, Attribute{Type: "order", Name: "note", Tag: 2})))
	young := b.tenant(s.l, "young")
	b.apply(young, inVersion(3, "ann", "note", `"x"`, at(0), "e1"), sgam.Applied)
	b.apply(young, inVersion(3, "ann", "amount", `{"value":1}`, at(0), "e2"), sgam.Applied)
	b.ok(s.l.Register(b.Context(), s.schemas.Next("order", totalV2)))
	b.apply(young, inVersion(4, "ann", "amount", `{"value":2}`, at(1), "e3"), sgam.Applied)
	b.same("what was written before", `amount {"value":1} v3`, s.shown(young.ValidAt(at(0)), 0, "ann"))
	b.same("what was written after", `amount {"value":2} v4`, s.shown(young.ValidAt(at(1)), 0, "ann"))
	b.same("both at once", `amount {"value":2} v4`, s.shown(young.ValidAt(at(1)), 3, "ann"))
	epochs, err := young.Epochs(b.Context())
	b.ok(err)
	var writes []int
	for i, e := range epochs {
		writes = append(writes, e.Write)
		if i > 0 && e.KnownFrom <= epochs[i-1].KnownFrom {
			b.Errorf("epochs are out of order: %+v", epochs)
		}
	}
	b.same("versions that were written", "[3 4]", fmt.Sprint(writes))
	f, err := young.ValidAt(at(1)).Get(b.Context(), "ann", "note")
	b.ok(err)
	b.same("an attribute that the newest version lacks", `"x"`, string(f.Value))
}

func bothVersions(b *bench) {
	s := newShop(b)
	s.begin(1, 1, 2)
	b.apply(s.t, inVersion(2, "bob", "amount", `{"currency":"","value":20}`, at(0), "e2"), sgam.Applied)
	b.apply(s.t, inVersion(1, "bob", "total", "21", at(1), "e3"), sgam.Applied)
	for _, c := range []struct {
		what, subject string
		valid         time.Time
		version       int
		want          string
	}{
		{"old fact, as read", "ann", at(0), 0, "total 10 v1"},
		{"old fact, new shape", "ann", at(0), 2, `amount {"currency":"","value":10} v2`},
		{"new writer, as read", "bob", at(0), 0, "total 20 v1"},
		{"new writer, new shape", "bob", at(0), 2, `amount {"currency":"","value":20} v2`},
		{"old writer, old shape", "bob", at(1), 1, "total 21 v1"},
		{"old writer, new shape", "bob", at(1), 2, `amount {"currency":"","value":21} v2`},
	} {
		b.same(c.what, c.want, s.shown(s.t.ValidAt(c.valid), c.version, c.subject))
	}
	entries := 0
	for e, err := range s.t.History(b.Context(), sgam.Slot{Subject: "bob", Attribute: "total"}) {
		b.ok(err)
		if entries++; entries == 2 && len(e.Displaced) != 1 {
			b.Errorf("the old writer displaced %d facts of the new one", len(e.Displaced))
		}
	}
	b.same("facts of one slot", "2", fmt.Sprint(entries))
	s.begin(2, 2, 1)
	b.apply(s.t, inVersion(1, "bob", "total", "22", at(2), "e4"), sgam.Applied)
	b.same("old writer after the cut-over", `amount {"currency":"","value":22} v2`, s.shown(s.t.ValidAt(at(2)), 0, "bob"))
	b.same("old reader after the cut-over", "total 22 v1", s.shown(s.t.ValidAt(at(2)), 1, "bob"))
	s.begin(2, 2, 0)
	b.apply(s.t, inVersion(1, "bob", "total", "23", at(3), "e5"), sgam.Rejected)
	b.apply(s.t, inVersion(2, "bob", "amount", `{"value":23}`, at(3), "e6"), sgam.Applied)
	b.same("old reader after the end", "total 23 v1", s.shown(s.t.ValidAt(at(3)), 1, "bob"))
}

func unmigratedIsAnError(b *bench) {
	s := newShop(b)
	b.apply(s.t, inVersion(1, "bob", "total", "13", at(0), "e2"), sgam.Applied)
	s.begin(1, 1, 2)
	done, refused := s.backfill()
	b.same("backfilled and refused", "1 1", fmt.Sprint(done, refused))
	b.same("in the window, in the old shape", "total 13 v1", s.shown(s.t.Current(), 0, "bob"))
	b.same("in the window, in the new shape", "unmigrated", s.shown(s.t.Current(), 2, "bob"))
	s.begin(2, 2, 0)
	b.same("a fact with a form", `amount {"currency":"","value":10} v2`, s.shown(s.t.Current(), 0, "ann"))
	_, err := s.t.Current().Get(b.Context(), "bob", "total")
	b.fails(sgam.ErrUnmigrated, err)
	if errors.Is(err, sgam.ErrNoValue) {
		b.Error("a fact without a form reads as an absence")
	}
	if e, ok := errors.AsType[*sgam.UnmigratedError](err); !ok || e.Stored != 1 || e.Asked != 2 || e.Memory.IsZero() || e.Subject != "bob" {
		b.Errorf("the error says %+v", err)
	}
	b.same("the version in which it was recorded", "total 13 v1", s.shown(s.t.Current(), 1, "bob"))
	listed := map[string]bool{}
	for f, err := range s.t.Current().Facts(b.Context(), sgam.Filter{}) {
		listed[f.Subject] = err == nil
		if err != nil {
			b.fails(sgam.ErrUnmigrated, err)
		}
	}
	if ok, there := listed["bob"]; ok || !there || !listed["ann"] {
		b.Errorf("the list shows %v", listed)
	}
	for stretch, err := range s.t.Current().Timeline(b.Context(), sgam.Slot{Subject: "bob", Attribute: "total"}) {
		b.ok(err)
		b.fails(sgam.ErrUnmigrated, stretch.Reason)
	}
	waiting := 0
	for q, err := range s.t.Quarantine(b.Context(), "order", 2) {
		b.ok(err)
		waiting++
		b.same("rule and place", "domain /value bob", q.Rule+" "+q.Pointer+" "+q.Slot.Subject)
	}
	b.same("facts in quarantine", "1", fmt.Sprint(waiting))
}

func beforeTheCutOver(b *bench) {
	s := newShop(b)
	s.begin(1, 1, 2)
	b.apply(s.t, inVersion(1, "ann", "total", "11", at(1), "e2"), sgam.Applied)
	last, err := s.t.ValidAt(at(5)).Get(b.Context(), "ann", "total")
	b.ok(err)
	known := last.RecordedAt
	record := func() string {
		var all []json.RawMessage
		for _, v := range []sgam.View{s.t.ValidAt(at(0)).KnownAt(known), s.t.ValidAt(at(5)).KnownAt(known), s.t.KnownAt(known)} {
			f, err := v.Get(b.Context(), "ann", "total")
			b.ok(err)
			text, err := json.Marshal(f)
			b.ok(err)
			all = append(all, text)
		}
		return fmt.Sprintf("%s", all)
	}
	want := record()
	s.backfill()
	b.same("after the backfill", want, record())
	b.same("now, before the cut-over", "total 11 v1", s.shown(s.t.ValidAt(at(5)), 0, "ann"))
	s.begin(2, 2, 1)
	b.same("after the cut-over", want, record())
	b.same("now, after the cut-over", `amount {"currency":"","value":11} v2`, s.shown(s.t.ValidAt(at(5)), 0, "ann"))
	between, err := s.t.ValidAt(at(5)).Get(b.Context(), "ann", "total")
	b.ok(err)
	s.begin(1, 1, 0)
	b.same("after the way back", want, record())
	b.same("now, after the way back", "total 11 v1", s.shown(s.t.ValidAt(at(5)), 0, "ann"))
	b.same("between the two", `amount {"currency":"","value":11} v2`,
		s.shown(s.t.ValidAt(at(5)).KnownAt(b.clock.Now().Add(-2*time.Hour)), 0, "ann"))
	if between.RecordedAt != known || between.ID != last.ID {
		b.Error("a cut-over changed when, or as what, a fact was recorded")
	}
	entries := 0
	for _, err := range s.t.History(b.Context(), sgam.Slot{Subject: "ann", Attribute: "total"}) {
		b.ok(err)
		entries++
	}
	b.same("facts of the slot", "2", fmt.Sprint(entries))
}

func equalInEitherVersion(b *bench) {
	s := newShop(b)
	b.apply(s.t, inVersion(1, "cec", "total", "30", at(0), "c1"), sgam.Applied)
	s.begin(1, 1, 2)
	b.apply(s.t, inVersion(2, "ann", "amount", `{"currency":"","value":10}`, at(1), "e2"), sgam.Confirmed)
	b.apply(s.t, inVersion(2, "bob", "amount", `{"currency":"","value":20}`, at(0), "e3"), sgam.Applied)
	b.apply(s.t, inVersion(1, "bob", "total", "20", at(1), "e4"), sgam.Confirmed)
	b.apply(s.t, inVersion(1, "bob", "total", "21", at(2), "e5"), sgam.Applied)
	s.backfill()
	s.begin(2, 2, 1)
	b.apply(s.t, inVersion(2, "ann", "amount", `{"currency":"","value":10}`, at(2), "e6"), sgam.Confirmed)
	b.apply(s.t, inVersion(2, "cec", "amount", `{"currency":"","value":30}`, at(2), "c2"), sgam.Confirmed)
	b.apply(s.t, inVersion(1, "ann", "total", "10", at(3), "e7"), sgam.Confirmed)
	b.apply(s.t, inVersion(2, "bob", "amount", `{"currency":"","value":21}`, at(3), "e8"), sgam.Confirmed)
	b.apply(s.t, inVersion(2, "bob", "amount", `{"currency":"","value":20}`, at(4), "e9"), sgam.Applied)
	b.apply(s.t, inVersion(1, "ann", "total", "10", at(0), "e1"), sgam.Duplicate)
	b.apply(s.t, inVersion(2, "ann", "amount", `{"currency":"","value":99}`, at(5), "e10"), sgam.Applied)
}

func whatCannotGoOver(b *bench) {
	s := newShop(b)
	s.begin(1, 1, 2)
	r := b.apply(s.t, inVersion(2, "ann", "amount", `{"other":1}`, at(1), "e2"), sgam.Rejected)
	b.same("code", "schema_version", r.Code)
	b.same("place", "value/value", r.Faults[0].Field)
	b.apply(s.t, inVersion(1, "ann", "total", "13", at(1), "e3"), sgam.Applied)
	waiting := func(version int) int {
		n := 0
		for _, err := range s.t.Quarantine(b.Context(), "order", version) {
			b.ok(err)
			n++
		}
		return n
	}
	b.same("waiting for version 2", "1", fmt.Sprint(waiting(2)))
	b.same("waiting for version 1", "0", fmt.Sprint(waiting(1)))
	s.begin(2, 2, 1)
	b.apply(s.t, inVersion(1, "ann", "total", "13", at(2), "e4"), sgam.Rejected)
	b.apply(s.t, inVersion(2, "ann", "amount", `{"other":1}`, at(3), "e5"), sgam.Applied)
	b.same("waiting for version 1", "1", fmt.Sprint(waiting(1)))
	b.same("the old shape of what has none", "unmigrated", s.shown(s.t.ValidAt(at(3)), 1, "ann"))
}

func heldAcrossVersions(b *bench) {
	place, opts := b.fresh(b.TB), b.options(1)
	old, now := totalV1, totalV2
	old.Policy, now.Policy = sgam.ConfirmFirst, sgam.ConfirmFirst
	schemas := NewSchemas(old)
	opts.Schemas = schemas
	l := b.open(place, opts)
	s := &shop{bench: b, place: place, opts: opts, schemas: schemas, l: l, t: b.tenant(l, "acme")}
	fits := b.apply(s.t, say(sgam.Assert, "ann", "total", "10", at(0), "e1"), sgam.Pending)
	not := b.apply(s.t, say(sgam.Assert, "bob", "total", "13", at(0), "e2"), sgam.Pending)
	seen := say(sgam.Assert, "cec", "total", "1", at(0), "e3")
	seen.Episode.Kind = sgam.UserConfirmation
	b.apply(s.t, seen, sgam.Applied)
	b.ok(l.Register(b.Context(), schemas.NextThrough("order", []Lens{cents}, now)))
	s.begin(2, 2, 1)
	late := b.apply(s.t, inVersion(1, "dan", "total", "40", at(0), "e4"), sgam.Pending)
	s.begin(2, 2, 0)
	r, err := s.t.Accept(b.Context(), late.Memory)
	b.ok(err)
	b.same("one of an old writer after the cut-over", "applied", string(r.Outcome))
	b.same("as it was submitted", "total 40 v1", s.shown(s.t.Current(), 1, "dan"))
	r, err = s.t.Accept(b.Context(), fits.Memory)
	b.ok(err)
	b.same("the one that fits", "applied", string(r.Outcome))
	b.same("as read", `amount {"currency":"","value":10} v2`, s.shown(s.t.Current(), 0, "ann"))
	b.same("as it was submitted", "total 10 v1", s.shown(s.t.Current(), 1, "ann"))
	r, err = s.t.Accept(b.Context(), not.Memory)
	b.ok(err)
	b.same("the one that has no form", "rejected schema_version", string(r.Outcome)+" "+r.Code)
}

func lensInUse(b *bench) {
	s := newShop(b)
	other := cents
	other.Fill = "unit"
	types, err := s.l.Types(b.Context())
	b.ok(err)
	doc := types[1].TypeDocument
	was := *doc.Lens
	doc.Lens = encodeLenses([]Lens{other})
	b.ok(s.l.Register(b.Context(), doc))
	b.same("through the other lens", `amount {"unit":"","value":10} v2`, s.shown(s.t.Current(), 2, "ann"))
	b.ok(s.l.Register(b.Context(), doc))
	s.begin(1, 1, 2)
	doc.Lens = &was
	b.fails(sgam.ErrLensInUse, s.l.Register(b.Context(), doc))
	s.begin(1, 1, 0)
	b.ok(s.l.Register(b.Context(), doc))
	b.same("through the first lens", `amount {"currency":"","value":10} v2`, s.shown(s.t.Current(), 2, "ann"))
	again := b.open(s.place, s.opts)
	types, err = again.Types(b.Context())
	b.ok(err)
	b.same("the lens that is kept", was.Hash, types[1].Lens.Hash)
}

func saidByALens(b *bench) {
	s := newShop(b)
	said := func(v sgam.View) string {
		f, err := v.Get(b.Context(), "ann", "total")
		b.ok(err)
		return fmt.Sprintf("shown %d stored %d lossy %t defaulted %v", f.SchemaVersion, f.StoredVersion, f.Lossy, f.Defaulted)
	}
	b.same("as recorded", "shown 1 stored 1 lossy false defaulted []", said(s.t.Current()))
	b.same("through the lens", "shown 2 stored 1 lossy false defaulted [/currency]", said(s.t.Current().AtVersion("order", 2)))
	s.begin(1, 1, 2)
	s.backfill()
	b.same("stored by the lens", "shown 2 stored 2 lossy false defaulted [/currency]", said(s.t.Current().AtVersion("order", 2)))
	s.begin(2, 2, 1)
	b.apply(s.t, inVersion(2, "ann", "amount", `{"currency":"EUR","value":10}`, at(1), "e2"), sgam.Applied)
	b.same("said by a person", "shown 2 stored 2 lossy false defaulted []", said(s.t.ValidAt(at(1))))
	b.same("what the old shape leaves out", "shown 1 stored 1 lossy true defaulted []", said(s.t.ValidAt(at(1)).AtVersion("order", 1)))
	typed, err := sgam.NewAttribute[float64]("order", "total", 1).Get(b.Context(), s.t.ValidAt(at(1)), "ann")
	b.ok(err)
	b.same("a typed reader of version 1", "10", fmt.Sprint(typed.V))
	wrapped, err := sgam.NewAttribute[struct{ Value float64 }]("order", "amount", 2).Get(b.Context(), s.t.ValidAt(at(0)), "ann")
	b.ok(err)
	b.same("a typed reader of version 2", "10", fmt.Sprint(wrapped.V.Value))
}

func staleEpoch(b *bench) {
	s := newShop(b)
	other := b.tenant(b.open(s.place, s.opts), "acme")
	b.apply(other, inVersion(1, "ann", "total", "11", at(1), "e2"), sgam.Applied)
	s.begin(1, 1, 2)
	s.begin(2, 2, 0)
	b.apply(other, inVersion(1, "ann", "total", "12", at(2), "e3"), sgam.Rejected)
	b.apply(other, inVersion(2, "ann", "amount", `{"value":12}`, at(2), "e4"), sgam.Applied)
	b.same("what the other program reads", `amount {"value":12} v2`, s.shown(other.ValidAt(at(2)), 0, "ann"))
}

func draftsTakeNoFacts(b *bench) {
	place, opts := b.fresh(b.TB), b.options(1)
	opts.Schemas = NewSchemas()
	l := b.open(place, opts)
	t := b.tenant(l, "acme")
	version := func(n int, draft bool, names ...string) sgam.TypeDocument {
		d := document{Type: "order", Version: n}
		for i, name := range names {
			d.Attributes = append(d.Attributes, tagged(Attribute{Name: name}, i+1))
		}
		doc := d.encode()
		doc.Draft = draft
		return doc
	}
	b.ok(l.Register(b.Context(), version(1, true, "sum")))
	r := b.apply(t, say(sgam.Assert, "ann", "sum", "1", at(0), "e1"), sgam.Rejected)
	b.same("code", "schema_version draft", r.Code+" "+r.Faults[0].Rule)
	b.fails(sgam.ErrSchemaGap, l.Register(b.Context(), version(2, false, "sum")))
	b.ok(l.Register(b.Context(), version(1, true, "total")))
	b.ok(l.Register(b.Context(), version(1, false, "total")))
	b.apply(t, say(sgam.Assert, "ann", "total", "1", at(0), "e2"), sgam.Applied)
	r = b.apply(t, say(sgam.Assert, "ann", "sum", "1", at(0), "e3"), sgam.Rejected)
	b.same("code of a name that went with its draft", "unknown_attribute", r.Code)
	b.fails(sgam.ErrSchemaDrift, l.Register(b.Context(), version(1, false, "sum")))
	b.ok(l.Register(b.Context(), version(2, true, "total", "note")))
	b.apply(t, say(sgam.Assert, "ann", "total", "2", at(1), "e4"), sgam.Applied)
	b.apply(t, say(sgam.Assert, "ann", "note", "2", at(1), "e5"), sgam.Rejected)
	f, err := t.ValidAt(at(1)).Get(b.Context(), "ann", "total")
	b.ok(err)
	b.same("version that is written beside a draft", "1", fmt.Sprint(f.SchemaVersion))
	b.ok(l.Register(b.Context(), version(2, false, "total", "note")))
	b.apply(t, say(sgam.Assert, "ann", "note", "2", at(1), "e6"), sgam.Applied)
}

func membersAcrossVersions(b *bench) {
	place, opts := b.fresh(b.TB), b.options(1)
	item := Attribute{Type: "cart", Name: "item", Tag: 1, Many: true, Identity: "sku"}
	count := Attribute{Type: "cart", Name: "count", Tag: 2, Value: "number"}
	schemas := NewSchemas(item, count)
	opts.Schemas = schemas
	l := b.open(place, opts)
	t := b.tenant(l, "acme")
	b.apply(t, say(sgam.Assert, "ann", "item", `{"sku":"a"}`, at(0), "e1"), sgam.Applied)
	b.ok(l.Register(b.Context(), schemas.NextThrough("cart", []Lens{{Tag: 2, Wrap: "n"}}, item, Attribute{Type: "cart", Name: "count", Tag: 2})))
	b.ok(t.Migrate(b.Context(), "cart", func(*sgam.MigrationStep) (*sgam.MigrationWrite, error) {
		return &sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: 2, Write: 2, Second: 1}}, nil
	}))
	again := say(sgam.Assert, "ann", "item", `{"sku":"a"}`, at(1), "e2")
	again.SchemaVersion = 2
	b.apply(t, again, sgam.Confirmed)
	b.apply(t, say(sgam.End, "ann", "item", `{"sku":"a"}`, at(2), "e3"), sgam.Applied)
	n := 0
	for _, err := range t.ValidAt(at(3)).Members(b.Context(), "ann", "item") {
		b.ok(err)
		n++
	}
	b.same("members after the end", "0", fmt.Sprint(n))
	f, err := t.ValidAt(at(1)).Member(b.Context(), sgam.Slot{Subject: "ann", Attribute: "item", Member: []byte(`{"sku":"a"}`)})
	b.ok(err)
	b.same("an attribute that the lens leaves alone", `{"sku":"a"} v1`, fmt.Sprintf("%s v%d", f.Value, f.SchemaVersion))
}

func backfilled(b *bench) {
	s := newShop(b)
	for i := range 20 {
		b.apply(s.t, inVersion(1, fmt.Sprintf("s%02d", i), "total", fmt.Sprint(100+i), at(0), fmt.Sprintf("f%d", i)), sgam.Applied)
	}
	b.apply(s.t, say(sgam.End, "s00", "total", "", at(3), "end"), sgam.Applied)
	_, err := s.t.Withdraw(b.Context(), sgam.Withdrawal{Episode: "f3"})
	b.ok(err)
	s.begin(1, 1, 2)
	var numbers []int64
	for v, err := range s.t.Values(b.Context(), "order", 0) {
		b.ok(err)
		if n := len(numbers); n > 0 && numbers[n-1] <= v.Number {
			b.Errorf("fact %d comes after fact %d", v.Number, numbers[n-1])
		}
		numbers = append(numbers, v.Number)
	}
	b.same("facts with a value, withdrawn ones too", "21", fmt.Sprint(len(numbers)))
	below := 0
	for _, err := range s.t.Values(b.Context(), "order", numbers[4]) {
		b.ok(err)
		below++
	}
	b.same("facts below the fifth", "16", fmt.Sprint(below))
	done, _ := s.backfill()
	b.same("backfilled", "21", fmt.Sprint(done))
	done, _ = s.backfill()
	b.same("backfilled again", "0", fmt.Sprint(done))
	s.begin(2, 2, 0)
	b.same("at the end", `amount {"currency":"","value":119} v2`, s.shown(s.t.Current(), 0, "s19"))
	b.same("by another tenant", "sgam: unknown", s.shown(b.tenant(s.l, "else").Current(), 0, "s19"))
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	err = s.t.Migrate(ctx, "order", func(*sgam.MigrationStep) (*sgam.MigrationWrite, error) {
		return &sgam.MigrationWrite{Epoch: &sgam.Epoch{Read: 1, Write: 1}}, nil
	})
	b.fails(context.Canceled, err)
	b.same("after a step that was called off", `amount {"currency":"","value":119} v2`, s.shown(s.t.Current(), 0, "s19"))
}
