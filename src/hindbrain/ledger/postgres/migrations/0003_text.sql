-- Full text with the words and the scores of SQLite's FTS5, so that a question has one answer whichever engine is asked.
--
-- The words come from FTS5's own tokenizer (postgres/terms.py). Here stands which document holds which of them and how often: a row
-- per document with the ids of its terms, found through an inverted index, and how many documents hold each term. All of it follows
-- from the turns and memories and can be made anew from them.

-- The id is unique across tenants, so an entry of the inverted index leads to documents of one tenant only. A term that no document
-- holds any more goes: what is forgotten must not stay readable here. A very long one is known by its digest.
-- Every batch counts up thousands of rows: there is room on each page for their new versions, and no index on what changes.
CREATE TABLE terms (
    tenant       text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    term         text COLLATE "C" NOT NULL,
    id           integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    docs         integer NOT NULL DEFAULT 0 CHECK (docs >= 0),         -- turns that hold it, in their own words or their neighbours'
    memory_docs  integer NOT NULL DEFAULT 0 CHECK (memory_docs >= 0),
    PRIMARY KEY (tenant, term),
    UNIQUE (tenant, id)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.1);

-- A turn's terms: `ids`, the most common first, because those are looked for most often, and beside each its count, 4096 for each
-- time among its own words and 1 for each time among its neighbours'. Behind them, as negative numbers, stand the ids of the terms
-- that make up much of the turn: a search looks at those turns first, and often at no others (postgres/bm25.py).
CREATE TABLE turn_terms (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    number  bigint NOT NULL,         -- the turn's row number
    length  integer NOT NULL,        -- how many words, its own and its neighbours'
    ids     integer[] NOT NULL,
    counts  integer[] NOT NULL,
    PRIMARY KEY (tenant, number)
);
-- New entries are kept in a list and sorted in together. A search reads that list whole, so it must stay short.
CREATE INDEX turn_terms_by_term ON turn_terms USING gin (ids) WITH (fastupdate = on, gin_pending_list_limit = 1024);

-- Numbers follow the order memories were put in: equal scores are told in that order.
CREATE TABLE memory_terms (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    number  bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    memory  text COLLATE "C" NOT NULL,
    length  integer NOT NULL,
    ids     integer[] NOT NULL,
    counts  integer[] NOT NULL,
    PRIMARY KEY (tenant, number),
    UNIQUE (tenant, memory)
);
CREATE INDEX memory_terms_by_term ON memory_terms USING gin (ids) WITH (fastupdate = on, gin_pending_list_limit = 256);

CREATE TABLE text_totals (
    tenant         text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    docs           bigint NOT NULL DEFAULT 0,
    tokens         bigint NOT NULL DEFAULT 0,
    memory_docs    bigint NOT NULL DEFAULT 0,
    memory_tokens  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant)
) WITH (fillfactor = 50);

CALL protect('terms');
CALL protect('turn_terms');
CALL protect('memory_terms');
CALL protect('text_totals');

-- How much a word counts in a document. FTS5 adds up one occurrence after the other; a product would differ in the last digit, and
-- equal scores would be told in another order.
CREATE FUNCTION text_frequency(own integer, near integer, near_weight double precision) RETURNS double precision
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    total double precision := own;
BEGIN
    FOR each IN 1 .. near LOOP
        total := total + near_weight;
    END LOOP;
    RETURN total;
END $$;

-- Row security would keep the inverted index from being used: its operators might tell of rows they are shown before the tenant is
-- compared. So the matching runs as the owner of the tables, which row security does not hold, and compares the tenant itself: the one
-- of the session's setting, whatever the arguments. Plans are made for the very words asked for, and by way of the inverted index.

-- The documents that hold any word of `any_of`, or one of `pivots` together with another of `rest`, and none of `seen`; best first.
-- words and idf: the question, in its order; average: the mean length; only scores from `floor` on, no more than `most`.
CREATE FUNCTION text_best(
    source text, words integer[], idf double precision[], near_weight double precision, average double precision,
    any_of integer[], pivots integer[], rest integer[], seen integer[], floor double precision, most integer
) RETURNS TABLE (number bigint, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = hindbrain, pg_temp SET jit = off SET enable_seqscan = off SET enable_indexscan = off SET work_mem = '32MB'
AS $$
DECLARE
    place text := CASE source WHEN 'turn' THEN 'turn_terms' WHEN 'memory' THEN 'memory_terms' END;
    condition text := 'ids && $5';
    counts text := '';
    frequencies text := '';
    total text := '0.0::double precision';
BEGIN
    FOR k IN 1 .. cardinality(words) LOOP
        -- most documents lack most words, and = ANY finds that out in half the time
        counts := counts || format(', CASE WHEN $1[%1$s] = ANY (ids) THEN counts[array_position(ids, $1[%1$s])] END AS c%1$s', k);
        frequencies := frequencies || format(
            ', CASE c%1$s & 4095 WHEN 0 THEN (c%1$s >> 12)::double precision WHEN 1 THEN (c%1$s >> 12) + $3'
            ' WHEN 2 THEN (c%1$s >> 12) + $3 + $3 ELSE text_frequency(c%1$s >> 12, c%1$s & 4095, $3) END AS f%1$s', k);
        total := total || format(
            ' + coalesce($2[%1$s] * ((f%1$s * (1.2::double precision + 1.0)) / (f%1$s + norm)), 0.0)', k);
    END LOOP;
    FOR k IN 1 .. cardinality(pivots) LOOP
        condition := condition || format(' OR (ids @> ARRAY[$6[%1$s]] AND ids && array_remove($7, $6[%1$s]))', k);
    END LOOP;
    IF cardinality(seen) > 0 THEN
        condition := format('(%s) AND NOT ids && $8', condition);
    END IF;
    -- OFFSET 0: each step is worked out once, not once for each time it is used
    RETURN QUERY EXECUTE format(
        'SELECT number, score FROM (SELECT number, %s AS score FROM (SELECT number, norm%s FROM ('
        ' SELECT number, 1.2::double precision * (1 - 0.75::double precision + 0.75::double precision * length / $4) AS norm%s'
        ' FROM %I WHERE tenant = $11 AND (%s) OFFSET 0'
        ') AS counted OFFSET 0) AS weighed OFFSET 0) AS scored WHERE score >= $9 ORDER BY score DESC, number LIMIT $10',
        total, frequencies, counts, place, condition
    ) USING words, idf, near_weight, average, any_of, pivots, rest, seen, floor, most, own_tenant();
END $$;

-- How often the words are in each of the documents that hold any of them, or have one of these numbers.
CREATE FUNCTION text_counts(source text, words integer[], numbers bigint[])
RETURNS TABLE (number bigint, length integer, counted integer[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = hindbrain, pg_temp SET jit = off SET enable_seqscan = off SET enable_indexscan = off SET work_mem = '32MB'
AS $$
DECLARE
    place text := CASE source WHEN 'turn' THEN 'turn_terms' WHEN 'memory' THEN 'memory_terms' END;
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT number, length, ARRAY(SELECT coalesce(counts[array_position(ids, word)], 0) FROM unnest($1) WITH ORDINALITY'
        ' AS asked (word, place) ORDER BY place) FROM %I WHERE tenant = $3 AND (ids && $1 OR number = ANY ($2))', place
    ) USING words, numbers, own_tenant();
END $$;

-- The documents that hold all of the words.
CREATE FUNCTION text_holding(source text, words integer[]) RETURNS TABLE (number bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = hindbrain, pg_temp SET jit = off SET enable_seqscan = off SET enable_indexscan = off SET work_mem = '32MB'
AS $$
DECLARE
    place text := CASE source WHEN 'turn' THEN 'turn_terms' WHEN 'memory' THEN 'memory_terms' END;
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT number FROM %I WHERE tenant = $2 AND ids @> $1 AND cardinality($1) > 0 ORDER BY number', place
    ) USING words, own_tenant();
END $$;

REVOKE ALL ON FUNCTION text_best, text_counts, text_holding FROM PUBLIC;
GRANT EXECUTE ON FUNCTION text_best, text_counts, text_holding TO hindbrain_tenant;
