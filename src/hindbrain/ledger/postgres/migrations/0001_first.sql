-- The ledger on PostgreSQL: the tables of the SQLite one, column for column, for several tenants side by side. What each table is
-- for is said there (ledger/migrations); here stands what differs.
--
-- Every row belongs to a tenant, every key begins with it, and row security lets a session see the rows of the tenant it was opened
-- for. Migrations run as the owner of the schema; the program works as hindbrain_tenant, which owns nothing and is held by row
-- security whoever logged in. All text is compared byte by byte (COLLATE "C"), as SQLite does. References can be deferred, because
-- forgetting takes rows away in an order of its own.

GRANT USAGE ON SCHEMA hindbrain TO hindbrain_tenant;
ALTER DEFAULT PRIVILEGES IN SCHEMA hindbrain GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO hindbrain_tenant;
ALTER DEFAULT PRIVILEGES IN SCHEMA hindbrain GRANT USAGE, SELECT ON SEQUENCES TO hindbrain_tenant;

-- Lists reach a statement as JSON on both engines. A NUL inside JSON is legal, but no text of PostgreSQL can hold it; elsewhere it
-- has become U+FFFD before it came here. STRICT and ROWS: a list is short beside a table, so rows are to be looked up one by one,
-- also while the server has not yet counted the table; put in place of its call, the function would be taken for a hundred rows.
CREATE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 10
    RETURN pg_catalog.json_array_elements_text(pg_catalog.replace(list, '\u0000', '\ufffd')::json);
CREATE FUNCTION json_extract(object text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN pg_catalog.replace(object, '\u0000', '\ufffd')::json ->> pg_catalog.substr(path, 3);

-- An index entry has room for some 2,700 bytes and a path may be longer: a long text is known by its beginning and its digests.
CREATE FUNCTION key_of(long text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN pg_catalog.octet_length(long) <= 600 THEN long
        ELSE pg_catalog.left(long, 100) || ' ' || pg_catalog.hashtextextended(long COLLATE "C", 1)
             || ' ' || pg_catalog.hashtextextended(long COLLATE "C", 2)
    END;

-- The tenant of the session, NULL when none was named: then nothing is seen and nothing can be written.
CREATE FUNCTION own_tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(pg_catalog.current_setting('hindbrain.tenant', true), '');

-- Puts a table under row security; every migration calls it for every table it makes.
CREATE PROCEDURE protect(name text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE hindbrain.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON hindbrain.%I TO hindbrain_tenant USING (tenant = hindbrain.own_tenant())', name);
END $$;

CREATE TABLE meta (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    key     text COLLATE "C" NOT NULL,
    value   text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, key)
);

-- Of the whole database, not of a tenant: everybody may read it, nobody but the owner writes it.
CREATE TABLE migrations (
    number      bigint PRIMARY KEY,
    name        text COLLATE "C" NOT NULL,
    checksum    text COLLATE "C" NOT NULL,
    applied_at  bigint NOT NULL
);
REVOKE ALL ON migrations FROM hindbrain_tenant;
GRANT SELECT ON migrations TO hindbrain_tenant;
ALTER TABLE migrations ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON migrations FOR SELECT TO hindbrain_tenant USING (true);

CREATE TABLE projects (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id          text COLLATE "C" NOT NULL,
    identity    text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    remote      text COLLATE "C" NOT NULL,
    common_dir  text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX projects_by_identity ON projects (tenant, key_of(identity));

CREATE TABLE project_aliases (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    identity    text COLLATE "C" NOT NULL,
    project_id  text COLLATE "C" NOT NULL,
    FOREIGN KEY (tenant, project_id) REFERENCES projects (tenant, id) DEFERRABLE
);
CREATE UNIQUE INDEX project_aliases_key ON project_aliases (tenant, key_of(identity));
CREATE INDEX project_aliases_by_identity ON project_aliases USING hash (identity);

CREATE TABLE places (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    machine     text COLLATE "C" NOT NULL,
    cwd         text COLLATE "C" NOT NULL,
    identity    text COLLATE "C" NOT NULL,
    project_id  text COLLATE "C" NOT NULL,
    remote      text COLLATE "C" NOT NULL,
    common_dir  text COLLATE "C" NOT NULL,
    branch      text COLLATE "C" NOT NULL,
    at          bigint NOT NULL,
    FOREIGN KEY (tenant, project_id) REFERENCES projects (tenant, id) DEFERRABLE
);
CREATE UNIQUE INDEX places_key ON places (tenant, machine, key_of(cwd));
CREATE INDEX places_by_cwd ON places USING hash (cwd);

CREATE TABLE sessions (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id          text COLLATE "C" NOT NULL,  -- made of agent and client_id, so those are unique too
    agent       text COLLATE "C" NOT NULL,
    client_id   text COLLATE "C" NOT NULL,
    project_id  text COLLATE "C",
    cwd         text COLLATE "C" NOT NULL,
    cwd_at      bigint,
    parent_id   text COLLATE "C",
    started_at  bigint NOT NULL,
    last_at     bigint NOT NULL,
    ended_at    bigint,
    end_reason  text COLLATE "C",
    model       text COLLATE "C" NOT NULL,
    model_at    bigint,
    detail      text COLLATE "C" NOT NULL,
    machine     text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, project_id) REFERENCES projects (tenant, id) DEFERRABLE
);
CREATE INDEX sessions_by_client ON sessions USING hash (client_id);
CREATE INDEX sessions_by_cwd ON sessions USING hash (cwd);
CREATE INDEX sessions_by_project ON sessions (tenant, project_id, last_at);
CREATE INDEX sessions_by_time ON sessions (tenant, last_at DESC, id);
CREATE INDEX sessions_by_parent ON sessions (tenant, parent_id) WHERE parent_id IS NOT NULL;

-- A row number is a number within the tenant: the next one is taken under the lock that every writer of evidence holds.
CREATE TABLE turns (
    tenant        text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    rowid         bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    session_id    text COLLATE "C" NOT NULL,
    role          text COLLATE "C" NOT NULL CHECK (role IN ('user', 'assistant', 'tool_call', 'tool_result')),
    text          text COLLATE "C" NOT NULL,
    tool          text COLLATE "C" NOT NULL,
    at            bigint NOT NULL,
    key           text COLLATE "C" NOT NULL,
    origins       bigint NOT NULL CHECK (origins BETWEEN 1 AND 15),
    segment       text COLLATE "C" NOT NULL,
    start         bigint NOT NULL,
    source_path   text COLLATE "C",
    source_start  bigint,
    source_end    bigint,
    detail        text COLLATE "C" NOT NULL,
    near          text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, rowid),
    UNIQUE (tenant, id),
    FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) DEFERRABLE
);
CREATE INDEX turns_by_session ON turns (tenant, session_id, at);

CREATE TABLE events (
    tenant        text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id            text COLLATE "C" NOT NULL,
    session_id    text COLLATE "C",
    kind          text COLLATE "C" NOT NULL CHECK (kind <> 'turn'),
    role          text COLLATE "C" NOT NULL,
    text          text COLLATE "C" NOT NULL,
    tool          text COLLATE "C" NOT NULL,
    at            bigint NOT NULL,
    key           text COLLATE "C" NOT NULL,
    origins       bigint NOT NULL CHECK (origins BETWEEN 1 AND 15),
    segment       text COLLATE "C" NOT NULL,
    start         bigint NOT NULL,
    source_path   text COLLATE "C",
    source_start  bigint,
    source_end    bigint,
    detail        text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id),
    FOREIGN KEY (tenant, session_id) REFERENCES sessions (tenant, id) DEFERRABLE
);
CREATE INDEX events_by_session ON events (tenant, session_id, at);
CREATE INDEX events_by_kind ON events (tenant, kind, at);

CREATE TABLE traces (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    turn    bigint NOT NULL,
    number  bigint NOT NULL,
    kind    text COLLATE "C" NOT NULL CHECK (kind IN ('file', 'command', 'error', 'subagent', 'task')),
    action  text COLLATE "C" NOT NULL,
    value   text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, turn, number),
    FOREIGN KEY (tenant, turn) REFERENCES turns (tenant, rowid) DEFERRABLE
);
CREATE INDEX traces_by_file ON traces USING hash (value) WHERE kind = 'file';

CREATE TABLE cursors (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    source      text COLLATE "C" NOT NULL,
    at          bigint NOT NULL,
    "offset"    bigint NOT NULL,
    position    text COLLATE "C" NOT NULL,
    lines       bigint NOT NULL DEFAULT 0,
    updated_at  bigint NOT NULL
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX cursors_key ON cursors (tenant, key_of(source));
CREATE INDEX cursors_by_source ON cursors USING hash (source);

CREATE TABLE damage (
    tenant    text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    segment   text COLLATE "C" NOT NULL,
    start     bigint NOT NULL,
    "end"     bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL CHECK (kind IN ('torn', 'damaged')),
    reason    text COLLATE "C" NOT NULL,
    found_at  bigint NOT NULL,
    PRIMARY KEY (tenant, segment, start)
);

CREATE TABLE redactions (
    tenant   text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    segment  text COLLATE "C" NOT NULL,
    start    bigint NOT NULL,
    rule     text COLLATE "C" NOT NULL,
    count    bigint NOT NULL CHECK (count > 0)
);
CREATE UNIQUE INDEX redactions_key ON redactions (tenant, segment, start, key_of(rule));

CREATE TABLE memories (
    tenant         text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id             text COLLATE "C" NOT NULL,
    level          text COLLATE "C" NOT NULL
                   CHECK (level IN ('observation', 'derived', 'digest_short', 'digest_long', 'contradiction')),
    kind           text COLLATE "C" NOT NULL
                   CHECK (kind IN ('decision', 'preference', 'correction', 'instruction', 'fact', 'lesson', 'procedure', 'task',
                                   'insight')),
    text           text COLLATE "C" NOT NULL CHECK (text <> ''),
    confidence     double precision NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    trust          text COLLATE "C" NOT NULL CHECK (trust IN ('user', 'assistant', 'tool', 'human_file', 'import')),
    observer       text COLLATE "C" NOT NULL,
    subject        text COLLATE "C" NOT NULL,
    scope          text COLLATE "C" NOT NULL CHECK (scope IN ('project', 'global')),
    project_id     text COLLATE "C",
    valid_from     bigint NOT NULL,
    valid_to       bigint CHECK (valid_to >= valid_from),
    superseded_by  text COLLATE "C" CHECK (superseded_by <> id),
    pinned         bigint NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    use_count      bigint NOT NULL DEFAULT 0 CHECK (use_count >= 0),
    used_at        bigint,
    created_at     bigint NOT NULL,
    detail         text COLLATE "C" NOT NULL DEFAULT '{}',
    evidence       bigint NOT NULL,
    PRIMARY KEY (tenant, id),
    CHECK ((scope = 'project') = (project_id IS NOT NULL)),
    CHECK (trust <> 'tool' OR kind NOT IN ('instruction', 'preference')),
    FOREIGN KEY (tenant, project_id) REFERENCES projects (tenant, id) DEFERRABLE,
    FOREIGN KEY (tenant, superseded_by) REFERENCES memories (tenant, id) DEFERRABLE
);
CREATE INDEX memories_by_project ON memories (tenant, project_id, level, kind);
CREATE INDEX memories_by_successor ON memories (tenant, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE links (
    tenant            text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    memory_id         text COLLATE "C" NOT NULL,
    number            bigint NOT NULL,
    role              text COLLATE "C" NOT NULL
                      CHECK (role IN ('derived_from', 'digested_from', 'reinforces', 'contradicts', 'supersedes', 'supports')),
    turn_id           text COLLATE "C",
    target_memory_id  text COLLATE "C" CHECK (target_memory_id <> memory_id),
    created_at        bigint NOT NULL,
    PRIMARY KEY (tenant, memory_id, number),
    CHECK ((turn_id IS NULL) <> (target_memory_id IS NULL)),
    FOREIGN KEY (tenant, memory_id) REFERENCES memories (tenant, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (tenant, turn_id) REFERENCES turns (tenant, id) DEFERRABLE,
    FOREIGN KEY (tenant, target_memory_id) REFERENCES memories (tenant, id) DEFERRABLE
);
CREATE UNIQUE INDEX links_once ON links (tenant, memory_id, role, coalesce(turn_id, target_memory_id));
CREATE INDEX links_by_turn ON links (tenant, turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX links_by_target ON links (tenant, target_memory_id) WHERE target_memory_id IS NOT NULL;
ALTER TABLE memories ADD FOREIGN KEY (tenant, id, evidence) REFERENCES links (tenant, memory_id, number)
    DEFERRABLE INITIALLY DEFERRED;

CREATE TABLE injections (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    session_id  text COLLATE "C" NOT NULL,
    item_id     text COLLATE "C" NOT NULL,
    at          bigint NOT NULL,
    PRIMARY KEY (tenant, session_id, item_id)
);

CREATE TABLE forgotten (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id      text COLLATE "C" NOT NULL,
    at      bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

CALL protect('meta');
CALL protect('projects');
CALL protect('project_aliases');
CALL protect('places');
CALL protect('sessions');
CALL protect('turns');
CALL protect('events');
CALL protect('traces');
CALL protect('cursors');
CALL protect('damage');
CALL protect('redactions');
CALL protect('memories');
CALL protect('links');
CALL protect('injections');
CALL protect('forgotten');
