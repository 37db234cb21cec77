package sgam

import "slices"

// ConflictPolicy says what happens when a delta meets a different value (rule R11).
type ConflictPolicy string

// The conflict policies.
const (
	// Supersede applies every delta. It is the default.
	Supersede ConflictPolicy = "supersede"
	// KeepHighestConfidence applies a delta that is at least as confident as each fact it would displace.
	KeepHighestConfidence ConflictPolicy = "keep_highest_confidence"
	// SourceRank applies a delta whose episode kind ranks at least as high as each fact it would displace.
	SourceRank ConflictPolicy = "source_rank"
	// Immutable rejects an assert or end against a different value anywhere in the slot.
	Immutable ConflictPolicy = "immutable"
	// ConfirmFirst keeps every delta pending until it is accepted.
	ConfirmFirst ConflictPolicy = "confirm_first"
)

func (a *attribute) weighs() bool { return a.Policy == KeepHighestConfidence || a.Policy == SourceRank }

// holdsOther reports whether an immutable slot holds a value that the statement would change, anywhere.
func (w *workSlot) holdsOther(op Op, number int64) bool {
	if op != Assert && op != End {
		return false
	}
	other := false
	w.different(Span{Beginning, Forever}, number, func(p *piece) bool {
		other = p.fact.Value != 0
		return !other
	})
	return other
}

// lost lists the facts in the reach that are stronger than the statement (rule R11), nil when it wins.
func (d *decision) lost(w *workSlot, p *prepared, reach Span, number int64, kind EpisodeKind) []MemoryID {
	if !p.attr.weighs() {
		return nil
	}
	own := p.attr.strength(Evidence{p.Confidence, kind})
	var lost []MemoryID
	w.different(reach, number, func(q *piece) bool {
		if w.strongest(p.attr, q.fact) > own && !slices.Contains(lost, q.fact.ID) {
			lost = append(lost, q.fact.ID)
		}
		return true
	})
	return lost
}

// strongest is the strength of a fact: the highest among it and its live confirmations (rule R11).
func (w *workSlot) strongest(a *attribute, f *LoggedFact) float64 {
	strongest := a.strength(Evidence{f.Confidence, f.Kind})
	for _, b := range w.backing[f.Number] {
		live := b.Elsewhere || slices.ContainsFunc(w.pieces, func(q piece) bool {
			return q.fact.Number == f.Number && q.valid.Overlaps(b.Valid)
		})
		if live {
			strongest = max(strongest, a.strength(b.Evidence))
		}
	}
	return strongest
}

// strength orders evidence by the attribute's policy.
func (a *attribute) strength(e Evidence) float64 {
	if a.Policy == KeepHighestConfidence {
		if e.Confidence == nil {
			return 0
		}
		return *e.Confidence
	}
	if i := slices.Index(a.Ranks, e.Kind); i >= 0 {
		return float64(len(a.Ranks) - i)
	}
	if e.Kind == UserConfirmation {
		return float64(len(a.Ranks) + 1) // what passes every policy is not the weakest afterwards
	}
	return 0
}

// expected compares the guard with what holds at valid_from.
func (d *decision) expected(w *workSlot, p *prepared) bool {
	holds := w.at(p.span.From)
	if p.ExpectCurrent.IsZero() {
		return holds == nil || holds.fact.Value == 0
	}
	return holds != nil && holds.fact.ID == *p.ExpectCurrent
}
