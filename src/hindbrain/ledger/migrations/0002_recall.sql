-- What recall needs: a turn's neighbours beside its own words, an index of memories, what was told to whom, what is forgotten.

-- The beginning of the turn said before and of the one said after, in the same session. Derived: it follows from the turns.
ALTER TABLE turns ADD COLUMN near TEXT NOT NULL DEFAULT '';

DROP TABLE turns_fts;
CREATE VIRTUAL TABLE turns_fts USING fts5 (
    text, near, content = 'turns', content_rowid = 'rowid', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO turns_fts (turns_fts) VALUES ('rebuild');

CREATE VIRTUAL TABLE memories_fts USING fts5 (id UNINDEXED, text, tokenize = 'porter unicode61 remove_diacritics 2');

-- Which turns and memories a session was told, so that it is not told twice. Losing this costs a repetition, no more.
CREATE TABLE injections (
    session_id  TEXT NOT NULL,
    item_id     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (session_id, item_id)
) STRICT, WITHOUT ROWID;

-- What the user wants forgotten. `id` is an event's, a memory's or a session's; of a session everything said until `at`.
CREATE TABLE forgotten (
    id  TEXT PRIMARY KEY,
    at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
