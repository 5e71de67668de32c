import { withStatefulSet } from '../expected.ts';
import { type ClosedBy, closedBy } from '../maintenance.ts';
import { asksOfReplicas, type ReplicaBehind, type ReplicasBehind, replicasBehind } from '../replicas-behind.ts';
import { counted, pointedOut, withoutFullStop } from '../sentences.ts';
import { stepIdentity } from '../step.ts';
import { checks } from './checks.ts';
import { cloneUnread } from './cloning.ts';
import { longWrite } from './long-write.ts';
import { silent } from './members.ts';
import { mocoAway } from './moco.ts';
import { nodeMaintenance } from './node-maintenance.ts';
import { preflightRunning } from './preflight.ts';
import { unread } from './recreatable.ts';
import { type Asked, after, type MemberName, rule, untilOpening } from './rule.ts';

// Rules about the chosen step: when it may begin, and why it has not been done.

export const step = {
  OutsideMaintenanceWindow: rule<ClosedBy['OutsideMaintenanceWindow']>({
    holds: (asked) => closedBy(asked, 'OutsideMaintenanceWindow'),
    sentence: ({ closesAt, neededSeconds, opensAt }) =>
      (closesAt === null
        ? 'no maintenance window is open'
        : `the maintenance window closes at ${closesAt}, and the next step takes about ${neededSeconds} s`) +
      nextOpeningText(opensAt, neededSeconds),
    meaning: 'A working member would be replaced outside of the maintenance windows (maintenanceWindows).',
    details:
      'A step begins only if its expected time fits into the rest of the window. The expected time is the median of the measured times of members, or expectedMemberSeconds until a member has been measured. For the primary, switchoverTimeoutSeconds is added. Members that are down do not wait, except those that are only waiting to start. Clusters whose primary does not participate do not wait either.',
    endedBy: ['time'],
    ends: 'By itself, when the next sufficiently long window opens. `kubectl moco-rollout plan NAME` shows what happens in which window.',
    overridable: true,
    requestedBy: '`maintenanceWindows`',
    assumed: untilOpening,
  }),
  Blackout: rule<ClosedBy['Blackout']>({
    holds: (asked) => closedBy(asked, 'Blackout'),
    sentence: ({ from, until, reason, begun, neededSeconds, opensAt }) =>
      (begun
        ? `there is a blackout until ${until} (${withoutFullStop(reason)})`
        : `a blackout begins at ${from} (${withoutFullStop(reason)}), and the next step takes about ${neededSeconds} s`) +
      nextOpeningText(opensAt, neededSeconds),
    meaning: 'A working member would be replaced during a blackout (blackouts), or too soon before one.',
    details: 'The same steps wait as with OutsideMaintenanceWindow.',
    endedBy: ['time'],
    ends: 'By itself, when the blackout is over.',
    overridable: true,
    requestedBy: '`blackouts`',
    assumed: untilOpening,
  }),
  ...nodeMaintenance,
  DisruptionControllerBehind: rule<{ readonly evictions: number; readonly limit: number }>({
    holds: ({ situation: { snapshot, deadlines }, step }) => {
      const { budgets, unobservedEvictions: evictions } = snapshot;
      if (step.kind !== 'evict' || budgets.length === 0 || evictions < mostUnobservedEvictions) return null;
      deadlines.reached(0, recheckSeconds);
      return { evictions, limit: mostUnobservedEvictions };
    },
    sentence: ({ evictions, limit }) =>
      `Kubernetes' disruption controller has not observed ${evictions} evictions in other clusters yet; at most ${limit} may be unobserved at a time`,
    meaning: "Kubernetes' disruption controller is behind with evictions of other clusters.",
    details:
      'The disruption controller can observe an eviction only while the pod terminates. If it is late and the new pod already exists, the PodDisruptionBudget of that cluster stays closed for two minutes. So only a few evictions may be waiting for it at a time. All evictions in another namespace count as one.',
    endedBy: ['Kubernetes'],
    ends: 'By itself, when the disruption controller has observed one of these evictions. If that takes minutes, look at kube-controller-manager.',
    overridable: true,
    routine: true,
    brief: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, unobservedEvictions: 0 })),
  }),
  ReleaseUnsafe: rule<{ readonly message: string }>({
    holds: ({ situation: { snapshot, deadlines }, step }) => {
      const { releaseRefusal: refusal } = snapshot;
      if (step.kind !== 'release' || refusal === null) return null;
      return deadlines.reached(refusal.sinceSeconds, releaseRetrySeconds) ? null : { message: refusal.message };
    },
    sentence: ({ message }) =>
      `the StatefulSet can't be released without risk to its pods: ${withoutFullStop(message)}`,
    meaning: 'A dry run of the release has shown that Kubernetes would replace pods at once.',
    details: 'In the dry run the StatefulSet had no partition above its last member.',
    endedBy: ['a person'],
    ends: "Check the result of the dry run in the message. MOCO's webhook has to be reachable. The controller tries again every 10 seconds.",
    alarms: true,
    phase: 'Failing',
    assumed: null,
  }),
  ConfirmationTooSlow: rule<{ readonly message: string }>({
    holds: (asked) => failedStep(asked, 'tooSlow'),
    sentence: ({ message }) =>
      `the API server answers too slowly to show that the step is safe: ${withoutFullStop(message)}`,
    meaning: 'The API server took too long to confirm the facts for a step, so the step was not carried out.',
    details:
      'Before the controller replaces a member, it reads the objects of the cluster again, and acts within --confirmation-timeout (2 seconds). Older facts prove nothing.',
    endedBy: ['Kubernetes'],
    ends: 'By itself, once the API server answers faster. The controller tries again after 2, 4, 8 and 16 seconds, then every 30 seconds. Check the latency of the API server, etcd, the webhooks and the network. If the API server is far away, raise --confirmation-timeout.',
    brief: true,
    assumed: after('requeue', (snapshot) => ({ ...snapshot, stepFailure: null })),
  }),
  StepRefused: rule<{ readonly message: string }>({
    holds: (asked) => failedStep(asked, 'refused'),
    sentence: ({ message }) => `the API server did not carry out the step: ${pointedOut(message)}`,
    meaning: 'The API server did not carry out a step, or the result of an earlier step is unknown.',
    details:
      'The message quotes the API server. An admission policy or a webhook refuses the step, the controller lacks a permission, or the API server fails.',
    endedBy: ['a person'],
    ends: 'Change what the message names. The controller tries again after 2, 4, 8 and 16 seconds, then every 30 seconds, or later if the API server asks for that.',
    alarms: true,
    brief: true,
    phase: 'Failing',
    assumed: null,
  }),
};

/** Rules that wait for an answer. Their questions are asked only in the cluster's turn, once nothing else holds. */
export const answers = {
  ...preflightRunning,
  ...checks,
  ReplicasBehind: rule<ReplicasBehind>({
    holds: replicasBehind,
    asks: asksOfReplicas,
    sentence: ({ member, limitSeconds, graceSeconds, replicas, acknowledging }, name) =>
      (limitSeconds === null
        ? `${name(member)} is waiting until the other replicas have received what the primary has committed: `
        : `the switchover away from ${name(member)} is waiting until replicas are less than ${limitSeconds} s behind: `) +
      [
        ...replicas.map((replica) => explainReplica(replica, graceSeconds, name)),
        ...(acknowledging === null
          ? []
          : [
              `according to the primary, ${acknowledging.others} other ${acknowledging.others === 1 ? 'replica' : 'replicas'} would acknowledge commits without ${name(member)}, but each commit needs ${acknowledging.needed}`,
            ]),
      ].join('; '),
    meaning: 'A replica is too far behind for a switchover, or its replication delay is unknown.',
    details:
      'MOCO blocks writes until the replica that it chooses has caught up, for up to 50 seconds in each attempt. It then waits, without a limit, until every other replica has finished the transaction that it is applying. The controller asks the agent of every replica right before it requests a switchover. It waits for an unreadable delay for at most replicaDelayGraceSeconds. With the feature gate ReplicationFacts it asks MySQL itself as well. Before a switchover a replica has to have received and applied what the primary had committed when the primary was asked; before another replica is replaced, receiving that is enough. The receiver has to be running, and has to acknowledge commits if the primary waits for that. A problem that a replica has reported holds the step until that replica reports otherwise, even if it stops answering.',
    endedBy: ['the members', 'time', 'a person'],
    ends: 'By itself, when the replica has caught up: no replica may be maxReplicaDelaySeconds or more behind. Look for a long transaction or a lock in the replica. If a delay cannot be read, let the controller connect to the ports health (9081) and agent-metrics (8080) of the pods. A replica that was behind and will never answer again holds the rollout until it is repaired or replaced, or until `kubectl moco-rollout override NAME ReplicasBehind`.',
    overridable: true,
    brief: true,
    assumed: after('moment', (snapshot) => snapshot),
  }),
  ...longWrite,
  RevisionsKept: rule<{ readonly revision: string }>({
    holds: ({ situation: { snapshot, policy } }) => {
      const { statefulSet } = snapshot;
      if (policy.mode !== 'OnDelete' || statefulSet?.newPods !== 'CurrentRevision') return null;
      return { revision: statefulSet.currentRevision };
    },
    sentence: ({ revision }) =>
      `new pods start at revision ${revision} until the pods that another client deleted exist again`,
    meaning: 'New pods start at the previous revision of their members.',
    details:
      'A drain, an eviction or a deletion by another client has removed the pod of a member that must not get the update revision yet. Meanwhile the strategy of the StatefulSet is RollingUpdate with partition = replicas. Before its next step the rollout sets the strategy back to OnDelete.',
    endedBy: ['moco-rollout', 'Kubernetes'],
    ends: 'By itself, once the pod exists again. If it stays terminating, `kubectl get pod POD -o wide` shows the node that has to stop it. Check that node.',
    brief: true,
    assumed: after('moment', (snapshot) =>
      withStatefulSet(snapshot, { strategy: 'OnDelete', newPods: 'UpdateRevision', partition: null }),
    ),
  }),
  ...cloneUnread,
  ...unread,
  ...mocoAway,
  ...silent,
};

const nextOpeningText = (opensAt: string | null, neededSeconds: number): string =>
  opensAt === null
    ? `; no opening in the next 30 days is long enough for the next step, which takes about ${neededSeconds} s`
    : `; the next step may begin at ${opensAt}`;

/** The decision is repeated after this time, in case the controller misses that an eviction was observed. */
const recheckSeconds = 5;
/** The time after which a refused dry run of a release is retried. */
const releaseRetrySeconds = 10;

const longestRetryDelaySeconds = 30;
/** How long the same step waits after each further failure: 2 s, 4 s, 8 s, 16 s, then 30 s. */
const retryDelaySeconds = (tries: number): number => Math.min(2 ** tries, longestRetryDelaySeconds);

/** The step itself is allowed, but the last attempt to write it failed. */
export const isOfItsWrite = (rule: string): boolean => rule === 'ConfirmationTooSlow' || rule === 'StepRefused';

/**
 * A step waits before it is retried if the API server was too slow for it or did not carry it out. Other steps
 * continue, unless the failed step may still happen. In that case no step begins until the outcome is known.
 */
function failedStep({ situation, step }: Asked, cause: 'tooSlow' | 'refused'): { readonly message: string } | null {
  const { stepFailure: failure } = situation.snapshot;
  if (failure === null || failure.cause !== cause) return null;
  const { message } = failure;
  if (failure.step === null) return { message };
  if (failure.step !== stepIdentity(step, situation.updateRevision)) return null;
  const delaySeconds = Math.max(retryDelaySeconds(failure.tries), failure.retryAfterSeconds);
  return situation.deadlines.reached(failure.sinceLastTrySeconds, delaySeconds) ? null : { message };
}

function explainReplica({ ordinal, reading }: ReplicaBehind, graceSeconds: number, name: MemberName): string {
  const replica = name(ordinal);
  switch (reading?.kind) {
    case undefined:
      return `the delay of ${replica} has not been read yet`;
    case 'delay':
      return `${replica} is ${Math.floor(reading.seconds)} s behind`;
    case 'notReceiving':
      return `${replica} is receiving nothing from the primary${reading.error === 0 ? '' : ` (MySQL error ${reading.error})`}${sinceThen(reading)}`;
    case 'notReceived':
      return `${replica} has not received ${counted(reading.transactions, 'transaction')} from the primary${sinceThen(reading)}`;
    case 'notAcknowledging':
      return `${replica} is replicating but acknowledges no commits${sinceThen(reading)}`;
    case 'notApplied':
      return `${replica} has not applied ${counted(reading.transactions, 'transaction')} that it has received${sinceThen(reading)}`;
    case 'notReplicating':
      return `${replica} is not replicating (${withoutFullStop(reading.message)})`;
    case 'unknown':
      return `the delay of ${replica} can't be read (${withoutFullStop(reading.message)}; waiting for at most ${graceSeconds} s)`;
  }
}

const sinceThen = ({ silent }: { readonly silent: string | null }): string =>
  silent === null
    ? ''
    : ` according to its last answer, and it could not be queried again (${withoutFullStop(silent)})`;

/**
 * How many evictions may wait for the disruption controller. All evictions in any one other namespace count as one. The
 * disruption controller has one worker. When it has observed one of the evictions, the next one is sent, so evictions
 * begin at the rate at which that worker runs. The disruption controller can observe an eviction only while the pod
 * terminates. If the next pod exists first, the budget stays closed for two minutes (docs/decisions/0021).
 */
export const mostUnobservedEvictions = 5;
