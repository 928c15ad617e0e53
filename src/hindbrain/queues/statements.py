"""An engine -> the queue's statements for it, each with what it relies on.

One text serves both engines. Where they must differ it has a hole: the time (SQLite takes ours, PostgreSQL its own), lists, and
the locking of rows that others may hold, which SQLite with its one writer has no need of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from hindbrain.queues.job import MOST_CRASHES

# In the order of Job's fields.
COLUMNS: Final = """id, kind, key, group_key, payload, priority, forced, state, attempts, crashes, max_attempts, token, owner,
       run_after_ms, enqueued_ms, changed_ms, error, delays"""

# A job that is live already is strengthened in the same statement: there is no moment between looking and writing. What failed
# keeps its backoff: telling it again does not make the service it waits for answer. Told again while it runs, it will run again.
_ENQUEUE: Final = """
INSERT INTO jobs (kind, key, group_key, payload, priority, forced, max_attempts, state, run_after_ms, enqueued_ms, changed_ms)
SELECT kind, key, group_key, payload, priority, forced, max_attempts, CASE WHEN delay_ms > 0 THEN 'waiting' ELSE 'ready' END,
       at + delay_ms, at, at
FROM {new}, (SELECT {now} AS at) AS moment
WHERE true
ON CONFLICT (kind, key) WHERE live = 1 DO UPDATE SET
    payload = excluded.payload,
    priority = CASE WHEN excluded.priority > jobs.priority THEN excluded.priority ELSE jobs.priority END,
    forced = CASE WHEN excluded.forced = 1 THEN 1 ELSE jobs.forced END,
    again = CASE WHEN jobs.state = 'running' THEN 1 ELSE 0 END,
    state = CASE WHEN jobs.state = 'waiting' AND jobs.attempts = 0 AND jobs.delays = 0 AND excluded.state = 'ready'
                 THEN 'ready' ELSE jobs.state END,
    run_after_ms = CASE WHEN jobs.state = 'running' AND jobs.again = 0 THEN excluded.run_after_ms
                        WHEN jobs.state = 'running' AND excluded.run_after_ms < jobs.run_after_ms THEN excluded.run_after_ms
                        WHEN jobs.state = 'waiting' AND jobs.attempts = 0 AND jobs.delays = 0
                             AND excluded.run_after_ms < jobs.run_after_ms THEN excluded.run_after_ms
                        ELSE jobs.run_after_ms END,
    changed_ms = CASE WHEN jobs.state = 'running' THEN excluded.changed_ms
                      WHEN jobs.state = 'waiting' AND jobs.attempts = 0 AND jobs.delays = 0
                           AND excluded.run_after_ms < jobs.run_after_ms THEN excluded.changed_ms
                      ELSE jobs.changed_ms END
RETURNING id, kind, key
"""
_TAKE: Final = """
UPDATE jobs SET state = 'running', attempts = attempts + 1, token = token + 1, owner = :owner,
    lead = CASE WHEN group_key <> '' AND id IN (SELECT min(id) FROM head GROUP BY group_key) THEN 1 ELSE 0 END,
    lease_until = {tick} + :lease_ms, lease_ms = :lease_ms, changed_ms = {now}
"""
# The first jobs of a kind and, with a job of a group, all others of it. The limit stands in the text: given as a value it would
# have PostgreSQL plan every claim anew. Of a group that runs none is taken; should two workers
# try at the same moment, the index jobs_lead lets one of them through.
_CLAIM: Final = """
WITH head AS MATERIALIZED (
    SELECT id, group_key FROM jobs AS first
    WHERE kind = :kind AND {moving}state = 'ready' AND crashes = 0 AND (group_key = '' OR NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE kind = :kind AND group_key = first.group_key AND group_key <> '' AND {grouped} AND state = 'running'
    ))
    ORDER BY priority DESC, id LIMIT {limit} {skip}
), mates AS MATERIALIZED (
    SELECT jobs.id FROM head CROSS JOIN jobs
    WHERE head.group_key <> '' AND jobs.group_key = head.group_key AND kind = :kind AND jobs.group_key <> '' AND {grouped}
      AND state = 'ready' AND crashes = 0 {skip}
)
{take}
WHERE id {within} (SELECT id FROM head UNION ALL SELECT id FROM mates){end}
RETURNING {columns}
"""
# One job that was running when a worker died. After the first death its group comes with it, as far as it died too: mostly a
# machine went down. After the second each is tried by itself, so that only the one that kills is parked.
_CLAIM_SUSPECT: Final = """
WITH head AS MATERIALIZED (
    SELECT id, kind, group_key, crashes FROM jobs AS first
    WHERE {moving}state = 'ready' AND crashes > 0 AND kind IN (SELECT value FROM json_each(:kinds))
      AND (group_key = '' OR NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE kind = first.kind AND group_key = first.group_key AND group_key <> '' AND {grouped} AND state = 'running'
    ))
    ORDER BY id LIMIT 1 {skip}
), mates AS MATERIALIZED (
    SELECT jobs.id FROM head CROSS JOIN jobs
    WHERE head.crashes = 1 AND head.group_key <> '' AND jobs.kind = head.kind AND jobs.group_key = head.group_key
      AND jobs.group_key <> '' AND {grouped} AND state = 'ready' AND jobs.crashes = 1 {skip}
)
{take}
WHERE id {within} (SELECT id FROM head UNION ALL SELECT id FROM mates){end}
RETURNING {columns}
"""
# What could not be read is put aside, and its group gets another lead.
_PARK_UNREADABLE: Final = """
UPDATE jobs SET state = 'parked', live = 0, again = 0, lead = 0, owner = '', error = :error, changed_ms = {now}
FROM {held} WHERE id = held_id AND token = held_token AND {running}
"""
_MAKE_LEAD: Final = """
UPDATE jobs SET lead = 1 WHERE id = :id AND NOT EXISTS (
    SELECT 1 FROM jobs AS other WHERE other.kind = jobs.kind AND other.group_key = jobs.group_key AND other.lead = 1
)
"""
# From here on the token is the fence: `held` lists ids with the token each was claimed under.
_HEARTBEAT: Final = """
UPDATE jobs SET lease_until = {tick} + :lease_ms, lease_ms = :lease_ms
FROM {held} WHERE id = held_id AND token = held_token AND {running}
RETURNING id
"""
# Told again while it ran, a job is not done. A time it was told to wait for counts, unless the clock was set back since.
_DONE: Final = """
UPDATE jobs SET
    state = CASE WHEN again = 0 THEN 'done' WHEN run_after_ms > {now} AND changed_ms <= {now} THEN 'waiting' ELSE 'ready' END,
    attempts = CASE WHEN again = 0 THEN attempts ELSE 0 END,
    crashes = CASE WHEN again = 0 THEN crashes ELSE 0 END,
    delays = CASE WHEN again = 0 THEN delays ELSE 0 END,
    live = again, again = 0, lead = 0, owner = '', changed_ms = {now}
"""
# All of them or none, in one statement. SQLite, where nobody else writes meanwhile, counts first; PostgreSQL counts what it has
# changed, and an error takes it back.
_FINISH_SQLITE: Final = """
WITH ours AS MATERIALIZED (SELECT id FROM jobs JOIN {held} ON id = held_id AND token = held_token WHERE state = 'running')
{done}
WHERE id IN (SELECT id FROM ours) AND (SELECT count(*) FROM ours) = :wanted
RETURNING id
"""
# One by itself, the common case, is its own count.
_FINISH_ONE_SQLITE: Final = """
{done}
WHERE id = :id AND token = :token AND state = 'running'
RETURNING id
"""
_FINISH_POSTGRESQL: Final = """
WITH finished AS (
    {done}
    FROM {held} WHERE id = held_id AND token = held_token AND {running}
    RETURNING id
)
SELECT all_or_none(count(*), :wanted) FROM finished
"""
NOT_ALL: Final = "HB001"  # what PostgreSQL says then
# Told again while it ran, a job is not parked: what it was told last has not been tried.
_FAIL: Final = """
UPDATE jobs SET
    state = CASE WHEN again = 1 AND :state = 'parked' THEN 'ready' ELSE :state END,
    attempts = CASE WHEN again = 1 AND :state = 'parked' THEN 0 ELSE :attempts END,
    delays = CASE WHEN again = 1 AND :state = 'parked' THEN 0 ELSE :delays END,
    run_after_ms = {now} + :wait_ms,
    live = CASE WHEN again = 0 AND :state = 'parked' THEN 0 ELSE 1 END,
    again = 0, lead = 0, owner = '', error = :error, changed_ms = {now}
FROM {held} WHERE id = held_id AND token = held_token AND {running}
"""
_GIVE_BACK: Final = """
UPDATE jobs SET state = 'ready', attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END,
    again = 0, lead = 0, owner = '', changed_ms = {now}
"""
_RELEASE: Final = "{give_back}\nFROM {held} WHERE id = held_id AND token = held_token AND {running}"
_RELEASE_ALL: Final = "{give_back}\nWHERE {moving}state = 'running'"
# A waiting job whose last change lies in the future saw the clock set back: how long it has waited nobody knows.
_PROMOTE: Final = """
UPDATE jobs SET state = 'ready', changed_ms = {now}
WHERE id {within} (
    SELECT id FROM jobs WHERE state = 'waiting' AND (run_after_ms <= {now} OR changed_ms > {now}) {skip}
){end}
"""
# Whoever holds the lock of such a row is finishing or renewing it right now; that row is left to them.
_REAP: Final = """
UPDATE jobs SET
    state = CASE WHEN crashes + 1 >= {most_crashes} OR attempts >= max_attempts THEN 'parked' ELSE 'ready' END,
    error = CASE WHEN crashes + 1 >= {most_crashes} OR attempts >= max_attempts
                 THEN 'its worker died ' || (crashes + 1) || ' times while it ran' ELSE error END,
    live = CASE WHEN crashes + 1 >= {most_crashes} OR attempts >= max_attempts THEN 0 ELSE 1 END,
    crashes = crashes + 1, again = 0, lead = 0, owner = '', changed_ms = {now}
WHERE id {within} (
    SELECT id FROM jobs WHERE {moving}state = 'running' AND (lease_until <= {tick} OR lease_until > {tick} + lease_ms) {skip}
){end}
RETURNING state
"""
# What lies further ahead than is kept was stamped by a clock that ran wrong.
_PRUNE: Final = """
DELETE FROM jobs WHERE id {within} (
    SELECT id FROM jobs
    WHERE state IN ('done', 'cancelled') AND (changed_ms < {now} - :keep_ms OR changed_ms > {now} + :keep_ms) {skip}
){end}
"""
# Milliseconds until the first job is due and until the first lease ends; NULL when there is none.
_NEXT_DUE: Final = """
SELECT CASE WHEN (SELECT max(changed_ms) FROM jobs WHERE state = 'waiting') > {now} THEN 0
            ELSE (SELECT min(run_after_ms) FROM jobs WHERE state = 'waiting') - {now} END,
       (SELECT min(CASE WHEN lease_until > {tick} + lease_ms THEN 0 ELSE lease_until - {tick} END)
        FROM jobs WHERE {moving}state = 'running')
"""
# Of several jobs of one kind and key the newest is tried again, and none while another is live.
_RETRY: Final = """
UPDATE jobs SET state = 'ready', live = 1, attempts = 0, crashes = 0, delays = 0, run_after_ms = {now}, changed_ms = {now}
WHERE id {within} (
    SELECT max(id) FROM jobs AS ended
    WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids)) AND state IN ('parked', 'cancelled') AND NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE kind = ended.kind AND key = ended.key AND live = 1
    )
    GROUP BY kind, key
){end} AND state IN ('parked', 'cancelled')
"""
_CANCEL: Final = """
UPDATE jobs SET state = 'cancelled', live = 0, again = 0, lead = 0, owner = '', changed_ms = {now}
WHERE id {within} (SELECT CAST(value AS BIGINT) FROM json_each(:ids)){end} AND state IN ('waiting', 'ready', 'running', 'parked')
"""
# PostgreSQL alone: whoever listens is told that there is work.
TELL: Final = "SELECT pg_notify('hindbrain_jobs', current_setting('hindbrain.tenant'))"
KNOWN: Final = "SELECT id FROM jobs WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids))"
COUNTS: Final = "SELECT kind, state, count(*) FROM jobs GROUP BY kind, state"
SELECT: Final = f"SELECT {COLUMNS} FROM jobs"

# The condition of the index jobs_group and, on SQLite, of jobs_ready, word for word: SQLite uses a partial
# index only where it finds its words again.
_GROUPED: Final = "state IN ('ready', 'running')"

_SQLITE: Final = {
    "now": ":now",
    "tick": ":tick",
    "new": """(
    SELECT json_extract(value, '$[0]') AS kind, json_extract(value, '$[1]') AS key, json_extract(value, '$[2]') AS group_key,
           json_extract(value, '$[3]') AS payload, json_extract(value, '$[4]') AS priority, json_extract(value, '$[5]') AS forced,
           json_extract(value, '$[6]') AS delay_ms, json_extract(value, '$[7]') AS max_attempts
    FROM json_each(:jobs)
) AS new""",
    "held": """(
    SELECT json_extract(value, '$[0]') AS held_id, json_extract(value, '$[1]') AS held_token FROM json_each(:held)
) AS held""",
    "running": "state = 'running'",
    "moving": f"{_GROUPED} AND ",
    "within": "IN",
    "end": "",
    "skip": "",
}
# The time is read in a query of its own: once per statement, and as a value that an index can be searched by. A list is made an
# array, which is looked up by index whatever the planner thinks of the table's size. What is held is looked up by id, in order
# of ids, so that two workers cannot lock each other out; the state is not compared plainly, or the index of what runs would do.
_POSTGRESQL: Final = {
    "now": "(SELECT coalesce(CAST(:now AS bigint), CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)))",
    "tick": "(SELECT coalesce(CAST(:tick AS bigint), CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)))",
    "new": """(
    SELECT value ->> 0 AS kind, value ->> 1 AS key, value ->> 2 AS group_key, value ->> 3 AS payload,
           CAST(value ->> 4 AS bigint) AS priority, CAST(value ->> 5 AS bigint) AS forced,
           CAST(value ->> 6 AS bigint) AS delay_ms, CAST(value ->> 7 AS bigint) AS max_attempts
    FROM json_array_elements(CAST(:jobs AS json))
) AS new""",
    "held": "unnest(CAST(:ids AS bigint[]), CAST(:tokens AS bigint[])) AS held (held_id, held_token)",
    "running": "state || '' = 'running'",
    "moving": "",
    "within": "= ANY (ARRAY",
    "end": ")",
    "skip": "FOR UPDATE SKIP LOCKED",
}


@dataclass(frozen=True, slots=True)
class Statements:
    """The queue's statements in the words of one engine."""

    enqueue: str
    claim: str  # with a hole for the limit
    claim_suspect: str
    park_unreadable: str
    make_lead: str
    heartbeat: str
    finish: str
    finish_one: str  # SQLite alone
    fail: str
    release: str
    release_all: str
    promote: str
    reap: str
    prune: str
    next_due: str
    retry: str
    cancel: str


@cache
def statements(*, sqlite: bool) -> Statements:
    """The statements for SQLite, or for PostgreSQL."""
    words = {
        **(_SQLITE if sqlite else _POSTGRESQL), "columns": COLUMNS, "grouped": _GROUPED, "most_crashes": str(MOST_CRASHES),
        "limit": "{limit}",
    }  # fmt: skip
    words |= {"take": _TAKE.format(**words).strip(), "done": _DONE.format(**words).strip()}
    words["give_back"] = _GIVE_BACK.format(**words).strip()

    def text(template: str) -> str:
        return template.format(**words).strip()

    return Statements(
        enqueue=text(_ENQUEUE), claim=text(_CLAIM), claim_suspect=text(_CLAIM_SUSPECT),
        park_unreadable=text(_PARK_UNREADABLE), make_lead=_MAKE_LEAD, heartbeat=text(_HEARTBEAT),
        finish=text(_FINISH_SQLITE if sqlite else _FINISH_POSTGRESQL),
        finish_one=text(_FINISH_ONE_SQLITE) if sqlite else "",
        fail=text(_FAIL), release=text(_RELEASE), release_all=text(_RELEASE_ALL), promote=text(_PROMOTE), reap=text(_REAP),
        prune=text(_PRUNE),
        next_due=text(_NEXT_DUE), retry=text(_RETRY), cancel=text(_CANCEL),
    )  # fmt: skip
