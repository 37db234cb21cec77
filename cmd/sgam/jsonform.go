package main

import (
	"time"

	"github.com/sgam-ledger/sgam"
)

// The JSON forms of the answers. Times are UTC; an open end is left out.

// beliefJSON is what holds on a stretch: a fact, or the reason why there is no value, with the fact that states it.
type beliefJSON struct {
	Reason string     `json:"reason,omitempty"`
	Fact   *sgam.Fact `json:"fact,omitempty"`
	By     *sgam.Fact `json:"by,omitempty"`
}

func beliefOf(f *sgam.Fact, reason error) beliefJSON {
	if reason == nil {
		return beliefJSON{Fact: f}
	}
	return beliefJSON{Reason: reasonWord(reason), By: f}
}

// answerJSON is the answer of get.
type answerJSON struct {
	ValidAt time.Time `json:"valid_at"`
	KnownAt time.Time `json:"known_at"`
	beliefJSON
}

// membersJSON is the answer of get about a many-valued attribute that has values.
type membersJSON struct {
	ValidAt time.Time    `json:"valid_at"`
	KnownAt time.Time    `json:"known_at"`
	Members []*sgam.Fact `json:"members"`
}

// stretchJSON is one stretch of a timeline.
type stretchJSON struct {
	ValidFrom *time.Time `json:"valid_from,omitempty"`
	ValidTo   *time.Time `json:"valid_to,omitempty"`
	beliefJSON
}

func stretchOf(s sgam.Stretch) stretchJSON {
	return stretchJSON{start(s.Valid), s.Valid.To, beliefOf(s.Fact, s.Reason)}
}

// heldJSON is one line of believed.
type heldJSON struct {
	KnownFrom *time.Time `json:"known_from,omitempty"`
	KnownTo   *time.Time `json:"known_to,omitempty"`
	beliefJSON
	ClosedBy sgam.MemoryID `json:"closed_by,omitzero"`
}

func heldOf(b *sgam.Belief) heldJSON {
	return heldJSON{start(b.Known), b.Known.To, beliefOf(&b.Fact, b.Reason), b.ClosedBy}
}

// entryJSON is one line of history.
type entryJSON struct {
	Fact      sgam.Fact           `json:"fact"`
	Displaced []sgam.Displacement `json:"displaced,omitempty"`
	Confirms  []sgam.MemoryID     `json:"confirms,omitempty"`
	Withdraws sgam.MemoryID       `json:"withdraws,omitzero"`
}

// differenceJSON is one line of diff.
type differenceJSON struct {
	sgam.Slot
	ValidFrom *time.Time    `json:"valid_from,omitempty"`
	ValidTo   *time.Time    `json:"valid_to,omitempty"`
	Before    beliefJSON    `json:"before"`
	After     beliefJSON    `json:"after"`
	Cause     sgam.MemoryID `json:"cause,omitzero"`
}

func differenceOf(d sgam.Difference) differenceJSON {
	return differenceJSON{
		Slot: d.Slot, ValidFrom: start(d.Valid), ValidTo: d.Valid.To, Before: beliefOf(d.Before.Fact, d.Before.Reason),
		After: beliefOf(d.After.Fact, d.After.Reason), Cause: d.Cause,
	}
}

// explanationJSON is the answer of explain.
type explanationJSON struct {
	sgam.Slot
	ValidAt   time.Time           `json:"valid_at"`
	KnownAt   time.Time           `json:"known_at"`
	Now       beliefJSON          `json:"now"`
	Was       []stretchJSON       `json:"was"`
	Source    *sgam.Episode       `json:"source,omitempty"`
	Principal string              `json:"principal,omitempty"`
	Replaced  []sgam.Displacement `json:"replaced,omitempty"`
	Retention string              `json:"retention_policy,omitempty"`
}

// withdrawalJSON is the answer of withdraw: the receipt, and what is believed otherwise.
type withdrawalJSON struct {
	sgam.Receipt
	Changed []differenceJSON `json:"changed"`
}

// lineJSON is the answer to one line of input.
type lineJSON struct {
	Input string `json:"input"`
	*sgam.Receipt
	// Episode is the id of an episode that came alone and was recorded.
	Episode string `json:"recorded_episode,omitempty"`
	// Error says why nothing was decided about the line.
	Error *faultJSON `json:"error,omitempty"`
}

// faultJSON is why a line could not be taken.
type faultJSON struct {
	Message string            `json:"message"`
	Faults  []sgam.FieldError `json:"faults,omitempty"`
}

// typeJSON is one line of schema list, and the answer of schema add.
type typeJSON struct {
	Type       string          `json:"type"`
	Version    int             `json:"version"`
	Draft      bool            `json:"draft,omitempty"`
	Hash       string          `json:"hash"`
	Attributes []attributeJSON `json:"attributes"`
}

type attributeJSON struct {
	Tag     int      `json:"tag"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Many    bool     `json:"many,omitempty"`
}

func typeOf(doc sgam.TypeDocument) typeJSON {
	out := typeJSON{Type: doc.Type, Version: doc.Version, Draft: doc.Draft, Hash: doc.Hash, Attributes: []attributeJSON{}}
	for _, a := range doc.Attributes {
		out.Attributes = append(out.Attributes, attributeJSON{a.Tag, a.Name, a.Aliases, a.Many})
	}
	return out
}

// verifiedJSON is the answer of verify.
type verifiedJSON struct {
	OK       bool          `json:"ok"`
	Tenants  []string      `json:"tenants"`
	Findings []findingJSON `json:"findings"`
}

type findingJSON struct {
	Tenant    string `json:"tenant"`
	Attribute string `json:"attribute"`
	Slot      int    `json:"slot"`
	Layer     string `json:"layer"`
	Detail    string `json:"detail"`
}

// start is the beginning of an interval, nil when it is open.
func start(i sgam.Interval) *time.Time {
	if i.From.IsZero() {
		return nil
	}
	return &i.From
}
