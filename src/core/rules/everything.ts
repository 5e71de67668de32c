import { admissionProblem, isAdopted, isFirstAdoptionPaused } from '../adoption.ts';
import { withStatefulSet } from '../expected.ts';
import { isReadable } from '../policy.ts';
import { explainContention, withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import type { Contention } from '../snapshot.ts';
import { type Asked, after, asksFor, holdsIf, rule } from './rule.ts';

// Rules that block every step except taking back a demotion.

/** How long the rollout waits after a policy is deleted before the remaining settings can permit a step. */
const policySettlesSeconds = 30;

/**
 * These rules block every step except taking back a demotion. Waits that a person has requested come first, so that
 * they stay visible while MOCO writes the StatefulSet.
 */
export const everything = {
  SettingsInvalid: rule<{ readonly problem: string }>({
    holds: (asked) => {
      const { snapshot, policy } = asked.situation;
      const unreadable = isReadable(policy.maxUnavailable) ? null : `maxUnavailable is ${policy.maxUnavailable}`;
      const problem = snapshot.settingsProblem ?? unreadable;
      // Invalid settings do not keep the StatefulSet from being handed to another program, unless the rollout is also
      // paused.
      if (asksFor(asked, 'handsOver') && !(policy.paused && snapshot.settingsProblem !== null)) return null;
      return problem === null ? null : { problem };
    },
    sentence: ({ problem }) => `the settings are invalid: ${withoutFullStop(problem)}`,
    meaning: 'A setting of this cluster is invalid.',
    details:
      'Examples are a value out of range, and two policies of the same priority that disagree. The controller does not fall back to the default, because the user has asked for something else.',
    endedBy: ['a person'],
    ends: 'Correct the field that the message names, in the MySQLRollout or the MySQLRolloutPolicy.',
    alarms: true,
    assumed: null,
  }),
  Released: rule({
    holds: ({ situation: { snapshot, policy } }) => holdsIf(policy.mode === 'OnDelete' && snapshot.released),
    sentence: () => 'the cluster was released to MOCO',
    meaning: 'A person has released the cluster to rolling updates by partition.',
    details: 'The controller leaves the cluster alone.',
    endedBy: ['a person'],
    ends: 'Run `kubectl moco-rollout adopt NAME`.',
    requestedBy: '`kubectl moco-rollout release`',
    phase: 'Off',
    assumed: null,
  }),
  ReconciliationStopped: rule({
    holds: ({ situation }) => holdsIf(situation.snapshot.cluster.reconciliationStopped),
    sentence: () => "MOCO's reconciliation of this cluster is stopped by an annotation",
    meaning: "An annotation on the MySQLCluster stops MOCO's reconciliation of this cluster.",
    endedBy: ['a person'],
    ends: 'Run `kubectl moco start reconciliation NAME`, which removes the annotation from the MySQLCluster.',
    requestedBy: "MOCO's annotation `reconciliation-stopped`",
    assumed: null,
  }),
  ClusteringStopped: rule({
    holds: ({ situation }) => holdsIf(situation.snapshot.cluster.clusteringStopped),
    sentence: () => "MOCO's clustering of this cluster is stopped by an annotation",
    meaning: "An annotation on the MySQLCluster stops MOCO's clustering of this cluster.",
    details: 'Until the annotation is removed, MOCO neither switches over nor fails over.',
    endedBy: ['a person'],
    ends: 'Run `kubectl moco start clustering NAME`, which removes the annotation from the MySQLCluster.',
    requestedBy: "MOCO's annotation `clustering-stopped`",
    assumed: null,
  }),
  Offline: rule({
    holds: ({ situation }) => holdsIf(situation.snapshot.cluster.offline),
    sentence: () => 'the cluster is offline',
    meaning: 'The cluster is offline: it is meant to have no pods.',
    endedBy: ['a person'],
    ends: 'Set `spec.offline: false` in the MySQLCluster: `kubectl patch mysqlcluster NAME --type=merge -p \'{"spec":{"offline":false}}\'`.',
    requestedBy: '`spec.offline: true` of the MySQLCluster',
    assumed: null,
  }),
  ForcedRollingUpdate: rule({
    holds: ({ situation: { snapshot } }) =>
      holdsIf(snapshot.cluster.forcedRollingUpdate || snapshot.statefulSet?.forcedRollingUpdate === true),
    sentence: () => 'annotation force-rolling-update makes Kubernetes roll out the update itself',
    meaning: 'The MySQLCluster or its StatefulSet has the annotation force-rolling-update.',
    details: 'Kubernetes replaces the pods one after another, regardless of the state of the database.',
    endedBy: ['a person'],
    ends: 'Remove the annotation from the MySQLCluster. The controller then updates the members that are still stale.',
    requestedBy: "MOCO's annotation `force-rolling-update`",
    phase: 'Off',
    assumed: null,
  }),
  Paused: rule<{
    /** The field that sets the pause, and its object. */
    readonly by?: string;
    readonly author?: string;
    readonly until?: string;
    readonly reason?: string;
  }>({
    holds: (asked) => {
      const { paused, pausedBy: by, pause = {} } = asked.situation.policy;
      if (!paused || !isPausedFor(asked)) return null;
      const { remainingSeconds: _, ...known } = pause;
      return { ...(by !== undefined && { by }), ...known };
    },
    sentence: ({ by, author, until, reason }) =>
      `the rollout is paused${by === undefined ? '' : ` by ${by}`}` +
      (author === undefined ? '' : `, set by ${author}${until === undefined ? '' : ','}`) +
      (until === undefined ? '' : ` until ${until}`) +
      (reason === undefined ? '' : `: ${withoutFullStop(reason)}`),
    meaning: 'The rollout is paused, by the MySQLRollout or by a MySQLRolloutPolicy.',
    details:
      'With `repairWhilePaused: true` members that are down are still replaced. A pause never changes who replaces pods: neither a release nor a first adoption begins.',
    endedBy: ['a person'],
    ends: 'Run `kubectl moco-rollout resume NAME`. If the message names the policy `freeze`, run `kubectl moco-rollout unfreeze`; if it names `freeze-NAMESPACE`, run `kubectl moco-rollout unfreeze -n NAMESPACE`; if it names another policy, change that policy. If `pause.until` is set, the pause ends by itself at that time.',
    requestedBy: '`paused: true`',
    alert: 'MocoRolloutPausedStale',
    phase: 'Paused',
    assumed: null,
  }),
  PolicyGone: rule<{ readonly policy: string }>({
    holds: ({ situation: { snapshot, deadlines } }) => {
      const { policyGone: gone } = snapshot;
      return gone === null || deadlines.reached(gone.sinceSeconds, policySettlesSeconds)
        ? null
        : { policy: gone.policy };
    },
    sentence: ({ policy }) =>
      `${policy} decided some of this cluster's settings but no longer exists; the settings that apply without it take effect after ${policySettlesSeconds} s`,
    meaning:
      "A MySQLRolloutPolicy that decided some of the cluster's settings was deleted, so different values are about to apply.",
    details: `If the policy set a freeze, maintenance windows or a limit, the rollout waits for ${policySettlesSeconds} seconds, because the policy may be about to be created again, for example by a tool that replaces objects. To end a freeze at once, set \`paused: false\` in the policy before you delete it.`,
    endedBy: ['time', 'a person'],
    ends: `By itself, after ${policySettlesSeconds} seconds, or when the policy exists again.`,
    assumed: after('requeue', (snapshot) => ({ ...snapshot, policyGone: null })),
  }),
  StatefulSetDeleting: rule({
    holds: ({ situation }) => holdsIf(situation.snapshot.statefulSet?.deleting === true),
    sentence: () => 'the StatefulSet is being deleted or re-created',
    meaning: 'MOCO is re-creating the StatefulSet.',
    details:
      'MOCO does so to change the volume template, for example to enlarge volumes. The pods keep running. The controller does not check whether the claims and the file systems have grown: Kubernetes continues to enlarge them in the running pods, and in their successors.',
    endedBy: ['MOCO'],
    ends: 'By itself, once the new StatefulSet exists.',
    brief: true,
    assumed: after('moment', (snapshot) => withStatefulSet(snapshot, { deleting: false })),
  }),
  StatefulSetNotObserved: rule<{
    /** Absent unless other programs keep writing the StatefulSet. */
    readonly contention?: Contention;
  }>({
    holds: (asked) => {
      const { statefulSet, contention } = asked.situation.snapshot;
      const isObserved = statefulSet?.observed === true && statefulSet.updateRevision !== '';
      if (isObserved && (contention === null || !isContested(asked))) return null;
      return contention === null ? {} : { contention };
    },
    sentence: ({ contention }) =>
      contention === undefined
        ? 'Kubernetes has not yet observed the newest generation of the StatefulSet'
        : explainContention(contention),
    meaning:
      'Kubernetes has not yet observed the newest generation of the StatefulSet, or another program keeps writing the StatefulSet or resetting its partition.',
    details:
      'Until Kubernetes has observed it, the update revision may belong to the previous template. MOCO writes the StatefulSets of some manifests several times a second (cybozu-go/moco#782): the API server alters a field that MOCO applies, so MOCO applies it again, which resets the partition that MOCO lowers. In a rollout by partitions a member may then be restarted many times, and come back at its old revision. The message names the writer and the field.',
    endedBy: ['Kubernetes', 'a person'],
    ends: 'By itself within moments. If the message names a field, correct it in the MySQLCluster; adoption ends these writes as well. If it names a writer other than MOCO, stop that writer. Otherwise check that kube-controller-manager is running.',
    brief: true,
    assumed: after('moment', (snapshot) =>
      snapshot.statefulSet?.updateRevision
        ? { ...withStatefulSet(snapshot, { observed: true }), contention: null }
        : null,
    ),
  }),
  AdmissionNotInForce: rule<{
    readonly mode: 'OnDelete' | 'Partition';
    /** What the dry run returned, as a sentence. */
    readonly finding: string;
  }>({
    holds: ({ situation }) => admissionProblem(situation),
    sentence: ({ mode, finding }) =>
      mode === 'OnDelete'
        ? `admission does not keep the StatefulSet at OnDelete: ${withoutFullStop(finding)}`
        : `admission does not keep the StatefulSet at partition = replicas: ${withoutFullStop(finding)}`,
    meaning: "A dry run has shown that admission would not change MOCO's next write as this strategy requires.",
    details:
      'The result of the dry run must be OnDelete with the label or, with the bundled partition driver, partition = replicas. The message contains the actual result. Nothing was written, and MOCO continues without moco-rollout.',
    endedBy: ['a person', 'moco-rollout'],
    ends: 'Install what the strategy needs: config/admission-policy from Kubernetes 1.36 on, config/webhook before that, config/partition-driver for the bundled partition driver. The controller tries again after 30 seconds, then less often, and at least every 5 minutes.',
    assumed: null,
  }),
  StrategyNotOnDelete: rule<{ readonly labelled: boolean }>({
    holds: ({ situation }) =>
      situation.policy.mode !== 'OnDelete' ||
      isAdopted(situation.snapshot.statefulSet) ||
      isFirstAdoptionPaused(situation)
        ? null
        : { labelled: situation.snapshot.statefulSet?.labelled === true },
    sentence: ({ labelled }) =>
      labelled
        ? 'the StatefulSet has the label, but its update strategy is not OnDelete'
        : 'the update strategy of the StatefulSet is not OnDelete yet',
    meaning: 'The update strategy of the StatefulSet is not OnDelete, or the StatefulSet does not have the label.',
    details:
      "The controller is about to adopt the StatefulSet, or has adopted it recently. A StatefulSet that returns to RollingUpdate is adopted again after 30 seconds; this time doubles with each attempt, up to 5 minutes. Meanwhile MOCO's partition controller continues.",
    endedBy: ['moco-rollout'],
    ends: 'By itself. If this happens repeatedly, admission is sometimes unavailable, or another program writes the strategy: `kubectl get statefulset moco-NAME -o yaml --show-managed-fields`.',
    assumed: after('requeue', (snapshot) =>
      withStatefulSet(snapshot, { strategy: 'OnDelete', labelled: true, newPods: 'UpdateRevision', partition: null }),
    ),
  }),
  RevisionFlapping: rule<{
    readonly revisions: number;
    /** When the number of revisions in the preceding ten minutes falls to three. */
    readonly until: string;
    /** Absent if the writers are not known. */
    readonly writers?: readonly string[];
  }>({
    holds: (asked) =>
      asksFor(asked, 'proceeds', 'keepsDemotion', 'comesUpdated', 'interrupts')
        ? revisionFlapping(asked.situation)
        : null,
    sentence: ({ revisions, until, writers }) =>
      `${revisions} update revisions within ten minutes: ${explainWriters(writers ?? [])}; the rollout continues at ${until} unless another revision appears`,
    meaning: 'More than three update revisions appeared within ten minutes, and their rollouts are not complete.',
    details:
      'The cause may be two programs that overwrite each other, a reloader, or a person who is trying several templates. The message names the writers of the pod template that `managedFields` shows, the newest first. A correction immediately reaches members that are down, except those that are only waiting to start.',
    endedBy: ['time', 'a person'],
    ends: 'By itself, once ten minutes pass with fewer new revisions. `kubectl get mysqlcluster NAME -o yaml --show-managed-fields` shows who wrote what, and when. The fields that a reloader or `kubectl rollout restart` sets are in the StatefulSet.',
    overridable: true,
    alarms: true,
    phase: 'Failing',
    assumed: after('requeue', (snapshot) => ({
      ...snapshot,
      memory: { ...snapshot.memory, recentRevisions: [] },
    })),
  }),
};

/**
 * Whether repeated writes of the StatefulSet block the step. While this program still has to adopt the StatefulSet, or
 * leaves it to partitions, each of these writes may undo the last step of the rollout. For an adopted StatefulSet it is
 * enough to wait until its status is current. The decision is repeated after a while, because no event may follow the
 * last write.
 */
function isContested(asked: Asked): boolean {
  const { situation } = asked;
  if (isAdopted(situation.snapshot.statefulSet) || !asksFor(asked, 'acts', 'awaitsMoco')) return false;
  situation.deadlines.reached(0, contentionReviewSeconds);
  return true;
}

const contentionReviewSeconds = 10;

/**
 * Whether a pause blocks the step. During a pause, no other program begins to replace the pods, and repairs continue if
 * the user allows them.
 */
function isPausedFor(asked: Asked): boolean {
  const { situation } = asked;
  const { policy, snapshot } = situation;
  if (asksFor(asked, 'handsOver')) return snapshot.settingsProblem === null;
  if (asksFor(asked, 'adopts')) return isFirstAdoptionPaused(situation);
  return !policy.repairWhilePaused || isFirstAdoptionPaused(situation) || asksFor(asked, 'proceeds', 'keepsDemotion');
}

function explainWriters(writers: readonly string[]): string {
  const [newest] = writers;
  if (newest === undefined) return 'an unknown client keeps writing the pod template';
  if (writers.length === 1) return `${newest} keeps writing the pod template`;
  return `${writers.join(', ')} have written the pod template, ${newest} last`;
}

/** If there are more update revisions than this within ten minutes, they are not just corrections. */
const mostRevisions = 3;
export const flappingWindowSeconds = 600;

function revisionFlapping({
  snapshot,
  deadlines,
}: Situation): { readonly revisions: number; readonly until: string; readonly writers?: readonly string[] } | null {
  const recent = snapshot.memory.recentRevisions.filter(
    ({ ageSeconds, completed }) => !completed && !deadlines.reached(ageSeconds, flappingWindowSeconds),
  );
  const last = recent.at(-mostRevisions - 1);
  if (last === undefined) return null;
  const { templateWriters: writers } = snapshot;
  return { revisions: recent.length, until: last.oldAt, ...(writers.length > 0 && { writers }) };
}
