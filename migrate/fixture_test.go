package migrate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
	"github.com/sgam-ledger/sgam/schema"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

const contact1 = `{"type":"contact","version":1,"attributes":[
	{"tag":1,"name":"profile","sensitivity":"personal","schema":{"type":"object","properties":{
		"name":{"type":"string"},"level":{"type":"string"}},"required":["name"]}},
	{"tag":2,"name":"phone","cardinality":"many","key":"/number","schema":{"type":"object","properties":{
		"number":{"type":"string"},"label":{"type":"string"}},"required":["number"]}},
	{"tag":3,"name":"status","schema":{"type":"string","enum":["new","old"]}},
	{"tag":4,"name":"fax","schema":{"type":"string"}},
	{"tag":5,"name":"nickname","conflict_policy":"confirm_first","schema":{"type":"string"}}]}`

const contact2 = `{"type":"contact","version":2,"attributes":[
	{"tag":1,"name":"profile","sensitivity":"personal","schema":{"type":"object","properties":{
		"full_name":{"type":"string"},"level":{"type":"integer"}},"required":["full_name"]}},
	{"tag":2,"name":"phone","cardinality":"many","key":"/number","schema":{"type":"object","properties":{
		"number":{"type":"string"},"kind":{"type":"string"}},"required":["number"]}},
	{"tag":3,"name":"status","schema":{"type":"string","enum":["new","old","gone"]}},
	{"tag":5,"name":"nickname","conflict_policy":"confirm_first","schema":{"type":"string","maxLength":8}},
	{"tag":6,"name":"email","schema":{"type":"string"}}],
	"reserved":{"tags":[4],"names":["fax"]}}`

const lens2 = `{"type":"contact","version":2,"attributes":[
	{"tag":1,"ops":[{"op":"rename_prop","from":"name","to":"full_name"},
		{"op":"in","path":"/level","ops":[{"op":"cast","from":"string","to":"integer"}]}]},
	{"tag":2,"ops":[{"op":"rename_prop","from":"label","to":"kind"}]},
	{"tag":3,"ops":[{"op":"map_enum","pairs":[["new","new"],["old","old"]],"down_fallback":"old"}]}]}`

// lens2b gives up the level instead of casting it: it has a place for every profile.
const lens2b = `{"type":"contact","version":2,"attributes":[
	{"tag":1,"ops":[{"op":"rename_prop","from":"name","to":"full_name"},
		{"op":"drop","prop":"level"},{"op":"add","prop":"level"}]},
	{"tag":2,"ops":[{"op":"rename_prop","from":"label","to":"kind"}]},
	{"tag":3,"ops":[{"op":"map_enum","pairs":[["new","new"],["old","old"]],"down_fallback":"old"}]}]}`

var keepFax = map[string]schema.Disposition{"fax": schema.KeepReadable}

// engine opens stores that share their content.
type engine struct {
	name string
	// place makes a place for a ledger, and returns how to open a store there, again and again.
	place func(t testing.TB) func(ctx context.Context, opts *sgam.Options) (sgam.Store, error)
}

var inMemory = engine{"memory", func(testing.TB) func(context.Context, *sgam.Options) (sgam.Store, error) {
	store := ledgertest.NewStore(nil)
	return func(context.Context, *sgam.Options) (sgam.Store, error) { return store.Reopen(), nil }
}}

// everywhere are the engines to test on.
func everywhere() []engine { return append([]engine{inMemory}, onDisk()...) }

// lenient lets any version follow any other. What a ledger holds may have been registered by a program with other rules, so
// a migration judges for itself.
type lenient struct{ *schema.Registry }

func (lenient) Follows(sgam.TypeDocument, sgam.TypeDocument) error { return nil }

// world is a ledger with a memory type of two versions, of which the second is not registered at first.
type world struct {
	testing.TB
	*sgam.Ledger
	types  *schema.Registry
	clock  *ledgertest.Clock
	faulty *ledgertest.Faulty
	open   func(ctx context.Context, opts *sgam.Options) (sgam.Store, error)
	tenant *sgam.Tenant
	n      int // statements made
}

var dayOne = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func newWorld(tb testing.TB, e engine) *world {
	tb.Helper()
	w := &world{TB: tb, types: schema.NewRegistry(), clock: ledgertest.NewClock(dayOne.AddDate(0, 3, 0)), open: e.place(tb)}
	w.clock.Tick(time.Millisecond)
	w.declare(contact1, "")
	w.start()
	return w
}

// start opens the ledger, again after the one before was closed.
func (w *world) start() {
	w.Helper()
	opts := &sgam.Options{Schemas: lenient{w.types}, Clock: w.clock.Now}
	store, err := w.open(w.Context(), opts)
	require.NoError(w, err)
	w.faulty = ledgertest.NewFaulty(store)
	w.Ledger, err = sgam.New(w.Context(), w.faulty, opts)
	require.NoError(w, err)
	ledgertest.Proven(w, w.Ledger)
	w.tenant, err = w.Tenant("acme")
	require.NoError(w, err)
}

func (w *world) declare(doc, lens string) {
	w.Helper()
	_, err := w.types.Add([]byte(doc))
	require.NoError(w, err)
	if lens != "" {
		require.NoError(w, w.types.AddLens([]byte(lens)))
	}
}

// register registers the second version while the ledger is open, with a lens.
func (w *world) register(lens string) {
	w.Helper()
	older, err := schema.ParseDocument([]byte(contact1))
	require.NoError(w, err)
	newer, err := schema.ParseDocument([]byte(contact2))
	require.NoError(w, err)
	parsed, err := schema.ParseLens([]byte(lens), older, newer)
	require.NoError(w, err)
	newer.Lens = &parsed
	require.NoError(w, w.Register(w.Context(), newer))
}

// delta is one statement. Each is from an episode of its own, a minute after the one before.
func (w *world) delta(subject, attribute, value string, version int) sgam.MemoryDelta {
	w.n++
	at := dayOne.Add(time.Duration(w.n) * time.Minute)
	return sgam.MemoryDelta{
		Op: sgam.Assert, Subject: subject, Attribute: attribute, Value: json.RawMessage(value), SchemaVersion: version,
	}.From(sgam.Episode{ID: fmt.Sprintf("e%d", w.n), Kind: sgam.Message, OccurredAt: at})
}

func (w *world) try(subject, attribute, value string, version int) sgam.Receipt {
	w.Helper()
	r, err := w.tenant.Apply(w.Context(), w.delta(subject, attribute, value, version))
	require.NoError(w, err)
	return r
}

func (w *world) say(subject, attribute, value string, version int) sgam.Receipt {
	w.Helper()
	r := w.try(subject, attribute, value, version)
	require.NoError(w, r.Err())
	return r
}

// subjects is how many subjects fill speaks of.
const subjects = 13

// fill makes n statements under version 1, all of which go over.
func (w *world) fill(n int) {
	w.Helper()
	var batch []sgam.MemoryDelta
	for i := range n {
		subject := fmt.Sprintf("s%d", i%subjects)
		switch i % 5 {
		case 0:
			batch = append(batch, w.delta(subject, "profile", fmt.Sprintf(`{"name":"n%d","level":"%d"}`, w.n, i%7), 1))
		case 1:
			batch = append(batch, w.delta(subject, "phone", fmt.Sprintf(`{"number":"%d","label":"home"}`, i%30), 1))
		case 2:
			batch = append(batch, w.delta(subject, "status", []string{`"new"`, `"old"`}[i/5%2], 1))
		case 3:
			batch = append(batch, w.delta(subject, "fax", fmt.Sprintf(`"%d"`, w.n), 1))
		case 4:
			d := w.delta(subject, "phone", fmt.Sprintf(`{"number":"%d","label":"work"}`, i%30), 1)
			d.Op = sgam.Correct
			batch = append(batch, d)
		}
	}
	for len(batch) > 0 {
		some := batch[:min(40, len(batch))]
		batch = batch[len(some):]
		receipts, err := w.tenant.ApplyBatch(w.Context(), sgam.Batch{Deltas: some})
		require.NoError(w, err)
		for _, r := range receipts {
			require.NoError(w, r.Err())
		}
	}
}

func (w *world) draw(change ...func(*migrate.Options)) *migrate.Plan {
	w.Helper()
	opts := migrate.Options{Type: "contact", Deletions: keepFax}
	for _, c := range change {
		c(&opts)
	}
	plan, err := migrate.Draw(w.Context(), w.Ledger, opts)
	require.NoError(w, err)
	return plan
}

func leave(o *migrate.Options) { o.Quarantine = migrate.LeaveQuarantine }

func (w *world) run(plan *migrate.Plan) {
	w.Helper()
	require.NoError(w, migrate.Run(w.Context(), w.Ledger, plan, &migrate.RunOptions{Principal: "ops", Holder: "me", BatchSize: 20}))
}

var target = migrate.Target{Type: "contact", Tenants: []string{"acme"}, Principal: "ops"}

func (w *world) verify() migrate.Verification {
	w.Helper()
	all, err := migrate.Verify(w.Context(), w.Ledger, target)
	require.NoError(w, err)
	require.Len(w, all, 1)
	require.Equal(w, all[0].Expected, all[0].Stored)
	return all[0]
}

func (w *world) cutover() {
	w.Helper()
	require.NoError(w, migrate.Cutover(w.Context(), w.Ledger, target))
}

// through takes a plan to a state.
func (w *world) through(plan *migrate.Plan, to migrate.State) {
	w.Helper()
	if to == migrate.Planned {
		return
	}
	if to == migrate.Expanding {
		w.begin(plan)
		return
	}
	w.run(plan)
	if to == migrate.RolledBack {
		require.NoError(w, migrate.Rollback(w.Context(), w.Ledger, target, false))
		return
	}
	if to == migrate.Dual {
		return
	}
	w.verify()
	if to == migrate.Verified {
		return
	}
	w.cutover()
	if to == migrate.CutOver {
		return
	}
	if to == migrate.Contracting {
		err := migrate.Contract(w.Context(), w.Ledger, target, deleter(func(string, schema.Disposition) error { return errPlanned }))
		require.ErrorIs(w, err, errPlanned)
		return
	}
	require.NoError(w, migrate.Contract(w.Context(), w.Ledger, target, deleter(func(string, schema.Disposition) error { return nil })))
}

// begin starts a run and stops it after its first transaction.
func (w *world) begin(plan *migrate.Plan) {
	w.Helper()
	w.faulty.AtWrite(2, ledgertest.Fault{When: ledgertest.BeforeCall, Do: func() error { return errPlanned }})
	err := migrate.Run(w.Context(), w.Ledger, plan, &migrate.RunOptions{Principal: "ops", Holder: "me", BatchSize: 20})
	require.ErrorIs(w, err, errPlanned)
	require.Equal(w, migrate.Expanding, w.standing().State)
}

func (w *world) standing() migrate.Migration {
	w.Helper()
	all, err := migrate.Status(w.Context(), w.Ledger, "acme")
	require.NoError(w, err)
	require.NotEmpty(w, all)
	return all[len(all)-1]
}

func (w *world) get(view sgam.View, subject, attribute string) sgam.Fact {
	w.Helper()
	f, err := view.Get(w.Context(), subject, attribute)
	require.NoError(w, err)
	return f
}

// encodings counts the encodings that each fact has besides the recorded one, by fact number.
func (w *world) encodings() map[int64]int {
	w.Helper()
	all := map[int64]int{}
	for v, err := range w.tenant.Values(w.Context(), "contact", 0) {
		require.NoError(w, err)
		all[v.Number] = len(v.Encodings)
	}
	return all
}

type deleter func(attribute string, rule schema.Disposition) error

func (d deleter) Delete(_ context.Context, _ *sgam.Tenant, attribute string, rule schema.Disposition) error {
	return d(attribute, rule)
}

type planned string

func (p planned) Error() string { return string(p) }

const errPlanned = planned("planned")
