package ledgertest

import (
	"context"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
)

// Every one of these engines lacks what a capability promises, and the law of that capability says so.
func TestTheCapabilitiesAreMissedWhereTheyAreMissing(t *testing.T) {
	facts := func(change func(*sgam.Fact)) func(*mutant) {
		return func(m *mutant) {
			m.page = func(_ *sgam.Query, p *sgam.Page) {
				for i := range p.Rows {
					change(&p.Rows[i].Fact)
				}
			}
		}
	}
	for name, breakIt := range map[string]func(*mutant){
		"G1-record-shape":         facts(func(f *sgam.Fact) { f.RetentionPolicy = "" }),
		"G2-delta-is-a-candidate": func(m *mutant) { m.call = func(c *sgam.Call) { c.DryRun = false } },
		"G3-raw-episode-first": func(m *mutant) {
			m.page = func(_ *sgam.Query, p *sgam.Page) {
				for i := range p.Episodes {
					p.Episodes[i].Metadata = nil
				}
			}
		},
		"G5-validate-and-reject": func(m *mutant) {
			m.after = func(c *sgam.Change) {
				for i := range c.Outcomes {
					c.Outcomes[i].Pointer = ""
				}
			}
		},
		"G6-supersession-is-one-transaction": func(m *mutant) { m.after = func(c *sgam.Change) { c.Superseded = nil } },
		"G7-correction-keeps-history":        facts(func(f *sgam.Fact) { f.Supersedes = sgam.MemoryID{} }),
		"G8-the-mira-contract":               func(m *mutant) { m.query = func(q *sgam.Query) { q.Valid = max(q.Valid, 1780567200000000) } },
		"G9-hints-decide-nothing": func(m *mutant) {
			m.after = func(c *sgam.Change) {
				for i := range c.Facts {
					if c.Facts[i].Provenance.Contradicts != "" {
						c.Facts[i].Retention = "for ever"
					}
				}
			}
		},
		"G10-exact-lookup": func(m *mutant) {
			m.query = func(q *sgam.Query) {
				q.Slots = slices.Clone(q.Slots)
				for i := range q.Slots {
					q.Slots[i].Subject = strings.ToLower(q.Slots[i].Subject)
				}
			}
		},
		"G13-write-preparation":        facts(func(f *sgam.Fact) { f.SchemaVersion = 2 }),
		"G22-two-principals":           facts(func(f *sgam.Fact) { f.Principal = "" }),
		"G25-provenance-never-decides": facts(func(f *sgam.Fact) { f.Provenance.Compared = "" }),
		"G26-sixteen-writers":          facts(func(f *sgam.Fact) { f.Supersedes = sgam.MemoryID{} }),
		"instant-in-a-fold": func(m *mutant) {
			m.query = func(q *sgam.Query) {
				berlin, err := time.LoadLocation("Europe/Berlin")
				require.NoError(t, err)
				at := q.Valid.Time().In(berlin)
				wall := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), berlin)
				q.Valid, err = sgam.InstantOf(wall)
				require.NoError(t, err)
			}
		},
		"equal-statements-at-once": func(m *mutant) { m.after = func(c *sgam.Change) { c.Confirmed = nil } },
	} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(capabilityLaws(), func(l law) bool { return l.name == name })
			require.GreaterOrEqual(t, i, 0, "no such law")
			require.True(t, breaks(t, capabilityLaws()[i], func(testing.TB) Place {
				store, m := NewStore(nil), &mutant{}
				breakIt(m)
				return func(ctx context.Context, opts *sgam.Options) (*sgam.Ledger, error) {
					own := *m
					own.Store = store.Reopen()
					return sgam.New(ctx, &own, opts)
				}
			}), "the law does not notice")
		})
	}
	require.Len(t, capabilityLaws(), 15, "each law is shown to find something")
}

// makers are the exported functions and methods that give a type of the root away, as "Receiver.Name".
func makers(t *testing.T, root fs.FS, typ string) []string {
	t.Helper()
	files, err := fs.Glob(root, "*.go")
	require.NoError(t, err)
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(root, name)
		require.NoError(t, err)
		file, err := goparser.ParseFile(token.NewFileSet(), name, text, goparser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			gives := false
			ast.Inspect(f.Type.Results, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				gives = gives || ok && id.Name == typ
				return true
			})
			if !gives {
				continue
			}
			receiver := ""
			if f.Recv != nil {
				ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && receiver == "" {
						receiver = id.Name
					}
					return true
				})
			}
			out = append(out, receiver+"."+f.Name.Name)
		}
	}
	slices.Sort(out)
	return out
}

// A read without a tenant does not compile: the only way to a view, and from there to a fact, begins at a tenant's handle.
func TestG10OnlyATenantGivesAView(t *testing.T) {
	root := os.DirFS("..")
	require.Equal(t, []string{"Tenant.Current", "Tenant.KnownAt", "Tenant.ValidAt", "View.AtVersion", "View.In", "View.KnownAt"}, makers(t, root, "View"))
	for _, typ := range []string{"Fact", "Entry", "Belief", "Stretch", "Explanation", "Difference", "Episode", "OutcomeRecord", "HeldCandidate"} {
		found := makers(t, root, typ)
		require.NotEmpty(t, found, typ)
		for _, maker := range found {
			require.Regexp(t, `^(Tenant|View|Attribute)\.`, maker, typ)
		}
	}
	require.Equal(t, []string{".New", "Ledger.Over", "Ledger.Tenant"}, append(makers(t, root, "Ledger"), makers(t, root, "Tenant")[0]),
		"what a ledger gives is found")
}
