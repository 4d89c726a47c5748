"""A change of each governed table, as somebody with a prompt would type it."""

STATEMENTS = """
UPDATE accounts_user SET password = 'x';
UPDATE accounts_user SET email = 'else-' || email;
INSERT INTO accounts_user (id, pseudonym, email, password, is_superuser, is_staff, is_active, language, sealed_name,
    date_joined)
  VALUES (gen_random_uuid(), gen_random_uuid(), 'ghost@lingee.invalid', '', true, true, true, 'en', '', now());
INSERT INTO accounts_user_groups (user_id, group_id)
  SELECT u.id, g.id FROM accounts_user u, auth_group g;
INSERT INTO accounts_user_user_permissions (user_id, permission_id)
  SELECT id, (SELECT min(id) FROM auth_permission) FROM accounts_user;
INSERT INTO accounts_erasurerequest (user_id, asked_at) SELECT id, now() FROM accounts_user;
INSERT INTO accounts_personkey (user_id, wrapped_key)
  SELECT id, 'k' FROM accounts_user WHERE id NOT IN (SELECT user_id FROM accounts_personkey);
UPDATE accounts_organisation SET state = 'suspended';
UPDATE accounts_membership SET role = 'viewer';
DELETE FROM accounts_membership;
UPDATE accounts_invitation SET role = 'owner';
UPDATE accounts_apitoken SET expiry = now() + interval '9 years';
INSERT INTO accounts_ruleacceptance (id, organisation_id, version, digest, accepted_by, accepted_at)
  SELECT gen_random_uuid(), organisation_id, 'x', '', accepted_by, now() FROM accounts_ruleacceptance;
INSERT INTO accounts_registration (id, organisation_id, filed_by, filed_at, due_at, state, domain, domain_method,
    name_mark, number_mark, domain_mark, evidence_files, verdict, ground, words)
  SELECT gen_random_uuid(), o.id, u.pseudonym, now(), now(), 'filed', 'x', '', '', '', '', 1, '', '', ''
  FROM accounts_organisation o, (SELECT pseudonym FROM accounts_user LIMIT 1) u
  WHERE o.id NOT IN (SELECT organisation_id FROM accounts_registration);
UPDATE accounts_registrationdetails SET wrapped_key = '';
INSERT INTO accounts_registrationevidence (id, registration_id, number, kind, size, sha256)
  SELECT gen_random_uuid(), id, 5, 'image/png', 1, '' FROM accounts_registration;
INSERT INTO accounts_linkcase (id, "first", "second", signals, state, opened_at, verdict, reason, moved, parting_reason)
  SELECT gen_random_uuid(), one.id, other.id, '[]', 'open', now(), '', '', '[]', ''
  FROM accounts_lineage one JOIN accounts_lineage other ON one.id < other.id;
INSERT INTO accounts_auditorganisation (organisation_id, since)
  SELECT id, now() FROM accounts_organisation
  WHERE id NOT IN (SELECT organisation_id FROM accounts_auditorganisation) AND state = 'under_review';
INSERT INTO accounts_auditorterm (id, person_id, organisation_id, begins_at, ends_at, scope, declaration)
  SELECT gen_random_uuid(), u.id, o.organisation_id, now(), now() + interval '1 year', '', ''
  FROM accounts_user u, accounts_auditorganisation o
  WHERE u.pseudonym NOT IN (SELECT person FROM accounts_dutyassignment);
UPDATE accounts_dutyassignment SET review_due_at = review_due_at + interval '9 years';
INSERT INTO accounts_dutyassignment (id, person, duty, begins_at, ends_at, assigned_by, assigned_at, reason,
    confirm_reason, review_reason, end_reason)
  SELECT gen_random_uuid(), person, 'identity_reviewer', now(), ends_at, assigned_by, now(), '', '', '', ''
  FROM accounts_dutyassignment;
UPDATE accounts_dutyceremony SET held_at = now();
INSERT INTO accounts_auditroom (id, term_id, submission_id, lineage_id, hours, reason, proposed_by, proposed_at)
  SELECT gen_random_uuid(), t.id, t.id, t.id, 1, 'x', u.pseudonym, now() FROM accounts_auditorterm t, accounts_user u;
INSERT INTO accounts_trustedpublisher (id, organisation_id, harness_id, issuer, dialect, repository, owner_id, workflow,
    ref, environment, registered_by, registered_at)
  SELECT gen_random_uuid(), organisation_id, id, 'https://x', 'github', 'a/b', '1', 'w', '', '',
    (SELECT min(pseudonym::text)::uuid FROM accounts_user), now() FROM submissions_harness;
UPDATE accounts_cigrant SET submission_id = gen_random_uuid();
INSERT INTO accounts_reviewedissuer (id, organisation_id, address, dialect, jwks, jwks_digest, reason, proposed_by,
    proposed_at)
  SELECT gen_random_uuid(), id, 'https://x', 'github', '{}', '', '',
    (SELECT min(pseudonym::text)::uuid FROM accounts_user), now() FROM accounts_organisation;
INSERT INTO evaluation_runmodel (run_id, role, upstream_id, parameters, exposure)
  SELECT r.id, 'x', u.id, '{}', 'sealed' FROM evaluation_evaluationrun r, evaluation_modelupstream u;
INSERT INTO evaluation_upstreamstop (id, upstream_id, cause, outcome, began_at)
  SELECT gen_random_uuid(), id, 'ceiling', '', now() FROM evaluation_modelupstream;
UPDATE benchmark_tasksetversion SET closed_at = now();
INSERT INTO benchmark_assetcommitment (version_id, root, tasks, wrapped_secret, made_at)
  SELECT id, '', 1, 's', now() FROM benchmark_tasksetversion;
UPDATE evaluation_evaluationrun SET missing = 1;
UPDATE evaluation_modelupstream SET ceiling = 9;
UPDATE evaluation_upstreamcredential SET boxed = 'x';
INSERT INTO evaluation_upstreamtrial (id, upstream_id, asked_at, outcome)
  SELECT gen_random_uuid(), id, now(), '' FROM evaluation_modelupstream;
INSERT INTO evaluation_pause (id, switch, ordered_by, ordered_at, reason, lifted_by, lift_reason)
  VALUES (gen_random_uuid(), 'release', 'x', now(), 'x', '', '');
UPDATE evaluation_fleetorder SET lifted_by = 'x', lifted_at = now(), lift_reason = 'x';
UPDATE evaluation_episodequarantine SET lifted_by = 'x', lifted_at = now(), lift_reason = 'x';
UPDATE evaluation_attempt SET ended_at = now(), ending = 'finished';
INSERT INTO evaluation_attempt (id, episode_id, number, fence, worker, started_at, ended_at, ending, cause, isolation,
    has_output, artefact_key, artefact_sha256)
  SELECT gen_random_uuid(), episode_id, 9, 9, '', now(), now(), 'finished', '', '', true, 'k', 's'
  FROM evaluation_attempt WHERE number = 1;
DELETE FROM evaluation_attempt WHERE id NOT IN (SELECT attempt_id FROM appeals_recheckitem);
UPDATE submissions_harness SET title = 'x';
INSERT INTO submissions_harnessowner (harness_id, wrapped_key, sealed, filed_at)
  SELECT id, 'k', 's', now() FROM submissions_harness;
INSERT INTO submissions_packageopening (id, submission_id, hours, reason, proposed_by, proposed_at, boxed_key)
  SELECT gen_random_uuid(), s.id, 1, 'x', (SELECT pseudonym FROM accounts_user LIMIT 1), now(), ''
  FROM submissions_submission s;
INSERT INTO submissions_usereturn (id, slot_id, reason, proposed_by, proposed_at)
  SELECT gen_random_uuid(), s.id, 'x', (SELECT pseudonym FROM accounts_user LIMIT 1), now() FROM submissions_slot s;
INSERT INTO submissions_rerunoffer (id, former_id, task_set_id, organisation_id, harness_version_id, package_digest,
    state, offered_at, expires_at)
  SELECT gen_random_uuid(), s.id, v.id, s.organisation_id, s.harness_version_id, s.package_digest, 'open', now(),
    now() + interval '9 days'
  FROM submissions_submission s JOIN benchmark_tasksetversion v ON v.id <> s.task_set_id WHERE s.state = 'complete';
INSERT INTO submissions_packagedeletion (submission_id, at) SELECT id, now() FROM submissions_submission;
INSERT INTO submissions_ownernotice (id, submission_id, ordered_by, ordered_at, mail_due_at, mail_attempts, objection)
  SELECT gen_random_uuid(), s.id, (SELECT pseudonym FROM accounts_user LIMIT 1), now(), now(), 0, ''
  FROM submissions_submission s;
INSERT INTO submissions_harnessversion (id, harness_id, version, card, card_digest, card_schema, created_at)
  SELECT gen_random_uuid(), id, '77', '{}', '', 1, now() FROM submissions_harness;
UPDATE submissions_upload SET sha256 = repeat('0', 64);
UPDATE submissions_submission SET publication_consent = NOT publication_consent;
INSERT INTO submissions_submissiontransition (submission_id, state, at, cause, actor_kind)
  SELECT id, 'complete', now(), 'x', 'person' FROM submissions_submission;
UPDATE submissions_slot SET reason = 'x';
INSERT INTO submissions_quotapolicy (id, task_set_id, profile, rule, value, valid_from)
  SELECT gen_random_uuid(), id, 'demo', 'line', 99, now() FROM benchmark_tasksetversion;
INSERT INTO submissions_admissionstop (id, task_set_id, cause, since)
  SELECT gen_random_uuid(), id, 'governance', now() FROM benchmark_tasksetversion;
UPDATE submissions_webhookendpoint SET url = 'x';
INSERT INTO desk_hold (id, submission_id, rule, state, state_since, placed_at, due_at, why, ground)
  SELECT gen_random_uuid(), id, 'contrast', 'active', now(), now(), now() + interval '9 days', '', ''
  FROM submissions_submission WHERE id NOT IN (SELECT submission_id FROM desk_hold);
INSERT INTO desk_holdorder (submission_id, ordered_by, reason, ordered_at)
  SELECT s.id, (SELECT pseudonym FROM accounts_user LIMIT 1), 'x', now() FROM submissions_submission s;
INSERT INTO desk_holddecision (id, submission_id, kind, ground, reason, proposed_by, proposed_at)
  SELECT gen_random_uuid(), s.id, 'void', 'card', 'x', (SELECT pseudonym FROM accounts_user LIMIT 1), now()
  FROM submissions_submission s;
INSERT INTO desk_case (id, task_set_id, lineage_id, state, state_since, due_at, opened_at, outcome)
  SELECT gen_random_uuid(), v.id, l.id, 'open', now(), now(), now(), ''
  FROM benchmark_tasksetversion v, accounts_lineage l WHERE l.id NOT IN (SELECT lineage_id FROM desk_case);
INSERT INTO desk_casealarm (alarm_id, case_id, joined_at)
  SELECT id, (SELECT id FROM desk_case), now() FROM watch_alarm WHERE kind = 'signal';
INSERT INTO desk_casestep (id, case_id, act, reason, "by", at)
  SELECT gen_random_uuid(), id, 'take', 'x', (SELECT pseudonym FROM accounts_user LIMIT 1), now() FROM desk_case;
INSERT INTO desk_casequestion (id, case_id, submission_id, question, asked_at, due_at, answer)
  SELECT gen_random_uuid(), c.id, s.id, 'model', now(), now(), '' FROM desk_case c, submissions_submission s;
INSERT INTO governance_runcommitment (submission_id, root, runs, wrapped_secret, made_at)
  SELECT id, '', 1, 's', now() FROM submissions_submission;
INSERT INTO governance_releasepolicy (id, task_set_id, profile, rule, grid_points, rho, tick_seconds, half_widths,
    valid_from)
  SELECT gen_random_uuid(), id, 'demo', 'grid', 1, 0.1, 1, '{}', now() FROM benchmark_tasksetversion;
INSERT INTO governance_sealedaggregate (submission_id, domain, reliability, failures, tasks, valid_tasks, runs,
    valid_runs, computed_at)
  SELECT id, 'x', '{}', '{}', 1, 1, 1, 1, now() FROM submissions_submission;
INSERT INTO governance_release (id, submission_id, policy_id, coverage, is_complete, versions, released_at)
  SELECT gen_random_uuid(), id, (SELECT id FROM governance_releasepolicy), '1.00', true, '{}', now()
  FROM submissions_submission WHERE state = 'created';
INSERT INTO governance_domainaggregate (release_id, domain, status, value, half_width)
  SELECT id, 'x', 'reported', 100, 1 FROM governance_release;
INSERT INTO governance_leakcharge (id, task_set_id, organisation_id, submission_id, kind, millibits, charged_at)
  SELECT gen_random_uuid(), task_set_id, organisation_id, id, 'correction', 1, now() FROM submissions_submission;
UPDATE governance_confirmationrun SET rerun_count = 1;
INSERT INTO governance_confirmationresult (confirmation_id, policy_id, "values", sides, coverage, root, runs,
    wrapped_secret, made_at)
  SELECT c.id, p.id, '{}', '{}', '1.00', '', 1, 's', now()
  FROM governance_confirmationrun c, governance_releasepolicy p;
INSERT INTO governance_releasedate (id, label, kind, planned_for, document, sha256)
  VALUES (gen_random_uuid(), 'ghost', 'results', now(), '', '');
INSERT INTO watch_detectionlevels (id, runs_per_task, levels, record, valid_from)
  VALUES (gen_random_uuid(), 3, '{}', '{}', now());
INSERT INTO watch_examination (submission_id, task_set_id, failures, failed_since, cause)
  SELECT id, task_set_id, 1, now(), 'x' FROM submissions_submission;
INSERT INTO watch_alarm (id, task_set_id, organisation_id, harness_id, submission_id, channel, kind, statistic, level,
    raised_at)
  SELECT gen_random_uuid(), s.task_set_id, s.organisation_id, v.harness_id, s.id, 'x', 'signal', 1, 1, now()
  FROM submissions_submission s JOIN submissions_harnessversion v ON v.id = s.harness_version_id;
INSERT INTO watch_alarmevidence (alarm_id, content)
  SELECT alarm.id, '{}' FROM watch_alarm alarm
;
UPDATE appeals_appeal SET state = 'withdrawn', due_at = NULL, ended_at = now();
INSERT INTO appeals_handling (appeal_id, expert, engineer, named_by, named_at, opinion, notes)
  SELECT id, person, filed_by, filed_by, now(), '', ''
  FROM appeals_appeal, (SELECT min(person::text)::uuid AS person FROM accounts_dutyassignment) d;
INSERT INTO appeals_draft (id, appeal_id, number, outcome, text, effects, proposed_by, proposed_at, decision, remark)
  SELECT gen_random_uuid(), id, 1, 'rejected', 'x', '[]', filed_by, now(), 'open', '' FROM appeals_appeal;
INSERT INTO appeals_ruling (appeal_id, outcome, text, ruled_at)
  SELECT id, 'inadmissible', 'x', now() FROM appeals_appeal;
INSERT INTO appeals_ruledeffect (id, appeal_id, kind, result, reference)
  SELECT gen_random_uuid(), id, 'refund', '', '' FROM appeals_appeal;
INSERT INTO appeals_outsidearbiter (person, declaration, named_by, confirmed_by, named_at)
  SELECT u.pseudonym, '', c.first, c.second, now()
  FROM accounts_user u, accounts_dutyceremony c WHERE u.pseudonym NOT IN (c.first, c.second);
UPDATE governance_regrading SET done_at = now(), runs = 1, differences = 0, wrapped_secret = 's';
INSERT INTO governance_correction (regrading_id, submission_id, cause, "values", former, corrected_at)
  SELECT id, submission_id, 'ruling', '{}', '{}', now() FROM governance_regrading;
INSERT INTO governance_regradedrun (regrading_id, attempt_id, score, success, failure_type)
  SELECT r.id, a.id, 1, true, '' FROM governance_regrading r, evaluation_attempt a;
INSERT INTO records_changelogline (id, kind, facts, text_zh, text_en, said_at)
  VALUES (gen_random_uuid(), 'policy', '{}', '', '', now());
INSERT INTO records_leakindex (task_set_id, salt, quotes, "values", codes, tasks, made_at)
  SELECT id, 's', '', '', '', 0, now() FROM benchmark_tasksetversion v
  WHERE NOT EXISTS (SELECT FROM records_leakindex i WHERE i.task_set_id = v.id);
INSERT INTO records_problem (id, task_set_id, part, source, reference, evidence, state, state_since, due_at, reason,
    reported_at)
  SELECT gen_random_uuid(), id, 'rules', 'staff', '', 'x', 'reported', now(), now(), '', now()
  FROM benchmark_tasksetversion;
INSERT INTO rotation_profiling (id, task_set_id, path, runs, seed, baselines, bank_digest, evaluator_version, tasks,
    digest, made_at)
  SELECT gen_random_uuid(), id, 'in_process', 1, '', '{}', '', '1', 1, '', now() FROM benchmark_tasksetversion;
INSERT INTO rotation_taskprofile (profiling_id, task_id, scores)
  SELECT p.id, t.id, '{}' FROM rotation_profiling p, benchmark_taskrevision t
  WHERE t.id NOT IN (SELECT task_id FROM rotation_taskprofile);
UPDATE rotation_rotationentry SET due_at = now() + interval '9 years';
UPDATE rotation_rotationplan SET due_at = now() + interval '9 years';
INSERT INTO rotation_rotationline (plan_id, task_id, domain, origin, replacement_id, distance, fate)
  SELECT p.id, t.id, t.domain, 'planned', t.id, 0, 'burnt' FROM rotation_rotationplan p, benchmark_taskrevision t;
INSERT INTO rotation_anchorrun (id, plan_id, version_id, anchor, number, digest, path, means, made_at)
  SELECT gen_random_uuid(), id, former_id, 'a', 1, '', '', '{}', now() FROM rotation_rotationplan;
INSERT INTO rotation_succession (id, former_id, next_id, mark, shifts, stated_at)
  SELECT gen_random_uuid(), id, id, 'annotated', '{}', now() FROM benchmark_tasksetversion;
INSERT INTO appeals_recheck (appeal_id, state, state_since, platform_commitment, committed_at, word_due_at, word, nonce)
  SELECT id, 'committed', now(), '', now(), now(), '', '' FROM appeals_appeal;
INSERT INTO appeals_rechecksecret (appeal_id, wrapped_nonce) SELECT id, 's' FROM appeals_appeal;
INSERT INTO appeals_recheckpanel (appeal_id, "first", "second")
  SELECT a.id, a.filed_by, c.first FROM appeals_appeal a, accounts_dutyceremony c;
INSERT INTO appeals_recheckitem (id, appeal_id, attempt_id, verdict)
  SELECT gen_random_uuid(), a.id, t.id, true FROM appeals_appeal a, evaluation_attempt t;
INSERT INTO appeals_rechecksheet (id, item_id, appeal_id, judge, place, sealed, boxed_key)
  SELECT gen_random_uuid(), i.id, a.id, a.filed_by, 1, '', ''
  FROM appeals_recheckitem i JOIN appeals_appeal a ON a.id = i.appeal_id
"""
CHANGES = [" ".join(statement.split()) for statement in STATEMENTS.split(";")]
