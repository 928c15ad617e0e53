-- Jobs: what is still to be done, in the database of what it is done to, so that both commit together.
--
--                        due                claim                  finish
--   enqueue --> waiting -----> ready ---------------> running ----------------> done ----> (pruned)
--          \______________________^ ^                  | | | |  \
--                                 | |   release        | | | |   \ finish, told again meanwhile
--                                 | +------------------+ | | |    +--> ready (waiting if told to wait)
--                                 | |   lease ran out    | | |
--                                 | +--------------------+ | |
--                        waiting <+-- failed, tries left --+ |
--                                                            |
--        parked <-- failed for good, or three workers died --+
--
--   waiting, ready, running, parked --> cancelled        cancelled, parked --> ready (retry)
--
-- Live is waiting, ready or running. Whoever is at a running job is known by `token`, which counts claims: one that comes back
-- with an older token changes nothing. Ids are never used twice (AUTOINCREMENT), or an old token could fit a new job.
--
-- run_after_ms, enqueued_ms and changed_ms are wall time. lease_until is a reading of the machine's monotonic clock, which the
-- wall clock's jumps do not touch and which starts anew with each boot: a lease that ends more than lease_ms ahead is of an
-- earlier boot, and over.
CREATE TABLE jobs (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    kind          TEXT NOT NULL CHECK (kind <> ''),
    key           TEXT NOT NULL,
    group_key     TEXT NOT NULL DEFAULT '',   -- jobs of one kind and group are handled together; '' for by itself
    payload       TEXT NOT NULL DEFAULT '{}',
    priority      INTEGER NOT NULL DEFAULT 0, -- larger goes first
    forced        INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)),
    state         TEXT NOT NULL CHECK (state IN ('waiting', 'ready', 'running', 'done', 'parked', 'cancelled')),
    live          INTEGER NOT NULL DEFAULT 1,  -- 1 while waiting, ready or running: an index by it is not touched by a claim
    again         INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1)),  -- told again while it ran
    attempts      INTEGER NOT NULL DEFAULT 0, -- claims since it was last told or retried, given back ones not counted
    crashes       INTEGER NOT NULL DEFAULT 0, -- how many workers died while it ran
    delays        INTEGER NOT NULL DEFAULT 0, -- how often it was told to come later
    max_attempts  INTEGER NOT NULL DEFAULT 5 CHECK (max_attempts > 0),
    token         INTEGER NOT NULL DEFAULT 0,
    owner         TEXT NOT NULL DEFAULT '',   -- who is at it, '' unless running
    lead          INTEGER NOT NULL DEFAULT 0, -- of a group that runs, the one job that stands for it
    lease_until   INTEGER NOT NULL DEFAULT 0,
    lease_ms      INTEGER NOT NULL DEFAULT 0,
    run_after_ms  INTEGER NOT NULL,
    enqueued_ms   INTEGER NOT NULL,
    changed_ms    INTEGER NOT NULL,           -- when it came into its state
    error         TEXT NOT NULL DEFAULT '',   -- of the last try that failed
    CHECK (lead = 0 OR (lead = 1 AND state = 'running' AND group_key <> '')),
    CHECK ((live = 1) = (state IN ('waiting', 'ready', 'running'))),
    CHECK (again = 0 OR state = 'running')
) STRICT;

-- One live job per kind and key: a second one becomes the first.
CREATE UNIQUE INDEX jobs_live ON jobs (kind, key) WHERE live = 1;
-- One running lead per kind and group: no two workers are at one group.
CREATE UNIQUE INDEX jobs_lead ON jobs (kind, group_key) WHERE lead = 1;
-- What a claim reads: jobs that never were running when a worker died, in their order; the suspects behind them. What runs stands
-- before them, so that a claim moves an entry within one page instead of writing two.
CREATE INDEX jobs_ready ON jobs (state DESC, kind, crashes, priority DESC, id) WHERE state IN ('ready', 'running');
CREATE INDEX jobs_group ON jobs (kind, group_key, state) WHERE state IN ('ready', 'running') AND group_key <> '';
-- What becomes due, and what a clock that was set back would keep waiting.
CREATE INDEX jobs_due ON jobs (run_after_ms, changed_ms) WHERE state = 'waiting';
-- Jobs that ended have no index: every index is paid for with each move of each job, and who looks at the past can wait.
