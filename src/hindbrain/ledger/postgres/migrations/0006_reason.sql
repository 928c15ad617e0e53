-- What reasoning adds. Each table and column is explained in the SQLite ledger's migration of the same name.
ALTER TABLE memories ADD COLUMN held text COLLATE "C" NOT NULL DEFAULT '' CHECK (held IN ('', 'quarantine', 'rejected'));
ALTER TABLE memories ADD COLUMN made_by text COLLATE "C" NOT NULL DEFAULT 'person';
ALTER TABLE memories ADD COLUMN session_id text COLLATE "C";
ALTER TABLE memories ADD COLUMN reflected bigint NOT NULL DEFAULT 0 CHECK (reflected IN (0, 1));
CREATE INDEX memories_by_session ON memories (tenant, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_unreflected ON memories (tenant, project_id) WHERE reflected = 0;

CREATE TABLE readings (
    tenant             text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    session_id         text COLLATE "C" NOT NULL,
    read_to            bigint NOT NULL DEFAULT 0,
    made_by            text COLLATE "C" NOT NULL DEFAULT '',
    at                 bigint NOT NULL DEFAULT 0,
    digested_at        bigint NOT NULL DEFAULT 0,
    digested_memories  bigint NOT NULL DEFAULT 0,
    digested_tokens    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, session_id)
);

CREATE TABLE calls (
    tenant         text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    key            text COLLATE "C" NOT NULL,
    id             text COLLATE "C" NOT NULL,
    at             bigint NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    model          text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL,
    project_id     text COLLATE "C",
    input_tokens   bigint NOT NULL CHECK (input_tokens >= 0),
    output_tokens  bigint NOT NULL CHECK (output_tokens >= 0),
    cost_micros    bigint NOT NULL CHECK (cost_micros >= 0),
    reply          text COLLATE "C" NOT NULL,
    sessions       text COLLATE "C" NOT NULL DEFAULT '[]',
    produced       text COLLATE "C" NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant, key),
    UNIQUE (tenant, id)
);
CREATE INDEX calls_by_time ON calls (tenant, at);

CREATE TABLE changes (
    tenant     text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id         bigint GENERATED ALWAYS AS IDENTITY,
    dream      text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    memory_id  text COLLATE "C" NOT NULL,
    before     text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, dream, memory_id)
);
CREATE INDEX changes_by_memory ON changes (tenant, memory_id);

CALL protect('readings');
CALL protect('calls');
CALL protect('changes');
