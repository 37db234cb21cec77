package bench

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

func migrationRows() []Row {
	return []Row{
		{Name: "get-lens", Title: "`Current().AtVersion().Get` through a lens", Baseline: "`Current().Get` there", Bar: 1.5, Open: getThroughLens},
		{Name: "get-encoded", Title: "`Current().Get` after a migration", Baseline: "before it, and before its version", Bar: 1.5, Open: getEncoded},
		{
			Name: "backfill", Title: "`migrate.Run` over the large file, a fact", Baseline: "the same rows inserted, driver alone, transactions of the same size",
			Bar: 1 / .4, Rate: true, Open: backfillAgainstDriver,
		},
	}
}

// The statements by which a backfill adds rows.
const (
	addForm       = "add_form"
	addFormNumber = "add_form_number"
)

// formRow is what a backfill adds for one fact: an encoding, and the digest by which its value is known again.
type formRow struct {
	fact, version, known, lossy, seq int64
	value, digest                    []byte
	lens, defaulted                  string
}

// bulk is everything that a backfill adds, in its transactions.
type bulk [][]formRow

// recordBulk runs a migration over a copy of a file and keeps the rows that it adds.
func (f *Files) recordBulk(ctx context.Context, from *file, p *migrate.Plan) (added bulk, err error) {
	o, err := f.openCopy(ctx, from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	var batch []formRow
	shared := map[string]string{} // lenses and places repeat in every row
	same := func(v driver.Value) string {
		s := text(v)
		if _, have := shared[s]; !have {
			shared[s] = s
		}
		return shared[s]
	}
	o.engine.Trace(func(name string, args []driver.Value) {
		switch name {
		case addForm:
			value, _ := args[3].([]byte)
			batch = append(batch, formRow{
				fact: number(args[1]), version: number(args[2]), value: value, lens: same(args[4]), known: number(args[5]),
				lossy: number(args[6]), defaulted: same(args[7]),
			})
		case addFormNumber:
			digest, _ := args[2].([]byte)
			batch[len(batch)-1].digest, batch[len(batch)-1].seq = digest, number(args[3])
		case commit:
			if len(batch) > 0 {
				added, batch = append(added, batch), nil
			}
		}
	})
	err = migrate.Run(ctx, o.ledger, p, nil)
	o.engine.Trace(nil)
	if err != nil {
		return nil, err
	}
	if rows := added.rows(); rows != from.facts {
		return nil, fmt.Errorf("a backfill of %d facts added %d rows", from.facts, rows)
	}
	return added, nil
}

func (b bulk) rows() int {
	n := 0
	for _, batch := range b {
		n += len(batch)
	}
	return n
}

// insertInto adds the rows to a copy of the file through the driver alone.
func (b bulk) insertInto(ctx context.Context, o *opened) (err error) {
	alone, err := openBare(ctx, o.engine, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alone.Close()) }()
	return b.insert(alone, o.engine)
}

// insert adds the rows by the engine's statements, in the transactions of the backfill.
func (b bulk) insert(bare *bare, e Engine) error {
	statements := map[string]*bareStatement{}
	for _, name := range []string{beginWrite, addForm, addFormNumber, commit} {
		st, err := bare.prepare(e.Statement(name))
		if err != nil {
			return err
		}
		statements[name] = st
	}
	begin, form, digest, end := statements[beginWrite], statements[addForm], statements[addFormNumber], statements[commit]
	formArgs, digestArgs := arguments(make([]driver.Value, 8)...), arguments(make([]driver.Value, 4)...)
	const tenant = int64(1) // the only one
	formArgs[0].Value, digestArgs[0].Value = tenant, tenant
	for _, batch := range b {
		if err := begin.run(nil); err != nil {
			return err
		}
		for i := range batch {
			r := &batch[i]
			for j, v := range []driver.Value{r.fact, r.version, r.value, r.lens, r.known, r.lossy, r.defaulted} {
				formArgs[1+j].Value = v
			}
			digestArgs[1].Value, digestArgs[2].Value, digestArgs[3].Value = r.fact, r.digest, r.seq
			if err := form.run(formArgs); err != nil {
				return err
			}
			if err := digest.run(digestArgs); err != nil {
				return err
			}
		}
		if err := end.run(nil); err != nil {
			return err
		}
	}
	return nil
}

// fresh is a side that needs an unchanged copy of a file for each operation.
type fresh struct {
	files *Files
	from  *file
	with  func(context.Context, *opened) error
	ready []*opened
}

// opened is a copy of a file with a ledger over it.
type opened struct {
	closers
	ledger *sgam.Ledger
	engine Engine
}

func (f *Files) openCopy(ctx context.Context, from *file) (*opened, error) {
	copied, err := f.copy(from)
	if err != nil {
		return nil, err
	}
	o := &opened{}
	o.add(copied.remove)
	if o.ledger, _, err = copied.open(ctx); err != nil {
		return nil, o.after(err)
	}
	o.add(o.ledger.Close)
	o.engine, err = engineOf(o.ledger)
	return o, o.after(err)
}

func (s *fresh) prepare(ctx context.Context, n int) error {
	if err := s.Close(); err != nil {
		return err
	}
	for range n {
		o, err := s.files.openCopy(ctx, s.from)
		if err != nil {
			return err
		}
		s.ready = append(s.ready, o)
	}
	return nil
}

func (s *fresh) run(ctx context.Context, n int) error {
	for _, o := range s.ready[:n] {
		if err := s.with(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the copies.
func (s *fresh) Close() error {
	var errs []error
	for _, o := range s.ready {
		errs = append(errs, o.Close())
	}
	s.ready = nil
	return errors.Join(errs...)
}

// eachOnACopy makes a side of an operation that uses its file up.
func (s *Sides) eachOnACopy(f *Files, from *file, with func(context.Context, *opened) error) Side {
	side := &fresh{files: f, from: from, with: with}
	s.add(side.Close)
	return Side{Ready: side.prepare, Run: side.run}
}

// backfillAgainstDriver holds whole backfills of the large file against inserts of the rows that they leave.
func backfillAgainstDriver(ctx context.Context, f *Files) (*Sides, error) {
	large, err := f.large(ctx)
	if err != nil {
		return nil, err
	}
	return f.backfillOf(ctx, large)
}

func (f *Files) backfillOf(ctx context.Context, of *file) (*Sides, error) {
	from, p, err := f.planned(ctx, of)
	if err != nil {
		return nil, err
	}
	s := &Sides{Parts: from.facts}
	s.add(from.remove)
	added, err := f.recordBulk(ctx, from, p)
	if err != nil {
		return nil, s.after(err)
	}
	s.Baseline = s.eachOnACopy(f, from, added.insertInto)
	s.Subject = s.eachOnACopy(f, from, func(ctx context.Context, o *opened) error {
		return migrate.Run(ctx, o.ledger, p, nil)
	})
	return s, nil
}
