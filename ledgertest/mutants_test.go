package ledgertest

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// verdict is a testing.TB that remembers failures instead of failing the test around it.
type verdict struct {
	testing.TB
	mu       sync.Mutex
	failed   bool
	cleanups []func()
}

func (v *verdict) fail() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = true
}

func (v *verdict) Helper()               {}
func (v *verdict) Error(...any)          { v.fail() }
func (v *verdict) Errorf(string, ...any) { v.fail() }
func (v *verdict) Log(...any)            {}
func (v *verdict) Logf(string, ...any)   {}
func (v *verdict) Failed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}

func (v *verdict) Fatal(...any) {
	v.fail()
	runtime.Goexit()
}

func (v *verdict) Fatalf(string, ...any) { v.Fatal() }

func (v *verdict) Cleanup(f func()) { v.cleanups = append(v.cleanups, f) }

// breaks reports whether an engine breaks a law.
func breaks(t *testing.T, l law, fresh func(testing.TB) Place) bool {
	t.Helper()
	v := &verdict{TB: t}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		l.run(&bench{TB: v, fresh: fresh})
	}()
	broken := <-done != nil
	for _, f := range slices.Backward(v.cleanups) {
		f()
	}
	return broken || v.Failed()
}

// mutant is an engine with one fault built in.
type mutant struct {
	sgam.Store
	tenant func(sgam.TenantID) sgam.TenantID
	query  func(*sgam.Query)
	page   func(*sgam.Query, *sgam.Page)
	call   func(*sgam.Call)
	before func(*sgam.Snapshot)
	after  func(*sgam.Change)
}

func (m *mutant) Write(ctx context.Context, t sgam.TenantID, call *sgam.Call, decide func(*sgam.Snapshot) (*sgam.Change, error)) error {
	if m.tenant != nil {
		t = m.tenant(t)
	}
	own := *call
	if m.call != nil {
		m.call(&own)
	}
	return m.Store.Write(ctx, t, &own, func(s *sgam.Snapshot) (*sgam.Change, error) {
		if m.before != nil {
			m.before(s)
		}
		c, err := decide(s)
		if c != nil && m.after != nil {
			m.after(c)
		}
		return c, err
	})
}

func (m *mutant) Read(ctx context.Context, t sgam.TenantID, q *sgam.Query) (*sgam.Page, error) {
	if m.tenant != nil {
		t = m.tenant(t)
	}
	own := *q
	if m.query != nil {
		m.query(&own)
	}
	p, err := m.Store.Read(ctx, t, &own)
	if p != nil && m.page != nil {
		m.page(&own, p)
	}
	return p, err
}

// sameWhen lends every tenant the handle of the first one that is the same to it.
func sameWhen(fold func(string) string) func(*mutant) {
	return func(m *mutant) {
		var mu sync.Mutex
		known := map[string]sgam.TenantID{}
		m.tenant = func(t sgam.TenantID) sgam.TenantID {
			mu.Lock()
			defer mu.Unlock()
			if have, ok := known[fold(t.Name())]; ok {
				return have
			}
			known[fold(t.Name())] = t
			return t
		}
	}
}

// Every one of these engines breaks a law, and the law that is named for what it breaks says so.
func TestTheLawsFindBrokenEngines(t *testing.T) {
	for name, c := range map[string]struct {
		law     string
		breakIt func(*mutant)
	}{
		"one tenant for all":       {"tenant-bytes", sameWhen(func(string) string { return "" })},
		"tenants without case":     {"tenant-bytes", sameWhen(strings.ToLower)},
		"tenants without trailing": {"tenant-bytes", sameWhen(func(s string) string { return strings.TrimRight(s, " .") })},
		"accents folded":           {"tenant-bytes", sameWhen(func(s string) string { return strings.ReplaceAll(s, "á", "a") })},
		"ids of all tenants":       {"tenant-ids", sameWhen(func(string) string { return "" })},
		"scopes of everyone": {"names-are-bytes", func(m *mutant) {
			m.query = func(q *sgam.Query) { q.Scopes = nil }
		}},
		"known time left out": {"story-worked-example", func(m *mutant) {
			m.query = func(q *sgam.Query) { q.Known = sgam.Forever }
		}},
		"known time excluded": {"cells-one-value", func(m *mutant) {
			m.query = func(q *sgam.Query) { q.Known-- }
		}},
		"valid time rounded": {"microseconds", func(m *mutant) {
			m.query = func(q *sgam.Query) { q.Valid -= q.Valid % 1000 }
		}},
		"only the first page": {"long-lists", func(m *mutant) {
			m.page = func(_ *sgam.Query, p *sgam.Page) { p.Next = "" }
		}},
		"a row of each page lost": {"long-lists", func(m *mutant) {
			m.page = func(_ *sgam.Query, p *sgam.Page) {
				if p.Next != "" && len(p.Rows) > 1 {
					p.Rows = p.Rows[1:]
				}
			}
		}},
		"now before the last commit": {"view-is-pinned", func(m *mutant) {
			m.query = func(q *sgam.Query) { q.Now = false }
			m.page = func(_ *sgam.Query, p *sgam.Page) { p.LastKnown -= 1000 }
		}},
		"points forgotten": {"story-reach", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Points = nil }
		}},
		"points never revived": {"cells-one-value", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Believed = nil }
		}},
		"confirmations forgotten": {"story-delivery", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Confirmed = nil }
		}},
		"what was displaced forgotten": {"story-worked-example", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Superseded = nil }
		}},
		"confirmations never closed": {"cells-one-value", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Unconfirm = nil }
		}},
		"segments never closed": {"story-mira", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Closed = nil }
		}},
		"rejections forgotten": {"bad-input", func(m *mutant) {
			m.after = func(c *sgam.Change) {
				c.Outcomes = slices.DeleteFunc(c.Outcomes, func(o sgam.NewOutcome) bool { return o.Outcome == sgam.Rejected })
			}
		}},
		"keys never found": {"story-delivery", func(m *mutant) {
			m.before = func(s *sgam.Snapshot) { s.Outcomes = make([]*sgam.StoredOutcome, len(s.Outcomes)) }
		}},
		"members never stopped": {"cells-many-values", func(m *mutant) {
			m.call = func(c *sgam.Call) {
				for i := range c.Targets {
					c.Targets[i].Members = false
				}
			}
		}},
		"confirmations lend no strength": {"story-policy-confidence", func(m *mutant) {
			m.before = func(s *sgam.Snapshot) {
				for i := range s.Slots {
					for k := range s.Slots[i].Open {
						s.Slots[i].Open[k].Backing = nil
					}
				}
			}
		}},
		"what lies outside the window forgotten": {"story-reach", func(m *mutant) {
			m.before = func(s *sgam.Snapshot) {
				for i := range s.Slots {
					for k := range s.Slots[i].Open {
						o := &s.Slots[i].Open[k]
						o.FirstOpen, o.LastOpen = o.Valid.From, o.Valid.From
					}
				}
			}
		}},
		"the last commit forgotten": {"clock-moves", func(m *mutant) {
			m.before = func(s *sgam.Snapshot) { s.LastKnown = sgam.Beginning }
		}},
		"pending ones outlive their episode": {"story-policy-confirm-first", func(m *mutant) {
			m.before = func(s *sgam.Snapshot) { s.Held = nil }
		}},
		"previews written": {"preview-writes-nothing", func(m *mutant) {
			m.call = func(c *sgam.Call) { c.DryRun = false }
		}},
		"epochs of the snapshot forgotten": {"versions-wait-for-a-migration", func(m *mutant) {
			m.before = func(s *sgam.Snapshot) { clear(s.Epochs) }
		}},
		"epochs not written": {"versions-wait-for-a-migration", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Epochs = nil }
		}},
		"epochs of a page forgotten": {"G23-known-time-before-the-cut-over", func(m *mutant) {
			m.page = func(q *sgam.Query, p *sgam.Page) {
				if q.Encodings {
					p.Epochs = nil
				}
			}
		}},
		"every known time read in the newest epoch": {"G23-known-time-before-the-cut-over", func(m *mutant) {
			m.page = func(q *sgam.Query, p *sgam.Page) {
				for i := range p.Epochs {
					if q.Encodings && p.Epochs[i].Read == 1 && len(p.Rows) > 0 && len(p.Rows[0].Encodings) > 0 {
						p.Epochs[i].Read = 2
					}
				}
			}
		}},
		"forms of a fact forgotten": {"G18-unmigrated-is-an-error", func(m *mutant) {
			m.page = func(_ *sgam.Query, p *sgam.Page) {
				for i := range p.Rows {
					p.Rows[i].Encodings = nil
				}
			}
		}},
		"forms written with a change forgotten": {"G18-both-versions-in-the-window", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Encodings = nil }
		}},
		"values of forms not numbered": {"versions-know-equal-values", func(m *mutant) {
			m.after = func(c *sgam.Change) {
				for i := range c.Encodings {
					c.Encodings[i].Digest = ""
				}
			}
		}},
		"quarantine forgotten": {"versions-refuse-what-decides-cannot-hold", func(m *mutant) {
			m.after = func(c *sgam.Change) { c.Quarantined = nil }
		}},
		"what a lens filled in forgotten": {"versions-say-what-a-lens-made", func(m *mutant) {
			m.after = func(c *sgam.Change) {
				for i := range c.Encodings {
					c.Encodings[i].Defaulted = nil
				}
			}
		}},
		"values from the start whatever the bound": {"versions-backfilled", func(m *mutant) {
			m.query = func(q *sgam.Query) { q.Below = 0 }
		}},
		"episodes of rejected deltas kept": {"bad-input", func(m *mutant) {
			m.after = func(c *sgam.Change) {
				if len(c.Facts) == 0 {
					n := fmt.Sprint("stray ", c.Known)
					c.Episodes = append(c.Episodes, sgam.Episode{ID: n, Kind: sgam.Message})
					c.Digests = append(c.Digests, n)
					c.Outcomes = nil
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(laws(), func(l law) bool { return l.name == c.law })
			require.GreaterOrEqual(t, i, 0, "no such law")
			l := laws()[i]
			sound := func(testing.TB) Place { return InMemory(nil) }
			require.False(t, breaks(t, l, sound), "a sound engine breaks the law")
			broken := func(testing.TB) Place {
				store := NewStore(nil)
				m := &mutant{}
				c.breakIt(m)
				return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
					own := *m
					own.Store = store.Reopen()
					return sgam.New(ctx, &own, opts)
				}
			}
			require.True(t, breaks(t, l, broken), "the law does not notice")
		})
	}
}

func TestAPlaceThatForgetsIsFound(t *testing.T) {
	forgetful := func(testing.TB) Place {
		return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) { return InMemory(nil)(ctx, opts) }
	}
	for _, name := range []string{"acked-is-stored", "read-your-writes", "closed", "clock-moves"} {
		i := slices.IndexFunc(laws(), func(l law) bool { return l.name == name })
		require.GreaterOrEqual(t, i, 0)
		require.True(t, breaks(t, laws()[i], forgetful), name)
	}
}

func TestEveryMustOfThePortHasItsLaw(t *testing.T) {
	port, err := os.ReadFile("../store.go")
	require.NoError(t, err)
	named := regexp.MustCompile(`\[([a-z]+(?:-[a-z]+)+)\]`).FindAllStringSubmatch(string(port), -1)
	require.NotEmpty(t, named)
	for _, m := range named {
		require.True(t, slices.ContainsFunc(laws(), func(l law) bool { return l.name == m[1] }), "the port names the law %q", m[1])
	}
}

func TestEveryLawHasANameOfItsOwnAndAReason(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range laws() {
		require.False(t, seen[l.name], l.name)
		require.NotEmpty(t, l.why, l.name)
		seen[l.name] = true
	}
}
