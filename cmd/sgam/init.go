package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/postgres"
)

// initJSON is the answer of init.
type initJSON struct {
	Engine     string `json:"engine"`
	Role       string `json:"role,omitempty"`
	Partitions int    `json:"partitions,omitempty"`
	OK         bool   `json:"ok"`
}

func (p *program) initLedger() *cobra.Command {
	var opts postgres.InitOptions
	var key string
	var distributed bool
	c := &cobra.Command{
		Use:   "init LEDGER",
		Short: "Make the tables of a ledger in PostgreSQL",
		Args:  needs("LEDGER"),
		Long: `Make the tables of a ledger in a PostgreSQL database that has none, as the role that then owns them. Programs open the
ledger as another role, which --role names: it must exist, owns nothing and is held to its tenant by row-level security.

The ledger's key is not in the database but in the file that --key names. A file that is there is taken, so that the copy of
another ledger can have its key; otherwise one is made. Keep it: without it the ledger cannot be opened.

In a database with the extension citus the tables are spread over the nodes of the cluster, each tenant on one of them, unless
--partitions or --distributed=false says otherwise.

A file needs no init: the first command that writes makes it.`,
		Example: `  sgam init 'postgres:host=db user=owner dbname=memory' --key memory.key --role agent
  sgam init 'postgres:host=db user=owner dbname=memory' --key memory.key --role agent --partitions 16`,
		RunE: func(c *cobra.Command, args []string) error {
			e, where, err := engineOf("LEDGER", args[0])
			switch {
			case err != nil:
				return err
			case e.scheme != "postgres":
				return usage("a file needs no init: the first command that writes makes it")
			case key == "":
				return usage("--key is missing: it names the file with the ledger's key, which is not in the database")
			}
			opts.Keys = postgres.KeyFile(key)
			if c.Flags().Changed("distributed") {
				opts.Distributed = &distributed
			}
			if err := postgres.Init(c.Context(), where, opts); err != nil {
				if fe, ok := errors.AsType[*sgam.FieldError](err); ok {
					return usage("--partitions: want %s", fe.Want)
				}
				return err
			}
			if p.flags.json {
				p.out.json(initJSON{e.scheme, opts.Role, opts.Partitions, true})
				return nil
			}
			p.out.println("made the tables of a ledger; its key is in ", printable(key))
			return nil
		},
	}
	c.Flags().StringVar(&key, "key", "", "the `file` with the ledger's key, made where there is none")
	c.Flags().StringVar(&opts.Role, "role", "", "the `role` as which programs open the ledger (default none gets any rights)")
	c.Flags().IntVar(&opts.Partitions, "partitions", 0, "divide the tables of the tenants into so `many` by hash of the tenant")
	c.Flags().BoolVar(&distributed, "distributed", false,
		"spread the tables over the nodes of a Citus cluster by tenant (default where the database has the extension citus)")
	return c
}
