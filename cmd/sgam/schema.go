package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

func (p *program) schema() *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Add memory types, list them, compare and check their versions",
		Args:  noSuchCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.schemaAdd(), p.schemaList(), p.schemaShow(), p.schemaDiff(), p.schemaCheck(), p.schemaEmit(), p.schemaLint())
	return c
}

func (p *program) schemaAdd() *cobra.Command {
	var lenses []string
	c := &cobra.Command{
		Use:   "add FILE…",
		Short: "Register schema versions from JSON documents, and the lenses between them",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(lenses) > 0 {
				return nil
			}
			return needs("FILE…")(c, args)
		},
		Long: `Register versions of memory types from JSON documents, one a file; "-" is standard input. The ledger is made when the
file does not exist. An equal version that is there already changes nothing; another one under its number is refused.

--lens takes the document of a lens, which leads values from the version before to the one that it names, and back. That
version is among the files or in the ledger already. A lens may be replaced until a tenant reads or writes its version.`,
		Example: `  sgam schema add identity.json --db agent.db
  sgam schema add contact.2.json --lens contact.2.lens.json --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			docs, err := p.documents(args)
			if err != nil {
				return err
			}
			if len(lenses) > 0 {
				if docs, err = p.withLenses(c.Context(), docs, lenses); err != nil {
					return err
				}
			}
			return p.writing(c.Context(), len(args) > 0, func(l *sgam.Ledger) error { return p.register(c.Context(), l, docs) })
		},
	}
	c.Flags().StringArrayVar(&lenses, "lens", nil, "the `file` of a lens into one of the versions; can be given again")
	return c
}

// document reads a schema document and checks it, before any ledger is touched.
func (p *program) document(name string) (sgam.TypeDocument, error) {
	var raw []byte
	var err error
	if name == "-" {
		name = "stdin"
		raw, err = io.ReadAll(p.in)
	} else {
		raw, err = os.ReadFile(name) //nolint:gosec // the user names the file
	}
	if err != nil {
		return sgam.TypeDocument{}, usage("%w", fileFault(err))
	}
	doc, err := schema.ParseDocument(raw)
	if _, ok := errors.AsType[*schema.DocumentError](err); ok {
		return doc, usage("%s: %s", name, faultText(err))
	}
	if err != nil {
		return doc, fmt.Errorf("%s: %w", name, err)
	}
	return doc, nil
}

func (p *program) register(ctx context.Context, l *sgam.Ledger, docs []sgam.TypeDocument) error {
	stored, err := l.Types(ctx)
	if err != nil {
		return err
	}
	have := map[string]*sgam.TypeDocument{}
	next := map[string]int{} // the version that a type waits for
	for i := range stored {
		s := &stored[i].TypeDocument
		have[versionName(*s)] = s
		next[s.Type] = s.Version + 1
	}
	for i := range docs {
		doc := docs[i]
		switch err := l.Register(ctx, doc); {
		case errors.Is(err, sgam.ErrSchemaDrift):
			return refused(err, "%s is in the ledger with another meaning: what changed needs a version of its own", versionName(doc))
		case errors.Is(err, sgam.ErrSchemaGap):
			return refused(err, "%s is not the next version: this ledger waits for version %d", versionName(doc), max(1, next[doc.Type]))
		case errors.Is(err, sgam.ErrLensInUse):
			return refused(err, "%s is read or written by a tenant, so the lens into it stays: what changed needs a version of its own", versionName(doc))
		case forbids(err):
			return refused(err, "%s", strings.TrimPrefix(err.Error(), "sgam: "))
		case err != nil:
			return fmt.Errorf("%s: %w", versionName(doc), err)
		}
		next[doc.Type] = max(next[doc.Type], doc.Version+1)
		if p.flags.json {
			if had := have[versionName(doc)]; had != nil && doc.Lens == nil {
				doc.Lens = had.Lens // it stays
			}
			p.out.json(registeredOf(&doc))
			continue
		}
		p.out.println(registered(&doc, have[versionName(doc)]))
	}
	return nil
}

// forbids tells that a version may not follow the one before it.
func forbids(err error) bool {
	_, ok := errors.AsType[*schema.ForbiddenError](err)
	return ok
}

func versionName(doc sgam.TypeDocument) string {
	return fmt.Sprintf("%s version %d", printable(doc.Type), doc.Version)
}

func attributeNames(doc sgam.TypeDocument) string {
	names := make([]string, len(doc.Attributes))
	for i, a := range doc.Attributes {
		names[i] = printable(a.Name)
	}
	return strings.Join(names, ", ")
}

func (p *program) schemaList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the versions of every memory type",
		Args:    needs(),
		Example: `  sgam schema list --db agent.db`,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.reading(c.Context(), func(l *sgam.Ledger) error {
				stored, err := l.Types(c.Context())
				if err != nil {
					return err
				}
				rows := p.out.list(column{name: "TYPE", flex: yields, ink: strong}, column{name: "VERSION"}, column{name: "ATTRIBUTES", flex: yields})
				for _, s := range stored {
					if p.flags.json {
						p.out.json(registeredOf(&s.TypeDocument))
						continue
					}
					version := strconv.Itoa(s.Version)
					if s.Draft {
						version += " draft"
					}
					if s.Lens != nil {
						version += " lens"
					}
					rows.add(printable(s.Type), version, attributeNames(s.TypeDocument))
				}
				rows.flush()
				if len(stored) == 0 && !p.flags.json {
					p.out.println("no memory types: 'sgam schema add' registers them")
				}
				return nil
			})
		},
	}
}

func (p *program) schemaShow() *cobra.Command {
	var version int
	var lens bool
	c := &cobra.Command{
		Use:     "show TYPE",
		Short:   "Show the document of a memory type, or the lens into it",
		Args:    needs("TYPE"),
		Example: `  sgam schema show identity --db agent.db --version 1`,
		RunE: func(c *cobra.Command, args []string) error {
			stored, err := p.storedDocuments(c.Context())
			if err != nil {
				return err
			}
			var found *sgam.TypeDocument
			for i := range stored {
				if stored[i].Type == args[0] && (version == 0 || stored[i].Version == version) {
					found = &stored[i] // the last one is the newest
				}
			}
			switch {
			case found == nil:
				return &verdict{code: exitNo, line: notThere(args[0], version)}
			case !lens:
				return p.showStored(versionName(*found), found.JSON)
			case found.Lens == nil:
				return &verdict{code: exitNo, line: "there is no lens into " + versionName(*found)}
			}
			return p.showStored("lens into "+versionName(*found), found.Lens.JSON)
		},
	}
	c.Flags().IntVar(&version, "version", 0, "which version (default the newest)")
	c.Flags().BoolVar(&lens, "lens", false, "show the lens that leads into the version")
	return c
}

func notThere(typ string, version int) string {
	if version == 0 {
		return fmt.Sprintf("no memory type %q in this ledger ('sgam schema list' shows them)", typ)
	}
	return fmt.Sprintf("no memory type %q with version %d in this ledger ('sgam schema list' shows them)", typ, version)
}
