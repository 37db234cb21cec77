package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam/schema"
)

func (p *program) schemaLint() *cobra.Command {
	var dialect string
	c := &cobra.Command{
		Use:   "lint FILE",
		Short: "Say what an endpoint for models would refuse in a JSON Schema",
		Args:  needs("FILE"),
		Long: `Say what an endpoint that promises to keep to a JSON Schema would refuse in one, a line each: path, rule, and what is
wanted. "-" is standard input. Exit code 1 when there is anything.`,
		Example: `  sgam schema lint answer.json --dialect openai`,
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := p.schemaFile(args[0])
			if err != nil {
				return err
			}
			faults := schema.Lint(schema.Dialect(dialect), raw)
			for i := range faults {
				switch {
				case faults[i].Field == "dialect":
					return usage("%s", flagFault(&faults[i]))
				case p.flags.json:
					p.out.json(faults[i])
				default:
					p.out.println(faultText(&faults[i]))
				}
			}
			if len(faults) > 0 {
				return no()
			}
			if !p.flags.json {
				p.out.println("nothing that ", dialect, " would refuse")
			}
			return nil
		},
	}
	c.Flags().StringVar(&dialect, "dialect", "", "what the endpoint accepts: openai, anthropic or generic")
	return c
}

// schemaFile reads a file that the command line names.
func (p *program) schemaFile(name string) (raw []byte, err error) {
	if name == "-" {
		raw, err = io.ReadAll(p.in)
	} else {
		raw, err = os.ReadFile(name) //nolint:gosec // the user names the file
	}
	if err != nil {
		return nil, usage("%w", fileFault(err))
	}
	return raw, nil
}
