package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

func (p *program) schemaEmit() *cobra.Command {
	var dialect string
	var files []string
	c := &cobra.Command{
		Use:   "emit TYPE…",
		Short: "Print the JSON Schema that a model has to answer in",
		Args:  needs("TYPE…"),
		Long: `Print the JSON Schema of the answers in which a model proposes changes of memory, for the newest version of each type, in
the dialect of the endpoint that has to keep to it. The types come from the ledger, or from documents.`,
		Example: `  sgam schema emit identity --dialect openai --db agent.db
  sgam schema emit identity order --dialect anthropic --file identity.json --file order.json`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atMostOne(c, "db", "file"); err != nil {
				return err
			}
			docs, err := p.emittable(c, files)
			if err != nil {
				return err
			}
			chosen := make([]sgam.TypeDocument, len(args))
			for i, name := range args {
				doc, ok := newestOf(docs, name)
				switch {
				case !ok && files != nil:
					return &verdict{code: exitNo, line: fmt.Sprintf("no memory type %q in these files", name)}
				case !ok:
					return &verdict{code: exitNo, line: notThere(name, 0)}
				}
				chosen[i] = doc
			}
			return p.emit(schema.Dialect(dialect), chosen)
		},
	}
	c.Flags().StringVar(&dialect, "dialect", "", "what the endpoint accepts: openai, anthropic or generic")
	c.Flags().StringArrayVar(&files, "file", nil, "a `document` to read types from, instead of a ledger; may be repeated")
	return c
}

// emittable lists the documents that a schema can be made of.
func (p *program) emittable(c *cobra.Command, files []string) ([]sgam.TypeDocument, error) {
	var docs []sgam.TypeDocument
	for _, name := range files {
		doc, err := p.document(name)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	if files != nil {
		return docs, nil
	}
	err := p.reading(c.Context(), func(l *sgam.Ledger) error {
		stored, err := l.Types(c.Context())
		for _, s := range stored {
			docs = append(docs, s.TypeDocument)
		}
		return err
	})
	return docs, err
}

func newestOf(docs []sgam.TypeDocument, name string) (newest sgam.TypeDocument, ok bool) {
	for _, doc := range docs {
		if doc.Type == name && doc.Version > newest.Version {
			newest = doc
		}
	}
	return newest, newest.Version > 0
}

func (p *program) emit(d schema.Dialect, docs []sgam.TypeDocument) error {
	form, err := schema.For(d, docs...)
	if le, ok := errors.AsType[*schema.LimitError](err); ok {
		return refused(err, "%s", strings.TrimPrefix(le.Error(), "schema: "))
	}
	if fe, ok := errors.AsType[*sgam.FieldError](err); ok {
		return usage("%s", flagFault(fe))
	}
	if err != nil {
		return err
	}
	if p.flags.json {
		p.out.json(form.Schema)
		return nil
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, form.Schema, "", "  "); err != nil {
		return fmt.Errorf("indent the schema: %w", err)
	}
	for line := range strings.Lines(pretty.String()) {
		p.out.println(printable(strings.TrimRight(line, "\n")))
	}
	return nil
}

// flagFault names the flag or argument that a fault is about.
func flagFault(fe *sgam.FieldError) string {
	if fe.Field == "dialect" {
		return "--dialect: want " + fe.Want
	}
	return fe.Error()
}
