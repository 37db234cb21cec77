-- Settings of a connection that the driver has no name for, and all of them read back.

-- name: set_trusted_schema
PRAGMA trusted_schema = 0;

-- name: set_cell_size_check
PRAGMA cell_size_check = 1;

-- name: set_temp_store
PRAGMA temp_store = 2;

-- name: set_journal_size_limit
-- Cutting the log to nothing after each checkpoint would make every commit grow the file again, which costs half as much
-- again as the commit itself. Whoever erases cuts it explicitly.
PRAGMA journal_size_limit = 16777216;

-- name: set_wal_autocheckpoint
-- In pages. A write changes about 25, most of them in places of their own: with SQLite's own 1,000 every 40th commit waits
-- for the log to be copied, and what several of them changed is copied several times. So many fit the log's limit.
PRAGMA wal_autocheckpoint = 4000;

-- name: wal_autocheckpoint
PRAGMA wal_autocheckpoint;

-- name: set_cache_size
-- In KiB, at most, for each connection. With SQLite's own 2 MiB the upper levels of the trees of a large file do not stay.
PRAGMA cache_size = -32768;

-- name: set_fullfsync
PRAGMA fullfsync = 1;

-- name: set_checkpoint_fullfsync
PRAGMA checkpoint_fullfsync = 1;

-- name: settings
SELECT * FROM pragma_foreign_keys, pragma_synchronous, pragma_secure_delete, pragma_trusted_schema, pragma_cell_size_check,
    pragma_temp_store, pragma_journal_size_limit, pragma_cache_size, pragma_fullfsync, pragma_checkpoint_fullfsync, pragma_busy_timeout,
    pragma_query_only, pragma_encoding, pragma_journal_mode;
