import type { nodeMaintenance } from '../../../src/core/rules/node-maintenance.ts';
import type { step } from '../../../src/core/rules/not-done.ts';
import { lastOne, stale } from '../cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from '../member-builder.ts';
import { deletes, demotes, handsBack, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

/** Somebody else has deleted the pod of 2 while 1 is down, and no member has verified the revision. */
const drained = () =>
  stale()
    .members(member(1).stale().down('CrashLoopBackOff'), member(2).stale().terminating())
    .memory({ waiting: [1, 2] });
/** Its current revision is promoted already. */
const released = () => stale().statefulSet({ currentRevision: revisionAfter }).released();
/** As it is remembered. */
const eviction = { step: `evict uid-2 ${revisionAfter}` };

export const examples: Examples<
  Exclude<keyof typeof step, keyof typeof nodeMaintenance> | 'ReplicasBehind' | 'RevisionsKept'
> = {
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
      'no maintenance window is open; no opening in the next 30 days is long enough for the next step, which takes about 40 s',
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
    says: "Kubernetes' disruption controller has not observed 5 evictions in other clusters yet; at most 5 may be unobserved at a time",
    justDoesNot: when(stale().but({ unobservedEvictions: 4 }), next),
    alsoSays: [
      { evictions: 7, limit: 5 },
      "Kubernetes' disruption controller has not observed 7 evictions in other clusters yet; at most 5 may be unobserved at a time",
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
    says: 'the API server answers too slowly to show that the step is safe: it is denied',
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
    says: 'the switchover away from moco-test-0 is waiting until replicas are less than 1 s behind: moco-test-1 is 1 s behind',
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
      "the switchover away from moco-test-0 is waiting until replicas are less than 5 s behind: the delay of moco-test-1 has not been read yet; moco-test-2 is not replicating (replication thread are stopped); the delay of moco-test-3 can't be read (ECONNREFUSED; waiting for at most 30 s); moco-test-4 is 41 s behind",
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
      'moco-test-1 is waiting until the other replicas have received what the primary has committed: moco-test-2 has not received 145 transactions from the primary; moco-test-3 has not applied 1 transaction that it has received',
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
      'moco-test-1 is waiting until the other replicas have received what the primary has committed: moco-test-2 is receiving nothing from the primary (MySQL error 1045); moco-test-3 is receiving nothing from the primary according to its last answer, and it could not be queried again (no answer within 1 s); moco-test-4 is replicating but acknowledges no commits; according to the primary, 1 other replica would acknowledge commits without moco-test-1, but each commit needs 2',
    ],
  },
  RevisionsKept: {
    applies: held(drained().statefulSet({ strategy: 'RollingUpdate', partition: 3, newPods: 'CurrentRevision' }), {
      revision: revisionBefore,
    }),
    says: 'new pods start at revision 5897fd84f8 until the pods that another client deleted exist again',
    justDoesNot: when(drained().memory({ verified: true, waiting: [1, 2] }), deletes('MemberDown', 1)),
  },
};
