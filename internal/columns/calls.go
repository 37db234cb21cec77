package columns

import "github.com/sgam-ledger/sgam"

// OutcomeRecord is an outcome as it is listed, in ten columns of which the first is the number of its call.
func (c Columns) OutcomeRecord() sgam.OutcomeRecord {
	return sgam.OutcomeRecord{
		Ordinal: c.number(1), Known: c.instant(2).Time(), Outcome: sgam.Outcome(c.text(3)), Memory: c.memory(4), Code: c.text(5),
		Pointer: c.text(6), Op: sgam.Op(c.text(7)), Attribute: c.text(8), Principal: c.text(9),
	}
}

// StoredOutcome is an earlier outcome without what its fact did, and the number of that fact, in eight columns.
func (c Columns) StoredOutcome() (found *sgam.StoredOutcome, fact int64) {
	return &sgam.StoredOutcome{Payload: c.digest(1), Receipt: sgam.Receipt{
		Outcome: sgam.Outcome(c.text(0)), Memory: c.memory(3), Code: c.text(4), Assumed: c.Cells.Flag(c.First + 5),
		Known: c.instant(6).Time(), Principal: c.text(7),
	}}, c.int(2)
}

// Reach tells a receipt when its fact was recorded, how far the statement reached and what it stands in for, in five columns.
func (c Columns) Reach(into *sgam.Receipt) {
	asserted, reach := c.span(0), sgam.Span{From: c.instant(0), To: c.instant(2)}
	shown := reach.Interval()
	into.Known, into.Supersedes, into.Reach = c.instant(3).Time(), c.memory(4), &shown
	if reach.To < asserted.To {
		cut := sgam.Span{From: reach.To, To: asserted.To}.Interval()
		into.Clipped = &cut
	}
}

// Displacement is a region that a fact lost, in four columns.
func (c Columns) Displacement() sgam.Displacement {
	return sgam.Displacement{Memory: c.memory(0), How: sgam.How(c.text(1)), Valid: c.span(2).Interval()}
}

// The content of a stored call.

// NewFact is a fact that a call brought, in 21 columns of which the first are those of [Columns.Logged]. Its content is
// gone when erased is set.
func (c Columns) NewFact(key sgam.SlotKey) (f sgam.NewFact, erased bool, err error) {
	f = sgam.NewFact{
		LoggedFact: c.Logged(key), Ordinal: c.number(13), SchemaVersion: c.number(14), Supersedes: c.int(15), Retention: c.text(16),
		Encoded: c.bytes(19), Principal: c.text(20),
	}
	f.Reach = sgam.Span{From: f.Asserted.From, To: c.instant(12)}
	return f, !c.null(18), c.provenance(17, f.ID, &f.Provenance)
}

// Outcome adds an outcome to the change that decided it, with the candidate that it settled, in 16 columns of which the first
// is the number of its call.
func (c Columns) Outcome(into *sgam.Change) {
	o := sgam.NewOutcome{
		Ordinal: c.number(1), Outcome: sgam.Outcome(c.text(2)), Key: c.digest(3), Payload: c.digest(4), Digest: c.digest(5), Fact: c.int(6),
		Memory: c.memory(7), Code: c.text(8), Pointer: c.text(9), Op: sgam.Op(c.text(10)), Attribute: c.text(11),
		Assumed: c.Cells.Flag(c.First + 12), Principal: c.text(13),
	}
	into.Outcomes = append(into.Outcomes, o)
	if !c.null(14) {
		into.Settled = append(into.Settled, sgam.SettledCandidate{Memory: o.Memory, Status: sgam.Outcome(c.text(14)), Fact: c.int(15)})
	}
}

// Quarantined is a fact that a call found without a form, in four columns.
func (c Columns) Quarantined() sgam.Quarantined {
	return sgam.Quarantined{Fact: c.int(0), Version: c.number(1), Rule: c.text(2), Pointer: c.text(3)}
}
