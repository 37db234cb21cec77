-- Transactions, and what the ledger is.

-- name: begin_write
-- Each statement sees what was committed before it: those after the lock see all of the tenant.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: set_tenant
-- A literal, since that is what Citus hands to its workers: the number is written into the text.
SET LOCAL sgam.tenant_id = '%d';

-- name: set_tenant_here
-- The same as an argument. It does not reach the workers of Citus.
SELECT set_config('sgam.tenant_id', $1, true);

-- name: set_tenant_and_plans
-- The same in a transaction of the engine's own, in which each statement keeps the one plan that it has for every tenant: it
-- seeks by whole keys and finds the partition when it is run. By its estimates a partitioned table would have each statement
-- planned anew each time, which costs more than running it, or compiled, which costs a thousand times as much.
SELECT set_config('sgam.tenant_id', $1, true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true);

-- name: leave_tenant
-- What the caller does next in a transaction of its own is of no tenant.
SET LOCAL sgam.tenant_id = '';

-- name: spread_settings
-- On Citus: what is set in a transaction holds on the workers too.
SET LOCAL citus.propagate_set_commands = 'local';

-- name: set_registrar
SET LOCAL sgam.registrar = 'on';

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: savepoint
SAVEPOINT sgam;

-- name: rollback_to_savepoint
ROLLBACK TO SAVEPOINT sgam;

-- name: release_savepoint
RELEASE SAVEPOINT sgam;

-- name: tenant_of_name
SELECT d.tenant_id FROM sgam.directory d WHERE d.name = $1;

-- name: tenants
-- For operators: the one list that crosses tenants.
SELECT d.name FROM sgam.directory d WHERE d.name > $1 ORDER BY d.name LIMIT $2;

-- name: add_to_directory
-- Whoever comes second waits for the first, and gets no row.
INSERT INTO sgam.directory (tenant_id, name) VALUES (nextval('sgam.tenant_ids'), $1)
ON CONFLICT (name) DO NOTHING RETURNING tenant_id;

-- name: add_tenant
INSERT INTO sgam.tenants (tenant_id, last_known, last_seq, last_fact, next_subject, next_slot, next_episode, next_principal)
VALUES ($1, $2, 0, 0, 1, 1, 1, 1);

-- name: lock_tenant
SELECT t.last_known, t.last_seq, t.last_fact, t.next_subject, t.next_slot, t.next_episode, t.next_principal
FROM sgam.tenants t WHERE t.tenant_id = $1 FOR NO KEY UPDATE;

-- name: tenant
SELECT t.last_known, t.last_seq, t.last_fact, t.next_subject, t.next_slot, t.next_episode, t.next_principal
FROM sgam.tenants t WHERE t.tenant_id = $1;

-- name: update_tenant
-- It fails by a division by zero unless the row is as it was when it was locked.
WITH kept AS (
    UPDATE sgam.tenants t SET last_known = $2, last_seq = $3, last_fact = $4, next_subject = $5, next_slot = $6, next_episode = $7,
        next_principal = $8
    WHERE t.tenant_id = $1 AND t.last_seq = $9 AND t.last_known < $2
    RETURNING 1
)
SELECT 1 / count(*) FROM kept;

-- name: call_is_stored
-- After a COMMIT whose answer was lost: is the call there?
SELECT c.last_fact = $4 AND ($5::bytea IS NULL OR f.memory_id = $5)
FROM sgam.calls c
LEFT JOIN LATERAL (
    SELECT f.* FROM sgam.facts f
    WHERE f.tenant_id = $1 AND f.fact_id = c.last_fact OFFSET 0) f ON true
WHERE c.tenant_id = $1 AND c.seq = $2 AND c.known_at = $3;

-- name: kept_names
-- How many prepared statements the server knows by a name. Here it is looked for as the server has it.
SELECT count(*) FROM pg_prepared_statements p WHERE p.name = $1;

-- name: backend
SELECT pg_backend_pid()::bigint;

-- name: ledger_exists
SELECT to_regclass('sgam.ledger') IS NOT NULL;

-- name: format
SELECT format FROM sgam.ledger;

-- name: ledger
SELECT l.name, l.key_check, l.layout FROM sgam.ledger l;

-- name: found_ledger
INSERT INTO sgam.ledger (one, format, name, key_check, layout) VALUES (true, $1, $2, $3, $4);

-- name: found_registry
INSERT INTO sgam.registry (one, revision) VALUES (true, 0);

-- name: walls
-- What the connection's role could walk around row-level security by, whether a commit is durable, and whether the role may
-- make temporary tables. A node of Citus has the copies of its tables beside them, with a number behind their names.
SELECT current_user::text, r.rolsuper, r.rolbypassrls, pg_has_role(current_user, c.relowner, 'USAGE'),
    current_setting('row_security') = 'on', current_setting('synchronous_commit') <> 'off',
    (SELECT count(*) FROM pg_class x
     JOIN pg_attribute a ON a.attrelid = x.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
     WHERE x.relnamespace = c.relnamespace AND x.relkind IN ('r', 'p') AND NOT x.relispartition
        AND x.relname !~ '^directory(_[0-9]+)?$' AND NOT x.relrowsecurity),
    has_database_privilege(current_database(), 'TEMPORARY')
FROM pg_roles r
CROSS JOIN pg_class c
WHERE r.rolname = current_user AND c.oid = 'sgam.tenants'::regclass;

-- name: caller
-- What a transaction of the caller's is: in which ledger, and how isolated.
SELECT l.name, current_setting('transaction_isolation') = 'read committed', current_setting('transaction_read_only') = 'on'
FROM sgam.ledger l;

-- name: strangers
-- Rows of tenants that are not the one that is set. With the wall there are none.
SELECT count(*), count(*) FILTER (WHERE t.tenant_id = $1) FROM sgam.tenants t WHERE t.tenant_id = $1 OR t.tenant_id = 0;

-- name: set_partitions
SET LOCAL sgam.partitions = '%d';

-- name: set_distributed
SET LOCAL sgam.distributed = '%t';

-- name: set_application
SELECT set_config('sgam.application', $1, true);

-- name: citus_version
SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'citus'), '');
