package bench

import "context"

// Row is one line of the table.
type Row struct {
	Name string // of the benchmark
	// Title says what is measured, Baseline what it is held against.
	Title, Baseline string
	// Bar is the largest ratio of the subject's time to the baseline's that is good enough. Zero: there is none.
	Bar float64
	// Rate says that the bar is told as a share of the baseline's rate rather than as a multiple of its time.
	Rate bool
	// Open makes both sides over files of their own.
	Open func(context.Context, *Files) (*Sides, error)
}

// Sides are the two sides of a row.
type Sides struct {
	Baseline, Subject Side
	// Parts says that an operation is long: it handles so many of what the title counts. Zero: it is short, and counted itself.
	Parts int
	closers
}

// OnClose adds what is to be closed with the sides.
func (s *Sides) OnClose(closing func() error) { s.add(closing) }

// Side is one side of a row.
type Side struct {
	// Ready prepares n more operations, which is not measured. Nil: there is nothing to prepare.
	Ready func(ctx context.Context, n int) error
	// Run runs n operations.
	Run func(ctx context.Context, n int) error
}

// Rows are all rows, in the order of the table.
func Rows() []Row {
	rows := append(readRows(), writeRows()...)
	rows = append(rows, openRow())
	return append(rows, migrationRows()...)
}

// each makes a side out of one operation.
func each(one func(context.Context) error) Side {
	return Side{Run: func(ctx context.Context, n int) error {
		for range n {
			if err := one(ctx); err != nil {
				return err
			}
		}
		return nil
	}}
}
