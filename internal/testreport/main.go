// Testreport turns the output of "go test -json", read from standard input, into a short report: what failed and what it
// printed, a line a package, every skipped test with its reason, and a closing count.
//
//	go test -json ./... | testreport [-strict [-allow REGEXP]...] [-tally FILE]
//
// It exits with 1 when a test or a build failed, when a package did not finish, when nothing ran at all, or, under -strict,
// when a test was skipped for a reason that no -allow matches. It exits with 2 when it was called wrongly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, in io.Reader, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("testreport", flag.ContinueOnError)
	flags.SetOutput(complaints)
	r := newReport(out)
	flags.BoolVar(&r.strict, "strict", false, "fail when a test was skipped")
	flags.Func("allow", "under -strict, a skip whose reason matches this `regexp` is no failure (repeatable)", func(s string) error {
		re, err := regexp.Compile(s)
		if err != nil {
			return err
		}
		r.allowed = append(r.allowed, re)
		return nil
	})
	tally := flags.String("tally", "", "append \"passed failed skipped\" to this `file`")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(complaints, "testreport: unexpected argument %q\n", flags.Arg(0))
		return 2
	}

	if err := r.read(in); err != nil {
		fmt.Fprintln(complaints, "testreport:", err)
		return 1
	}
	c := r.close()
	if *tally != "" {
		if err := appendTally(*tally, c); err != nil {
			fmt.Fprintln(complaints, "testreport:", err)
			return 1
		}
	}
	if c.failed > 0 {
		return 1
	}
	return 0
}

func appendTally(name string, c counts) (err error) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = fmt.Fprintf(f, "%d %d %d\n", c.passed, c.failed, c.skipped)
	return err
}
