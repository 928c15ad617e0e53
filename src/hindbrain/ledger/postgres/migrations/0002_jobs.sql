-- Jobs on PostgreSQL: the table of the SQLite ledger (ledger/migrations/0005_jobs.sql), column for column. States and moves:
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
-- with an older token changes nothing. Ids come from a sequence and are never used twice, or an old token could fit a new job.
--
-- All times are the database's own (clock_timestamp), in milliseconds: machines that share it need not agree on the time. A lease
-- that ends more than lease_ms ahead saw the server's clock set back, and is over.
CREATE TABLE jobs (
    tenant        text COLLATE "C" NOT NULL DEFAULT current_setting('hindbrain.tenant'),
    id            bigint GENERATED ALWAYS AS IDENTITY,
    kind          text COLLATE "C" NOT NULL CHECK (kind <> ''),
    key           text COLLATE "C" NOT NULL,
    group_key     text COLLATE "C" NOT NULL DEFAULT '',
    payload       text COLLATE "C" NOT NULL DEFAULT '{}',
    priority      bigint NOT NULL DEFAULT 0,
    forced        bigint NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)),
    state         text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'ready', 'running', 'done', 'parked', 'cancelled')),
    live          bigint NOT NULL DEFAULT 1,  -- 1 while waiting, ready or running: an index by it is not touched by a claim
    again         bigint NOT NULL DEFAULT 0 CHECK (again IN (0, 1)),
    attempts      bigint NOT NULL DEFAULT 0,
    crashes       bigint NOT NULL DEFAULT 0,
    delays        bigint NOT NULL DEFAULT 0,
    max_attempts  bigint NOT NULL DEFAULT 5 CHECK (max_attempts > 0),
    token         bigint NOT NULL DEFAULT 0,
    owner         text COLLATE "C" NOT NULL DEFAULT '',
    lead          bigint NOT NULL DEFAULT 0,
    lease_until   bigint NOT NULL DEFAULT 0,
    lease_ms      bigint NOT NULL DEFAULT 0,
    run_after_ms  bigint NOT NULL,
    enqueued_ms   bigint NOT NULL,
    changed_ms    bigint NOT NULL,
    error         text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, id),
    CHECK (lead = 0 OR (lead = 1 AND state = 'running' AND group_key <> '')),
    CHECK ((live = 1) = (state IN ('waiting', 'ready', 'running'))),
    CHECK (again = 0 OR state = 'running')
);
-- Every job is updated a few times and then rests: dead rows are cleared away early, by number rather than by share.
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

-- One live job per kind and key: a second one becomes the first.
CREATE UNIQUE INDEX jobs_live ON jobs (tenant, kind, key) WHERE live = 1;
-- One running lead per kind and group: no two workers are at one group.
CREATE UNIQUE INDEX jobs_lead ON jobs (tenant, kind, group_key) WHERE lead = 1;
-- What a claim reads: jobs that never were running when a worker died, in their order; the suspects behind them.
CREATE INDEX jobs_ready ON jobs (tenant, kind, crashes, priority DESC, id) WHERE state = 'ready';
CREATE INDEX jobs_group ON jobs (tenant, kind, group_key, state) WHERE state IN ('ready', 'running') AND group_key <> '';
-- What becomes due, and what a clock that was set back would keep waiting.
CREATE INDEX jobs_due ON jobs (tenant, run_after_ms, changed_ms) WHERE state = 'waiting';
CREATE INDEX jobs_leased ON jobs (tenant, lease_until) WHERE state = 'running';
-- Jobs that ended have no index: every index is paid for with each move of each job, and who looks at the past can wait.

CALL protect('jobs');

-- Ends a statement that found fewer jobs than it was to change, so that it changes none.
CREATE FUNCTION all_or_none(changed bigint, wanted bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF changed <> wanted THEN
        RAISE EXCEPTION 'changed % jobs of %', changed, wanted USING ERRCODE = 'HB001';
    END IF;
    RETURN changed;
END $$;

-- Whoever listens is told whose jobs there are, when the transaction that told them commits.
CREATE FUNCTION tell_of_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('hindbrain_jobs', current_setting('hindbrain.tenant'));
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_told AFTER INSERT ON jobs FOR EACH STATEMENT EXECUTE FUNCTION tell_of_jobs();
