//go:build cgo && unix

package crashtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/sqlite"
)

// playing tells a child to play the script.
type playing struct {
	Path string // of the ledger
	Acks string // the file that gets a line for each event, before the child goes on
	Die  bool   // at the first error, without tidying up; otherwise try again
}

// event is what happened to a player: a step was acknowledged, or it failed. Step -1 is opening the ledger, scriptSize
// closing it.
type event struct {
	Step     int
	Receipts []sgam.Receipt `json:",omitempty"`
	Error    string         `json:",omitempty"`
	Unknown  bool           `json:",omitempty"` // the error is sgam.ErrOutcomeUnknown
}

const (
	opening = -1
	closing = scriptSize
	tries   = 3
)

// play plays the script on one thread, as far as that is in a program's hands: strace counts by thread.
func play(ctx context.Context, args playing, _ *parent) error {
	runtime.LockOSThread()
	acks, err := os.OpenFile(args.Acks, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	p := player{args: args, acks: json.NewEncoder(acks), stage: newStage(args.Path, 1)}
	for i, act := range script() {
		if act.reopen {
			if err := p.close(); err != nil {
				return err
			}
		}
		if p.ledger == nil {
			if err := p.try(opening, func() ([]sgam.Receipt, error) { return nil, p.open(ctx) }); err != nil {
				return err
			}
		}
		if err := p.try(i, func() ([]sgam.Receipt, error) { return p.stage.play(ctx, i) }); err != nil {
			return err
		}
	}
	return p.close()
}

type player struct {
	args playing
	acks *json.Encoder
	*stage
}

// close closes the ledger. What that has to say is told, and is no reason to stop: everything was acknowledged before.
func (p *player) close() error {
	if err := p.stage.close(); err != nil {
		return p.acks.Encode(event{Step: closing, Error: err.Error()})
	}
	return nil
}

// try does something until it works, and gives up after a few tries.
func (p *player) try(number int, act func() ([]sgam.Receipt, error)) error {
	for range tries {
		receipts, err := act()
		if err == nil {
			return p.acks.Encode(event{Step: number, Receipts: receipts})
		}
		if err := p.acks.Encode(event{Step: number, Error: err.Error(), Unknown: errors.Is(err, sgam.ErrOutcomeUnknown)}); err != nil {
			return err
		}
		if p.args.Die {
			break
		}
	}
	os.Exit(exitGivenUp)
	return nil
}

// theatre is a directory in which one child plays the script.
type theatre struct {
	*testing.T
	path, acks, log string
}

func newTheatre(t *testing.T) *theatre {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	// Each in a directory of its own: strace watches the ledger's as a whole.
	h := &theatre{T: t, path: filepath.Join(dir, "ledger", "a.db"), acks: filepath.Join(dir, "acks"), log: filepath.Join(dir, "log")}
	require.NoError(t, os.Mkdir(filepath.Dir(h.path), 0o700))
	return h
}

// perform lets a child play the script, with an injection into its calls on some files, and is the child's exit code.
func (h *theatre) perform(die bool, files []string, injection string) int {
	h.Helper()
	p := start(h.T, "player", playing{Path: h.path, Acks: h.acks, Die: die}, tracing(h.log, files, injection)...)
	code := p.code()
	if code != exitGivenUp && code >= 0 {
		require.Empty(h, p.errors.String())
	}
	return code
}

// events are what the child told before it died or ended.
func (h *theatre) events() []event {
	h.Helper()
	text, err := os.ReadFile(h.acks)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(h, err)
	var told []event
	for line := range strings.Lines(string(text)) {
		var e event
		require.NoError(h, json.Unmarshal([]byte(line), &e), "a line is written whole or not at all")
		told = append(told, e)
	}
	return told
}

// acked are the receipts of the acknowledged steps, in order.
func acked(events []event) (receipts [][]sgam.Receipt) {
	for _, e := range events {
		if e.Error == "" && e.Step >= 0 {
			receipts = append(receipts, e.Receipts)
		}
	}
	return receipts
}

// rehearse plays the script undisturbed and returns the portraits of the ledger after each number of steps.
func rehearse(t *testing.T) [][]string {
	t.Helper()
	ctx := t.Context()
	s := newStage(filepath.Join(t.TempDir(), "a.db"), 1)
	require.NoError(t, s.open(ctx))
	after := make([][]string, 0, scriptSize+1)
	for i, act := range script() {
		after = append(after, paint(t, s.ledger))
		receipts, err := s.play(ctx, i)
		require.NoError(t, err, act.name)
		for _, r := range receipts {
			require.Equal(t, act.want, r.Outcome, "%s: %s %v", act.name, r.Code, r.Faults)
		}
	}
	after = append(after, paint(t, s.ledger))
	require.NoError(t, s.close())
	require.Len(t, after, scriptSize+1)
	for i := range after[1:] {
		require.NotEqual(t, after[i], after[i+1], "step %q leaves no mark, so nobody would miss it", script()[i].name)
	}
	return after
}

func paint(t *testing.T, l *sgam.Ledger) []string {
	t.Helper()
	lines, err := portrait(t.Context(), l)
	require.NoError(t, err)
	return lines
}

// examine holds what is left of a ledger against the promises: what was acknowledged is there, of what was not either
// all or nothing is, every layer proves itself, and delivering everything once more leaves what an undisturbed run does.
// stored says whether the step after the acknowledged ones may, or must not, be there.
func (h *theatre) examine(after [][]string, acks [][]sgam.Receipt, mayHoldNext bool) {
	h.Helper()
	ctx := h.Context()
	wanted := after[len(acks) : len(acks)+1]
	if mayHoldNext && len(acks) < scriptSize {
		wanted = after[len(acks) : len(acks)+2]
	}
	if len(acks) > 0 {
		l, err := sqlite.Open(ctx, h.path, &sgam.Options{ReadOnly: true})
		require.NoError(h, err, "a reader recovers the file without a writer")
		h.among(wanted, paint(h.T, l))
		require.NoError(h, l.Close())
	}
	s := newStage(h.path, 2)
	require.NoError(h, s.open(ctx), "reopen")
	h.among(wanted, paint(h.T, s.ledger))
	prove(h.T, s.ledger, h.path)
	for i, act := range script() {
		receipts, err := s.play(ctx, i)
		require.NoError(h, err, "deliver %q again", act.name)
		if i < len(acks) {
			requireRepeats(h.T, act, acks[i], receipts)
		}
	}
	require.Equal(h, after[scriptSize], paint(h.T, s.ledger), "everything was delivered, and exactly once")
	prove(h.T, s.ledger, h.path)
	require.NoError(h, s.close())
}

// among requires one of the wanted portraits.
func (h *theatre) among(wanted [][]string, got []string) {
	h.Helper()
	if len(wanted) == 2 && fmt.Sprint(got) == fmt.Sprint(wanted[1]) {
		return
	}
	require.Equal(h, wanted[0], got, "some call is half there, or an acknowledged one is not")
}

// requireRepeats requires that a redelivery was recognised, each delta of it.
func requireRepeats(t *testing.T, act step, first, again []sgam.Receipt) {
	t.Helper()
	require.Len(t, again, len(first))
	for i := range first {
		require.Equal(t, sgam.Duplicate, again[i].Outcome, act.name)
		if act.keyed {
			require.Equal(t, first[i].Memory, again[i].Memory, act.name)
			// A candidate answers as it stands now: with the known time of its acceptance.
			require.True(t, act.want == sgam.Pending || first[i].Known.Equal(again[i].Known), act.name)
		}
	}
}

// prove lets the ledger prove itself, and SQLite its file.
func prove(t *testing.T, l *sgam.Ledger, path string) {
	t.Helper()
	for err := range l.Verify(t.Context()) {
		require.NoError(t, err)
	}
	db := openRaw(t, path)
	defer func() { require.NoError(t, db.Close()) }()
	var verdict string
	require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict))
	require.Equal(t, "ok", verdict)
	var broken int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken))
	require.Zero(t, broken, "rows without what they refer to")
	require.NoError(t, db.QueryRowContext(t.Context(),
		"SELECT count(*) FROM tenants t WHERE t.last_seq <> (SELECT count(*) FROM calls c WHERE c.tenant_id = t.tenant_id)").Scan(&broken))
	require.Zero(t, broken, "calls are numbered without gaps")
}

// openRaw opens the file for reading, past the engine.
func openRaw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_busy_timeout=10000")
	require.NoError(t, err)
	return db
}
