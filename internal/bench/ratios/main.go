// Command ratios holds the ledger against the driver alone, or against its rivals, and prints how much more it takes, row by row, with the bar of
// each. It runs baseline and subject in turn, so that both see the same machine. It fails when a measurement fails, never
// because of a number.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"time"

	"github.com/sgam-ledger/sgam/internal/bench"
	"github.com/sgam-ledger/sgam/internal/rivals"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	scale   bench.Scale
	rivals  bool
	rounds  int
	slice   time.Duration
	only    *regexp.Regexp
	dir     string
	profile string

	rectangles int
}

func parse(args []string, help io.Writer) (settings, error) {
	s := settings{scale: bench.Full}
	f := flag.NewFlagSet("ratios", flag.ContinueOnError)
	f.SetOutput(help)
	f.IntVar(&s.scale.Large, "large", s.scale.Large, "facts in the large file")
	f.IntVar(&s.scale.Small, "small", s.scale.Small, "facts in the small file")
	f.IntVar(&s.scale.Versions, "versions", s.scale.Versions, "facts of the slot that has many")
	f.IntVar(&s.rounds, "rounds", 10, "rounds a row")
	f.DurationVar(&s.slice, "slice", 25*time.Millisecond, "how long a side runs before it is the other's turn; ten turns are a round")
	f.BoolVar(&s.rivals, "rivals", false, "hold both engines against periods and MariaDB instead, on servers of their own")
	f.IntVar(&s.rectangles, "rectangles", rivals.Full, "of the history that they have, at least")
	only := f.String("rows", "", "only the rows whose names match this regular expression, and no sizes")
	f.StringVar(&s.dir, "dir", "", "the folder in which a folder for the files is made; empty is the system's for temporary files")
	f.StringVar(&s.profile, "cpuprofile", "", "write a CPU profile of the subjects and baselines there")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	if s.rounds < 1 || s.slice <= 0 || s.scale.Small < 1000 || s.scale.Large < s.scale.Small || s.scale.Versions < 10 {
		return s, errors.New("want at least one round, a slice of time, 10 versions, 1,000 facts, and no fewer in the large file")
	}
	if s.rectangles < rivals.Brief {
		return s, fmt.Errorf("want at least %d rectangles", rivals.Brief)
	}
	var err error
	if *only != "" {
		s.only, err = regexp.Compile(*only)
	}
	return s, err
}

func run(ctx context.Context, args []string, out, notes io.Writer) (err error) {
	s, err := parse(args, notes)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(s.dir, "sgam-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files := bench.NewFiles(dir, s.scale)
	files.Log = func(format string, args ...any) { fmt.Fprintf(notes, format+"\n", args...) }

	if s.profile != "" {
		profile, err := os.Create(s.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, profile.Close()) }()
		if err := pprof.StartCPUProfile(profile); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if err := printMachine(ctx, out, dir); err != nil {
		return err
	}
	if s.rivals {
		return s.meet(ctx, dir, out, notes)
	}
	return s.compare(ctx, files, out, notes)
}

// compare runs the rows against the driver alone and prints their table, and the sizes.
func (s *settings) compare(ctx context.Context, files *bench.Files, out, notes io.Writer) error {
	var results []result
	for _, row := range bench.Rows() {
		if s.only != nil && !s.only.MatchString(row.Name) {
			continue
		}
		r, err := s.measure(ctx, files, row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.Name, err)
		}
		fmt.Fprintf(notes, "%s: %s\n", row.Name, r.verdict())
		results = append(results, r)
	}
	if err := printTable(out, results); err != nil || s.only != nil {
		return err
	}
	return printSizes(ctx, out, files)
}
