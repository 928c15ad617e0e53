-- The first ledger: evidence (sessions, turns, events, traces), where it came from (projects, places, cursors, damage,
-- redactions) and room for what is concluded from it (memories, links).
--
-- Times are milliseconds since 1970, UTC. A journal position is (segment, start): the segment's name, which it keeps when
-- it is archived, and the byte its line starts at. Everything down to `redactions` is a function of the set of journal
-- lines alone, whatever their order: that is what makes a replay change nothing and a rebuild give the same ledger.

CREATE TABLE meta (
    key    TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per migration that ran. The checksum is the SHA-256 of its SQL: a changed file is refused.
CREATE TABLE migrations (
    number      INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    checksum    TEXT NOT NULL,
    applied_at  INTEGER NOT NULL
) STRICT;

-- A project is a git remote (`git:host/path`), a repository without one (`dir:<common dir>`) or a folder (`path:<cwd>`).
CREATE TABLE projects (
    id          TEXT PRIMARY KEY,
    identity    TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    remote      TEXT NOT NULL,       -- '' without a remote
    common_dir  TEXT NOT NULL,       -- '' unless the identity is a directory
    created_at  INTEGER NOT NULL     -- the earliest place that named it
) STRICT, WITHOUT ROWID;

-- Which project an identity stands for. Every project starts with its own identity here; merging two moves a row.
CREATE TABLE project_aliases (
    identity    TEXT PRIMARY KEY,
    project_id  TEXT NOT NULL REFERENCES projects (id)
) STRICT, WITHOUT ROWID;

-- What a working directory was found to be when it was last looked at. The newest finding (at) stands.
CREATE TABLE places (
    cwd         TEXT PRIMARY KEY,
    identity    TEXT NOT NULL,
    project_id  TEXT NOT NULL REFERENCES projects (id),
    remote      TEXT NOT NULL,
    common_dir  TEXT NOT NULL,
    branch      TEXT NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A session is seen (first event) -> active -> ended (ended_at set). A client may resume an ended session: then
-- last_at > ended_at, and it is active again.
CREATE TABLE sessions (
    id          TEXT PRIMARY KEY,
    agent       TEXT NOT NULL,
    client_id   TEXT NOT NULL,
    project_id  TEXT REFERENCES projects (id),  -- NULL until its cwd has a place
    cwd         TEXT NOT NULL,                  -- the earliest one told, '' before that
    cwd_at      INTEGER,
    parent_id   TEXT,                           -- the session that started this one; it may not have been seen yet
    started_at  INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    ended_at    INTEGER,
    end_reason  TEXT,
    model       TEXT NOT NULL,
    model_at    INTEGER,
    detail      TEXT NOT NULL,                  -- name -> [at, value], the latest of each
    UNIQUE (agent, client_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_cwd ON sessions (cwd);
CREATE INDEX sessions_by_project ON sessions (project_id, last_at);
CREATE INDEX sessions_by_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;

-- A turn never changes once all its deliveries are in. Until then a hook's text stands before a transcript's, and the
-- transcript's time before the hook's. `origins` says who delivered it: 1 hook, 2 api, 4 worker, 8 transcript, summed.
CREATE TABLE turns (
    rowid         INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    session_id    TEXT NOT NULL REFERENCES sessions (id),
    role          TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool_call', 'tool_result')),
    text          TEXT NOT NULL,
    tool          TEXT NOT NULL,
    at            INTEGER NOT NULL,
    key           TEXT NOT NULL,
    origins       INTEGER NOT NULL CHECK (origins BETWEEN 1 AND 15),
    segment       TEXT NOT NULL,     -- the journal line the text was taken from
    start         INTEGER NOT NULL,
    source_path   TEXT,              -- the transcript line that says the same, where one was read
    source_start  INTEGER,
    source_end    INTEGER,
    detail        TEXT NOT NULL
) STRICT;
CREATE INDEX turns_by_session ON turns (session_id, at);

-- The full-text index of turns. Rows are put in and taken out by the transaction that writes the turn.
CREATE VIRTUAL TABLE turns_fts USING fts5 (
    text, content = 'turns', content_rowid = 'rowid', tokenize = 'porter unicode61 remove_diacritics 2'
);
-- One transaction makes one piece of index, however large, and pieces are merged 16 at a time: both halve the writing.
INSERT INTO turns_fts (turns_fts, rank) VALUES ('hashsize', 33554432);
INSERT INTO turns_fts (turns_fts, rank) VALUES ('automerge', 16);

-- Everything told that is not a turn: typed notes (decision ... custom), the life of a session (session_start ...
-- post_compact), notices and what no adapter could read. One row per event id, so a resend is seen as one.
CREATE TABLE events (
    id            TEXT PRIMARY KEY,
    session_id    TEXT REFERENCES sessions (id),  -- NULL when the event names none
    kind          TEXT NOT NULL CHECK (kind <> 'turn'),
    role          TEXT NOT NULL,
    text          TEXT NOT NULL,
    tool          TEXT NOT NULL,
    at            INTEGER NOT NULL,
    key           TEXT NOT NULL,
    origins       INTEGER NOT NULL CHECK (origins BETWEEN 1 AND 15),
    segment       TEXT NOT NULL,
    start         INTEGER NOT NULL,
    source_path   TEXT,
    source_start  INTEGER,
    source_end    INTEGER,
    detail        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_session ON events (session_id, at);
CREATE INDEX events_by_kind ON events (kind, at);

-- What a turn did to the world, taken from its detail: files touched, commands run, errors met, subagents, tasks.
-- They point to the turn's row, not its id, so that new ones always go to the end of the table.
CREATE TABLE traces (
    turn    INTEGER NOT NULL REFERENCES turns (rowid),
    number  INTEGER NOT NULL,        -- its place within the turn
    kind    TEXT NOT NULL CHECK (kind IN ('file', 'command', 'error', 'subagent', 'task')),
    action  TEXT NOT NULL,           -- created, modified, deleted, read; '' where there is none
    value   TEXT NOT NULL,
    PRIMARY KEY (turn, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX traces_by_file ON traces (value) WHERE kind = 'file';

-- How far a source has been dealt with: `segment:<name>` and `transcript:<path>`. The larger (at, offset) stands; a segment
-- has at = 0, so there the offset decides. A transcript that was cut short starts again at 0 with a later `at`.
CREATE TABLE cursors (
    source      TEXT PRIMARY KEY,
    at          INTEGER NOT NULL,
    offset      INTEGER NOT NULL,
    position    TEXT NOT NULL,       -- JSON, as the reader of that source wants it back
    lines       INTEGER NOT NULL DEFAULT 0,  -- of a segment: how many lines were taken in, damage not counted
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Stretches of the journal that hold no record. torn: the end is missing, as a crash leaves it; damaged: changed later.
CREATE TABLE damage (
    segment   TEXT NOT NULL,
    start     INTEGER NOT NULL,
    end       INTEGER NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('torn', 'damaged')),
    reason    TEXT NOT NULL,
    found_at  INTEGER NOT NULL,
    PRIMARY KEY (segment, start)
) STRICT, WITHOUT ROWID;

-- How many secrets each rule took out of a journal line. One row per line and rule, so no replay can count one twice.
CREATE TABLE redactions (
    segment  TEXT NOT NULL,
    start    INTEGER NOT NULL,
    rule     TEXT NOT NULL,
    count    INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (segment, start, rule)
) STRICT, WITHOUT ROWID;

-- A memory is current (superseded_by and valid_to NULL) -> superseded (superseded_by set) or expired (valid_to passed).
-- No evidence, no memory: `evidence` names one of its own links, checked when the transaction commits, and that link
-- cannot go while the memory stays. What a tool said cannot become an instruction or a preference.
CREATE TABLE memories (
    id             TEXT PRIMARY KEY,
    level          TEXT NOT NULL CHECK (level IN ('observation', 'derived', 'digest_short', 'digest_long', 'contradiction')),
    kind           TEXT NOT NULL CHECK (kind IN ('decision', 'preference', 'correction', 'instruction', 'fact', 'lesson',
                                                 'procedure', 'task', 'insight')),
    text           TEXT NOT NULL CHECK (text <> ''),
    confidence     REAL NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    trust          TEXT NOT NULL CHECK (trust IN ('user', 'assistant', 'tool', 'human_file', 'import')),
    observer       TEXT NOT NULL,
    subject        TEXT NOT NULL,
    scope          TEXT NOT NULL CHECK (scope IN ('project', 'global')),
    project_id     TEXT REFERENCES projects (id),
    valid_from     INTEGER NOT NULL,
    valid_to       INTEGER CHECK (valid_to >= valid_from),
    superseded_by  TEXT REFERENCES memories (id) CHECK (superseded_by <> id),
    pinned         INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    use_count      INTEGER NOT NULL DEFAULT 0 CHECK (use_count >= 0),
    used_at        INTEGER,
    created_at     INTEGER NOT NULL,
    detail         TEXT NOT NULL DEFAULT '{}',
    evidence       INTEGER NOT NULL,
    CHECK ((scope = 'project') = (project_id IS NOT NULL)),
    CHECK (trust <> 'tool' OR kind NOT IN ('instruction', 'preference')),
    FOREIGN KEY (id, evidence) REFERENCES links (memory_id, number) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX memories_by_project ON memories (project_id, level, kind);

-- Why a memory stands: each link leads to one turn or to one other memory.
CREATE TABLE links (
    memory_id         TEXT NOT NULL REFERENCES memories (id) DEFERRABLE INITIALLY DEFERRED,
    number            INTEGER NOT NULL,
    role              TEXT NOT NULL CHECK (role IN ('derived_from', 'digested_from', 'reinforces', 'contradicts',
                                                    'supersedes', 'supports')),
    turn_id           TEXT REFERENCES turns (id),
    target_memory_id  TEXT REFERENCES memories (id) CHECK (target_memory_id <> memory_id),
    created_at        INTEGER NOT NULL,
    PRIMARY KEY (memory_id, number),
    CHECK ((turn_id IS NULL) <> (target_memory_id IS NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX links_once ON links (memory_id, role, coalesce(turn_id, target_memory_id));
CREATE INDEX links_by_turn ON links (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX links_by_target ON links (target_memory_id) WHERE target_memory_id IS NOT NULL;
