-- Ids of events begin with those of their sessions from here on. What is stored already keeps the ids it has, and this note has new
-- deliveries looked for under them too (ledger/versions.py).
INSERT INTO meta (key, value) SELECT 'event ids of version 1', 'yes' WHERE EXISTS (SELECT 1 FROM turns) OR EXISTS (SELECT 1 FROM events);
