package bench

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// Scale says how much the files hold.
type Scale struct {
	Large, Small int // facts in the large file and in the small one, at least 1,000
	Versions     int // of the slot that has many, at least 10
}

// Full is the scale that the bars are told for.
var Full = Scale{Large: 1_000_000, Small: 10_000, Versions: 10_000}

// Brief is small enough for every run of the tests. Its ratios say nothing.
var Brief = Scale{Large: 20_000, Small: 2_000, Versions: 500}

// Files makes the ledgers that the rows run over, each when it is first asked for. It is not for concurrent use.
type Files struct {
	dir    string
	scale  Scale
	made   map[string]*file
	copies int
	// Log is told what takes long. Nil: nobody is.
	Log func(format string, args ...any)
}

// NewFiles keeps its files in a folder of the caller's, who also removes it.
func NewFiles(dir string, scale Scale) *Files {
	return &Files{dir: dir, scale: scale, made: map[string]*file{}}
}

// file is a ledger that nobody has open.
type file struct {
	path     string
	types    sgam.Schemas // declared once, as a program does
	facts    int
	subjects []string
}

const tenantName = "acme"

// Engine is what benchmarks need of the SQLite engine beside the port.
type Engine interface {
	sgam.Store
	Connect(write bool) (driver.Conn, error)
	Statement(name string) string
	Trace(report func(name string, args []driver.Value))
}

// small is the file with few facts.
func (f *Files) small(ctx context.Context) (*file, error) {
	return f.ordinary(ctx, "small", f.scale.Small)
}

// large is the file with many.
func (f *Files) large(ctx context.Context) (*file, error) {
	return f.ordinary(ctx, "large", f.scale.Large)
}

// both are the small file and the large one.
func (f *Files) both(ctx context.Context) (small, large *file, err error) {
	if small, err = f.small(ctx); err == nil {
		large, err = f.large(ctx)
	}
	return small, large, err
}

// deep is the small file with one slot more, of many versions.
func (f *Files) deep(ctx context.Context) (*file, error) {
	return f.make("deep", func() (*file, error) {
		small, err := f.small(ctx)
		if err != nil {
			return nil, err
		}
		made, err := f.copy(small)
		if err != nil {
			return nil, err
		}
		made.facts += f.scale.Versions
		return made, made.fill(ctx, func(t *sgam.Tenant) error {
			for i := range f.scale.Versions {
				known := deepKnown(i)
				if err := applied(ctx, t, sgam.Batch{Deltas: []sgam.MemoryDelta{deep(i)}, KnownAt: &known}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (f *Files) ordinary(ctx context.Context, name string, facts int) (*file, error) {
	return f.make(name, func() (*file, error) {
		types, err := declared()
		if err != nil {
			return nil, err
		}
		made := &file{path: filepath.Join(f.dir, name+".db"), types: types}
		for i := range facts / (attributesEach * factsEach) {
			made.subjects = append(made.subjects, subjectName(i))
		}
		made.facts = len(made.subjects) * attributesEach * factsEach
		return made, made.fill(ctx, func(t *sgam.Tenant) error { return waves(ctx, t, made.subjects) })
	})
}

func (f *Files) make(name string, build func() (*file, error)) (*file, error) {
	if have := f.made[name]; have != nil {
		return have, nil
	}
	start := time.Now()
	made, err := build()
	if err != nil {
		return nil, fmt.Errorf("make the %s file: %w", name, err)
	}
	f.made[name] = made
	if f.Log != nil {
		f.Log("%s file: %d facts in %.1f s", name, made.facts, time.Since(start).Seconds())
	}
	return made, nil
}

// fill opens a ledger, writes to it, and closes it.
func (f *file) fill(ctx context.Context, write func(*sgam.Tenant) error) error {
	l, t, err := f.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(write(t), l.Close())
}

// waves writes the history of ordinary slots: wave after wave, each in some fifty calls.
func waves(ctx context.Context, t *sgam.Tenant, subjects []string) error {
	together := max(1, len(subjects)/50)
	for n := range factsEach {
		known := waveKnown(n)
		for first := 0; first < len(subjects); first += together {
			b := sgam.Batch{KnownAt: &known}
			for _, subject := range subjects[first:min(first+together, len(subjects))] {
				e := episode(fmt.Sprintf("%s-%d", subject, n), known)
				b.Episodes = append(b.Episodes, e)
				for attribute := range attributesEach {
					b.Deltas = append(b.Deltas, wave(n, subject, attribute).FromID(e.ID))
				}
			}
			if err := applied(ctx, t, b); err != nil {
				return err
			}
			known = known.Add(time.Minute)
		}
	}
	return nil
}

// applied submits a batch of which every delta must be applied.
func applied(ctx context.Context, t *sgam.Tenant, b sgam.Batch) error {
	receipts, err := t.ApplyBatch(ctx, b)
	if err != nil {
		return err
	}
	for i := range receipts {
		if err := mustApply(&receipts[i]); err != nil {
			return err
		}
	}
	return nil
}

func mustApply(r *sgam.Receipt) error {
	if r.Outcome != sgam.Applied {
		return fmt.Errorf("a delta ended as %s, code %q", r.Outcome, r.Code)
	}
	return nil
}

// open opens the ledger, and makes it when there is none.
func (f *file) open(ctx context.Context) (*sgam.Ledger, *sgam.Tenant, error) {
	l, err := sqlite.Open(ctx, f.path, &sgam.Options{Schemas: f.types})
	if err != nil {
		return nil, nil, err
	}
	t, err := l.Tenant(tenantName)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, t.As("agent-7"), nil
}

// copy makes a file of the same contents, which the caller may write to.
func (f *Files) copy(from *file) (*file, error) {
	f.copies++
	to := *from
	to.path = filepath.Join(f.dir, fmt.Sprintf("copy-%d.db", f.copies))
	for _, suffix := range []string{"", ".keys"} {
		if err := copyFile(from.path+suffix, to.path+suffix); err != nil {
			return nil, err
		}
	}
	return &to, nil
}

// some is the same file, of which only few subjects are of interest, from all over it.
func (f *file) some() *file {
	of := *f
	of.subjects = make([]string, few)
	for i := range of.subjects {
		of.subjects[i] = f.subjects[i*len(f.subjects)/few]
	}
	return &of
}

// remove deletes a copy.
func (to *file) remove() error {
	return errors.Join(os.Remove(to.path), os.Remove(to.path+".keys"))
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
