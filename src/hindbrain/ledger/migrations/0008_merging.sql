-- Pieces of index are merged a little with every write once there are 16 of a size. At 16 the index would also stop and merge all of
-- them at once, which takes seconds in a large ledger; that is left for 64, which only writing without end reaches.
INSERT INTO turns_fts (turns_fts, rank) VALUES ('crisismerge', 64);
