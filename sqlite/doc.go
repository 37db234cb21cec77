// Package sqlite keeps a ledger in one SQLite file.
//
//	l, err := sqlite.Open(ctx, "agent.db", &sgam.Options{Schemas: registry})
//
// Many processes may open the same file. Concurrent calls of one process share a durable commit, each with its own known
// time and outcome. A call that returned without an error survives the death of the process, and of the machine if its
// disk keeps what it was told to sync.
//
// The package needs cgo and a C compiler; without them Open returns [ErrNoCgo]. The layout of the file is described in
// docs/format.md, for those who read it with a SQL shell.
package sqlite
