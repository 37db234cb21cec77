-- How the tables of format 1 stand: the number of partitions is in the setting sgam.partitions, 0 for none, and
-- sgam.distributed says whether Citus spreads them over its nodes.

DO $$
DECLARE
    owned  CONSTANT text[] := ARRAY['tenants', 'principals', 'subjects', 'slots', 'calls', 'episodes', 'facts', 'encodings',
        'value_numbers', 'segments', 'confirmations', 'supersessions', 'points', 'reached', 'outcomes', 'candidates', 'lost_to',
        'epochs', 'migrations', 'quarantine', 'work'];
    shared CONSTANT text[] := ARRAY['ledger', 'registry', 'types', 'type_versions', 'attributes', 'version_attributes',
        'attribute_names', 'lenses', 'directory'];
    parts  CONSTANT bigint := current_setting('sgam.partitions')::bigint;
    spread CONSTANT boolean := current_setting('sgam.distributed')::boolean;
    one    text;
BEGIN
    FOREACH one IN ARRAY owned LOOP
        FOR n IN 0 .. parts - 1 LOOP
            EXECUTE format('CREATE TABLE sgam.%I PARTITION OF sgam.%I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                one || '_' || n, one, parts, n);
        END LOOP;
    END LOOP;
    -- A partitioned table cannot exclude, but each partition can, and a tenant is in one. The two conditions mean the same; no
    -- statement has both, so the planner cannot take this index for another.
    FOR one IN SELECT CASE parts WHEN 0 THEN 'segments' ELSE 'segments_' || n END FROM generate_series(0, greatest(parts - 1, 0)) AS n LOOP
        EXECUTE format('ALTER TABLE sgam.%I ADD CONSTRAINT %I
            EXCLUDE USING gist (tenant_id WITH =, slot_id WITH =, int8range(valid_from, valid_to) WITH &&) WHERE (node = 0 AND known_to IS NULL)',
            one, one || '_do_not_overlap');
    END LOOP;
    IF spread THEN
        -- One connection to each node makes all of the transaction there: what is made later refers to what was made before.
        SET LOCAL citus.multi_shard_modify_mode = 'sequential';
        FOREACH one IN ARRAY shared LOOP
            EXECUTE format('SELECT create_reference_table(%L)', 'sgam.' || one);
        END LOOP;
        EXECUTE $s$SELECT create_distributed_table('sgam.tenants', 'tenant_id')$s$;
        FOREACH one IN ARRAY owned[2:] LOOP
            EXECUTE format($s$SELECT create_distributed_table(%L, 'tenant_id', colocate_with => 'sgam.tenants')$s$, 'sgam.' || one);
        END LOOP;
    END IF;
    FOREACH one IN ARRAY owned LOOP
        EXECUTE format('ALTER TABLE sgam.%I ENABLE ROW LEVEL SECURITY', one);
        EXECUTE format($s$CREATE POLICY own_rows ON sgam.%I FOR SELECT
            USING (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint)$s$, one);
        EXECUTE format($s$CREATE POLICY own_new_rows ON sgam.%I FOR INSERT
            WITH CHECK (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint)$s$, one);
    END LOOP;
    FOREACH one IN ARRAY ARRAY['tenants', 'slots', 'points', 'migrations', 'quarantine'] LOOP
        EXECUTE format($s$CREATE POLICY own_changes ON sgam.%I FOR UPDATE
            USING (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint)$s$, one);
    END LOOP;
    -- A version that is not a draft gets no more attributes and names. A policy of Citus' tables may not ask another table:
    -- there the programs alone keep that rule.
    IF NOT spread THEN
        FOREACH one IN ARRAY ARRAY['version_attributes', 'attribute_names'] LOOP
            EXECUTE format('ALTER TABLE sgam.%I ENABLE ROW LEVEL SECURITY', one);
            EXECUTE format('CREATE POLICY all_rows ON sgam.%I FOR SELECT USING (true)', one);
            EXECUTE format($s$CREATE POLICY of_drafts ON sgam.%1$I FOR INSERT WITH CHECK (EXISTS (
                SELECT 1 FROM sgam.type_versions v
                WHERE v.type_id = %1$I.type_id AND v.version = %1$I.version AND v.revision = %1$I.revision AND v.draft))$s$, one);
        END LOOP;
    END IF;
    -- What is closed stays closed.
    FOREACH one IN ARRAY ARRAY['segments', 'confirmations'] LOOP
        EXECUTE format($s$CREATE POLICY own_open_rows ON sgam.%I FOR UPDATE
            USING (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint AND known_to IS NULL)
            WITH CHECK (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint AND known_to IS NOT NULL)$s$, one);
    END LOOP;
END
$$;

CREATE POLICY own_held_rows ON sgam.candidates FOR UPDATE
    USING (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint AND settled IS NULL)
    WITH CHECK (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint AND settled IS NOT NULL);

ALTER POLICY own_new_rows ON sgam.segments
    WITH CHECK (tenant_id = nullif(current_setting('sgam.tenant_id', true), '')::bigint AND known_to IS NULL);

-- Whoever registers has to know whether any tenant is at a version. An epoch says no more than that.
CREATE POLICY registrar ON sgam.epochs FOR SELECT USING (current_setting('sgam.registrar', true) = 'on');

-- A version that is not a draft never changes.

ALTER TABLE sgam.type_versions ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON sgam.type_versions FOR SELECT USING (true);
CREATE POLICY begins_as_draft ON sgam.type_versions FOR INSERT WITH CHECK (draft);
CREATE POLICY drafts ON sgam.type_versions FOR UPDATE USING (draft) WITH CHECK (true);
