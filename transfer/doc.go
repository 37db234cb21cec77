// Package transfer copies a ledger into another one, of any engine, and proves that the copy says the same.
//
//	report, err := transfer.Copy(ctx, from, to, nil)
//	found, err := transfer.Compare(ctx, from, to, nil)   found.Same() is what one wants to see
//
// A copy is made call by call: facts keep their ids, their numbers and both their times, and every call keeps its known
// time, so that whatever was answered before is answered by the copy in the same words. Outcomes, held candidates,
// idempotency keys, epochs, further encodings and the records of migrations go along. What follows from the facts is
// derived in the copy as it was in the original, and [Compare] has both ledgers verify themselves.
//
// A copy that was interrupted goes on at its last call; so does one whose original has been written since. Nothing else
// may write to a copy meanwhile, and reads of it are whole once Copy has returned.
//
// Digests are keyed with a ledger's secret, so a copy must be opened with that of the original: [ErrOtherKey]. An engine's
// OpenCopy does that.
package transfer
