// Package rivals holds the ledger, on both engines, against two other keepers of bitemporal rectangles: PostgreSQL's extension
// periods and MariaDB's own bitemporal tables.
//
// All four are brought through the same history, one [Operation] after the other, and show what they hold as [Rectangle]s. That is
// a test: what they believed after each operation has to be the same. It is also a benchmark: an [Arena] is filled with a
// long history, proven, and then measured, [Contest] by [Contest], by command ratios.
package rivals
