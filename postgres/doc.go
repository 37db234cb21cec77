// Package postgres keeps a ledger in a PostgreSQL database, 15 or newer. A program opens one with [Open], after the owner
// of the database has made it with [Init].
//
// The tables are in the schema sgam, so a database holds one ledger beside whatever else it holds. The owner's role makes
// and upgrades them; the application connects as another role, which can add rows, close what is open, and delete nothing.
// Row-level security hides every tenant's rows from a transaction that is not of that tenant: it is a second wall behind
// the statements, each of which names the tenant already, and [Open] tries it before it trusts it.
//
// Writes of one tenant wait for each other, whatever process they come from; those of one process share a transaction.
// Different tenants do not meet. The tables stand plain, partitioned by hash of the tenant, or distributed by the tenant
// over the nodes of a Citus cluster: see [InitOptions].
//
// # Behind a pooler
//
// The engine works behind a pooler in transaction mode, such as PgBouncer with pool_mode = transaction. Nothing of a tenant
// stays on a server connection: the tenant is set with SET LOCAL, or its equal, and ends with the transaction. Statements are
// prepared where the pooler knows prepared statements, as PgBouncer does from 1.21 with max_prepared_statements above 0. Where
// it may not, opening sees that and sends statements as text, which costs their planning each time; [Options.Warn] hears of it.
package postgres
