import type { answers as answerRules, step as stepRules } from '../../../src/core/rules/not-done.ts';
import { lastOne, stale } from '../cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from '../member-builder.ts';
import { openWrite, shownWrite } from '../mysql-readings.ts';
import { deletes, demotes, handsBack, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

/** Somebody else takes 2 while 1 is down, and nobody has shown that the revision works. */
const drained = () =>
  stale()
    .members(member(1).stale().down('CrashLoopBackOff'), member(2).stale().terminating())
    .memory({ waiting: [1, 2] });
/** Its current revision is promoted already. */
const released = () => stale().statefulSet({ currentRevision: revisionAfter }).released();
const failing = { kind: 'failing', series: { labels: {}, value: '1', others: 0 } } as const;
/** As it is remembered. */
const eviction = { step: `evict uid-2 ${revisionAfter}` };

const lease = { lease: 'moco-system/moco', holder: 'moco-controller-a' } as const;

export const step: Examples<keyof typeof stepRules> = {
  OutsideMaintenanceWindow: {
    applies: held(
      stale().maintenance([
        [-3600, 99],
        [7200, 7300],
      ]),
      { closesAt: 'T+99', neededSeconds: 100, opensAt: 'T+7200' },
      {},
      7200,
    ),
    says: 'the maintenance window closes at T+99, and the next step takes about 100 s; the next step may begin at T+7200',
    justDoesNot: when(stale().maintenance([[-3600, 100]]), next),
    alsoSays: [
      { closesAt: null, neededSeconds: 40, opensAt: null },
      'no maintenance window is open; no opening in the next 30 days has the 40 s that the next step takes',
    ],
  },
  Blackout: {
    applies: held(
      stale().maintenance(null, [99, 7200]),
      { from: 'T+99', until: 'T+7200', reason: 'sales', begun: false, neededSeconds: 100, opensAt: 'T+7200' },
      {},
      7200,
    ),
    says: 'a blackout begins at T+99 (sales), and the next step takes about 100 s; the next step may begin at T+7200',
    justDoesNot: when(stale().maintenance(null, [100, 7200]), next),
    alsoSays: [
      {
        from: '2026-01-02T03:00:00Z',
        until: '2026-01-02T05:00:00Z',
        reason: 'end of the year.',
        begun: true,
        neededSeconds: 40,
        opensAt: '2026-01-03T01:00:00Z',
      },
      'there is a blackout until 2026-01-02T05:00:00Z (end of the year); the next step may begin at 2026-01-03T01:00:00Z',
    ],
  },
  DisruptionControllerBehind: {
    applies: held(stale().but({ unobservedEvictions: 5 }), { evictions: 5, limit: 5 }, {}, 5),
    says: "Kubernetes' disruption controller has not observed 5 evictions of other clusters yet, and 5 may wait for it at a time",
    justDoesNot: when(stale().but({ unobservedEvictions: 4 }), next),
    alsoSays: [
      { evictions: 7, limit: 5 },
      "Kubernetes' disruption controller has not observed 7 evictions of other clusters yet, and 5 may wait for it at a time",
    ],
  },
  ReleaseUnsafe: {
    applies: held(released().releaseRefused('partition 0.', 9), { message: 'partition 0.' }, {}, 1),
    says: "the StatefulSet can't be released without risk to its pods: partition 0",
    justDoesNot: when(released().releaseRefused('partition 0.', 10), handsBack),
  },
  ConfirmationTooSlow: {
    applies: held(
      stale().stepFailed({ ...eviction, cause: 'tooSlow', tries: 3, sinceLastTrySeconds: 7, message: 'it is denied.' }),
      { message: 'it is denied.' },
      {},
      1,
    ),
    says: 'the API server is too slow for a safe step: it is denied',
    justDoesNot: when(stale().stepFailed({ ...eviction, cause: 'tooSlow', tries: 3, sinceLastTrySeconds: 8 }), next),
  },
  StepRefused: {
    applies: held(
      stale().stepFailed({ ...eviction, tries: 1, sinceLastTrySeconds: 1, message: 'it is denied.' }),
      { message: 'it is denied.' },
      {},
      1,
    ),
    says: 'the API server did not carry out the step: it is denied',
    justDoesNot: when(stale().stepFailed({ ...eviction, tries: 1, sinceLastTrySeconds: 2 }), next),
  },
};

export const answers: Examples<Exclude<keyof typeof answerRules, 'CloneUnknown'>> = {
  PreflightRunning: {
    applies: held(
      stale().preflight({ awaited: [{ about: 'images', nodeName: 'n-1', forSeconds: 299, message: null }] }),
      { nodes: ['n-1'], checking: null, message: null, limitSeconds: 300 },
      {},
      1,
    ),
    says: 'node n-1 fetches the images of the update revision, for at most 300 s',
    justDoesNot: when(
      stale().preflight({ awaited: [{ about: 'images', nodeName: 'n-1', forSeconds: 300, message: null }] }),
      next,
    ),
    alsoSays: [
      { nodes: ['n-1', 'n-2'], checking: 'n-1', message: '0/3 nodes are available.', limitSeconds: 300 },
      'nodes n-1, n-2 fetch the images of the update revision, and its mysqld checks its configuration on node n-1, for at most 300 s: 0/3 nodes are available',
      { nodes: [], checking: 'n-1', message: null, limitSeconds: 300 },
      'its mysqld checks its configuration on node n-1, for at most 300 s',
    ],
  },
  CheckFailing: {
    applies: held(
      stale().check('errant', failing, { ageSeconds: 29 }),
      { checks: [{ check: 'errant', labels: {}, value: '1', others: 0 }] },
      {},
      1,
    ),
    says: 'the check errant fails: {} is 1',
    justDoesNot: when(stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), next),
    alsoSays: [
      {
        checks: [
          {
            check: 'replication-delay',
            labels: { __name__: 'mysql_slave_lag_seconds', pod: 'moco-test-1', note: 'a "b"' },
            value: '41.5',
            others: 2,
          },
          { check: 'alerts', labels: {}, value: '+Inf', others: 0 },
          { check: 'up', labels: { __name__: 'up' }, value: '0', others: 0 },
          { check: 'lag', labels: {}, value: '', others: 0, missing: 'lag{name="test"}' },
        ],
      },
      String.raw`the check replication-delay fails: mysql_slave_lag_seconds{pod="moco-test-1", note="a \"b\""} is 41.5, and 2 more; the check alerts fails: {} is +Inf; the check up fails: up is 0; the check lag fails: there is no series of lag{name="test"}`,
    ],
  },
  CheckPending: {
    applies: held(stale().check('errant', null), { checks: ['errant'] }),
    says: 'waiting for Prometheus to answer the check errant',
    justDoesNot: when(stale().check('errant', { kind: 'passing' }), next),
    alsoSays: [{ checks: ['errant', 'lag'] }, 'waiting for Prometheus to answer the checks errant, lag'],
  },
  CheckUnavailable: {
    applies: held(
      stale().check('errant', { kind: 'unknown', message: 'no route' }, { ageSeconds: 29 }),
      { checks: [{ check: 'errant', message: 'no route' }] },
      {},
      1,
    ),
    says: 'Prometheus has no answer to the check errant: no route',
    justDoesNot: when(stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), next),
    alsoSays: [
      {
        checks: [
          { check: 'errant', message: 'https://prometheus.example: ECONNREFUSED.' },
          { check: 'errors', message: 'https://prometheus.example: ECONNREFUSED.' },
        ],
      },
      'Prometheus has no answer to the checks errant, errors: https://prometheus.example: ECONNREFUSED',
    ],
  },
  ReplicasBehind: {
    applies: held(
      lastOne().delay(1, { kind: 'delay', seconds: 1 }, { ageSeconds: 4 }),
      {
        member: 0,
        limitSeconds: 1,
        graceSeconds: 30,
        replicas: [{ ordinal: 1, reading: { kind: 'delay', seconds: 1 } }],
        acknowledging: null,
      },
      {},
      1,
    ),
    says: 'the switchover away from moco-test-0 waits until replicas are less than 1 s behind: moco-test-1 is 1 s behind',
    justDoesNot: when(lastOne().delay(1, { kind: 'delay', seconds: 0.99 }), demotes(0)),
    alsoSays: [
      {
        member: 0,
        limitSeconds: 5,
        graceSeconds: 30,
        replicas: [
          { ordinal: 1, reading: null },
          { ordinal: 2, reading: { kind: 'notReplicating', message: 'replication thread are stopped.' } },
          { ordinal: 3, reading: { kind: 'unknown', message: 'ECONNREFUSED' } },
          { ordinal: 4, reading: { kind: 'delay', seconds: 41.7 } },
        ],
        acknowledging: null,
      },
      "the switchover away from moco-test-0 waits until replicas are less than 5 s behind: the delay of moco-test-1 has not been read yet; moco-test-2 does not replicate (replication thread are stopped); the delay of moco-test-3 can't be read (ECONNREFUSED), and the wait for it ends after 30 s; moco-test-4 is 41 s behind",
      {
        member: 1,
        limitSeconds: null,
        graceSeconds: 30,
        replicas: [
          { ordinal: 2, reading: { kind: 'notReceived', transactions: 145, silent: null } },
          { ordinal: 3, reading: { kind: 'notApplied', transactions: 1, silent: null } },
        ],
        acknowledging: null,
      },
      'moco-test-1 waits until the other replicas have received what the primary has committed: moco-test-2 has not received 145 transactions of the primary; moco-test-3 has not applied 1 transaction that it has received',
      {
        member: 1,
        limitSeconds: null,
        graceSeconds: 30,
        replicas: [
          { ordinal: 2, reading: { kind: 'notReceiving', error: 1045, silent: null } },
          { ordinal: 3, reading: { kind: 'notReceiving', error: 0, silent: 'no answer within 1 s' } },
          { ordinal: 4, reading: { kind: 'notAcknowledging', silent: null } },
        ],
        acknowledging: { others: 1, needed: 2 },
      },
      "moco-test-1 waits until the other replicas have received what the primary has committed: moco-test-2 receives nothing from the primary (MySQL's error 1045); moco-test-3 receives nothing from the primary by its last answer, and can't be read since (no answer within 1 s); moco-test-4 replicates but acknowledges no commit; by the primary's count 1 would acknowledge commits without it, and each commit needs 2",
    ],
  },
  LongWrite: {
    applies: held(
      lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 1 }], waitedForWritesSeconds: 59 }),
      { member: 0, write: shownWrite, others: 0, graceSeconds: 60 },
      {},
      1,
    ),
    says: 'the switchover away from moco-test-0 waits, for at most 60 s, for a write that session 42 of app@10.0.0.7:51234 began at 2026-07-01T12:00:00Z and that waits for its client',
    justDoesNot: when(
      lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 0 }], waitedForWritesSeconds: 59 }),
      demotes(0),
    ),
    alsoSays: [
      { member: 0, write: null, others: 0, graceSeconds: 60 },
      'waiting for the primary moco-test-0 to report open writes',
      { member: 0, write: shownWrite, others: 2, graceSeconds: 60 },
      'the switchover away from moco-test-0 waits, for at most 60 s, for a write that session 42 of app@10.0.0.7:51234 began at 2026-07-01T12:00:00Z and that waits for its client, and for 2 more',
      { member: 0, write: shownWrite, others: 19, graceSeconds: null },
      'the switchover away from moco-test-0 waits for a write that session 42 of app@10.0.0.7:51234 began at 2026-07-01T12:00:00Z and that waits for its client, and for at least 19 more',
      { member: 0, write: { ...shownWrite, waitsFor: null }, others: 0, graceSeconds: null },
      'the switchover away from moco-test-0 waits for a write that session 42 of app@10.0.0.7:51234 began at 2026-07-01T12:00:00Z',
    ],
  },
  RevisionsKept: {
    applies: held(drained().statefulSet({ strategy: 'RollingUpdate', partition: 3, newPods: 'CurrentRevision' }), {
      revision: revisionBefore,
    }),
    says: 'new pods start at revision 5897fd84f8 until the pods that somebody else deleted exist again',
    justDoesNot: when(drained().memory({ verified: true, waiting: [1, 2] }), deletes('MemberDown', 1)),
  },
  MocoNotAsked: {
    applies: held(stale().mocoLease({ ageSeconds: 10 }), {}),
    says: 'waiting for the Lease of moco-controller to be read',
    justDoesNot: when(stale().mocoLease({ ageSeconds: 9 }), next),
  },
  MocoUnavailable: {
    applies: held(stale().mocoLease({ renewedForSeconds: 30 }), { ...lease, cause: 'notRenewed' }, {}, 2),
    says: 'moco-controller does not renew its Lease moco-system/moco, which moco-controller-a holds',
    justDoesNot: when(stale().mocoLease({ renewedForSeconds: 29 }), next),
    alsoSays: [
      { ...lease, cause: 'missing' },
      'there is no Lease moco-system/moco: moco-controller does not run, or uses another Lease',
      { ...lease, cause: 'free' },
      'no instance of moco-controller leads: its Lease moco-system/moco is free',
      { ...lease, cause: 'unseen' },
      'moco-controller has not been seen to renew its Lease moco-system/moco',
    ],
  },
  MembersNotAsked: {
    applies: held(stale().answers(1, { kind: 'ready' }, { ageSeconds: 5 }), { members: [1] }),
    says: 'waiting for the answer of moco-test-1',
    justDoesNot: when(stale().answers(1, { kind: 'ready' }, { ageSeconds: 4 }), next),
    alsoSays: [{ members: [0, 1] }, 'waiting for the answers of moco-test-0, moco-test-1'],
  },
  MemberSilent: {
    applies: held(
      stale().silent(1, 119),
      { member: 1, answer: 'unknown', message: 'no answer within 1000 ms', graceSeconds: 120 },
      {},
      1,
    ),
    says: 'moco-test-1 does not answer, although its pod is ready; Kubernetes and MOCO have 120 s to notice: no answer within 1000 ms',
    justDoesNot: when(stale().silent(1, 120), next),
    alsoSays: [
      { member: 0, answer: 'notReady', message: 'it is cloning.', graceSeconds: 120 },
      'moco-test-0 answers that it is not ready, although its pod is: it is cloning',
    ],
  },
  RecreationUnknown: {
    applies: held(stale().members(member(2).stale().recreatable({ ageSeconds: 60 })), { members: [2] }),
    says: 'checking whether moco-test-2 can be recreated',
    justDoesNot: when(stale().members(member(2).stale().recreatable({ ageSeconds: 59 })), next),
    alsoSays: [{ members: [1, 2] }, 'checking whether moco-test-1, moco-test-2 can be recreated'],
  },
};
