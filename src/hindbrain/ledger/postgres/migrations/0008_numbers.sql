-- A list of numbers. Under row security a condition may use an index only if nothing in it could tell about other tenants' rows by
-- failing, and turning text into a number can fail: with `CAST(value AS BIGINT)` every lookup by number read the whole table.
CREATE FUNCTION json_numbers(list text) RETURNS TABLE (value bigint) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 10
    RETURN pg_catalog.json_array_elements_text(list::json)::bigint;
