package main

import (
	"bytes"
	"context"
	"encoding/json"
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
		Short: "Add memory types, list them, show one",
		Args:  noSuchCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.schemaAdd(), p.schemaList(), p.schemaShow(), p.schemaDiff(), p.schemaCheck(), p.schemaEmit(), p.schemaLint())
	return c
}

func (p *program) schemaAdd() *cobra.Command {
	return &cobra.Command{
		Use:   "add FILE…",
		Short: "Register schema versions from JSON documents",
		Args:  needs("FILE…"),
		Long: `Register versions of memory types from JSON documents, one a file; "-" is standard input. The ledger is made when the
file does not exist. An equal version that is there already changes nothing; another one under its number is refused.`,
		Example: `  sgam schema add identity.json --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			docs := make([]sgam.TypeDocument, len(args))
			for i, name := range args {
				doc, err := p.document(name)
				if err != nil {
					return err
				}
				docs[i] = doc
			}
			return p.writing(c.Context(), true, func(l *sgam.Ledger) error { return p.register(c.Context(), l, docs) })
		},
	}
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
	have := map[string]bool{}
	next := map[string]int{} // the version that a type waits for
	for _, s := range stored {
		have[versionName(s.TypeDocument)] = true
		next[s.Type] = s.Version + 1
	}
	for _, doc := range docs {
		switch err := l.Register(ctx, doc); {
		case errors.Is(err, sgam.ErrSchemaDrift):
			return refused(err, "%s is in the ledger with another meaning: what changed needs a version of its own", versionName(doc))
		case errors.Is(err, sgam.ErrSchemaGap):
			return refused(err, "%s is not the next version: this ledger waits for version %d", versionName(doc), max(1, next[doc.Type]))
		case err != nil:
			return fmt.Errorf("%s: %w", versionName(doc), err)
		}
		next[doc.Type] = max(next[doc.Type], doc.Version+1)
		if p.flags.json {
			p.out.json(typeOf(doc))
			continue
		}
		verb := "registered "
		if have[versionName(doc)] {
			verb = "already there: "
		}
		p.out.println(verb, versionName(doc), ": ", attributeNames(doc))
	}
	return nil
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
						p.out.json(typeOf(s.TypeDocument))
						continue
					}
					version := strconv.Itoa(s.Version)
					if s.Draft {
						version += " draft"
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
	c := &cobra.Command{
		Use:     "show TYPE",
		Short:   "Show the document of a memory type",
		Args:    needs("TYPE"),
		Example: `  sgam schema show identity --db agent.db --version 1`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.reading(c.Context(), func(l *sgam.Ledger) error {
				stored, err := l.Types(c.Context())
				if err != nil {
					return err
				}
				var found *sgam.StoredType
				for i := range stored {
					if stored[i].Type == args[0] && (version == 0 || stored[i].Version == version) {
						found = &stored[i] // the last one is the newest
					}
				}
				if found == nil {
					return &verdict{code: exitNo, line: notThere(args[0], version)}
				}
				return p.showDocument(found)
			})
		},
	}
	c.Flags().IntVar(&version, "version", 0, "which version (default the newest)")
	return c
}

func notThere(typ string, version int) string {
	if version == 0 {
		return fmt.Sprintf("no memory type %q in this ledger ('sgam schema list' shows them)", typ)
	}
	return fmt.Sprintf("no memory type %q with version %d in this ledger ('sgam schema list' shows them)", typ, version)
}

// showDocument prints the stored document, which is canonical JSON; for a person it is indented.
func (p *program) showDocument(s *sgam.StoredType) error {
	if p.flags.json {
		p.out.json(json.RawMessage(s.JSON))
		return nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, s.JSON, "", "  "); err != nil {
		return fmt.Errorf("type %q: %w", s.Type, err)
	}
	for line := range strings.Lines(b.String()) {
		p.out.println(printable(strings.TrimRight(line, "\n")))
	}
	return nil
}
