package migrate_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/ledgertest"
	"github.com/sgam-ledger/sgam/migrate"
)

// machine is a ledger with a migration, beside a model of what each may be asked for.
type machine struct {
	w      *world
	plan   *migrate.Plan
	model  migrate.State
	paused bool
	// lossy counts what was said under version 2 since the start that version 1 cannot
	// show whole, unfit what version 2 cannot show, in the whole ledger.
	lossy, unfit int
	// said is the last word about each subject's profile and status, as the version shows it that it was said in.
	said map[string]word
	// past are answers of known times that are over.
	past []answer
	n    int
	// odd lets statements be made that version 2 has no form of.
	odd bool
}

// answer is what was answered about an attribute of a subject at a known time.
type answer struct {
	subject, attribute, text string
	known                    time.Time
}

// word is the last statement about an attribute of a subject.
type word struct {
	version int
	value   string
	// other is what the other version shows, empty when it has no form of it.
	other string
}

func (m *machine) window() bool {
	return m.model != migrate.Planned && m.model != migrate.RolledBack && m.model != migrate.Done
}

// reads is the version that the model reads.
func (m *machine) reads() int {
	if m.model == migrate.CutOver || m.model == migrate.Contracting || m.model == migrate.Done {
		return 2
	}
	return 1
}

// say makes a statement under a version, and tells what has to become of it.
func (m *machine) say(t *rapid.T, version int) {
	m.n++
	subject := rapid.SampledFrom([]string{"ann", "bob", "eve"}).Draw(t, "subject")
	kind := rapid.SampledFrom([]string{"fits", "fits", "fits", "status", "odd"}).Draw(t, "kind")
	if kind == "odd" && !m.odd {
		kind = "fits"
	}
	attribute, one, two := "profile", fmt.Sprintf(`{"level":"%d","name":"n"}`, m.n), fmt.Sprintf(`{"full_name":"n","level":%d}`, m.n)
	switch {
	case kind == "status":
		attribute, one = "status", []string{`"new"`, `"old"`}[m.n%2]
		if two = one; version == 2 && m.n%3 == 0 {
			one, two = `"old"`, `"gone"` // loses something on its way to version 1
		}
	case kind == "odd" && version == 1:
		one, two = fmt.Sprintf(`{"level":"x%d","name":"n"}`, m.n), "" // has no form in version 2
	}
	value, other := one, two
	if version == 2 {
		value, other = two, one
	}
	r, err := m.w.tenant.Apply(t.Context(), m.w.delta(subject, attribute, value, version))
	require.NoError(t, err)
	writes := m.reads()
	allowed := version == writes || m.window()
	if version != writes && other == "" {
		allowed = false // the version that decides cannot hold it
	}
	require.Equal(t, allowed, r.Outcome != sgam.Rejected, "version %d in state %s: %v", version, m.model, r.Err())
	if !allowed {
		return
	}
	if r.Outcome == sgam.Applied || r.Outcome == sgam.Confirmed {
		if m.window() && two == `"gone"` && version == 2 {
			m.lossy++
		}
		if other == "" && version == 1 {
			m.unfit++
		}
	}
	if r.Outcome == sgam.Applied {
		m.said[subject+" "+attribute] = word{version, value, other}
	}
	if r.Outcome != sgam.Rejected && len(m.past) < 20 {
		m.past = append(m.past, answer{subject, attribute, m.answer(t, m.w.tenant.KnownAt(r.Known), subject, attribute), r.Known})
	}
}

func (m *machine) answer(t *rapid.T, view sgam.View, subject, attribute string) string {
	f, err := view.Get(t.Context(), subject, attribute)
	if err != nil {
		require.True(t, errors.Is(err, sgam.ErrUnmigrated) || errors.Is(err, sgam.ErrNoValue), "%v", err)
		return err.Error()
	}
	return fmt.Sprintf("%s v%d %t", f.Value, f.SchemaVersion, f.Lossy)
}

// expect compares the outcome of a call with what the model allows, and moves the model.
func (m *machine) expect(t *rapid.T, name string, err error, to migrate.State) {
	if end, legal := ends[m.model][name]; !legal || m.paused && name != "resume" && name != "rollback" {
		require.Error(t, err, "%s in state %s, paused %t", name, m.model, m.paused)
		return
	} else if to == "" {
		to = end
	}
	require.NoError(t, err, "%s in state %s", name, m.model)
	m.model = to
}

func (m *machine) run(t *rapid.T, opts *migrate.RunOptions) error {
	return migrate.Run(t.Context(), m.w.Ledger, m.plan, opts)
}

func (m *machine) actions() map[string]func(*rapid.T) {
	ctx := context.Background()
	all := map[string]func(*rapid.T){
		"say under version 1": func(t *rapid.T) { m.say(t, 1) },
		"say under version 2": func(t *rapid.T) { m.say(t, 2) },
		"draw": func(t *rapid.T) {
			if m.model != migrate.RolledBack {
				t.Skip("a migration is under way")
			}
			var err error
			m.plan, err = migrate.Draw(ctx, m.w.Ledger, m.options())
			require.NoError(t, err)
			m.model, m.lossy = migrate.Planned, 0
		},
		"run to the end": func(t *rapid.T) {
			if m.model == migrate.RolledBack || m.paused {
				t.Skip("nothing to run")
			}
			m.expect(t, "run", m.run(t, &migrate.RunOptions{Holder: "me", BatchSize: 3}), "")
		},
		"run and crash": func(t *rapid.T) {
			if m.model != migrate.Planned && m.model != migrate.Expanding || m.paused {
				t.Skip("nothing to run")
			}
			write := rapid.IntRange(1, 4).Draw(t, "write")
			when := rapid.SampledFrom([]ledgertest.Moment{ledgertest.BeforeCall, ledgertest.AtDecision, ledgertest.AfterCall}).Draw(t, "when")
			for n := range 2 { // the lease is not given back either
				m.w.faulty.AtWrite(write+n, ledgertest.Fault{When: when, Do: func() error { return errPlanned }})
			}
			err := m.run(t, &migrate.RunOptions{Holder: "me", BatchSize: 3})
			m.w.start()
			if all := m.w.standingOrNone(); err != nil {
				require.ErrorIs(t, err, errPlanned)
				m.model = migrate.Planned
				if len(all) > 0 && all[len(all)-1].Serial == m.plan.Tenants[0].Serial {
					m.model = all[len(all)-1].State
				}
				require.Contains(t, []migrate.State{migrate.Planned, migrate.Expanding, migrate.Dual}, m.model)
				return
			}
			m.model = migrate.Dual
		},
		"verify": func(t *rapid.T) {
			_, err := migrate.Verify(ctx, m.w.Ledger, target)
			if _, legal := ends[m.model]["verify"]; legal && !m.paused && m.plan.Quarantine == migrate.RefuseQuarantine && m.unfit > 0 {
				require.ErrorIs(t, err, migrate.ErrFindings)
				m.model = migrate.Dual
				return
			}
			m.expect(t, "verify", err, "")
		},
		"cut over": func(t *rapid.T) {
			err := migrate.Cutover(ctx, m.w.Ledger, target)
			if m.model == migrate.Verified && !m.paused && m.plan.Quarantine == migrate.RefuseQuarantine && m.unfit > 0 {
				require.ErrorIs(t, err, migrate.ErrQuarantine)
				m.model = migrate.Dual
				return
			}
			m.expect(t, "cutover", err, "")
		},
		"roll back": func(t *rapid.T) {
			err := migrate.Rollback(ctx, m.w.Ledger, target, false)
			if _, legal := ends[m.model]["rollback"]; legal && m.lossy > 0 {
				lossy, ok := errors.AsType[*migrate.LossyError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, int64(m.lossy), lossy.Facts)
				return
			}
			m.expect(t, "rollback", err, "")
			m.paused = m.paused && m.model != migrate.RolledBack
		},
		"roll back by force": func(t *rapid.T) {
			m.expect(t, "rollback", migrate.Rollback(ctx, m.w.Ledger, target, true), "")
			m.paused = m.paused && m.model != migrate.RolledBack
		},
		"pause": func(t *rapid.T) {
			was := m.model
			m.expect(t, "pause", migrate.Pause(ctx, m.w.Ledger, target), was)
			_, legal := ends[was]["pause"]
			m.paused = m.paused || legal
		},
		"resume": func(t *rapid.T) {
			err := migrate.Resume(ctx, m.w.Ledger, target)
			require.Equal(t, m.paused, err == nil, "%v", err)
			m.paused = false
		},
		"contract": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "chance") > 0 {
				t.Skip("it ends all")
			}
			m.expect(t, "contract", migrate.Contract(ctx, m.w.Ledger, target, nil), "")
		},
		"": m.check,
	}
	// Most random walks would not get far.
	all["go on"] = func(t *rapid.T) {
		next := map[migrate.State]string{
			migrate.Planned: "run to the end", migrate.Expanding: "run to the end", migrate.Dual: "verify",
			migrate.Verified: "cut over", migrate.CutOver: "roll back", migrate.RolledBack: "draw",
		}[m.model]
		switch {
		case m.paused:
			all["resume"](t)
		case next == "":
			t.Skip("there is nothing more")
		default:
			all[next](t)
		}
	}
	all["go on too"] = all["go on"]
	return all
}

// check compares every answer with the model.
func (m *machine) check(t *rapid.T) {
	for key, word := range m.said {
		subject, attribute, _ := strings.Cut(key, " ")
		want := word.value
		if word.version != m.reads() {
			want = word.other
		}
		f, err := m.w.tenant.Current().Get(t.Context(), subject, attribute)
		if want == "" {
			require.ErrorIs(t, err, sgam.ErrUnmigrated)
			continue
		}
		require.NoError(t, err)
		require.JSONEq(t, want, string(f.Value), "%s in state %s", key, m.model)
	}
	for _, p := range m.past {
		require.Equal(t, p.text, m.answer(t, m.w.tenant.KnownAt(p.known), p.subject, p.attribute), "in state %s", m.model)
	}
}

func (m *machine) options() migrate.Options {
	opts := migrate.Options{Type: "contact", Deletions: keepFax, Quarantine: migrate.RefuseQuarantine}
	if m.n%2 == 0 {
		opts.Quarantine = migrate.LeaveQuarantine
	}
	return opts
}

func TestAnyOrderOfCallsKeepsTheAnswers(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			if e.name != inMemory.name {
				fewer(t, "10") // a file takes its time
			}
			rapid.Check(t, func(rt *rapid.T) {
				m := &machine{w: newWorld(t, e), model: migrate.Planned, said: map[string]word{}, odd: rapid.Bool().Draw(rt, "odd")}
				for range 12 {
					m.say(rt, 1)
				}
				m.w.register(lens2)
				var err error
				m.plan, err = migrate.Draw(t.Context(), m.w.Ledger, m.options())
				require.NoError(rt, err)
				rt.Repeat(m.actions())
			})
		})
	}
}

// fewer sets how many cases are drawn, until the test ends.
func fewer(t *testing.T, checks string) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	require.NotNil(t, f)
	before := f.Value.String()
	require.NoError(t, f.Value.Set(checks))
	t.Cleanup(func() { require.NoError(t, f.Value.Set(before)) })
}
