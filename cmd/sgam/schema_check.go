package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// schemaCheckFlags are what schema check is asked.
type schemaCheckFlags struct {
	against, dispose          []string
	mode, allow               string
	lenses                    []string
	whole, declassify         bool
	declassifier, declassNote string
}

func (p *program) schemaCheck() *cobra.Command {
	var f schemaCheckFlags
	modes := make([]string, len(schema.Modes()))
	for i, m := range schema.Modes() {
		modes[i] = string(m)
	}
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check whether new schema versions are compatible with older ones",
		Args:  needs("FILE…"),
		Long: `Check whether the schema versions in the given files may follow the older versions of their types, which are those in the
files that --against names, or those in the ledger that --db names. It writes nothing and is made for a build: the exit
code is 0 when every version passes and 1 when one does not, with the changes that fail and what to do about each.

--mode says who has to read what: backward is new programs reading what old ones wrote, forward the other way round, full
both; the transitive ones look at every older version, the others at the last one. What is forbidden fails in every mode,
none included.`,
		Example: `  sgam schema check identity.3.json --against identity.1.json --against identity.2.json
  sgam schema check schemas/*.json --db agent.db --mode backward-transitive --whole`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atMostOne(c, "against", "db"); err != nil {
				return err
			}
			opts, err := f.options(c)
			if err != nil {
				return err
			}
			if !slices.Contains(modes, f.mode) {
				return usage("--mode %q: want one of %s", f.mode, strings.Join(modes, ", "))
			}
			older, err := p.olderDocuments(c.Context(), &f)
			if err != nil {
				return err
			}
			newer, err := p.documents(args)
			if err != nil {
				return err
			}
			if newer, err = p.attachLenses(newer, older, f.lenses); err != nil {
				return err
			}
			reports, err := schema.CheckSet(schema.Mode(f.mode), older, newer, f.whole, opts)
			if errors.Is(err, sgam.ErrSchemaDrift) {
				return refused(err, "%s: what changed needs a version of its own", strings.TrimPrefix(err.Error(), "schema: "))
			}
			if err != nil {
				return err
			}
			return p.showReports(reports)
		},
	}
	c.Flags().StringArrayVar(&f.against, "against", nil, "a `file` with an older version; can be given again")
	c.Flags().StringArrayVar(&f.lenses, "lens", nil, "a `file` with the lens into one of the versions; can be given again")
	c.Flags().StringVar(&f.mode, "mode", string(schema.ModeFullTransitive), "who has to read what: one `word` of "+strings.Join(modes, ", "))
	c.Flags().BoolVar(&f.whole, "whole", false, "the files are all that the program declares: a type that is missing is removed")
	c.Flags().StringVar(&f.allow, "allow", "ok", "the worst `verdict` that passes: ok, lens, data or data+lens, as far as lenses and scans are seen to elsewhere")
	c.Flags().StringArrayVar(&f.dispose, "dispose", nil, "`NAME=WHAT` becomes of a removed attribute's facts: keep_readable, expire or erase; can be given again")
	c.Flags().BoolVar(&f.declassify, "declassify", false, "let sensitivities be lowered; needs --actor and --reason")
	c.Flags().StringVar(&f.declassifier, "actor", "", "the `name` of who declassifies")
	c.Flags().StringVar(&f.declassNote, "reason", "", "`why` it is declassified")
	return c
}

// options reads the decisions among the flags.
func (f *schemaCheckFlags) options(c *cobra.Command) (*schema.CheckOptions, error) {
	opts := &schema.CheckOptions{Dispositions: map[string]schema.Disposition{}}
	if err := opts.Allow.UnmarshalText([]byte(f.allow)); err != nil || opts.Allow > schema.VerdictDataLens {
		return nil, usage("--allow %q: want one of ok, lens, data, data+lens", f.allow)
	}
	for _, d := range f.dispose {
		name, what, _ := strings.Cut(d, "=")
		switch w := schema.Disposition(what); {
		case name != "" && (w == schema.KeepReadable || w == schema.Expire || w == schema.Erase):
			opts.Dispositions[name] = w
		default:
			return nil, usage("--dispose %q: want NAME=WHAT with keep_readable, expire or erase", d)
		}
	}
	switch named := c.Flags().Changed("actor") || c.Flags().Changed("reason"); {
	case f.declassify && (strings.TrimSpace(f.declassifier) == "" || strings.TrimSpace(f.declassNote) == ""):
		return nil, usage("--declassify needs --actor and --reason")
	case f.declassify:
		opts.Declassify = &schema.Declassification{Actor: f.declassifier, Reason: f.declassNote}
	case named:
		return nil, usage("--actor and --reason go with --declassify")
	}
	return opts, nil
}

func (p *program) olderDocuments(ctx context.Context, f *schemaCheckFlags) ([]sgam.TypeDocument, error) {
	switch {
	case p.flags.db != "":
		return p.storedDocuments(ctx)
	case len(f.against) == 0:
		return nil, usage("--against or --db is missing: it names the older versions")
	default:
		return p.documents(f.against)
	}
}

// documents reads the documents in some files.
func (p *program) documents(names []string) ([]sgam.TypeDocument, error) {
	docs := make([]sgam.TypeDocument, len(names))
	for i, name := range names {
		doc, err := p.document(name)
		if err != nil {
			return nil, err
		}
		docs[i] = doc
	}
	return docs, nil
}

// showReports prints what fails, and a line for each version.
func (p *program) showReports(reports []schema.Report) error {
	ok := true
	for _, r := range reports {
		ok = ok && r.OK
		if p.flags.json {
			p.out.json(r)
			continue
		}
		p.showReport(&r)
	}
	if !ok {
		return no()
	}
	return nil
}

func (p *program) showReport(r *schema.Report) {
	rows := p.out.list(append([]column{{name: "RULE"}, {name: "AGAINST"}, {name: "FAILS", ink: bad}}, changeColumns...)...)
	rows.indent = "  "
	var against []string
	var todo todoList
	fails := 0
	var by *schema.Declassification
	for _, compared := range r.Compared {
		against = append(against, strconv.Itoa(compared.Version))
		for _, f := range compared.Findings {
			if f.Declassified != nil {
				by = f.Declassified
			}
			if f.Fails != "" {
				fails++
				rows.add(append([]string{f.Rule, strconv.Itoa(compared.Version), f.Fails}, changeCells(f.Change)...)...)
				todo.add(f.Change)
			}
		}
	}
	title := printable(r.Type)
	if r.Version > 0 {
		title += " version " + strconv.Itoa(r.Version)
	}
	versions := "version " + strings.Join(against, ", ")
	if len(against) > 1 {
		versions = "versions " + strings.Join(against, ", ")
	}
	switch {
	case !r.OK:
		p.out.println(title, " ", p.out.paint(bad, "fails"), " ", string(r.Mode), ": ", count(fails, "change", "changes"), " against "+versions)
	case len(against) == 0:
		p.out.println(title, " ", p.out.paint(good, "passes"), " ", string(r.Mode), ": there is no older version")
	default:
		p.out.println(title, " ", p.out.paint(good, "passes"), " ", string(r.Mode), " against ", versions)
	}
	if by != nil {
		p.out.println("  declassified by ", printable(by.Actor), ": ", printable(by.Reason))
	}
	rows.flush()
	p.showTodo(todo, "  ")
}
