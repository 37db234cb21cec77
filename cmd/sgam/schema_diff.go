package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// schemaDiffJSON is the answer of schema diff.
type schemaDiffJSON struct {
	Type     string          `json:"type"`
	Older    int             `json:"older"`
	Newer    int             `json:"newer"`
	Backward schema.Verdict  `json:"backward"`
	Forward  schema.Verdict  `json:"forward"`
	Changes  []schema.Change `json:"changes"`
}

func (p *program) schemaDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what changed between two versions of a memory type",
		Args:  needs("OLD", "NEW"),
		Long: `Compare two versions of a memory type, each of which is the file of a document, "-" for standard input, or with --db
TYPE@VERSION of that ledger. Every change says by its rule whether values of the older version can be read as the newer
one (backward), whether those of the newer version can be read as the older one (forward), and what to do:

  ok         every value can be read as it is
  lens       a lens has to convert the values
  data       it depends on the values: look at them first
  data+lens  both
  break      the values cannot be read: take a new attribute
  forbid     never

The exit code is 0 whatever changed; 'sgam schema check' is the one that refuses.`,
		Example: `  sgam schema diff identity.1.json identity.2.json
  sgam schema diff identity@1 identity.2.json --db agent.db`,
		RunE: func(c *cobra.Command, args []string) error {
			var stored []sgam.TypeDocument
			if p.flags.db != "" {
				var err error
				if stored, err = p.storedDocuments(c.Context()); err != nil {
					return err
				}
			}
			older, err := p.versionNamed(args[0], stored)
			if err != nil {
				return err
			}
			newer, err := p.versionNamed(args[1], stored)
			if err != nil {
				return err
			}
			return p.diffDocuments(older, newer)
		},
	}
}

// storedDocuments are the schema versions of the ledger.
func (p *program) storedDocuments(ctx context.Context) ([]sgam.TypeDocument, error) {
	var docs []sgam.TypeDocument
	err := p.reading(ctx, func(l *sgam.Ledger) error {
		stored, err := l.Types(ctx)
		for _, s := range stored {
			docs = append(docs, s.TypeDocument)
		}
		return err
	})
	return docs, err
}

// versionNamed finds the version that an argument names: TYPE@VERSION of a ledger, or a file.
func (p *program) versionNamed(arg string, stored []sgam.TypeDocument) (sgam.TypeDocument, error) {
	at := strings.LastIndex(arg, "@")
	if p.flags.db == "" || at < 0 {
		return p.document(arg)
	}
	typ := arg[:at]
	version, err := strconv.Atoi(arg[at+1:])
	if err != nil || strings.Contains(typ, "/") {
		return p.document(arg)
	}
	for _, doc := range stored {
		if doc.Type == typ && doc.Version == version {
			return doc, nil
		}
	}
	return sgam.TypeDocument{}, &verdict{code: exitNo, line: notThere(typ, version)}
}

func (p *program) diffDocuments(older, newer sgam.TypeDocument) error {
	if older.Type != newer.Type {
		return usage("OLD is a version of %q and NEW one of %q: want two versions of one memory type", older.Type, newer.Type)
	}
	changes, err := schema.Compare(older, newer)
	if err != nil {
		return err
	}
	answer := schemaDiffJSON{Type: newer.Type, Older: older.Version, Newer: newer.Version, Changes: []schema.Change{}}
	rows := p.out.list(append([]column{{name: "RULE"}, {name: "BACKWARD"}, {name: "FORWARD"}}, changeColumns...)...)
	var todo todoList
	for _, change := range changes {
		answer.Backward = answer.Backward.And(change.Backward)
		answer.Forward = answer.Forward.And(change.Forward)
		answer.Changes = append(answer.Changes, change)
		rows.add(append([]string{change.Rule, p.verdictWord(change.Backward), p.verdictWord(change.Forward)}, changeCells(change)...)...)
		todo.add(change)
	}
	if p.flags.json {
		p.out.json(answer)
		return nil
	}
	rows.flush()
	between := printable(newer.Type) + " version " + strconv.Itoa(older.Version) + " → " + strconv.Itoa(newer.Version) + ": "
	if len(changes) == 0 {
		p.out.println(between, "no changes")
		return nil
	}
	p.out.println(between, count(len(changes), "change", "changes"), ", backward ", p.verdictWord(answer.Backward),
		", forward ", p.verdictWord(answer.Forward))
	p.showTodo(todo, "")
	return nil
}

func (p *program) verdictWord(v schema.Verdict) string {
	i := odd
	switch {
	case v == schema.VerdictOK:
		i = good
	case v >= schema.VerdictBreak:
		i = bad
	}
	return p.out.paint(i, v.String())
}

// longestPart is how many characters of what stood or stands at a place are shown.
const longestPart = 40

// changeColumns say what changed. The attribute has a column of its own, so the path is the rest of it.
var changeColumns = []column{{name: "ATTRIBUTE", flex: yields, ink: strong}, {name: "PATH", flex: yields}, {name: "OLD → NEW", flex: yieldsFirst}}

func changeCells(c schema.Change) []string {
	path := c.Path
	if parts := strings.SplitN(path, "/", 3); parts[0] == "attributes" {
		path = strings.Join(parts[2:], "/")
	}
	was := ""
	if c.Old != nil || c.New != nil {
		was = partOf(c.Old) + " → " + partOf(c.New)
	}
	return []string{printable(c.Attribute), printable(path), was}
}

// partOf shows what stood or stands at a place.
func partOf(v any) string {
	if v == nil {
		return "–"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return cut(printable(string(raw)), longestPart)
}

// todoList collects what to do about changes, each rule's advice once.
type todoList [][2]string

func (t *todoList) add(c schema.Change) {
	if one := [2]string{c.Rule, c.Advice}; c.Advice != "" && !slices.Contains(*t, one) {
		*t = append(*t, one)
	}
}

func (p *program) showTodo(todo todoList, indent string) {
	if len(todo) == 0 {
		return
	}
	p.out.println(indent, "what to do:")
	rows := p.out.list(column{}, column{flex: yields, wrap: true})
	rows.bare, rows.indent = true, indent+"  "
	for _, one := range todo {
		rows.add(one[0], printable(one[1]))
	}
	rows.flush()
}
