//go:build cgo && unix

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/sgam-ledger/sgam"
)

// serving tells a child to take part in histories, with several goroutines.
type serving struct {
	Path       string
	Name       string
	Goroutines int
}

// round is one history: how much each goroutine does, about which subjects.
type round struct {
	Number     int
	Seed       uint64
	Operations int
	Subjects   []string
}

// verb is what an operation does.
type verb string

const (
	readVerb  verb = "read"
	writeVerb verb = "write"
	guardVerb verb = "write if" // the fact that the goroutine saw last is still there
	endVerb   verb = "end"
)

// operation is one operation of a history. Call and Return are on a clock that all processes of the machine share.
type operation struct {
	Client       string
	Verb         verb
	Subject      string
	Expected     sgam.MemoryID // by a guard
	Call, Return int64
	answer
}

// answer is what an operation was answered.
type answer struct {
	Outcome    sgam.Outcome  // of a write
	Memory     sgam.MemoryID // that was written, or read; zero is nothing
	Absent     bool          // Memory says that there is no value
	Supersedes sgam.MemoryID
}

// serve plays rounds until there are no more.
func serve(ctx context.Context, args serving, up *parent) error {
	l, acme, err := openNow(ctx, args.Path, 0)
	if err != nil {
		return err
	}
	if err := up.start(); err != nil {
		return err
	}
	for {
		var r round
		if more, err := up.hear(&r); err != nil || !more {
			return errors.Join(err, l.Close())
		}
		did := make([][]operation, args.Goroutines)
		var working errgroup.Group
		for i := range did {
			c := client{tenant: acme, name: fmt.Sprintf("%s/%d", args.Name, i), seen: map[string]sgam.MemoryID{}}
			c.random = rand.New(rand.NewPCG(r.Seed, uint64(i)))
			working.Go(func() (err error) {
				did[i], err = c.play(ctx, r)
				return err
			})
		}
		if err := working.Wait(); err != nil {
			return err
		}
		if err := up.say(did); err != nil {
			return err
		}
	}
}

// client is one goroutine of a process.
type client struct {
	tenant *sgam.Tenant
	name   string
	random *rand.Rand
	seen   map[string]sgam.MemoryID // the last fact about each subject
	pinned []pinned
}

// pinned is a view and what it answered first. It must never answer anything else.
type pinned struct {
	view    sgam.View
	subject string
	answer  answer
}

func (c *client) play(ctx context.Context, r round) ([]operation, error) {
	verbs := []verb{readVerb, readVerb, writeVerb, writeVerb, guardVerb, endVerb}
	var did []operation
	for i := range r.Operations {
		o := operation{Client: c.name, Verb: verbs[c.random.IntN(len(verbs))], Subject: r.Subjects[c.random.IntN(len(r.Subjects))]}
		o.Expected = c.seen[o.Subject]
		var err error
		if o.Call, err = now(); err != nil {
			return nil, err
		}
		if err := c.do(ctx, &o, fmt.Sprintf("round %d, %s, %d", r.Number, c.name, i)); err != nil {
			return nil, err
		}
		if o.Return, err = now(); err != nil {
			return nil, err
		}
		if o.Outcome != sgam.Rejected && !o.Absent {
			c.seen[o.Subject] = o.Memory
		}
		did = append(did, o)
	}
	for _, p := range c.pinned {
		again, err := read(ctx, p.view, p.subject)
		if err != nil {
			return nil, err
		}
		if again != p.answer {
			return nil, fmt.Errorf("%s: a view of %q that answered %+v answers %+v", c.name, p.subject, p.answer, again)
		}
	}
	return did, nil
}

func (c *client) do(ctx context.Context, o *operation, name string) (err error) {
	if o.Verb == readVerb {
		view := c.tenant.Current()
		if o.answer, err = read(ctx, view, o.Subject); err == nil {
			c.pinned = append(c.pinned, pinned{view, o.Subject, o.answer})
		}
		return err
	}
	d := say(name, sgam.Assert, o.Subject, "deadline", name, 0)
	if o.Verb == guardVerb {
		d.ExpectCurrent = &o.Expected
	}
	if o.Verb == endVerb {
		d = say(name, sgam.End, o.Subject, "deadline", "", 0)
	}
	r, err := c.tenant.Apply(ctx, d)
	o.answer = answer{Outcome: r.Outcome, Memory: r.Memory, Absent: o.Verb == endVerb, Supersedes: r.Supersedes}
	return err
}

// read is a point read as an answer.
func read(ctx context.Context, v sgam.View, subject string) (answer, error) {
	f, err := v.Get(ctx, subject, "deadline")
	if none, ok := errors.AsType[*sgam.NoValueError](err); ok {
		if none.By == nil {
			return answer{}, nil
		}
		return answer{Memory: none.By.ID, Absent: true}, nil
	}
	return answer{Memory: f.ID}, err
}

// now is a clock that never goes back and that all processes share.
func now() (int64, error) {
	var at unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at)
	return at.Nano(), err
}
