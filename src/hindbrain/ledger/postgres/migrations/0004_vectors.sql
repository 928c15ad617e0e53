-- Vectors on PostgreSQL: the tables of the SQLite ledger (ledger/migrations/0006_vectors.sql), and beside each vector its signs, of
-- which pgvector's index finds the nearest. Neighbours of turns that are stored already stay until something changes beside them.

-- The extension may live in a schema of its own, and its operators are to be found there.
DO $$
DECLARE
    place name := (SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector');
BEGIN
    IF NOT has_schema_privilege('hindbrain_tenant', place, 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO hindbrain_tenant', place);
    END IF;
END $$;

-- Ids come from a sequence and are never used twice. With several writers a smaller one may be seen after a larger one.
CREATE TABLE vectors (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id      bigint GENERATED ALWAYS AS IDENTITY,
    model   text COLLATE "C" NOT NULL CHECK (model <> ''),
    turn    bigint,
    memory  text COLLATE "C",
    place   bigint NOT NULL CHECK (place >= 0),
    start   bigint NOT NULL CHECK (start >= 0),
    "end"   bigint NOT NULL CHECK ("end" >= start),
    vector  bytea NOT NULL,
    bits    bit(256),                -- NULL where there is nothing to be near to
    PRIMARY KEY (tenant, id),
    CHECK ((turn IS NULL) <> (memory IS NULL)),
    FOREIGN KEY (tenant, turn) REFERENCES turns (tenant, rowid) ON DELETE CASCADE DEFERRABLE,
    FOREIGN KEY (tenant, memory) REFERENCES memories (tenant, id) ON DELETE CASCADE DEFERRABLE
);
CREATE INDEX vectors_by_turn ON vectors (tenant, turn, model) WHERE turn IS NOT NULL;
CREATE INDEX vectors_by_memory ON vectors (tenant, memory, model) WHERE memory IS NOT NULL;
CREATE INDEX vectors_empty ON vectors (tenant, model) WHERE length(vector) = 0;
CREATE INDEX vectors_by_bits ON vectors USING hnsw (bits bit_hamming_ops);

-- Without references, which would be asked for with every turn: what is deleted takes its row here along.
CREATE TABLE unembedded_turns (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    turn    bigint NOT NULL,
    stamp   bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, turn)
);
CREATE TABLE unembedded_memories (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    memory  text COLLATE "C" NOT NULL,
    stamp   bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, memory)
);

CALL protect('vectors');
CALL protect('unembedded_turns');
CALL protect('unembedded_memories');

INSERT INTO unembedded_turns (tenant, turn) SELECT tenant, rowid FROM turns WHERE role IN ('user', 'assistant');
INSERT INTO unembedded_memories (tenant, memory) SELECT tenant, id FROM memories;

-- Turns come by statements of one row each, many in one message, so a trigger for each row costs least; tools' talk passes it by.
CREATE FUNCTION turn_said() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hindbrain.unembedded_turns (tenant, turn) VALUES (new.tenant, new.rowid)
    ON CONFLICT ON CONSTRAINT unembedded_turns_pkey DO UPDATE SET stamp = DEFAULT;
    RETURN NULL;
END $$;
CREATE TRIGGER turn_said AFTER INSERT ON turns
    FOR EACH ROW WHEN (new.role IN ('user', 'assistant')) EXECUTE FUNCTION turn_said();
CREATE TRIGGER turn_reworded AFTER UPDATE OF text ON turns
    FOR EACH ROW WHEN (new.text <> old.text AND new.role IN ('user', 'assistant')) EXECUTE FUNCTION turn_said();

CREATE FUNCTION turns_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM hindbrain.unembedded_turns AS left_over USING gone
    WHERE left_over.tenant = gone.tenant AND left_over.turn = gone.rowid;
    RETURN NULL;
END $$;
CREATE TRIGGER turns_gone AFTER DELETE ON turns REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION turns_gone();

CREATE FUNCTION memory_said() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hindbrain.unembedded_memories (tenant, memory) VALUES (new.tenant, new.id)
    ON CONFLICT ON CONSTRAINT unembedded_memories_pkey DO UPDATE SET stamp = DEFAULT;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_kept AFTER INSERT ON memories FOR EACH ROW EXECUTE FUNCTION memory_said();
CREATE TRIGGER memory_reworded AFTER UPDATE OF text ON memories
    FOR EACH ROW WHEN (new.text <> old.text) EXECUTE FUNCTION memory_said();

CREATE FUNCTION memories_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM hindbrain.unembedded_memories AS left_over USING gone
    WHERE left_over.tenant = gone.tenant AND left_over.memory = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER memories_gone AFTER DELETE ON memories REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memories_gone();
