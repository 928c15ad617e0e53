-- What became of what a session was told: whether it was used. See the SQLite ledger's migration of the same name.
ALTER TABLE injections ADD COLUMN used_at bigint;
CREATE INDEX injections_by_item ON injections (tenant, item_id, at);
