package migrate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
)

// windows are the moments of a migration in which programs write: while it runs, once both versions are there, once that is
// verified, and after the cut-over.
const windows = 4

// fleet is a ledger with a memory type for each service, and all that people said to them.
type fleet struct {
	testing.TB
	*sgam.Ledger
	clock    *ledgertest.Clock
	services []*service
	talk     *dialogues
	// tenants is how many share the services.
	tenants uint32
	late    map[string][]stream // by service, in order
	// values counts those of each attribute so far. meanwhile are those among them that came while migrations were under
	// way, and twice those of them that had two shapes then.
	values           map[string]int64
	meanwhile, twice int64
	// turns counts those of each window that old and new writers wrote.
	turns [windows][2]int
}

// newFleet loads what was said early under version 1, and then declares all the others.
func newFleet(tb testing.TB, e engine, services []*service, talk *dialogues, tenants uint32) *fleet {
	tb.Helper()
	f := &fleet{TB: tb, services: services, talk: talk, tenants: tenants, late: map[string][]stream{}, values: map[string]int64{}}
	f.clock = ledgertest.NewClock(dayOne.AddDate(5, 0, 0))
	f.clock.Tick(time.Millisecond)
	for s := range talk.late {
		f.late[s.service] = append(f.late[s.service], s)
	}
	for _, all := range f.late {
		slices.SortFunc(all, func(a, b stream) int { return strings.Compare(a.subject, b.subject) })
	}
	open := e.place(tb)
	f.open(open, 1)
	for n := range tenants {
		tenant := f.share(n)
		var lines []byte
		for _, l := range talk.early {
			if f.tenant(l.service).Name() == tenant.Name() {
				lines = append(append(lines, l.text...), '\n')
			}
		}
		load, err := ledgertest.LoadFacts(tb.Context(), tenant, bytes.NewReader(lines), nil)
		require.NoError(tb, err)
		require.Empty(tb, load.Refused)
	}
	maps.Copy(f.values, talk.said)
	require.NoError(tb, f.Close())
	f.open(open, len(services[0].Variants)+1)
	return f
}

// open opens the ledger with the versions of every service up to one.
func (f *fleet) open(place func(context.Context, *sgam.Options) (sgam.Store, error), upTo int) {
	f.Helper()
	opts := &sgam.Options{Schemas: declared(f, f.services, upTo), Clock: f.clock.Now, Rand: ledgertest.IDs(uint64(upTo))}
	store, err := place(f.Context(), opts)
	require.NoError(f, err)
	f.Ledger, err = sgam.New(f.Context(), store, opts)
	require.NoError(f, err)
	ledgertest.Proven(f, f.Ledger)
}

// tenant is the one that a service's dialogues belong to.
func (f *fleet) tenant(service string) *sgam.Tenant {
	f.Helper()
	return f.share(uint32(dealt(service, f.tenants)))
}

func (f *fleet) share(n uint32) *sgam.Tenant {
	f.Helper()
	t, err := f.Tenant(fmt.Sprintf("people-%d", n))
	require.NoError(f, err)
	return t
}

// due is the version from which the migration starts in which a late stream is written.
func (s stream) due() int { return 1 + dealt(s.subject+" to "+s.service, 5) }

// move is one migration of one service, from a version to the next.
type move struct {
	*service
	from int
}

// moves are all migrations in an order that follows from the seed: services take turns at random, each goes version by version.
func moves(services []*service, seed uint64) []move {
	var all []move
	for _, s := range services {
		for range s.Variants {
			all = append(all, move{service: s})
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	at := map[string]int{}
	for i := range all {
		at[all[i].Service]++
		all[i].from = at[all[i].Service]
	}
	return all
}

// till takes a migration to its cut-over, which is the last step when cut is set, and returns a known time just before it.
func (f *fleet) till(m move, cut bool) time.Time {
	f.Helper()
	plan, err := migrate.Draw(f.Context(), f.Ledger, migrate.Options{
		Type: m.Service, To: m.from + 1, Tenants: []string{f.tenant(m.Service).Name()},
	})
	require.NoError(f, err)
	require.Equal(f, m.from, plan.From)
	require.Len(f, plan.Tenants, 1)
	rows := f.rows(m)
	require.Equal(f, rows, plan.Tenants[0].Estimate.Rows)
	began := false
	require.NoError(f, migrate.Run(f.Context(), f.Ledger, plan, &migrate.RunOptions{
		BatchSize: int(rows/3 + 1),
		Progress: func(migrate.Progress) {
			if !began {
				began = true
				f.write(m, 0)
			}
		},
	}))
	f.write(m, 1)
	compared, err := migrate.Verify(f.Context(), f.Ledger, plan.Target("ops"))
	require.NoError(f, err)
	require.Len(f, compared, 1)
	require.Empty(f, compared[0].Findings)
	require.Equal(f, compared[0].Expected, compared[0].Stored)
	f.write(m, 2)
	before := f.clock.Now()
	if cut {
		require.NoError(f, migrate.Cutover(f.Context(), f.Ledger, plan.Target("ops")))
		f.write(m, 3)
	}
	stands := f.standing(m)
	require.Equal(f, rows, stands.Counts.Converted)
	require.Zero(f, stands.Counts.Quarantined)
	return before
}

// rows is how many facts a migration has to encode: those of the attributes that change their shape.
func (f *fleet) rows(m move) (n int64) {
	for tag := range m.tags() {
		if m.changes(m.from+1, tag) {
			n += f.values[m.attribute(1, tag)]
		}
	}
	return n
}

func (f *fleet) standing(m move) migrate.Migration {
	f.Helper()
	all, err := migrate.Status(f.Context(), f.Ledger, f.tenant(m.Service).Name())
	require.NoError(f, err)
	i := slices.IndexFunc(all, func(s migrate.Migration) bool { return s.Type == m.Service && s.From == m.from })
	require.GreaterOrEqual(f, i, 0)
	return all[i]
}

// end contracts a migration.
func (f *fleet) end(m move) {
	f.Helper()
	require.NoError(f, migrate.Contract(f.Context(), f.Ledger, migrate.Target{Type: m.Service, Tenants: []string{f.tenant(m.Service).Name()}}, nil))
	require.Equal(f, migrate.Done, f.standing(m).State)
}

// write writes the turns of the late streams that fall into a window of a migration, in turns by programs of the old and of
// the new version.
func (f *fleet) write(m move, window int) {
	f.Helper()
	for _, s := range f.late[m.Service] {
		if s.due() != m.from {
			continue
		}
		turns := f.talk.late[s]
		first := dealt(s.subject, windows)
		for i, turn := range turns {
			if first+i*(windows-first)/len(turns) == window {
				newer := (first + i) % 2
				f.turn(m, turn, m.from+newer)
				f.turns[window][newer]++
			}
		}
	}
}

// turn writes what was said in one turn under a version.
func (f *fleet) turn(m move, said []utterance, version int) {
	f.Helper()
	b := sgam.Batch{Episodes: []sgam.Episode{{ID: said[0].Source, Kind: sgam.File, OccurredAt: said[0].RecordedAt}}}
	for _, u := range said {
		tag := m.tag(f, u.Attribute)
		d := sgam.MemoryDelta{
			Op: u.Op, Subject: u.Subject, Attribute: m.attribute(version, tag), SchemaVersion: version, EpisodeID: u.Source, ValidFrom: &u.ValidFrom,
		}
		if u.Value != nil {
			d.Value = json.RawMessage(m.form(f, version, tag, *u.Value))
			f.values[u.Attribute]++
			if f.meanwhile++; m.changes(m.from+1, tag) {
				f.twice++
			}
		}
		b.Deltas = append(b.Deltas, d)
	}
	receipts, err := f.tenant(m.Service).ApplyBatch(f.Context(), b)
	require.NoError(f, err)
	for _, r := range receipts {
		require.Contains(f, []sgam.Outcome{sgam.Applied, sgam.Confirmed}, r.Outcome, fmt.Sprint(r.Faults))
	}
}
