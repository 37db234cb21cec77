package ledgertest

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sgam-ledger/sgam"
)

// callsAfter are the numbers of the calls known after an instant.
func (t *tenant) callsAfter(since sgam.Instant) []keyed[int] {
	var out []keyed[int]
	for i, c := range t.calls {
		if c.known > since {
			out = append(out, keyed[int]{orderOf(i), i + 1})
		}
	}
	return out
}

// call is put together from what it left in the layers.
func (t *tenant) call(number int) sgam.StoredCall {
	c := t.calls[number-1]
	return sgam.StoredCall{Seq: int64(number), Principal: c.principal, Change: t.brought(c.known)}
}

// brought is what the call of a known time brought itself.
func (t *tenant) brought(known sgam.Instant) sgam.Change {
	c := sgam.Change{Known: known}
	var brought []storedEpisode
	for _, e := range t.episodes {
		if e.known == known {
			brought = append(brought, e)
		}
	}
	slices.SortFunc(brought, func(a, b storedEpisode) int { return cmp.Compare(a.place, b.place) })
	for _, e := range brought {
		c.Episodes, c.Digests = append(c.Episodes, cloneEpisode(e.Episode)), append(c.Digests, e.digest)
	}
	for i := range t.facts {
		if t.facts[i].KnownAt == known {
			c.Facts = append(c.Facts, cloneFact(t.facts[i]))
		}
	}
	for i := range t.outcomes {
		if o := &t.outcomes[i]; o.known == known {
			c.Outcomes = append(c.Outcomes, o.NewOutcome)
			t.settledBy(o, &c)
		}
	}
	for i := range t.candidates {
		if h := &t.candidates[i]; h.KnownAt == known {
			c.Candidates = append(c.Candidates, sgam.NewCandidate{
				Memory: h.Memory, Ordinal: h.ordinal, Status: h.held, Slot: h.Slot, Episode: h.Episode, Delta: bytes.Clone(h.Delta),
				LostTo: slices.Clone(h.LostTo),
			})
		}
	}
	for key, at := range t.slots {
		for digest, n := range at.numbers {
			if n.known == known {
				c.Numbers = append(c.Numbers, sgam.NumberedValue{Slot: key, Digest: digest, Number: n.number})
			}
		}
	}
	t.versionsBrought(&c)
	return c
}

// settledBy adds the candidate that an outcome is about, if it settled one.
func (t *tenant) settledBy(o *storedOutcome, c *sgam.Change) {
	for i := range t.candidates {
		if h := &t.candidates[i]; h.Memory == o.Memory && h.settled == o.known {
			c.Settled = append(c.Settled, sgam.SettledCandidate{Memory: h.Memory, Status: h.Status, Fact: h.fact})
		}
	}
}

// versionsBrought adds what a call brought of versions and migrations.
func (v *versioned) versionsBrought(c *sgam.Change) {
	for _, all := range v.epochs {
		for _, e := range all {
			if e.KnownFrom == c.Known {
				c.Epochs = append(c.Epochs, e)
			}
		}
	}
	for fact, all := range v.encodings {
		for _, e := range all {
			if e.KnownFrom == c.Known {
				c.Encodings = append(c.Encodings, sgam.NewEncoding{Fact: fact, Encoding: cloneEncoding(e)})
			}
		}
	}
	for at, q := range v.quarantine {
		if q.KnownAt == c.Known {
			c.Quarantined = append(c.Quarantined, sgam.Quarantined{Fact: at.fact, Version: at.version, Rule: q.Rule, Pointer: q.Pointer})
		}
	}
	for _, all := range v.migrations {
		for _, m := range all {
			if m.known == c.Known {
				record := cloneRecord(m.MigrationRecord)
				c.Migration = &record
			}
		}
	}
}
