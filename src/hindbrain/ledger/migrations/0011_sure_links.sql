-- Where several memories were to take the place of one, the surest does. Who ties by hand, or knows, is sure: 1.
ALTER TABLE links ADD COLUMN sure REAL NOT NULL DEFAULT 1;
