package main

import (
	"github.com/spf13/cobra"
)

// upgradeJSON is the answer of upgrade.
type upgradeJSON struct {
	DB string `json:"db"`
	OK bool   `json:"ok"`
}

func (p *program) upgrade() *cobra.Command {
	return &cobra.Command{
		Use:   "upgrade",
		Short: "Bring a file of an older format forward",
		Args:  needs(),
		Long: `Bring a file of an older format forward, in place. A file that has this program's format is left as it is; one of a newer
format is refused.`,
		Example: `  sgam upgrade --db agent.db`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.mustExist(); err != nil {
				return err
			}
			if err := p.upgradeFile(c.Context(), p.flags.db); err != nil {
				return p.openFault(err)
			}
			if p.flags.json {
				p.out.json(upgradeJSON{p.flags.db, true})
				return nil
			}
			p.out.println(printable(p.flags.db), " has the format of this program")
			return nil
		},
	}
}
