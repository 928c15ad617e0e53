-- What search by meaning needs: vectors of what was said and kept, and what still lacks them. And neighbours two turns away.

-- One row per passage of a turn, or per memory. Rows are the truth; whatever makes looking through them quick is made from them.
-- Ids are never used twice (AUTOINCREMENT), so what was made from a row is known to be out of date by its id alone. An empty vector
-- says that there was nothing to embed.
CREATE TABLE vectors (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    model   TEXT NOT NULL CHECK (model <> ''),
    turn    INTEGER REFERENCES turns (rowid) ON DELETE CASCADE,
    memory  TEXT REFERENCES memories (id) ON DELETE CASCADE,
    place   INTEGER NOT NULL CHECK (place >= 0),  -- the how manyth passage
    start   INTEGER NOT NULL CHECK (start >= 0),  -- letters of the item's text
    end     INTEGER NOT NULL CHECK (end >= start),
    vector  BLOB NOT NULL,                        -- a unit vector times 127, one signed byte for each number
    CHECK ((turn IS NULL) <> (memory IS NULL))
) STRICT;
CREATE INDEX vectors_by_turn ON vectors (turn, model) WHERE turn IS NOT NULL;
CREATE INDEX vectors_by_memory ON vectors (memory, model) WHERE memory IS NOT NULL;
CREATE INDEX vectors_empty ON vectors (model) WHERE length(vector) = 0;  -- so that the others can be counted

-- What lacks its vectors, or has those of an older text. The stamp is another one with each change, so whoever embedded an older
-- text cannot take the row away. Triggers put rows here in the very transaction that writes the text: nobody can forget it.
CREATE TABLE unembedded_turns (
    turn   INTEGER PRIMARY KEY REFERENCES turns (rowid) ON DELETE CASCADE,
    stamp  INTEGER NOT NULL DEFAULT (random())
) STRICT;
CREATE TABLE unembedded_memories (
    memory  TEXT PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    stamp   INTEGER NOT NULL DEFAULT (random())
) STRICT, WITHOUT ROWID;

INSERT INTO unembedded_turns (turn) SELECT rowid FROM turns WHERE role IN ('user', 'assistant') ORDER BY rowid;
INSERT INTO unembedded_memories (memory) SELECT id FROM memories ORDER BY id;

CREATE TRIGGER turn_said AFTER INSERT ON turns WHEN new.role IN ('user', 'assistant') BEGIN
    INSERT INTO unembedded_turns (turn) VALUES (new.rowid);
END;
CREATE TRIGGER turn_reworded AFTER UPDATE OF text ON turns WHEN new.text <> old.text AND new.role IN ('user', 'assistant') BEGIN
    DELETE FROM unembedded_turns WHERE turn = new.rowid;
    INSERT INTO unembedded_turns (turn) VALUES (new.rowid);
END;
CREATE TRIGGER memory_kept AFTER INSERT ON memories BEGIN
    INSERT INTO unembedded_memories (memory) VALUES (new.id);
END;
CREATE TRIGGER memory_reworded AFTER UPDATE OF text ON memories WHEN new.text <> old.text BEGIN
    DELETE FROM unembedded_memories WHERE memory = new.id;
    INSERT INTO unembedded_memories (memory) VALUES (new.id);
END;

-- Neighbours reach two turns each way now (near.py): before, after, the one before that, the one after that.
UPDATE turns SET near = substr(beside.texts, 1, length(beside.texts) - 1) FROM (
    SELECT number,
           coalesce((SELECT substr(text, 1, 600) || char(10) FROM turns WHERE rowid = before), '')
           || coalesce((SELECT substr(text, 1, 600) || char(10) FROM turns WHERE rowid = after), '')
           || coalesce((SELECT substr(text, 1, 600) || char(10) FROM turns WHERE rowid = before_that), '')
           || coalesce((SELECT substr(text, 1, 600) || char(10) FROM turns WHERE rowid = after_that), '') AS texts
    FROM (
        SELECT rowid AS number, lag(rowid) OVER said AS before, lead(rowid) OVER said AS after,
               lag(rowid, 2) OVER said AS before_that, lead(rowid, 2) OVER said AS after_that
        FROM turns WHERE role IN ('user', 'assistant')
        WINDOW said AS (PARTITION BY session_id ORDER BY at, id)
    )
) AS beside WHERE turns.rowid = beside.number;
INSERT INTO turns_fts (turns_fts) SELECT 'rebuild' WHERE EXISTS (SELECT 1 FROM turns);
