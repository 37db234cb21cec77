// Package sgam is a bitemporal typed-fact ledger for the memory of AI agents.
//
// Agents rarely fail because they forgot everything; they fail because they remember an old fact as the current one.
// Here is such a failure. On 1 June a message says that Mira's passport must be renewed by 15 July. On 3 June another
// says that the deadline is now 30 June. A text search still finds the first message first. The ledger does not search:
//
//	ledger, err := sqlite.Open(ctx, "agent.db", &sgam.Options{Schemas: identity})
//	acme, err := ledger.Tenant("acme")
//	first, err := acme.Apply(ctx, Deadline.Assert("mira", july15, june1).From(e1))
//	_, err = acme.Apply(ctx, Deadline.Assert("mira", june30, june3).From(e2))
//
//	acme.Current().Get(ctx, "mira", "passport_deadline")                             // 2026-06-30, from e2
//	acme.ValidAt(june2).KnownAt(first.Known).Get(ctx, "mira", "passport_deadline")   // 2026-07-15, from e1
//
// # What goes in
//
// An [Episode] is the raw thing that was observed. A [MemoryDelta] is a candidate change that somebody, often a model,
// made of it. The ledger validates the delta against a versioned schema, decides it against what stands, and answers
// with a [Receipt]: applied, confirmed, duplicate, pending, disputed or rejected. Nothing is dropped in silence, and no
// model's verdict ever closes a fact: the attribute's [ConflictPolicy] is data in its schema.
//
// Four verbs say what a delta means. [Assert] and [End] tell what the world did; they reach to the next point at which
// something else is known to have happened, so late news about the past never overwrites the present. [Correct] and
// [Void] say that the record was wrong on an interval. [Tenant.Withdraw] takes a statement back as if it had never been
// made.
//
// # What comes out
//
// There are two time axes. Valid time is when something was true in the world; known time is when the ledger learned
// it. Every name says which one it means. A [View] fixes both: [Tenant.Current] is now and as known now;
// [Tenant.ValidAt] asks today's belief about another day; adding [View.KnownAt] asks what was believed then.
// [View.Timeline], [Tenant.Believed], [Tenant.History] and [Tenant.Diff] walk along one axis or both.
//
// A read that finds no value says why, in one of four ways that are never confused: [ErrUnknown], [ErrAbsent],
// [ErrExpired], [ErrErased].
//
// # What holds always
//
// After a commit at known time k, every answer about known times up to k is fixed for ever. A conflict is one
// transaction: the old interval is closed, the new one opened and linked by supersedes_memory_id, or nothing happened.
// [Ledger.Verify] replays the facts and compares. A tenant is a handle, not a parameter: no read or write without it.
//
// # Where things are
//
// Package schema defines memory types, from Go types or JSON. Package sqlite is the embedded engine. Package ledgertest
// has an in-memory ledger for unit tests, and the laws by which anyone can prove an engine of their own against the
// port, [Store].
package sgam
