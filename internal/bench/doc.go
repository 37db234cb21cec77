// Package bench measures the ledger on SQLite against the driver alone.
//
// Each [Row] is a baseline and a subject that do the same work over the same contents of a file, and a bar for the ratio of
// their times. The benchmarks of this package run the rows under go test; command ratios runs both sides of each row in turn
// and prints the table of docs/performance.md.
package bench
