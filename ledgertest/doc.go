// Package ledgertest helps to test programs that use a ledger, and proves engines.
//
// [NewLedger] is a full ledger in memory for unit tests: no cgo, no file, milliseconds. It proves itself when the test
// ends. [NewSchemas] declares attributes without a schema package, [Clock] is a clock that tests set, and [IDs] a source
// of ids that repeats itself. [Faulty] makes an engine fail at a chosen moment.
//
//	clock := ledgertest.NewClock(june1)
//	l := ledgertest.NewLedger(t, &sgam.Options{
//		Schemas: ledgertest.NewSchemas(ledgertest.Attribute{Name: "passport_deadline", Value: "date"}),
//		Clock:   clock.Now,
//	})
//
// [Run] proves an engine with one call: it plays every law of this package against it, each under the name that the
// port, [sgam.Store], gives it. [Equivalent] plays one random history on several ledgers, which must agree on every
// answer.
//
// [ParseScenario] reads stories that anyone can write; [LoadFacts], [AskQuestions] and [PlayCases] replay histories with
// known answers. They are what the commands sgam scenario and sgam replay run.
package ledgertest
