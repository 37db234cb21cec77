-- Format 1. The layers are those of the SQLite file; docs/format.md describes each table and column.
--
-- The tenant leads every key of what belongs to a tenant, so that the same tables stand plain, partitioned by hash of the
-- tenant, or distributed by it. Instants are microseconds since 1970 UTC: the open end of valid time is the largest
-- integer, the open end of known time is NULL. Texts are compared by their bytes.
--
-- An index on anything but numbers has a condition that every row fulfils. The planner may then use it only where a statement
-- asks for that thing, and cannot take it for the primary key when it knows nothing of the tables yet.
--
-- Nothing here fires a trigger of ours. What is written once is so because the application may update only the columns
-- that close a row, and only of rows that are not closed. What stands between the
-- signs of a hint holds when there are partitions.

CREATE SCHEMA sgam;

CREATE EXTENSION IF NOT EXISTS btree_gist;

-- The ledger itself: one row.
CREATE TABLE sgam.ledger (
    one       boolean NOT NULL PRIMARY KEY CHECK (one),
    format    bigint  NOT NULL,
    name      text    COLLATE "C" NOT NULL,
    key_check bytea   NOT NULL,
    layout    text    COLLATE "C" NOT NULL CHECK (layout IN ('plain', 'partitioned', 'distributed'))
);

-- The registry. Facts never write it: its own row is the lock of whoever registers, and counts the registrations.

CREATE TABLE sgam.registry (
    one      boolean NOT NULL PRIMARY KEY CHECK (one),
    revision bigint  NOT NULL
);

CREATE TABLE sgam.types (
    type_id bigint NOT NULL PRIMARY KEY,
    name    text   COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE sgam.type_versions (
    type_id  bigint  NOT NULL REFERENCES sgam.types,
    version  bigint  NOT NULL CHECK (version > 0),
    draft    boolean NOT NULL,
    document text    COLLATE "C" NOT NULL,
    hash     text    COLLATE "C" NOT NULL,
    semantic text    COLLATE "C" NOT NULL,
    revision bigint  NOT NULL UNIQUE,
    PRIMARY KEY (type_id, version)
);

CREATE TABLE sgam.attributes (
    attribute_id bigint NOT NULL PRIMARY KEY,
    type_id      bigint NOT NULL REFERENCES sgam.types,
    tag          bigint NOT NULL,
    UNIQUE (type_id, tag)
);

-- The attributes and names of a version at a revision. Those of a draft that was replaced stay behind and count no more.

CREATE TABLE sgam.version_attributes (
    type_id      bigint  NOT NULL,
    version      bigint  NOT NULL,
    revision     bigint  NOT NULL,
    position     bigint  NOT NULL,
    attribute_id bigint  NOT NULL REFERENCES sgam.attributes,
    many         boolean NOT NULL,
    PRIMARY KEY (type_id, version, revision, position),
    UNIQUE (type_id, version, revision, attribute_id),
    FOREIGN KEY (type_id, version) REFERENCES sgam.type_versions
);

CREATE TABLE sgam.attribute_names (
    type_id  bigint NOT NULL,
    version  bigint NOT NULL,
    revision bigint NOT NULL,
    position bigint NOT NULL,
    place    bigint NOT NULL,
    name     text   COLLATE "C" NOT NULL,
    PRIMARY KEY (type_id, version, revision, position, place),
    FOREIGN KEY (type_id, version, revision, position) REFERENCES sgam.version_attributes
);

CREATE INDEX attribute_names_by_name ON sgam.attribute_names (name);

CREATE TABLE sgam.lenses (
    type_id  bigint NOT NULL,
    version  bigint NOT NULL CHECK (version > 1),
    revision bigint NOT NULL UNIQUE,
    document text   COLLATE "C" NOT NULL,
    hash     text   COLLATE "C" NOT NULL,
    PRIMARY KEY (type_id, version, revision),
    FOREIGN KEY (type_id, version) REFERENCES sgam.type_versions
);

-- The names of the tenants, and nothing else of them. Everything below belongs to one tenant.

CREATE SEQUENCE sgam.tenant_ids;

CREATE TABLE sgam.directory (
    tenant_id bigint NOT NULL PRIMARY KEY,
    name      text   COLLATE "C" NOT NULL UNIQUE
);

-- A tenant's row is its write lock and its clock. Tenant 0 is nobody: its row is there for the check that a tenant's rows
-- are hidden from the others.

CREATE TABLE sgam.tenants (
    tenant_id      bigint NOT NULL PRIMARY KEY,
    last_known     bigint NOT NULL,
    last_seq       bigint NOT NULL,
    last_fact      bigint NOT NULL,
    next_subject   bigint NOT NULL,
    next_slot      bigint NOT NULL,
    next_episode   bigint NOT NULL,
    next_principal bigint NOT NULL
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE TABLE sgam.principals (
    tenant_id    bigint NOT NULL REFERENCES sgam.tenants,
    principal_id bigint NOT NULL,
    name         text   COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, principal_id)
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE UNIQUE INDEX principals_by_name ON sgam.principals (tenant_id, name) WHERE name IS NOT NULL;

CREATE TABLE sgam.subjects (
    tenant_id  bigint NOT NULL REFERENCES sgam.tenants,
    subject_id bigint NOT NULL,
    name       text   COLLATE "C",
    name_hmac  bytea  NOT NULL,
    PRIMARY KEY (tenant_id, subject_id)
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE UNIQUE INDEX subjects_by_name ON sgam.subjects (tenant_id, name) WHERE name IS NOT NULL;

CREATE TABLE sgam.slots (
    tenant_id    bigint NOT NULL,
    slot_id      bigint NOT NULL,
    subject_id   bigint NOT NULL,
    attribute_id bigint NOT NULL,
    scope        text   COLLATE "C" NOT NULL,
    member       bytea  NOT NULL,
    next_number  bigint NOT NULL,
    levels       bigint NOT NULL,
    PRIMARY KEY (tenant_id, slot_id),
    UNIQUE (tenant_id, scope, subject_id, attribute_id, member),
    FOREIGN KEY (tenant_id, subject_id) REFERENCES sgam.subjects
) /*+ PARTITION BY HASH (tenant_id) +*/;

-- The facts layer.

CREATE TABLE sgam.calls (
    tenant_id    bigint NOT NULL REFERENCES sgam.tenants,
    seq          bigint NOT NULL,
    known_at     bigint NOT NULL,
    last_fact    bigint NOT NULL,
    principal_id bigint NOT NULL,
    prev_hash    bytea,
    entry_hash   bytea,
    PRIMARY KEY (tenant_id, seq),
    UNIQUE (tenant_id, known_at),
    FOREIGN KEY (tenant_id, principal_id) REFERENCES sgam.principals
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE TABLE sgam.episodes (
    tenant_id   bigint NOT NULL,
    episode_id  bigint NOT NULL,
    name        text   COLLATE "C" NOT NULL,
    kind        text   COLLATE "C" NOT NULL,
    source_id   text   COLLATE "C" NOT NULL,
    occurred_at bigint NOT NULL,
    session     text   COLLATE "C" NOT NULL,
    thread      text   COLLATE "C" NOT NULL,
    sequence    bigint NOT NULL,
    actor       text   COLLATE "C" NOT NULL,
    digest      bytea  NOT NULL,
    seq         bigint NOT NULL,
    erased      bigint,
    text        text   COLLATE "C" NOT NULL,
    body        text   COLLATE "C",
    metadata    text   COLLATE "C",
    PRIMARY KEY (tenant_id, episode_id),
    FOREIGN KEY (tenant_id, seq) REFERENCES sgam.calls
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE UNIQUE INDEX episodes_by_name ON sgam.episodes (tenant_id, name) WHERE name IS NOT NULL;
CREATE INDEX episodes_by_source ON sgam.episodes (tenant_id, source_id, kind) WHERE source_id <> '';

CREATE TABLE sgam.facts (
    tenant_id      bigint NOT NULL,
    fact_id        bigint NOT NULL,
    memory_id      bytea  NOT NULL CHECK (length(memory_id) = 16),
    slot_id        bigint NOT NULL,
    op             text   COLLATE "C" NOT NULL CHECK (op IN ('assert', 'correct', 'end', 'void', 'withdraw', 'expire')),
    value_number   bigint NOT NULL,
    valid_from     bigint NOT NULL,
    valid_to       bigint NOT NULL,
    reach_to       bigint NOT NULL,
    known_from     bigint NOT NULL,
    ordinal        bigint NOT NULL,
    episode_id     bigint,
    principal_id   bigint NOT NULL,
    confidence     double precision,
    schema_version bigint NOT NULL,
    supersedes     bigint,
    retention      text   COLLATE "C" NOT NULL,
    part_of        bigint,
    target         bigint,
    provenance     text   COLLATE "C",
    salt           bytea,
    commitment     bytea,
    erased         bigint,
    PRIMARY KEY (tenant_id, fact_id),
    UNIQUE (tenant_id, fact_id, slot_id),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES sgam.slots,
    FOREIGN KEY (tenant_id, episode_id) REFERENCES sgam.episodes,
    FOREIGN KEY (tenant_id, principal_id) REFERENCES sgam.principals,
    FOREIGN KEY (tenant_id, supersedes) REFERENCES sgam.facts,
    FOREIGN KEY (tenant_id, part_of) REFERENCES sgam.facts,
    FOREIGN KEY (tenant_id, target) REFERENCES sgam.facts,
    CHECK (valid_from < valid_to),
    CHECK (valid_from < reach_to),
    CHECK ((target IS NOT NULL) = (op = 'withdraw')),
    CHECK (value_number = 0 OR op IN ('assert', 'correct'))
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE UNIQUE INDEX facts_by_memory ON sgam.facts (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX facts_by_slot ON sgam.facts (tenant_id, slot_id, fact_id) WHERE slot_id > 0;
CREATE INDEX facts_by_episode ON sgam.facts (tenant_id, episode_id) WHERE episode_id IS NOT NULL;

CREATE TABLE sgam.encodings (
    tenant_id      bigint  NOT NULL,
    fact_id        bigint  NOT NULL,
    schema_version bigint  NOT NULL,
    known_from     bigint  NOT NULL,
    value          text    COLLATE "C",
    lens           text    COLLATE "C",
    lossy          boolean NOT NULL DEFAULT false,
    defaulted      text    COLLATE "C",
    PRIMARY KEY (tenant_id, fact_id, schema_version, known_from),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES sgam.facts,
    CHECK (lens IS NOT NULL OR NOT lossy AND defaulted IS NULL)
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX encodings_by_known ON sgam.encodings (tenant_id, known_from) WHERE lens IS NOT NULL;

CREATE TABLE sgam.value_numbers (
    tenant_id bigint NOT NULL,
    slot_id   bigint NOT NULL,
    digest    bytea  NOT NULL,
    number    bigint NOT NULL CHECK (number > 0),
    seq       bigint NOT NULL,
    PRIMARY KEY (tenant_id, slot_id, digest),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES sgam.slots
) /*+ PARTITION BY HASH (tenant_id) +*/;

-- The derived layers.

CREATE TABLE sgam.segments (
    tenant_id  bigint NOT NULL,
    slot_id    bigint NOT NULL,
    node       bigint NOT NULL,
    valid_from bigint NOT NULL,
    valid_to   bigint NOT NULL,
    known_from bigint NOT NULL,
    known_to   bigint,
    fact_id    bigint NOT NULL,
    opened_by  bigint NOT NULL,
    closed_by  bigint,
    PRIMARY KEY (tenant_id, slot_id, node, valid_from),
    FOREIGN KEY (tenant_id, fact_id, slot_id) REFERENCES sgam.facts (tenant_id, fact_id, slot_id),
    FOREIGN KEY (tenant_id, opened_by) REFERENCES sgam.facts,
    FOREIGN KEY (tenant_id, closed_by) REFERENCES sgam.facts,
    CHECK (valid_from < valid_to),
    CHECK (known_from < known_to),
    CHECK ((known_to IS NULL) = (closed_by IS NULL)),
    -- While open, a segment is at node 0. Closed, it is at the fork node of its known interval: the one number in it
    -- that is divisible by the largest power of two, counting microseconds from the year 1.
    CHECK (CASE WHEN known_to IS NULL THEN node = 0 ELSE
        node BETWEEN known_from + 62135596800000001 AND known_to + 62135596800000000
        AND node - (node & -node) < known_from + 62135596800000001
        AND node + (node & -node) > known_to + 62135596800000000
    END)
) /*+ PARTITION BY HASH (tenant_id) +*/;

-- Statements that ask for a slot say node = 0, and those that ask for a fact say known_to IS NULL, which is the same: so the
-- planner cannot take this small index for the other.
CREATE INDEX segments_open_by_fact ON sgam.segments (tenant_id, fact_id, valid_from) WHERE known_to IS NULL;

CREATE TABLE sgam.confirmations (
    tenant_id  bigint NOT NULL,
    slot_id    bigint NOT NULL,
    old_fact   bigint NOT NULL,
    new_fact   bigint NOT NULL,
    valid_from bigint NOT NULL,
    valid_to   bigint NOT NULL,
    known_from bigint NOT NULL,
    known_to   bigint,
    PRIMARY KEY (tenant_id, slot_id, old_fact, new_fact, valid_from, known_from),
    FOREIGN KEY (tenant_id, old_fact, slot_id) REFERENCES sgam.facts (tenant_id, fact_id, slot_id),
    FOREIGN KEY (tenant_id, new_fact, slot_id) REFERENCES sgam.facts (tenant_id, fact_id, slot_id),
    CHECK (valid_from < valid_to),
    CHECK (known_from < known_to)
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX confirmations_by_new ON sgam.confirmations (tenant_id, slot_id, new_fact);

CREATE TABLE sgam.supersessions (
    tenant_id  bigint NOT NULL,
    slot_id    bigint NOT NULL,
    new_fact   bigint NOT NULL,
    valid_from bigint NOT NULL,
    old_fact   bigint NOT NULL,
    how        text   COLLATE "C" NOT NULL CHECK (how IN ('replaced', 'ended', 'start_moved', 'split')),
    valid_to   bigint NOT NULL,
    known_at   bigint NOT NULL,
    PRIMARY KEY (tenant_id, slot_id, new_fact, valid_from, old_fact),
    FOREIGN KEY (tenant_id, new_fact) REFERENCES sgam.facts,
    FOREIGN KEY (tenant_id, old_fact, slot_id) REFERENCES sgam.facts (tenant_id, fact_id, slot_id),
    CHECK (valid_from < valid_to)
) /*+ PARTITION BY HASH (tenant_id) +*/;

-- A point that counts nothing stays, and is no point.
CREATE TABLE sgam.points (
    tenant_id  bigint  NOT NULL,
    slot_id    bigint  NOT NULL,
    number     bigint  NOT NULL,
    valid_from bigint  NOT NULL,
    facts      bigint  NOT NULL CHECK (facts >= 0),
    live       boolean NOT NULL,
    PRIMARY KEY (tenant_id, slot_id, number, valid_from),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES sgam.slots
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX points_live ON sgam.points (tenant_id, slot_id, valid_from) WHERE live AND facts > 0;

CREATE TABLE sgam.reached (
    tenant_id bigint NOT NULL,
    seq       bigint NOT NULL,
    slot_id   bigint NOT NULL,
    PRIMARY KEY (tenant_id, seq, slot_id),
    FOREIGN KEY (tenant_id, seq) REFERENCES sgam.calls,
    FOREIGN KEY (tenant_id, slot_id) REFERENCES sgam.slots
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX reached_by_slot ON sgam.reached (tenant_id, slot_id, seq);

-- What became of every delta.

CREATE TABLE sgam.outcomes (
    tenant_id bigint  NOT NULL,
    seq       bigint  NOT NULL,
    ordinal   bigint  NOT NULL,
    outcome   text    COLLATE "C" NOT NULL,
    key       bytea,
    payload   bytea,
    digest    bytea,
    fact_id   bigint,
    memory_id bytea,
    code      text    COLLATE "C" NOT NULL,
    pointer   text    COLLATE "C" NOT NULL,
    op        text    COLLATE "C" NOT NULL,
    attribute text    COLLATE "C" NOT NULL,
    assumed   boolean NOT NULL,
    PRIMARY KEY (tenant_id, seq, ordinal),
    FOREIGN KEY (tenant_id, seq) REFERENCES sgam.calls,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES sgam.facts
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE UNIQUE INDEX outcomes_by_key ON sgam.outcomes (tenant_id, key) WHERE key IS NOT NULL;

CREATE TABLE sgam.candidates (
    tenant_id  bigint NOT NULL,
    seq        bigint NOT NULL,
    ordinal    bigint NOT NULL,
    memory_id  bytea  NOT NULL CHECK (length(memory_id) = 16),
    status     text   COLLATE "C" NOT NULL,
    slot_id    bigint NOT NULL,
    episode_id bigint NOT NULL,
    settled    bigint,
    fact_id    bigint,
    delta      text   COLLATE "C",
    PRIMARY KEY (tenant_id, seq, ordinal),
    UNIQUE (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, seq) REFERENCES sgam.calls,
    FOREIGN KEY (tenant_id, slot_id) REFERENCES sgam.slots,
    FOREIGN KEY (tenant_id, episode_id) REFERENCES sgam.episodes,
    FOREIGN KEY (tenant_id, settled) REFERENCES sgam.calls,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES sgam.facts
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX candidates_by_episode ON sgam.candidates (tenant_id, episode_id);

CREATE TABLE sgam.lost_to (
    tenant_id bigint NOT NULL,
    seq       bigint NOT NULL,
    ordinal   bigint NOT NULL,
    position  bigint NOT NULL,
    fact_id   bigint NOT NULL,
    PRIMARY KEY (tenant_id, seq, ordinal, position),
    FOREIGN KEY (tenant_id, seq, ordinal) REFERENCES sgam.candidates,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES sgam.facts
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX lost_to_by_fact ON sgam.lost_to (tenant_id, fact_id);

-- Which schema versions are read and written, and how facts come from one to another.

CREATE TABLE sgam.epochs (
    tenant_id      bigint NOT NULL REFERENCES sgam.tenants,
    type_id        bigint NOT NULL,
    known_from     bigint NOT NULL,
    read_version   bigint NOT NULL CHECK (read_version > 0),
    write_version  bigint NOT NULL CHECK (write_version > 0),
    second_version bigint CHECK (second_version > 0),
    PRIMARY KEY (tenant_id, type_id, known_from)
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX epochs_by_type ON sgam.epochs (type_id, tenant_id, known_from);

CREATE TABLE sgam.migrations (
    tenant_id bigint NOT NULL REFERENCES sgam.tenants,
    type_id   bigint NOT NULL,
    serial    bigint NOT NULL CHECK (serial > 0),
    state     text   COLLATE "C" NOT NULL,
    body      text   COLLATE "C" NOT NULL,
    known_at  bigint NOT NULL,
    PRIMARY KEY (tenant_id, type_id, serial)
) /*+ PARTITION BY HASH (tenant_id) +*/;

-- A fact that left the quarantine has left at known_to.
CREATE TABLE sgam.quarantine (
    tenant_id      bigint NOT NULL,
    schema_version bigint NOT NULL,
    fact_id        bigint NOT NULL,
    rule           text   COLLATE "C" NOT NULL,
    pointer        text   COLLATE "C" NOT NULL,
    known_from     bigint NOT NULL,
    known_to       bigint,
    PRIMARY KEY (tenant_id, schema_version, fact_id),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES sgam.facts
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX quarantine_by_known ON sgam.quarantine (tenant_id, known_from);

-- Of later use.

CREATE TABLE sgam.work (
    tenant_id   bigint NOT NULL REFERENCES sgam.tenants,
    kind        text   COLLATE "C" NOT NULL,
    ref         text   COLLATE "C" NOT NULL,
    due         bigint NOT NULL,
    attempts    bigint NOT NULL,
    lease_until bigint,
    fence       bigint NOT NULL,
    last_error  text   COLLATE "C",
    PRIMARY KEY (tenant_id, kind, ref)
) /*+ PARTITION BY HASH (tenant_id) +*/;

CREATE INDEX work_by_due ON sgam.work (tenant_id, kind, due);
