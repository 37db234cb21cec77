package bench

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sgam-ledger/sgam"
	"github.com/sgam-ledger/sgam/schema"
)

// customer is the memory type of the benchmarks.
type customer struct {
	PassportDeadline sgam.Date `json:"passport_deadline"`
	Email            string    `json:"email" validate:"email"`
	City             string    `json:"city" validate:"required"`
	Plan             string    `json:"plan" validate:"oneof=free team business"`
	Language         string    `json:"language" validate:"len=2"`
}

// attributes are those of a customer. The first ones never run out of values.
var attributes = [attributesEach]string{"passport_deadline", "email", "city", "plan", "language"}

const attributesEach, endlessEach = 5, 3

func declared() (*schema.Registry, error) {
	types := schema.NewRegistry()
	_, err := schema.DefineType[customer](types, "customer", 1, &schema.TypeSpec{
		Fields: map[string]*schema.Spec{"passport_deadline": {Retention: "identity_documents"}},
	})
	return types, err
}

// value is the n-th value of an attribute. Values of neighbouring numbers differ.
func value(attribute, n int) []byte {
	text := ""
	switch attributes[attribute] {
	case "passport_deadline":
		text = day(n).Format(time.DateOnly)
	case "email":
		text = fmt.Sprintf("customer-%d@example.com", n)
	case "city":
		text = fmt.Sprintf("City of Number %d", n)
	case "plan":
		text = [...]string{"free", "team", "business"}[n%3]
	case "language":
		const letters = "abcdefghijklmnopqrstuvwxyz"
		text = string([]byte{letters[n%26], letters[n/26%26]})
	}
	return fmt.Appendf(nil, "%q", text)
}

// day is the n-th day of the history that the files hold.
func day(n int) time.Time { return time.Date(2023, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

// The history of an ordinary slot: a value, a change, a correction of the past, another change. A wave is stated at its
// known day, and holds from its valid day on. Each takes some hours in known time, in large files.
const (
	factsEach = 4 // of one slot

	changedOn                    = 200
	correctedFrom, correctedTo   = 100, 150
	correctedOn                  = 250
	changedAgainOn               = 300
	deepFrom                     = 400 // the first day of the slot with many versions
	deepStep                     = 7 * time.Minute
	deepAttribute, deepCorrected = 2, 10 // every tenth of its facts corrects the past
	deepSubject                  = "deep"
)

// wave is the n-th fact of a slot.
func wave(n int, subject string, attribute int) sgam.MemoryDelta {
	d := sgam.MemoryDelta{Op: sgam.Assert, Subject: subject, Attribute: attributes[attribute], Value: value(attribute, n)}
	from := day([...]int{0, changedOn, correctedFrom, changedAgainOn}[n])
	if n == 2 {
		to := day(correctedTo)
		d.Op, d.ValidTo = sgam.Correct, &to
	}
	d.ValidFrom = &from
	return d
}

// waveKnown is when the first call of a wave is made.
func waveKnown(n int) time.Time {
	return day([...]int{0, changedOn, correctedOn, changedAgainOn}[n])
}

// few subjects are as many as an agent deals with at a time.
const few = 50

func subjectName(n int) string { return fmt.Sprintf("customer-%07d", n) }

// episode is the message that the deltas of one subject in one wave come from.
func episode(id string, at time.Time) sgam.Episode {
	return sgam.Episode{
		ID: id, Kind: sgam.Message, SourceID: "inbox", OccurredAt: at, Actor: "customer", Thread: "support",
		Text: "Hello, please note that my details have changed since we last spoke. Everything is in the form that I filled in.",
	}
}

// deepKnown is when the n-th version of the deep slot was recorded.
func deepKnown(n int) time.Time { return day(deepFrom).Add(time.Duration(n) * deepStep) }

// deep is the n-th fact of the deep slot: a change from now on, or now and then a correction of some hours half way back.
func deep(n int) sgam.MemoryDelta {
	d := sgam.MemoryDelta{Op: sgam.Assert, Subject: deepSubject, Attribute: attributes[deepAttribute], Value: value(deepAttribute, n)}
	from := deepKnown(n)
	if n%deepCorrected == deepCorrected-1 {
		from = deepKnown(n / 2)
		to := from.Add(3 * deepStep)
		d.Op, d.ValidTo = sgam.Correct, &to
	}
	d.ValidFrom = &from
	return d.From(episode(fmt.Sprintf("deep-%d", n), deepKnown(n)))
}

// slot is a slot at random.
type slot struct {
	subject   string
	attribute int
}

// draws are the same for the same seed.
func draws(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // both sides draw the same, and keep no secret
}

// slots draws slots, the same ones for the same seed.
func (f *file) slots(seed uint64) func() slot { return f.draw(seed, attributesEach) }

// endless draws slots of attributes that never run out of values.
func (f *file) endless(seed uint64) func() slot { return f.draw(seed, endlessEach) }

func (f *file) draw(seed uint64, attributes int) func() slot {
	r := draws(seed)
	return func() slot { return slot{f.subjects[r.IntN(len(f.subjects))], r.IntN(attributes)} }
}
