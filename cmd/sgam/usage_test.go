package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// Everything wrong on a command line gets one line on standard error, nothing on standard output, and exit code 2.
func TestWrongCommandLinesGetOneLine(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.file("empty.txt", "")
	b.file("two.txt", "x")
	for _, test := range []struct{ line, says string }{
		{"gte mira passport_deadline --db agent.db", `unknown command "gte": did you mean "get"?`},
		{"frobnicate", `unknown command "frobnicate" (see 'sgam --help')`},
		{"schema remove", `unknown command "remove" (see 'sgam schema --help')`},
		{"get mira --db agent.db", "sgam get needs SUBJECT and ATTRIBUTE: 1 given"},
		{"get mira passport_deadline more --db agent.db", "sgam get needs SUBJECT and ATTRIBUTE: 3 given"},
		{"facts mira --db agent.db", `sgam facts takes no arguments, and got "mira"`},
		{"schema add --db agent.db", "sgam schema add needs FILE…: 0 given"},
		{"schema add --lens two.txt --db absent.db", "--db: there is no ledger at absent.db"},
		{"schema add --lens two.txt --db agent.db", "two.txt: want the JSON document of a lens, with the type and the version from 2 on that it leads to"},
		{"schema add --lens absent.json --db agent.db", "absent.json: no such file or directory"},
		{"migrate undo --db agent.db", `unknown command "undo" (see 'sgam migrate --help')`},
		{"migrate plan --db agent.db", "sgam migrate plan needs TYPE: 0 given"},
		{"migrate plan identity", "--db is missing: it names the ledger's file"},
		{"migrate plan identity --db agent.db --from 0", "--from 0: want a version from 1 on"},
		{"migrate plan identity --db agent.db --to 9", "--to: want a version up to 1, after the one that is migrated from"},
		{"migrate plan identity --db agent.db --delete city=forget", `--delete "city=forget": want NAME=WHAT with keep, expire or erase`},
		{"migrate plan identity --db agent.db --delete =keep", `--delete "=keep": want NAME=WHAT with keep, expire or erase`},
		{"schema check x --against y --dispose =erase", `--dispose "=erase": want NAME=WHAT with keep_readable, expire or erase`},
		{"migrate plan identity --db agent.db --tenant ghost", `--tenant "ghost": there is no such tenant in this ledger, and without --tenant all are meant`},
		{"migrate plan identity --db agent.db -o absent/plan.json", "--output: absent: no such file or directory"},
		{"migrate dry-run absent.json --db agent.db", "absent.json: no such file or directory"},
		{"migrate dry-run two.txt --db agent.db", "two.txt is no plan of 'sgam migrate plan': "},
		{"migrate run two.txt --db agent.db --tenant default", "--tenant: the plan says which tenants it is about"},
		{"migrate run two.txt --db agent.db --batch 0", "--batch 0: want a number from 1 on"},
		{"migrate status identity order --db agent.db", "sgam migrate status takes one TYPE at most: 2 given"},
		{"migrate cutover --db agent.db", "sgam migrate cutover needs TYPE: 0 given"},
		{"get mira passport_deadline", "--db is missing: it names the ledger's file"},
		{"schema add identity.json", "--db is missing: it names the ledger's file"},
		{"get mira passport_deadline --db absent.db", "--db: there is no ledger at absent.db"},
		{"withdraw --episode e1 --db absent.db", "--db: there is no ledger at absent.db"},
		{"verify --db absent/agent.db", "--db: there is no ledger at absent/agent.db"},
		{"facts --db .", "--db: . is a folder"},
		{"apply - --db .", "--db: . is a folder"},
		{"facts --db " + os.DevNull, "--db: " + os.DevNull + " is no file"},
		{"schema add identity.json --db " + os.DevNull, "--db: " + os.DevNull + " is no file"},
		{"facts --db identity.json", "not a ledger file: identity.json"},
		{"facts --db agent.db --frob", "unknown flag: --frob (see 'sgam facts --help')"},
		{"facts --db agent.db --limit many", `invalid argument "many" for "--limit" flag: strconv.ParseInt: parsing "many": invalid syntax (see 'sgam facts --help')`},
		{"facts --db agent.db --limit -1", "--limit -1: want a number from 0 on"},
		{"facts --db", "flag needs an argument: --db (see 'sgam facts --help')"},
		{"facts --db :memory:", "--db :memory:: want a file, since a ledger in memory would end with the command"},
		{"schema add identity.json --db :memory:", "--db :memory:: want a file, since a ledger in memory would end with the command"},
		{"facts --db agent.db --valid ''", `--valid "": want a time with an offset such as 2026-06-03T10:00:00Z, or a date`},
		{"get mira passport_deadline --db agent.db --known ''", `--known "": want a time with an offset such as 2026-06-03T10:00:00Z, or a date`},
		{"outcomes --db agent.db --known ''", `--known "": want a time with an offset such as 2026-06-03T10:00:00Z, or a date`},
		{"diff --db agent.db --known-from ''", `--known-from "": want a time with an offset such as 2026-06-03T10:00:00Z, or a date`},
		{"facts --db agent.db --valid yesterday", `--valid "yesterday": want a time with an offset such as 2026-06-03T10:00:00Z, or a date`},
		{"facts --db agent.db --known 2026-06-03T10:00:00", `--known "2026-06-03T10:00:00": want a time with an offset such as 2026-06-03T10:00:00Z, or a date`},
		{"facts --db agent.db --known 2026-02-30", `--known "2026-02-30": want a time with an offset such as 2026-06-03T10:00:00Z, or a date`},
		{"facts --db agent.db --valid 9999-01-01", `--valid "9999-01-01": want a time in the years 0001 to 9998`},
		{"facts --db agent.db --zone Mars", `--zone "Mars": want a time zone such as Europe/Berlin or UTC`},
		{"facts --db agent.db --zone Local", `--zone "Local": want a time zone such as Europe/Berlin or UTC`},
		{"facts --db agent.db --attribute nope", `--attribute: one of ["nope"] is in no memory type of this ledger ('sgam schema list' shows them)`},
		{"facts --db agent.db --type nope", `--type: one of ["nope"] is not in this ledger ('sgam schema list' shows them)`},
		{"get mira nope --db agent.db", `no attribute "nope" in this ledger ('sgam schema list' shows them)`},
		{"timeline mira allergies --db agent.db", `attribute "allergies" has many values: --member names one, and 'sgam get' lists them`},
		{"explain mira allergies --db agent.db", `attribute "allergies" has many values: --member names one, and 'sgam get' lists them`},
		{"get mira passport_deadline --member x --db agent.db", "--member: want no member: the attribute has one value"},
		{"timeline mira passport_deadline --scope a --scope b --db agent.db", "--scope: this command reads one scope, and got 2"},
		{"diff --db agent.db", "--known-from is missing: the known time to compare with"},
		{"diff --db agent.db --known-from 2026-06-02 --known 2026-06-01", "--known-from is later than --known"},
		{"withdraw --db agent.db", "sgam withdraw needs one of --memory, --episode and --source"},
		{"withdraw --db agent.db --episode e1 --source ticket/7", "--episode and --source exclude each other"},
		{"withdraw --db agent.db --source ticket", `--source "ticket": want KIND/ID, such as ticket/T-1042`},
		{"withdraw --db agent.db --memory e1", `--memory "e1": want a UUID of 36 characters`},
		{"accept e1 --db agent.db", `MEMORY-ID "e1": want a UUID of 36 characters`},
		{"outcomes --db agent.db --status fine", `--status "fine": want one of applied, confirmed, pending, disputed, rejected, declined`},
		{"outcomes --db agent.db --status pending --held", "--status and --held exclude each other"},
		{"apply absent.jsonl --db agent.db", "absent.jsonl: no such file or directory"},
		{"apply identity.json absent.jsonl --db agent.db", "absent.jsonl: no such file or directory"},
		{"apply - --db agent.db --tenant ''", `--tenant "": `},
		{"verify --db agent.db --tenant ''", `--tenant "": `},
		{"verify --db agent.db --tenant ghost", `--tenant "ghost": there is no such tenant in this ledger, and without --tenant all are verified`},
		{"schema add absent.json --db agent.db", "absent.json: no such file or directory"},
		{"schema add empty.txt --db agent.db", "empty.txt: "},
		{"scenario absent.txt", "absent.txt: no such file or directory"},
		{"scenario two.txt", "two.txt:1: "},
		{"scenario two.txt empty.txt --db new.db", "--db keeps the ledger of one scenario, and 2 are named"},
	} {
		t.Run(test.line, func(t *testing.T) {
			r := b.run("", shellWords(t, test.line)...)
			assert.Equal(t, exitUsage, r.code)
			assert.Empty(t, r.out)
			assert.True(t, strings.HasPrefix(r.err, "sgam: "+test.says), "%s", r.err)
			assert.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
			assert.NotContains(t, r.err, "sgam: sgam: ")
		})
	}
}

func TestCommandsThatReadMakeNoFile(t *testing.T) {
	b := newBench(t)
	for _, line := range []string{
		"get a b", "facts", "timeline a b", "history a b", "believed a b", "diff --known-from 2026-01-01", "explain a b", "outcomes", "verify",
		"schema list", "schema show x", "withdraw --episode e", "accept 00000000-0000-4000-8000-000000000000",
		"decline 00000000-0000-4000-8000-000000000000", "apply - --preview", "upgrade", "schema emit x", "schema diff x@1 x@2",
		"schema check x", "migrate plan x", "migrate status", "migrate verify x", "migrate pause x", "migrate resume x", "migrate cutover x --yes",
		"migrate rollback x --yes", "migrate contract x --yes",
	} {
		r := b.run("", append(strings.Fields(line), "--db", "agent.db")...)
		assert.Equal(t, exitUsage, r.code, line)
		assert.Equal(t, "sgam: --db: there is no ledger at agent.db\n", r.err, line)
	}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, files)
	b.mira() // the control: these make it
	assert.FileExists(t, "agent.db")
}

func TestErrorsHaveTheirExitCodes(t *testing.T) {
	p := &program{}
	for _, test := range []struct {
		err  error
		code int
	}{
		{nil, exitOK},
		{&sgam.NoValueError{Reason: sgam.ErrAbsent}, exitNo},
		{sgam.ErrNotFound, exitNo},
		{&sgam.ValidationError{Code: "guard"}, exitNo},
		{&sgam.FieldError{Field: "subject"}, exitUsage},
		{sgam.ErrForeignFile, exitUsage},
		{fs.ErrNotExist, exitUsage},
		{sqlite.ErrReadOnlyFolder, exitUsage},
		{sgam.ErrFormatOld, exitRefused},
		{sgam.ErrClockBehind, exitRefused},
		{sgam.ErrBusy, exitRefused},
		{sgam.ErrSchemaDrift, exitRefused},
		{sgam.ErrFormatTooNew, exitUnreadable},
		{sgam.ErrKeyMissing, exitUnreadable},
		{errors.New("disk I/O error"), exitUnreadable},
		{&verdict{code: exitTampered}, exitTampered},
	} {
		code, _ := p.judge(t.Context(), test.err)
		assert.Equal(t, test.code, code, "%v", test.err)
		if test.err != nil {
			code, _ = p.judge(t.Context(), fmt.Errorf("agent.db: %w", test.err))
			assert.Equal(t, test.code, code, "wrapped: %v", test.err)
		}
	}
}

func TestAnInterruptedCommandSaysSo(t *testing.T) {
	b := newBench(t)
	b.mira()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := b.runContext(ctx, "", "facts", "--db", "agent.db")
	assert.Equal(t, exitInterrupted, r.code)
	assert.Equal(t, "sgam: interrupted\n", r.err)
}

func TestAnInterruptionDoesNotWaitForTheNextLine(t *testing.T) {
	b := newBench(t)
	b.mira()
	typed, keyboard := io.Pipe()
	defer func() { assert.NoError(t, keyboard.Close()) }()
	ctx, cancel := context.WithCancel(t.Context())
	var out, errOut bytes.Buffer
	p := b.program("", &out, &errOut)
	p.in = typed
	code := make(chan int)
	go func() { code <- p.run(ctx, []string{"apply", "-", "--db", "agent.db"}) }()
	_, err := keyboard.Write([]byte(cities(1)))
	require.NoError(t, err)
	cancel()
	assert.Equal(t, exitInterrupted, <-code)
	assert.Equal(t, "sgam: interrupted\n", errOut.String())
}

func TestEveryCommandHasTheCommonFlags(t *testing.T) {
	b := newBench(t)
	for _, c := range []string{
		"demo", "schema add", "schema list", "schema show", "schema emit", "schema lint", "schema diff", "schema check", "migrate plan",
		"migrate dry-run", "migrate run", "migrate status", "migrate pause", "migrate resume", "migrate verify", "migrate cutover",
		"migrate rollback", "migrate contract", "apply", "get", "facts", "timeline", "history", "believed", "diff", "explain",
		"withdraw", "accept", "decline", "outcomes", "verify", "upgrade", "replay", "scenario", "version",
	} {
		help := b.ok("", append(strings.Fields(c), "--help")...).out
		for _, flag := range []string{"--db", "--tenant", "--json", "--zone"} {
			assert.Contains(t, help, flag, c)
		}
		reads := strings.Contains(" get facts timeline history believed diff explain ", " "+c+" ")
		for _, flag := range []string{"--valid", "--known"} {
			assert.Equal(t, reads || c == "outcomes" && flag == "--known", strings.Contains(help, flag+" "), "%s %s", c, flag)
		}
		writes := strings.Contains(" apply withdraw accept decline ", " "+c+" ")
		if verb, ok := strings.CutPrefix(c, "migrate "); ok {
			writes = !strings.Contains(" plan dry-run status ", " "+verb+" ")
		}
		assert.Equal(t, writes, strings.Contains(help, "--principal"), c)
	}
}

func TestATenantThatWasNeverWrittenIsNoted(t *testing.T) {
	b := newBench(t)
	b.mira()
	r := b.run("", "get", "mira", "passport_deadline", "--db", "agent.db", "--tenant", "defautl")
	assert.Equal(t, exitNo, r.code)
	assert.Equal(t, "sgam: note: tenant \"defautl\" was never written in this ledger; --tenant may be one of [\"default\"]\n", r.err)
	assert.Contains(t, r.out, "unknown")
	assert.Empty(t, b.ok("", "get", "mira", "passport_deadline", "--db", "agent.db").err)
}

func TestAKnownTimeBeforeTheFirstCommitIsToldFromATenantWithoutOne(t *testing.T) {
	b := newBench(t)
	b.mira()
	for flags, says := range map[string]string{
		"":                                  "known 2026-06-03 10:00Z (last commit)",
		"--known 0001-01-01":                "known 0001-01-01 00:00Z",
		"--known 2026-05-01":                "known 2026-05-01 00:00Z",
		"--tenant other":                    "known nothing yet (the tenant has no commit)",
		"--tenant other --known 2026-06-20": "known nothing yet (the tenant has no commit)",
	} {
		out := b.run("", append(strings.Fields("get mira passport_deadline --db agent.db"), strings.Fields(flags)...)...).out
		assert.Contains(t, out, says, flags)
		if !strings.Contains(flags, "other") {
			assert.NotContains(t, out, "no commit", flags)
		}
	}
}

func TestTheTenantsOfOneLedgerAreStrangers(t *testing.T) {
	b := newBench(t)
	b.mira()
	b.ok(`{"op":"assert","subject":"mira","attribute":"passport_deadline","value":"2031-01-01","episode":{"id":"e1","kind":"ticket",`+
		`"occurred_at":"2026-06-01T09:00Z"}}`, "apply", "--db", "agent.db", "--tenant", "rival")
	assert.Contains(t, b.ok("", "get", "mira", "passport_deadline", "--db", "agent.db", "--tenant", "rival").out, "2031-01-01")
	for _, line := range []string{
		"get mira passport_deadline", "facts", "timeline mira passport_deadline", "history mira passport_deadline",
		"believed mira passport_deadline", "diff --known-from 2026-01-01", "explain mira passport_deadline",
	} {
		out := b.ok("", append(strings.Fields(line), "--db", "agent.db")...).out
		assert.Contains(t, out, "2026-06-30", line)
		assert.NotContains(t, out, "2031-01-01", line)
	}
}

func TestVersionNamesTheProgramAndTheToolchain(t *testing.T) {
	b := newBench(t)
	assert.Regexp(t, `^sgam \S+( [0-9a-f]+)? \(go\S+, \w+/\w+\)\n$`, b.ok("", "version").out)
	assert.Regexp(t, `^\{"version":"\S+",.*"go":"go\S+","platform":"\w+/\w+"\}\n$`, b.ok("", "version", "--json").out)
}
