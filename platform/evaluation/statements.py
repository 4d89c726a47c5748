"""The statements by which episodes are claimed and attempts end.

They run once an episode, on which the platform may spend 30 ms of processor time all in all; as separate queries they
took a third of that. They are prepared once a connection. `(SELECT true … LIMIT 1)` stands for EXISTS, which a
planner would turn into a join with all ready episodes.
"""

from __future__ import annotations

ONE_KERNEL = (
    "SELECT pg_advisory_xact_lock(%(space)s, hashtext(%(kernel)s)), "
    "set_config('synchronous_commit', 'off', true)"
)
"""Makes one kernel's claims one after the other; a claim after it, in the same transaction, sees what those did.

A claim does not wait for the disk; whatever ends its attempt does, and so makes it durable too. One that a crash of
the database took away has no attempt: its worker finds that within a second, and can write nothing.
"""

SET_APART = """EXISTS (
    SELECT FROM evaluation_fleetorder o WHERE o.lifted_at IS NULL
      AND ((o.scope = 'worker' AND o.name = %(worker)s) OR (o.scope = 'host' AND o.name = %(host)s)))"""
"""Whether the worker, or its host, is drained or in quarantine: read once a statement."""

CLAIM_EXECUTION = f"""
WITH busy AS (
  SELECT run_id, count(*) AS leased FROM evaluation_episode WHERE state = 'leased' GROUP BY run_id),
lineages AS (
  SELECT r.lineage_id, coalesce(sum(busy.leased), 0) AS leased, max(s.served_at) AS served_at
  FROM evaluation_evaluationrun r JOIN evaluation_runshare s ON s.run_id = r.id
  LEFT JOIN busy ON busy.run_id = r.id
  WHERE r.state = 'executing' GROUP BY r.lineage_id),
turn AS MATERIALIZED (
  SELECT r.id, count(*) OVER () > 1 AS several, EXISTS (
      SELECT FROM evaluation_episode o JOIN evaluation_evaluationrun other ON other.id = o.run_id
      WHERE o.state = 'leased' AND o.kernel = %(kernel)s
        AND (other.kind = 'held_out') <> (r.kind = 'held_out')) AS waits
  FROM evaluation_evaluationrun r
  JOIN evaluation_runshare s ON s.run_id = r.id
  JOIN lineages l ON l.lineage_id = r.lineage_id
  LEFT JOIN busy ON busy.run_id = r.id
  WHERE r.state = 'executing' AND r.kind = ANY(%(kinds)s) AND NOT {SET_APART}
    AND NOT EXISTS (SELECT FROM evaluation_pause p WHERE p.switch = 'execution' AND p.lifted_at IS NULL)
    AND coalesce(busy.leased, 0) < %(run_ceiling)s
    AND l.leased < %(lineage_ceiling)s
    AND %(backlog)s > (SELECT count(*) FROM (
      SELECT FROM evaluation_episode e WHERE e.run_id = r.id AND e.state = 'executed' LIMIT %(backlog)s) waiting)
    AND NOT EXISTS (SELECT FROM evaluation_runmodel m JOIN evaluation_upstreamstop t ON t.upstream_id = m.upstream_id
      WHERE m.run_id = r.id AND t.ended_at IS NULL)
    AND (SELECT true FROM evaluation_episode e WHERE e.run_id = r.id AND e.state = 'ready'
         ORDER BY e.attempts, e.position LIMIT 1)
  ORDER BY l.leased, l.served_at NULLS FIRST, coalesce(busy.leased, 0), s.served_at NULLS FIRST, r.priority DESC,
    r.created_at LIMIT 1),
picked AS (
  SELECT id FROM evaluation_episode
  WHERE run_id = (SELECT id FROM turn WHERE NOT waits) AND state = 'ready'
  ORDER BY attempts, position LIMIT 1 FOR UPDATE SKIP LOCKED),
taken AS (
  UPDATE evaluation_episode e SET state = 'leased', fence = e.fence + 1, attempts = e.attempts + 1,
    worker = %(worker)s, kernel = %(kernel)s, lease_until = %(until)s
  FROM picked WHERE e.id = picked.id
  RETURNING e.id, e.run_id, e.task_id, e.run_index, e.fence, e.attempts),
tried AS (
  INSERT INTO evaluation_attempt
    (id, episode_id, number, fence, worker, started_at, ending, cause, isolation, has_output,
     artefact_key, artefact_sha256)
  SELECT %(attempt)s, taken.id,
    1 + (SELECT count(*) FROM evaluation_attempt a WHERE a.episode_id = taken.id),
    taken.fence, %(worker)s, %(now)s, '', '', '', false, '', ''
  FROM taken
  RETURNING id, number),
served AS (
  UPDATE evaluation_runshare s SET served_at = %(now)s
  FROM turn, taken WHERE s.run_id = turn.id AND turn.several)
SELECT turn.waits, taken.id, taken.run_id, taken.task_id, taken.run_index, taken.fence, tried.id, tried.number,
  taken.attempts, task.turns, task.budget_seconds, task.budget_steps, task.budget_tokens,
  task.environment_pack_id, task.environment_offset, task.environment_size
FROM turn LEFT JOIN (taken CROSS JOIN tried JOIN benchmark_taskrevision task ON task.id = taken.task_id) ON true
"""  # noqa: S608 - a part of our own
"""A row per look: whether the run in turn must wait for the kernel, then the claim. Its columns are null where
others hold each ready episode of that run just now. No row where no run has a ready episode.

Which run was served matters only where several have work: it is not noted for one alone.
"""

CLAIM_GRADING = f"""
WITH busy AS (
  SELECT run_id, count(*) AS grading FROM evaluation_episode WHERE state = 'grading' GROUP BY run_id),
lineages AS (
  SELECT r.lineage_id, coalesce(sum(busy.grading), 0) AS grading, max(s.graded_at) AS graded_at
  FROM evaluation_evaluationrun r JOIN evaluation_runshare s ON s.run_id = r.id
  LEFT JOIN busy ON busy.run_id = r.id
  WHERE r.state IN ('executing', 'grading') GROUP BY r.lineage_id),
turn AS MATERIALIZED (
  SELECT r.id, count(*) OVER () > 1 AS several
  FROM evaluation_evaluationrun r
  JOIN evaluation_runshare s ON s.run_id = r.id
  JOIN lineages l ON l.lineage_id = r.lineage_id
  LEFT JOIN busy ON busy.run_id = r.id
  WHERE r.state IN ('executing', 'grading') AND NOT {SET_APART}
    AND (SELECT true FROM evaluation_episode e WHERE e.run_id = r.id AND e.state = 'executed' LIMIT 1)
  ORDER BY l.grading, l.graded_at NULLS FIRST, coalesce(busy.grading, 0), s.graded_at NULLS FIRST, r.created_at
  LIMIT 1),
picked AS (
  SELECT id FROM evaluation_episode
  WHERE run_id = (SELECT id FROM turn) AND state = 'executed'
  ORDER BY grading_attempts, position LIMIT 1 FOR UPDATE SKIP LOCKED),
taken AS (
  UPDATE evaluation_episode e SET state = 'grading', fence = e.fence + 1, worker = %(worker)s,
    grading_attempts = e.grading_attempts + 1, lease_until = %(until)s
  FROM picked WHERE e.id = picked.id
  RETURNING e.id, e.run_id, e.task_id, e.run_index, e.fence, e.grading_attempts),
served AS (
  UPDATE evaluation_runshare s SET graded_at = %(now)s
  FROM turn, taken WHERE s.run_id = turn.id AND turn.several)
SELECT taken.id, taken.run_id, taken.task_id, taken.run_index, taken.fence, a.id,
  (SELECT max(number) FROM evaluation_attempt WHERE episode_id = taken.id),
  taken.grading_attempts, a.artefact_key, a.artefact_sha256, a.exit_code, a.has_output,
  task.slug, task.domain, task.grading_pack_id, task.grading_offset, task.grading_size
FROM turn LEFT JOIN (taken JOIN benchmark_taskrevision task ON task.id = taken.task_id) ON true
LEFT JOIN LATERAL (
  SELECT * FROM evaluation_attempt WHERE episode_id = taken.id AND artefact_key <> ''
  ORDER BY number DESC LIMIT 1) a ON true
"""  # noqa: S608 - a part of our own
"""A row per look: the claim, with the latest attempt that left something. Null where others were quicker; no row
where nothing waits."""

END_ATTEMPT = """
WITH held AS (
  UPDATE evaluation_episode SET state = %(state)s, lease_until = NULL, fence = fence + %(step)s,
    attempts = attempts - %(uncounted)s
  WHERE id = %(episode)s AND fence = %(fence)s AND state = 'leased'
    AND EXISTS (SELECT FROM evaluation_attempt t WHERE t.id = %(attempt)s AND t.fence = %(fence)s) RETURNING id)
UPDATE evaluation_attempt a SET ended_at = %(ended_at)s, ending = %(ending)s, cause = %(cause)s,
  exit_code = %(exit_code)s, seconds = %(seconds)s, isolation = %(isolation)s, has_output = %(has_output)s,
  artefact_key = %(artefact_key)s, artefact_sha256 = %(artefact_sha256)s, answer_sha256 = %(answer_sha256)s,
  host = %(host)s, speed_class = %(speed_class)s, signals = %(signals)s,
  steps = %(steps)s, tokens = %(tokens)s, tokens_complete = %(tokens_complete)s,
  asked_unlisted = %(asked_unlisted)s, refused_calls = %(refused_calls)s
FROM held WHERE a.id = %(attempt)s AND a.episode_id = held.id RETURNING a.id
"""
"""No row where the claim was lost in the meantime: then nothing was written."""
