package migrate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/migrate"
)

// questions asks about known times that are over, n times, and writes each answer as JSON. The same seed asks the same.
func questions(ctx context.Context, tenant *sgam.Tenant, known []time.Time, n int) ([]string, error) {
	random := rand.New(rand.NewPCG(7, 7))
	out := make([]string, n)
	for i := range out {
		k := known[random.IntN(len(known))]
		valid := dayOne.Add(time.Duration(random.IntN(400)) * time.Minute)
		subject := fmt.Sprintf("s%d", random.IntN(subjects))
		slot := sgam.Slot{Subject: subject, Attribute: []string{"profile", "status", "fax"}[random.IntN(3)]}
		view := tenant.ValidAt(valid).KnownAt(k)
		var answer []any
		var failed error
		add := func(v any, err error) {
			if err != nil {
				v = err.Error()
			}
			answer = append(answer, v)
			if err != nil && !errors.Is(err, sgam.ErrNoValue) && !errors.Is(err, sgam.ErrUnmigrated) {
				failed = errors.Join(failed, err)
			}
		}
		switch i % 7 {
		case 0:
			add(tenant.KnownAt(k).Get(ctx, subject, slot.Attribute))
		case 1:
			add(view.Get(ctx, subject, slot.Attribute))
		case 2:
			for f, err := range view.Members(ctx, subject, "phone") {
				add(f, err)
			}
		case 3:
			for s, err := range view.Timeline(ctx, slot) {
				add(s, err)
			}
		case 4:
			for h, err := range tenant.History(ctx, slot) {
				if err == nil && h.Fact.RecordedAt.After(known[len(known)-1]) {
					break // it was not there when the first answers were taken
				}
				add(h, err)
			}
		case 5:
			for b, err := range tenant.Believed(ctx, slot, valid) {
				if err == nil && b.Fact.RecordedAt.After(known[len(known)-1]) {
					break
				}
				add(b, err)
			}
		case 6:
			for d, err := range tenant.Diff(ctx, k, known[random.IntN(len(known))], sgam.Filter{Subjects: []string{subject}}) {
				if _, wrong := errors.AsType[*sgam.FieldError](err); wrong {
					break // the second time is before the first
				}
				add(d, err)
			}
		}
		if failed != nil {
			return nil, failed
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		out[i] = string(text)
	}
	return out, nil
}

// asked is how many questions are asked about known times.
const asked = 2000

// recorded takes the answers to all of them.
func (w *world) recorded(known []time.Time) []string {
	w.Helper()
	answers, err := questions(w.Context(), w.tenant, known, asked)
	require.NoError(w, err)
	return answers
}

// present is every answer about the present, as JSON.
func (w *world) present(at time.Time) []string {
	w.Helper()
	var all []string
	for f, err := range w.tenant.ValidAt(at).Facts(w.Context(), sgam.Filter{}) {
		require.NoError(w, err)
		text, err := json.Marshal(f)
		require.NoError(w, err)
		all = append(all, string(text))
	}
	return all
}

func TestG23TwoThousandAnswersStayAsTheyWere(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			var known []time.Time
			for range 8 {
				w.fill(50)
				known = append(known, w.say("mira", "profile", fmt.Sprintf(`{"name":"Mira %d"}`, len(known)), 1).Known)
			}
			later := w.clock.Now().AddDate(1, 0, 0)
			w.register(lens2)
			first, now := w.recorded(known), w.present(later)
			answered := map[string]bool{}
			for _, a := range first {
				answered[a] = true
			}
			require.Greater(t, len(answered), asked/10, "the questions have answers of all sorts")

			plan := w.draw()
			w.through(plan, migrate.Dual)
			require.Equal(t, first, w.recorded(known), "after the run")
			require.Equal(t, now, w.present(later), "the present too")
			w.verify()
			w.cutover()
			require.Equal(t, first, w.recorded(known), "after the cut-over")
			require.NotEqual(t, now, w.present(later), "the present has the new shape")
			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))
			require.Equal(t, first, w.recorded(known), "after the rollback")
			require.Equal(t, now, w.present(later), "and so is the present again")

			w.through(w.draw(), migrate.Done)
			require.Equal(t, first, w.recorded(known), "after a second migration to its end")
		})
	}
}

func TestAKnownTimeInsideARolledBackCutOverKeepsTheNewShape(t *testing.T) {
	for _, e := range everywhere() {
		t.Run(e.name, func(t *testing.T) {
			w := newWorld(t, e)
			w.say("mira", "profile", `{"name":"Mira","level":"3"}`, 1)
			w.register(lens2)
			w.through(w.draw(), migrate.CutOver)
			inside := w.say("bob", "profile", `{"full_name":"Bob"}`, 2).Known
			require.NoError(t, migrate.Rollback(t.Context(), w.Ledger, target, false))
			require.JSONEq(t, `{"full_name":"Mira","level":3}`, string(w.get(w.tenant.KnownAt(inside), "mira", "profile").Value))
			require.JSONEq(t, `{"level":"3","name":"Mira"}`, string(w.get(w.tenant.Current(), "mira", "profile").Value))
			require.JSONEq(t, `{"name":"Bob"}`, string(w.get(w.tenant.Current(), "bob", "profile").Value))
		})
	}
}
