-- What the application may do.

-- name: grant
-- Its role is in the setting sgam.application. Nobody may delete.
DO $$
DECLARE
    who CONSTANT text := current_setting('sgam.application');
    one text;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA sgam TO %I', who);
    EXECUTE format('GRANT USAGE ON SEQUENCE sgam.tenant_ids TO %I', who);
    FOREACH one IN ARRAY ARRAY['ledger', 'registry', 'work'] LOOP
        EXECUTE format('GRANT SELECT ON sgam.%I TO %I', one, who);
    END LOOP;
    FOREACH one IN ARRAY ARRAY['types', 'type_versions', 'attributes', 'version_attributes', 'attribute_names', 'lenses', 'directory',
        'tenants', 'principals', 'subjects', 'slots', 'calls', 'episodes', 'facts', 'encodings', 'value_numbers', 'segments',
        'confirmations', 'supersessions', 'points', 'reached', 'outcomes', 'candidates', 'lost_to', 'epochs', 'migrations', 'quarantine'] LOOP
        EXECUTE format('GRANT SELECT, INSERT ON sgam.%I TO %I', one, who);
    END LOOP;
    EXECUTE format('GRANT UPDATE (revision) ON sgam.registry TO %I', who);
    EXECUTE format('GRANT UPDATE (draft, document, hash, semantic, revision) ON sgam.type_versions TO %I', who);
    EXECUTE format('GRANT UPDATE (last_known, last_seq, last_fact, next_subject, next_slot, next_episode, next_principal) ON sgam.tenants TO %I', who);
    EXECUTE format('GRANT UPDATE (next_number, levels) ON sgam.slots TO %I', who);
    EXECUTE format('GRANT UPDATE (known_to, closed_by, node) ON sgam.segments TO %I', who);
    EXECUTE format('GRANT UPDATE (known_to) ON sgam.confirmations TO %I', who);
    EXECUTE format('GRANT UPDATE (facts, live) ON sgam.points TO %I', who);
    EXECUTE format('GRANT UPDATE (status, settled, fact_id) ON sgam.candidates TO %I', who);
    EXECUTE format('GRANT UPDATE (state, body, known_at) ON sgam.migrations TO %I', who);
    EXECUTE format('GRANT UPDATE (rule, pointer, known_from, known_to) ON sgam.quarantine TO %I', who);
END
$$;
