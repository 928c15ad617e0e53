-- One transaction makes one piece of index, however large, and pieces are merged 16 at a time: less is written twice.
-- The settings live inside the index, so a migration that makes it anew has to repeat them.
INSERT INTO turns_fts (turns_fts, rank) VALUES ('hashsize', 33554432);
INSERT INTO turns_fts (turns_fts, rank) VALUES ('automerge', 16);
