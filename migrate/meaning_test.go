package migrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

// What a value means is a matter of its version: the tests here are about values of which the bytes say another thing.

const (
	euro = `{"type":"t","version":1,"attributes":[{"tag":1,"name":"x","unit":"EUR","schema":{"type":"number"}}]}`
	cent = `{"type":"t","version":2,"attributes":[{"tag":1,"name":"x","unit":"cent","schema":{"type":"number"}}]}`
	// hundred takes euros to cents.
	hundred = `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"affine","a":"100","b":"0"}]}]}`

	letters = `{"type":"t","version":1,"attributes":[{"tag":1,"name":"x","schema":{"type":"string","enum":["A","B"]}},{"tag":2,"name":"y","schema":{"type":"string"}}]}`
	joined  = `{"type":"t","version":2,"attributes":[{"tag":1,"name":"x","schema":{"type":"string","enum":["C","D"]}},{"tag":2,"name":"z","aliases":["y"],"schema":{"type":"string"}}]}`
	// both takes two values to one.
	both = `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"map_enum","pairs":[["A","C"],["B","C"]],"down_fallback":"A"}]}]}`

	text  = `{"type":"t","version":1,"attributes":[{"tag":1,"name":"x","schema":{"type":"string"}}]}`
	kinds = `{"type":"t","version":2,"attributes":[{"tag":1,"name":"x","schema":{"type":"object","properties":{"n":{"type":"string"},"k":{"type":"string"}},"required":["n","k"]}}]}`
	third = `{"type":"t","version":3,"attributes":[{"tag":1,"name":"x","schema":{"type":"object","properties":{"num":{"type":"string"},"k":{"type":"string"}},"required":["num","k"]}}]}`
	kind  = `{"type":"t","version":2,"attributes":[{"tag":1,"ops":[{"op":"wrap","prop":"n"},{"op":"add","prop":"k","default":"u"}]}]}`
	num   = `{"type":"t","version":3,"attributes":[{"tag":1,"ops":[{"op":"rename_prop","from":"n","to":"num"}]}]}`
)

var small = migrate.Target{Type: "t", Tenants: []string{"acme"}}

// smallWorld is a ledger with one memory type t.
func smallWorld(t *testing.T, e engine, doc string) *world {
	t.Helper()
	w := &world{TB: t, types: schema.NewRegistry(), clock: ledgertest.NewClock(dayOne.AddDate(0, 3, 0)), open: e.place(t)}
	w.clock.Tick(1e6)
	w.declare(doc, "")
	w.start()
	return w
}

// follow registers the next version of t.
func (w *world) follow(older, newer, lens string) {
	w.Helper()
	o, err := schema.ParseDocument([]byte(older))
	require.NoError(w, err)
	n, err := schema.ParseDocument([]byte(newer))
	require.NoError(w, err)
	if lens != "" {
		parsed, err := schema.ParseLens([]byte(lens), o, n)
		require.NoError(w, err)
		n.Lens = &parsed
	}
	require.NoError(w, w.Register(w.Context(), n))
}

// expand gives every fact both forms.
func (w *world) expand() {
	w.Helper()
	plan, err := migrate.Draw(w.Context(), w.Ledger, migrate.Options{Type: "t"})
	require.NoError(w, err)
	require.NoError(w, migrate.Run(w.Context(), w.Ledger, plan, nil))
}

func (w *world) cut() {
	w.Helper()
	_, err := migrate.Verify(w.Context(), w.Ledger, small)
	require.NoError(w, err)
	require.NoError(w, migrate.Cutover(w.Context(), w.Ledger, small))
}

func TestEqualBytesOfTwoVersionsAreTwoValues(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := smallWorld(t, e, euro)
			w.say("s", "x", `100`, 1)
			w.follow(euro, cent, hundred)
			w.expand()
			w.say("fresh", "x", `100`, 2)
			require.Equal(t, sgam.Applied, w.say("fresh", "x", `100`, 1).Outcome, "a hundred euros after a hundred cents")
			require.Equal(t, sgam.Confirmed, w.say("fresh", "x", `10000`, 2).Outcome, "which is as many cents")
			w.cut()
			require.NoError(t, migrate.Contract(t.Context(), w.Ledger, small, nil))
			require.Equal(t, sgam.Confirmed, w.say("s", "x", `10000`, 2).Outcome)
			require.Equal(t, sgam.Applied, w.say("s", "x", `100`, 2).Outcome, "a hundred cents after a hundred euros")
			require.JSONEq(t, `100`, string(w.get(w.tenant.Current(), "s", "x").Value))
		})
	}
}

func TestTheSameBytesFromOneEpisodeUnderAnotherUnitAreNoSecondDelivery(t *testing.T) {
	w := smallWorld(t, inMemory, euro)
	d := w.delta("s", "x", `10`, 1)
	_, err := w.tenant.Apply(t.Context(), d)
	require.NoError(t, err)
	w.follow(euro, cent, hundred)
	w.expand()
	d.SchemaVersion = 2
	r, err := w.tenant.Apply(t.Context(), d)
	require.NoError(t, err)
	require.NotEqual(t, sgam.Duplicate, r.Outcome)
}

func TestADifferenceIsOneOfMeaning(t *testing.T) {
	w := smallWorld(t, inMemory, euro)
	first := w.say("s", "x", `10`, 1)
	same := w.say("other", "x", `10`, 1)
	w.follow(euro, cent, hundred)
	w.expand()
	correct := func(subject, value string) sgam.Receipt {
		d := w.delta(subject, "x", value, 2)
		from := dayOne
		d.Op, d.ValidFrom = sgam.Correct, &from
		r, err := w.tenant.Apply(t.Context(), d)
		require.NoError(t, err)
		return r
	}
	changes := func(subject string, k1, k2 sgam.Receipt) (n int) {
		for d, err := range w.tenant.Diff(t.Context(), k1.Known, k2.Known, sgam.Filter{Subjects: []string{subject}}) {
			require.NoError(t, err)
			if d.Before.Fact != nil {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, changes("s", first, correct("s", `10`)), "ten euros became ten cents")
	require.Equal(t, 0, changes("other", same, correct("other", `1000`)), "ten euros are a thousand cents")
}

func TestALossDecidesNoEquality(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := smallWorld(t, e, text)
			w.say("other", "x", `"0"`, 1)
			w.follow(text, kinds, kind)
			w.expand()
			w.say("s", "x", `{"n":"1","k":"work"}`, 2)
			require.Equal(t, sgam.Applied, w.say("s", "x", `{"n":"1","k":"home"}`, 2).Outcome)
			require.JSONEq(t, `{"n":"1","k":"home"}`, string(w.get(w.tenant.Current().AtVersion("t", 2), "s", "x").Value))
			require.JSONEq(t, `"1"`, string(w.get(w.tenant.Current(), "s", "x").Value))
			w.cut()
			require.Equal(t, sgam.Confirmed, w.say("s", "x", `{"n":"1","k":"home"}`, 2).Outcome)
			require.Equal(t, sgam.Confirmed, w.say("other", "x", `{"n":"0","k":"u"}`, 2).Outcome)
			for err := range w.tenant.Verify(t.Context()) {
				require.NoError(t, err)
			}
		})
	}
}

func TestTwoValuesThatBecameOneAreTwoAgainAfterTheWayBack(t *testing.T) {
	w := smallWorld(t, inMemory, letters)
	w.say("s", "x", `"A"`, 1)
	w.say("s", "x", `"B"`, 1)
	w.follow(letters, joined, both)
	w.expand()
	w.cut()
	require.Equal(t, sgam.Confirmed, w.say("s", "x", `"A"`, 1).Outcome, "both are C")
	require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, small, false))
	require.Equal(t, sgam.Applied, w.say("s", "x", `"A"`, 1).Outcome)
	require.JSONEq(t, `"A"`, string(w.get(w.tenant.Current(), "s", "x").Value))
}

func TestNamesAreThoseOfTheVersionShown(t *testing.T) {
	w := smallWorld(t, inMemory, letters)
	w.say("s", "x", `"A"`, 1)
	w.say("s", "y", `"kept"`, 1)
	w.follow(letters, joined, both)
	require.Equal(t, "y", w.get(w.tenant.Current(), "s", "y").Attribute)
	require.Equal(t, "z", w.get(w.tenant.Current().AtVersion("t", 2), "s", "y").Attribute)
	w.expand()
	w.cut()
	require.Equal(t, "z", w.get(w.tenant.Current(), "s", "y").Attribute, "though no lens touches it")
	require.Equal(t, "y", w.get(w.tenant.Current().AtVersion("t", 1), "s", "y").Attribute)
}

func TestAVersionIsMadeOfWhatWasRecorded(t *testing.T) {
	w := smallWorld(t, inMemory, text)
	w.say("other", "x", `"0"`, 1)
	w.follow(text, kinds, kind)
	w.expand()
	w.say("s", "x", `{"n":"1","k":"work"}`, 2)
	w.follow(kinds, third, num)
	f := w.get(w.tenant.Current().AtVersion("t", 3), "s", "x")
	require.JSONEq(t, `{"num":"1","k":"work"}`, string(f.Value), "not of the form that lost the kind")
	require.False(t, f.Lossy)
}

// second is another handle of the same ledger, opened now.
func (w *world) second() *sgam.Ledger {
	w.Helper()
	opts := &sgam.Options{Schemas: w.types, Clock: w.clock.Now}
	store, err := w.open(w.Context(), opts)
	require.NoError(w, err)
	l, err := sgam.New(w.Context(), store, opts)
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, l.Close()) })
	return l
}

func TestAHandleOfBeforeSeesANewVersion(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.say("ann", "profile", `{"name":"Ann"}`, 1)
			old, err := w.second().Tenant("acme")
			require.NoError(t, err)
			w.register(lens2)
			w.run(w.draw())
			w.say("bob", "profile", `{"full_name":"Bob"}`, 2)
			w.verify()
			w.cutover()
			got, err := sgam.NewAttribute[struct {
				Name string `json:"name"`
			}]("contact", "profile", 1).Get(t.Context(), old.Current(), "bob")
			require.NoError(t, err)
			require.Equal(t, "Bob", got.V.Name)
			f, err := old.Current().Get(t.Context(), "ann", "profile")
			require.NoError(t, err)
			require.Equal(t, 2, f.SchemaVersion)
		})
	}
}

func TestAHandleOfBeforeMigratesByTheNewestLens(t *testing.T) {
	w := newWorld(t, inMemory)
	w.say("ann", "profile", `{"name":"Ann","level":"7"}`, 1)
	before := w.second()
	w.register(lens2)
	between := w.second()
	w.register(lens2b)
	for _, l := range []*sgam.Ledger{before, between} {
		plan, err := migrate.Draw(t.Context(), l, migrate.Options{Type: "contact", Deletions: keepFax})
		require.NoError(t, err)
		require.Zero(t, plan.Tenants[0].Attributes[0].Quarantine)
		require.NoError(t, migrate.Run(t.Context(), l, plan, nil))
		_, err = migrate.Verify(t.Context(), w.Ledger, plan.Target("ops"))
		require.NoError(t, err)
		require.NoError(t, migrate.Rollback(t.Context(), l, plan.Target("ops"), false))
	}
}

func TestCorrectingWhatIsInQuarantineClearsTheWay(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			ann := w.say("ann", "profile", `{"name":"Ann","level":"x"}`, 1)
			w.say("bob", "profile", `{"name":"Bob","level":"x"}`, 1)
			w.register(lens2)
			w.run(w.draw())
			_, err := migrate.Verify(t.Context(), w.Ledger, target)
			require.ErrorIs(t, err, migrate.ErrFindings)
			_, err = w.tenant.Withdraw(t.Context(), sgam.Withdrawal{Memory: ann.Memory})
			require.NoError(t, err)
			d := w.delta("bob", "profile", `{"name":"Bob","level":"3"}`, 1)
			from := dayOne
			d.Op, d.ValidFrom = sgam.Correct, &from
			_, err = w.tenant.Apply(t.Context(), d)
			require.NoError(t, err)
			w.verify()
			w.cutover()
			require.JSONEq(t, `{"full_name":"Bob","level":3}`, string(w.get(w.tenant.Current(), "bob", "profile").Value))
		})
	}
}

func TestAProgramOfACompatibleVersionGoesOnWriting(t *testing.T) {
	w := smallWorld(t, inMemory, `{"type":"t","version":1,"attributes":[{"tag":1,"name":"x","schema":{"type":"string","enum":["A"]}}]}`)
	w.say("s", "x", `"A"`, 1)
	w.follow(`{"type":"t","version":1,"attributes":[{"tag":1,"name":"x","schema":{"type":"string","enum":["A"]}}]}`,
		`{"type":"t","version":2,"attributes":[{"tag":1,"name":"x","schema":{"type":"string","enum":["A","B"]}}]}`, "")
	w.say("s", "x", `"B"`, 2)
	require.Equal(t, sgam.Applied, w.say("s", "x", `"A"`, 1).Outcome)
	require.Equal(t, "schema", w.try("s", "x", `"B"`, 1).Code, "it is held to its own version")
	require.Equal(t, sgam.Applied, w.say("s", "x", `"B"`, 2).Outcome)
}

func TestATenantBeginsAtTheVersionOfItsFirstDelta(t *testing.T) {
	w := newWorld(t, inMemory)
	w.register(lens2)
	young, err := w.Tenant("young")
	require.NoError(t, err)
	for n, version := range []int{1, 1, 2} {
		value := map[int]string{1: `{"name":"Ann"}`, 2: `{"full_name":"Ann"}`}[version]
		d := w.delta("ann", "profile", value, version)
		r, err := young.Apply(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, n == 2, r.Outcome == sgam.Rejected, "delta %d: %s %s", n, r.Outcome, r.Code)
	}
	newer, err := w.Tenant("newer")
	require.NoError(t, err)
	r, err := newer.Apply(t.Context(), w.delta("ann", "profile", `{"full_name":"Ann"}`, 0))
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome, "without a version it begins at the newest")
}

func TestATenantThatBeganAtAVersionDoesNotFixItsLens(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.register(lens2)
			young, err := w.Tenant("young")
			require.NoError(t, err)
			_, err = young.Apply(t.Context(), w.delta("y", "email", `"y"`, 0))
			require.NoError(t, err)
			w.register(lens2b)
		})
	}
}

func TestASecondDeliveryIsADuplicateInAnyEpoch(t *testing.T) {
	w := newWorld(t, inMemory)
	d := w.delta("ann", "profile", `{"name":"Ann"}`, 1)
	first, err := w.tenant.Apply(t.Context(), d)
	require.NoError(t, err)
	w.register(lens2)
	w.through(w.draw(), migrate.Done)
	again, err := w.tenant.Apply(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, sgam.Duplicate, again.Outcome, again.Code)
	require.Equal(t, first.Memory, again.Memory)
	require.Equal(t, sgam.Rejected, w.try("ann", "profile", `{"name":"Anna"}`, 1).Outcome, "news of the old version are not taken")
}

func TestACandidateOfTheNewVersionIsAcceptedAfterTheWayBack(t *testing.T) {
	w := newWorld(t, inMemory)
	w.say("ann", "profile", `{"name":"Ann"}`, 1)
	w.register(lens2)
	w.run(w.draw())
	held := w.try("ann", "nickname", `"an"`, 2)
	require.Equal(t, sgam.Pending, held.Outcome)
	require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))
	r, err := w.tenant.Accept(t.Context(), held.Memory)
	require.NoError(t, err)
	require.Equal(t, sgam.Applied, r.Outcome, "%s %v", r.Code, r.Faults)
}

func TestALedgerWithoutSchemasSaysThatItCannotConvert(t *testing.T) {
	w := smallWorld(t, inMemory, letters)
	w.say("s", "x", `"A"`, 1)
	w.follow(letters, joined, both)
	w.expand()
	opts := &sgam.Options{Clock: w.clock.Now}
	store, err := w.open(t.Context(), opts)
	require.NoError(t, err)
	l, err := sgam.New(t.Context(), store, opts)
	require.NoError(t, err)
	acme, err := l.Tenant("acme")
	require.NoError(t, err)
	f, err := acme.Current().Get(t.Context(), "s", "x")
	require.NoError(t, err)
	require.JSONEq(t, `"A"`, string(f.Value))
	doc, err := schema.ParseDocument([]byte(third))
	require.NoError(t, err)
	require.ErrorIs(t, l.Register(t.Context(), doc), sgam.ErrNoSchemas, "nobody judges whether it may follow")
	require.NoError(t, l.Close())
}
