-- What became of what a session was told: whether it was used. A row goes from "not yet" to a time once and never back, so nothing
-- can be counted twice. How far turns were looked at is in `meta`, under `uses`.
ALTER TABLE injections ADD COLUMN used_at INTEGER;  -- of the turn that used it
CREATE INDEX injections_by_item ON injections (item_id, at);
