-- Whose folder a place is. A ledger of one machine has '' everywhere; in a shared one the same path on another machine is
-- another place, and a session's project is found among the places of its own machine.
CREATE TABLE machine_places (
    machine     TEXT NOT NULL,
    cwd         TEXT NOT NULL,
    identity    TEXT NOT NULL,
    project_id  TEXT NOT NULL REFERENCES projects (id),
    remote      TEXT NOT NULL,
    common_dir  TEXT NOT NULL,
    branch      TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (machine, cwd)
) STRICT, WITHOUT ROWID;
INSERT INTO machine_places SELECT '', cwd, identity, project_id, remote, common_dir, branch, at FROM places;
DROP TABLE places;
ALTER TABLE machine_places RENAME TO places;

ALTER TABLE sessions ADD COLUMN machine TEXT NOT NULL DEFAULT '';
