-- +goose Up

-- Format 1. docs/format.md describes every table and column; a test compares the two.
-- The tenant leads every key of what belongs to a tenant. Instants are microseconds since 1970 UTC, the open end of
-- valid time is the largest integer, the open end of known time is NULL.

-- "sgam" as a number, so that programs know our files by their content.
PRAGMA application_id = 1936154989;
PRAGMA user_version = 1;

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value ANY  NOT NULL
) STRICT, WITHOUT ROWID;

-- The registry.

CREATE TABLE types (
    type_id INTEGER NOT NULL PRIMARY KEY,
    name    TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE type_versions (
    type_id  INTEGER NOT NULL REFERENCES types,
    version  INTEGER NOT NULL CHECK (version > 0),
    draft    INTEGER NOT NULL CHECK (draft IN (0, 1)),
    document TEXT    NOT NULL,
    hash     TEXT    NOT NULL,
    semantic TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (type_id, version)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX type_versions_by_revision ON type_versions (revision);

CREATE TABLE attributes (
    attribute_id INTEGER NOT NULL PRIMARY KEY,
    type_id      INTEGER NOT NULL REFERENCES types,
    tag          INTEGER NOT NULL,
    UNIQUE (type_id, tag)
) STRICT;

CREATE TABLE version_attributes (
    type_id      INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    attribute_id INTEGER NOT NULL REFERENCES attributes,
    many         INTEGER NOT NULL CHECK (many IN (0, 1)),
    PRIMARY KEY (type_id, version, position),
    UNIQUE (type_id, version, attribute_id),
    FOREIGN KEY (type_id, version) REFERENCES type_versions
) STRICT, WITHOUT ROWID;

CREATE TABLE attribute_names (
    type_id  INTEGER NOT NULL,
    version  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    PRIMARY KEY (type_id, version, position, place),
    FOREIGN KEY (type_id, version, position) REFERENCES version_attributes
) STRICT, WITHOUT ROWID;

CREATE INDEX attribute_names_by_name ON attribute_names (name);

-- +goose StatementBegin
CREATE TRIGGER type_versions_are_frozen BEFORE UPDATE ON type_versions WHEN OLD.draft = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER type_versions_stay BEFORE DELETE ON type_versions WHEN OLD.draft = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never goes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER version_attributes_are_frozen BEFORE UPDATE ON version_attributes
WHEN (SELECT draft FROM type_versions WHERE type_id = OLD.type_id AND version = OLD.version) = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER version_attributes_stay BEFORE DELETE ON version_attributes
WHEN (SELECT draft FROM type_versions WHERE type_id = OLD.type_id AND version = OLD.version) = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER version_attributes_are_complete BEFORE INSERT ON version_attributes
WHEN (SELECT draft FROM type_versions WHERE type_id = NEW.type_id AND version = NEW.version) = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attribute_names_are_frozen BEFORE UPDATE ON attribute_names
WHEN (SELECT draft FROM type_versions WHERE type_id = OLD.type_id AND version = OLD.version) = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attribute_names_stay BEFORE DELETE ON attribute_names
WHEN (SELECT draft FROM type_versions WHERE type_id = OLD.type_id AND version = OLD.version) = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attribute_names_are_complete BEFORE INSERT ON attribute_names
WHEN (SELECT draft FROM type_versions WHERE type_id = NEW.type_id AND version = NEW.version) = 0
BEGIN
    SELECT RAISE(ABORT, 'a schema version that is not a draft never changes');
END;
-- +goose StatementEnd

CREATE TABLE lenses (
    type_id  INTEGER NOT NULL,
    version  INTEGER NOT NULL CHECK (version > 1),
    revision INTEGER NOT NULL,
    document TEXT    NOT NULL,
    hash     TEXT    NOT NULL,
    PRIMARY KEY (type_id, version, revision),
    FOREIGN KEY (type_id, version) REFERENCES type_versions
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX lenses_by_revision ON lenses (revision);

-- +goose StatementBegin
CREATE TRIGGER lenses_are_written_once BEFORE UPDATE ON lenses
BEGIN
    SELECT RAISE(ABORT, 'a lens never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER lenses_stay BEFORE DELETE ON lenses
BEGIN
    SELECT RAISE(ABORT, 'a lens never goes');
END;
-- +goose StatementEnd

-- Who and what facts are about.

CREATE TABLE tenants (
    tenant_id      INTEGER NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL UNIQUE,
    last_known     INTEGER NOT NULL,
    last_seq       INTEGER NOT NULL,
    last_fact      INTEGER NOT NULL,
    next_subject   INTEGER NOT NULL,
    next_slot      INTEGER NOT NULL,
    next_episode   INTEGER NOT NULL,
    next_principal INTEGER NOT NULL
) STRICT;

CREATE TABLE principals (
    tenant_id    INTEGER NOT NULL REFERENCES tenants,
    principal_id INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    PRIMARY KEY (tenant_id, principal_id),
    UNIQUE (tenant_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE subjects (
    tenant_id  INTEGER NOT NULL REFERENCES tenants,
    subject_id INTEGER NOT NULL,
    name       TEXT,
    name_hmac  BLOB    NOT NULL,
    PRIMARY KEY (tenant_id, subject_id),
    UNIQUE (tenant_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE slots (
    tenant_id    INTEGER NOT NULL,
    slot_id      INTEGER NOT NULL,
    subject_id   INTEGER NOT NULL,
    attribute_id INTEGER NOT NULL REFERENCES attributes,
    scope        TEXT    NOT NULL,
    member       BLOB    NOT NULL,
    next_number  INTEGER NOT NULL,
    levels       INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, slot_id),
    UNIQUE (tenant_id, scope, subject_id, attribute_id, member),
    FOREIGN KEY (tenant_id, subject_id) REFERENCES subjects
) STRICT, WITHOUT ROWID;

-- The facts layer.

CREATE TABLE calls (
    tenant_id    INTEGER NOT NULL REFERENCES tenants,
    seq          INTEGER NOT NULL,
    known_at     INTEGER NOT NULL,
    last_fact    INTEGER NOT NULL,
    principal_id INTEGER NOT NULL,
    prev_hash    BLOB,
    entry_hash   BLOB,
    PRIMARY KEY (tenant_id, seq),
    UNIQUE (tenant_id, known_at),
    FOREIGN KEY (tenant_id, principal_id) REFERENCES principals
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER calls_are_gap_free BEFORE INSERT ON calls
WHEN NEW.seq <> coalesce((SELECT max(seq) FROM calls WHERE tenant_id = NEW.tenant_id), 0) + 1
    OR NEW.known_at <= (SELECT known_at FROM calls WHERE tenant_id = NEW.tenant_id AND seq = NEW.seq - 1)
BEGIN
    SELECT RAISE(ABORT, 'calls are numbered without gaps, and each is known later than the one before');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER calls_are_written_once BEFORE UPDATE OF tenant_id, seq, known_at, last_fact, principal_id ON calls
BEGIN
    SELECT RAISE(ABORT, 'a call never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER calls_stay BEFORE DELETE ON calls
BEGIN
    SELECT RAISE(ABORT, 'a call never goes');
END;
-- +goose StatementEnd

CREATE TABLE episodes (
    tenant_id   INTEGER NOT NULL,
    episode_id  INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    source_id   TEXT    NOT NULL,
    occurred_at INTEGER NOT NULL,
    session     TEXT    NOT NULL,
    thread      TEXT    NOT NULL,
    sequence    INTEGER NOT NULL,
    actor       TEXT    NOT NULL,
    digest      BLOB    NOT NULL,
    seq         INTEGER NOT NULL,
    erased      INTEGER,
    text        TEXT    NOT NULL,
    body        TEXT,
    metadata    TEXT,
    PRIMARY KEY (tenant_id, episode_id),
    UNIQUE (tenant_id, name),
    FOREIGN KEY (tenant_id, seq) REFERENCES calls
) STRICT, WITHOUT ROWID;

CREATE INDEX episodes_by_source ON episodes (tenant_id, source_id, kind) WHERE source_id <> '';

CREATE TABLE facts (
    tenant_id      INTEGER NOT NULL,
    fact_id        INTEGER NOT NULL,
    memory_id      BLOB    NOT NULL CHECK (length(memory_id) = 16),
    slot_id        INTEGER NOT NULL,
    op             TEXT    NOT NULL CHECK (op IN ('assert', 'correct', 'end', 'void', 'withdraw', 'expire')),
    value_number   INTEGER NOT NULL,
    valid_from     INTEGER NOT NULL,
    valid_to       INTEGER NOT NULL,
    reach_to       INTEGER NOT NULL,
    known_from     INTEGER NOT NULL,
    ordinal        INTEGER NOT NULL,
    episode_id     INTEGER,
    principal_id   INTEGER NOT NULL,
    confidence     REAL,
    schema_version INTEGER NOT NULL,
    supersedes     INTEGER,
    retention      TEXT    NOT NULL,
    part_of        INTEGER,
    target         INTEGER,
    provenance     TEXT,
    salt           BLOB,
    commitment     BLOB,
    erased         INTEGER,
    PRIMARY KEY (tenant_id, fact_id),
    UNIQUE (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots,
    FOREIGN KEY (tenant_id, episode_id) REFERENCES episodes,
    FOREIGN KEY (tenant_id, principal_id) REFERENCES principals,
    FOREIGN KEY (tenant_id, supersedes) REFERENCES facts,
    FOREIGN KEY (tenant_id, part_of) REFERENCES facts,
    FOREIGN KEY (tenant_id, target) REFERENCES facts,
    CHECK (valid_from < valid_to),
    CHECK (valid_from < reach_to),
    CHECK ((target IS NOT NULL) = (op = 'withdraw')),
    CHECK (value_number = 0 OR op IN ('assert', 'correct'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX facts_by_slot ON facts (tenant_id, slot_id, fact_id);
CREATE INDEX facts_by_episode ON facts (tenant_id, episode_id) WHERE episode_id IS NOT NULL;

-- +goose StatementBegin
CREATE TRIGGER facts_are_written_once
BEFORE UPDATE OF tenant_id, fact_id, memory_id, slot_id, op, value_number, valid_from, valid_to, reach_to, known_from, ordinal,
    episode_id, principal_id, confidence, schema_version, supersedes, retention, part_of, target, commitment ON facts
BEGIN
    SELECT RAISE(ABORT, 'a fact never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER facts_lose_content_only BEFORE UPDATE OF provenance, salt ON facts
WHEN NEW.provenance IS NOT NULL AND NEW.provenance IS NOT OLD.provenance OR NEW.salt IS NOT NULL AND NEW.salt IS NOT OLD.salt
BEGIN
    SELECT RAISE(ABORT, 'a fact never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER facts_stay BEFORE DELETE ON facts
BEGIN
    SELECT RAISE(ABORT, 'a fact never goes');
END;
-- +goose StatementEnd

CREATE TABLE encodings (
    tenant_id      INTEGER NOT NULL,
    fact_id        INTEGER NOT NULL,
    schema_version INTEGER NOT NULL,
    known_from     INTEGER NOT NULL,
    value          TEXT,
    lens           TEXT,
    lossy          INTEGER NOT NULL DEFAULT 0 CHECK (lossy IN (0, 1)),
    defaulted      TEXT,
    PRIMARY KEY (tenant_id, fact_id, schema_version, known_from),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts,
    CHECK (lens IS NOT NULL OR lossy = 0 AND defaulted IS NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX encodings_by_known ON encodings (tenant_id, known_from) WHERE lens IS NOT NULL;

-- +goose StatementBegin
CREATE TRIGGER encodings_are_written_once BEFORE UPDATE ON encodings
WHEN NEW.value IS NOT NULL OR (NEW.tenant_id, NEW.fact_id, NEW.schema_version, NEW.known_from, NEW.lens, NEW.lossy, NEW.defaulted)
    IS NOT (OLD.tenant_id, OLD.fact_id, OLD.schema_version, OLD.known_from, OLD.lens, OLD.lossy, OLD.defaulted)
BEGIN
    SELECT RAISE(ABORT, 'a value never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER encodings_stay BEFORE DELETE ON encodings
BEGIN
    SELECT RAISE(ABORT, 'the row of a value never goes');
END;
-- +goose StatementEnd

CREATE TABLE value_numbers (
    tenant_id INTEGER NOT NULL,
    slot_id   INTEGER NOT NULL,
    digest    BLOB    NOT NULL,
    number    INTEGER NOT NULL CHECK (number > 0),
    seq       INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, slot_id, digest),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots
) STRICT, WITHOUT ROWID;

-- The derived layers.

CREATE TABLE segments (
    tenant_id  INTEGER NOT NULL,
    slot_id    INTEGER NOT NULL,
    node       INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER NOT NULL,
    known_from INTEGER NOT NULL,
    known_to   INTEGER,
    fact_id    INTEGER NOT NULL,
    opened_by  INTEGER NOT NULL,
    closed_by  INTEGER,
    PRIMARY KEY (tenant_id, slot_id, node, valid_from),
    FOREIGN KEY (tenant_id, slot_id, fact_id) REFERENCES facts (tenant_id, slot_id, fact_id),
    FOREIGN KEY (tenant_id, opened_by) REFERENCES facts,
    FOREIGN KEY (tenant_id, closed_by) REFERENCES facts,
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
) STRICT, WITHOUT ROWID;

CREATE INDEX segments_open_by_fact ON segments (tenant_id, fact_id, valid_from) WHERE node = 0;

-- +goose StatementBegin
CREATE TRIGGER segments_begin_open BEFORE INSERT ON segments WHEN NEW.known_to IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'a segment begins open');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER segments_do_not_overlap BEFORE INSERT ON segments
WHEN (
    SELECT valid_to FROM segments
    WHERE tenant_id = NEW.tenant_id AND slot_id = NEW.slot_id AND node = 0 AND valid_from < NEW.valid_to
    ORDER BY valid_from DESC LIMIT 1
) > NEW.valid_from
BEGIN
    SELECT RAISE(ABORT, 'open segments of a slot do not overlap');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER segments_are_closed_once BEFORE UPDATE ON segments
WHEN OLD.known_to IS NOT NULL OR NEW.known_to IS NULL
    OR (NEW.tenant_id, NEW.slot_id, NEW.valid_from, NEW.valid_to, NEW.known_from, NEW.fact_id, NEW.opened_by)
        IS NOT (OLD.tenant_id, OLD.slot_id, OLD.valid_from, OLD.valid_to, OLD.known_from, OLD.fact_id, OLD.opened_by)
BEGIN
    SELECT RAISE(ABORT, 'a segment is closed once and never changes otherwise');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER segments_stay BEFORE DELETE ON segments
BEGIN
    SELECT RAISE(ABORT, 'a segment never goes');
END;
-- +goose StatementEnd

CREATE TABLE confirmations (
    tenant_id  INTEGER NOT NULL,
    slot_id    INTEGER NOT NULL,
    old_fact   INTEGER NOT NULL,
    new_fact   INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER NOT NULL,
    known_from INTEGER NOT NULL,
    known_to   INTEGER,
    PRIMARY KEY (tenant_id, slot_id, old_fact, new_fact, valid_from, known_from),
    FOREIGN KEY (tenant_id, slot_id, old_fact) REFERENCES facts (tenant_id, slot_id, fact_id),
    FOREIGN KEY (tenant_id, slot_id, new_fact) REFERENCES facts (tenant_id, slot_id, fact_id),
    CHECK (valid_from < valid_to),
    CHECK (known_from < known_to)
) STRICT, WITHOUT ROWID;

CREATE INDEX confirmations_by_new ON confirmations (tenant_id, slot_id, new_fact);

-- +goose StatementBegin
CREATE TRIGGER confirmations_are_closed_once BEFORE UPDATE ON confirmations
WHEN OLD.known_to IS NOT NULL OR NEW.known_to IS NULL
    OR (NEW.tenant_id, NEW.slot_id, NEW.old_fact, NEW.new_fact, NEW.valid_from, NEW.valid_to, NEW.known_from)
        IS NOT (OLD.tenant_id, OLD.slot_id, OLD.old_fact, OLD.new_fact, OLD.valid_from, OLD.valid_to, OLD.known_from)
BEGIN
    SELECT RAISE(ABORT, 'a confirmation is closed once and never changes otherwise');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER confirmations_stay BEFORE DELETE ON confirmations
BEGIN
    SELECT RAISE(ABORT, 'a confirmation never goes');
END;
-- +goose StatementEnd

CREATE TABLE supersessions (
    tenant_id  INTEGER NOT NULL,
    slot_id    INTEGER NOT NULL,
    new_fact   INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    old_fact   INTEGER NOT NULL,
    how        TEXT    NOT NULL CHECK (how IN ('replaced', 'ended', 'start_moved', 'split')),
    valid_to   INTEGER NOT NULL,
    known_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, slot_id, new_fact, valid_from, old_fact),
    FOREIGN KEY (tenant_id, new_fact) REFERENCES facts,
    FOREIGN KEY (tenant_id, slot_id, old_fact) REFERENCES facts (tenant_id, slot_id, fact_id),
    CHECK (valid_from < valid_to)
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER supersessions_are_written_once BEFORE UPDATE ON supersessions
BEGIN
    SELECT RAISE(ABORT, 'a supersession never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER supersessions_stay BEFORE DELETE ON supersessions
BEGIN
    SELECT RAISE(ABORT, 'a supersession never goes');
END;
-- +goose StatementEnd

CREATE TABLE points (
    tenant_id  INTEGER NOT NULL,
    slot_id    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    facts      INTEGER NOT NULL CHECK (facts >= 0),
    live       INTEGER NOT NULL CHECK (live IN (0, 1)),
    PRIMARY KEY (tenant_id, slot_id, number, valid_from),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots
) STRICT, WITHOUT ROWID;

CREATE INDEX points_live ON points (tenant_id, slot_id, valid_from) WHERE live = 1;

CREATE TABLE reached (
    tenant_id INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    slot_id   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, seq, slot_id),
    FOREIGN KEY (tenant_id, seq) REFERENCES calls,
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots
) STRICT, WITHOUT ROWID;

CREATE INDEX reached_by_slot ON reached (tenant_id, slot_id, seq);

-- What became of every delta.

CREATE TABLE outcomes (
    tenant_id INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    ordinal   INTEGER NOT NULL,
    outcome   TEXT    NOT NULL,
    key       BLOB,
    payload   BLOB,
    digest    BLOB,
    fact_id   INTEGER,
    memory_id BLOB,
    code      TEXT    NOT NULL,
    pointer   TEXT    NOT NULL,
    op        TEXT    NOT NULL,
    attribute TEXT    NOT NULL,
    assumed   INTEGER NOT NULL CHECK (assumed IN (0, 1)),
    PRIMARY KEY (tenant_id, seq, ordinal),
    FOREIGN KEY (tenant_id, seq) REFERENCES calls,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX outcomes_by_key ON outcomes (tenant_id, key) WHERE key IS NOT NULL;

-- +goose StatementBegin
CREATE TRIGGER outcomes_are_written_once BEFORE UPDATE ON outcomes
BEGIN
    SELECT RAISE(ABORT, 'an outcome never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER outcomes_stay BEFORE DELETE ON outcomes
BEGIN
    SELECT RAISE(ABORT, 'an outcome never goes');
END;
-- +goose StatementEnd

CREATE TABLE candidates (
    tenant_id  INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    memory_id  BLOB    NOT NULL CHECK (length(memory_id) = 16),
    status     TEXT    NOT NULL,
    slot_id    INTEGER NOT NULL,
    episode_id INTEGER NOT NULL,
    settled    INTEGER,
    fact_id    INTEGER,
    delta      TEXT,
    PRIMARY KEY (tenant_id, seq, ordinal),
    UNIQUE (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, seq) REFERENCES calls,
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots,
    FOREIGN KEY (tenant_id, episode_id) REFERENCES episodes,
    FOREIGN KEY (tenant_id, settled) REFERENCES calls,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts
) STRICT, WITHOUT ROWID;

CREATE INDEX candidates_by_episode ON candidates (tenant_id, episode_id);

CREATE TABLE lost_to (
    tenant_id INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    ordinal   INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    fact_id   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, seq, ordinal, position),
    FOREIGN KEY (tenant_id, seq, ordinal) REFERENCES candidates,
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts
) STRICT, WITHOUT ROWID;

CREATE INDEX lost_to_by_fact ON lost_to (tenant_id, fact_id);

-- Which schema versions are read and written, and how facts come from one to another.

CREATE TABLE epochs (
    tenant_id      INTEGER NOT NULL REFERENCES tenants,
    type_id        INTEGER NOT NULL REFERENCES types,
    known_from     INTEGER NOT NULL,
    read_version   INTEGER NOT NULL CHECK (read_version > 0),
    write_version  INTEGER NOT NULL CHECK (write_version > 0),
    second_version INTEGER CHECK (second_version > 0),
    PRIMARY KEY (tenant_id, type_id, known_from)
) STRICT, WITHOUT ROWID;

CREATE INDEX epochs_by_type ON epochs (type_id, tenant_id, known_from);

-- +goose StatementBegin
CREATE TRIGGER epochs_follow BEFORE INSERT ON epochs
WHEN NEW.known_from <= (SELECT max(known_from) FROM epochs WHERE tenant_id = NEW.tenant_id AND type_id = NEW.type_id)
BEGIN
    SELECT RAISE(ABORT, 'an epoch begins after the one before it');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER epochs_are_written_once BEFORE UPDATE ON epochs
BEGIN
    SELECT RAISE(ABORT, 'an epoch never changes');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER epochs_stay BEFORE DELETE ON epochs
BEGIN
    SELECT RAISE(ABORT, 'an epoch never goes');
END;
-- +goose StatementEnd

CREATE TABLE migrations (
    tenant_id INTEGER NOT NULL REFERENCES tenants,
    type_id   INTEGER NOT NULL REFERENCES types,
    serial    INTEGER NOT NULL CHECK (serial > 0),
    state     TEXT    NOT NULL,
    body      TEXT    NOT NULL,
    known_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, type_id, serial)
) STRICT, WITHOUT ROWID;

CREATE TABLE quarantine (
    tenant_id      INTEGER NOT NULL,
    schema_version INTEGER NOT NULL,
    fact_id        INTEGER NOT NULL,
    rule           TEXT    NOT NULL,
    pointer        TEXT    NOT NULL,
    known_from     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, schema_version, fact_id),
    FOREIGN KEY (tenant_id, fact_id) REFERENCES facts
) STRICT, WITHOUT ROWID;

CREATE INDEX quarantine_by_known ON quarantine (tenant_id, known_from);

-- Of later use.

CREATE TABLE work (
    tenant_id   INTEGER NOT NULL REFERENCES tenants,
    kind        TEXT    NOT NULL,
    ref         TEXT    NOT NULL,
    due         INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    lease_until INTEGER,
    fence       INTEGER NOT NULL,
    last_error  TEXT,
    PRIMARY KEY (tenant_id, kind, ref)
) STRICT, WITHOUT ROWID;

CREATE INDEX work_by_due ON work (tenant_id, kind, due);
