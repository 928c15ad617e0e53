-- What reasoning adds: who made a memory, what is held back, how far sessions were read, what models were paid for, what dreams changed.

-- '' may be told; quarantine waits for a person; rejected is never told, and its row stays so that it is known when found again.
ALTER TABLE memories ADD COLUMN held TEXT NOT NULL DEFAULT '' CHECK (held IN ('', 'quarantine', 'rejected'));
ALTER TABLE memories ADD COLUMN made_by TEXT NOT NULL DEFAULT 'person';  -- or the rules or the model, each with its version
ALTER TABLE memories ADD COLUMN session_id TEXT;  -- it was found in; NULL for a person's own and for what reflection made
ALTER TABLE memories ADD COLUMN reflected INTEGER NOT NULL DEFAULT 0 CHECK (reflected IN (0, 1));
CREATE INDEX memories_by_session ON memories (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_unreflected ON memories (project_id) WHERE reflected = 0;
CREATE INDEX memories_by_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL;

-- How far a session was read, and what its digests were made of. Losing this costs work that is done again.
CREATE TABLE readings (
    session_id         TEXT PRIMARY KEY,
    read_to            INTEGER NOT NULL DEFAULT 0,
    made_by            TEXT NOT NULL DEFAULT '',
    at                 INTEGER NOT NULL DEFAULT 0,
    digested_at        INTEGER NOT NULL DEFAULT 0,
    digested_memories  INTEGER NOT NULL DEFAULT 0,
    digested_tokens    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Every reply that was paid for. It is in the journal too, so a rebuild pays for nothing twice; what came of it is not.
CREATE TABLE calls (
    key            TEXT PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,  -- of the event that tells of it
    at             INTEGER NOT NULL,
    provider       TEXT NOT NULL,
    model          TEXT NOT NULL,
    kind           TEXT NOT NULL,
    project_id     TEXT,              -- NULL when it is about no project, or about several
    input_tokens   INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens  INTEGER NOT NULL CHECK (output_tokens >= 0),
    cost_micros    INTEGER NOT NULL CHECK (cost_micros >= 0),
    reply          TEXT NOT NULL,
    sessions       TEXT NOT NULL DEFAULT '[]',  -- ids of the sessions it is about: the reply goes when one of them is forgotten
    produced       TEXT NOT NULL DEFAULT '[]'   -- ids of the memories that came of it
) STRICT;
CREATE INDEX calls_by_time ON calls (at);

-- How a memory stood before a dream changed it, for taking the dream back. It holds no text; '' for one that was not there.
CREATE TABLE changes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    dream      TEXT NOT NULL,
    at         INTEGER NOT NULL,
    memory_id  TEXT NOT NULL,
    before     TEXT NOT NULL,
    UNIQUE (dream, memory_id)
) STRICT;
CREATE INDEX changes_by_memory ON changes (memory_id);
