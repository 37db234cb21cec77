// Package migrate takes the facts of one memory type from one schema version to another while programs go on writing.
//
// A migration asserts nothing. Each fact keeps its identity, its slot, its place in the history and its source; it gets a
// second encoding, which the lenses between the versions make of its value. Which version a tenant reads, and which decides
// about its writes, is a matter of epochs: a cut-over is one row, from one known time on, and so is the way back. A known
// time before the cut-over answers with the value and the version of then.
//
//	plan, err := migrate.Draw(ctx, l, migrate.Options{Type: "contact", Deletions: rules})  planned: read it, keep the file
//	report, err := migrate.DryRun(ctx, l, plan)              what would change; writes nothing
//	err = migrate.Run(ctx, l, plan, nil)                     approved, expanding → dual
//	_, err = migrate.Verify(ctx, l, plan.Target("ops"))      → verified
//	err = migrate.Cutover(ctx, l, plan.Target("ops"))        → cut_over
//	err = migrate.Contract(ctx, l, plan.Target("ops"), del)  → contracting → done
//
// From the first moment of the run, every write is stored in both versions in its own transaction. So the backfill has a
// fixed end, the newest fact at its start, and comes to it whatever the writers do. It walks from the newest fact to the
// oldest; each batch is one transaction with its cursor, so a killed run goes on where it was. Until the migration is
// contracting, [Rollback] leads back from every state, and [Pause] holds it in place.
//
// A value that the new version cannot hold is put in quarantine, with the rule that it breaks and the place, and without the
// value. By default the cut-over waits until the quarantine is empty: roll back, register a better lens and draw a new plan.
// A plan may also leave such facts, since a fact that is no longer believed counts too; reading one is [sgam.ErrUnmigrated]
// then, and the version that it was recorded in still answers.
//
// Deleting what a version removed is retention's affair; a plan only says which rule is due, and [Contract] calls a
// [Deleter]. A change of cardinality, or of what identifies a member, asks for other facts rather than other encodings:
// Draw refuses it, and advises a new attribute.
package migrate
