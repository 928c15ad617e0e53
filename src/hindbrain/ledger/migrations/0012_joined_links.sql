-- A dream lets one statement stand for others that say the same: these are joined, not ended (joined = 1). A dream tied them when
-- it dreamt, what replaces ties when it begins to hold, what a person preferred says so beside it ("over"); and what was joined
-- had confirmed each other.
ALTER TABLE links ADD COLUMN joined INTEGER NOT NULL DEFAULT 0 CHECK (joined IN (0, 1));
UPDATE links SET joined = 1 WHERE role = 'supersedes' AND sure = 1 AND EXISTS (
    SELECT 1 FROM memories AS newer JOIN memories AS older ON older.id = links.target_memory_id
    WHERE newer.id = links.memory_id AND newer.valid_from <> links.created_at AND newer.detail NOT LIKE '%"over":%'
      AND newer.level = 'observation' AND older.level = 'observation' AND older.made_by <> 'person'
      AND newer.kind = older.kind AND newer.scope = older.scope AND newer.trust = older.trust
) AND EXISTS (
    SELECT 1 FROM links AS again WHERE again.role = 'reinforces' AND (
        (again.memory_id = links.memory_id AND again.target_memory_id = links.target_memory_id)
        OR (again.memory_id = links.target_memory_id AND again.target_memory_id = links.memory_id)
    )
);
