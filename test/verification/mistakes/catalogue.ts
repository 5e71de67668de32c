import { decide } from '../../../src/core/decide.ts';
import type { Step } from '../../../src/core/decision.ts';
import type { Resize } from '../../../src/core/in-place-changes.ts';
import { hasNeverStarted } from '../../../src/core/member.ts';
import { unreachedPrimary } from '../../../src/core/moco-state.ts';
import { justCreated } from '../../../src/core/on-demand-facts.ts';
import { everyAnswer } from '../../../src/core/rules/members.ts';
import { justRenewed } from '../../../src/core/rules/moco.ts';
import type { ClusterSnapshot, DataRecordFacts } from '../../../src/core/snapshot.ts';
import { markOfLeavingNode } from '../../../src/core/step.ts';
import { noDelays } from '../../core/replication-delays.ts';
import { type Family, type World, worldOf } from '../explorer/world.ts';
import { findings } from '../simulation/findings.ts';
import type { Mistake } from './mistake.ts';
import {
  changing,
  dataByWhatIsVerified,
  doing,
  evictsInstead,
  instead,
  isReplica,
  isStale,
  misreading,
  misreadingMembers,
  neverDeletes,
  neverStarted,
  ofEveryMember,
  readyByContainers,
  replaced,
  runs,
  staleReplica,
  target,
  unknownDataAsBefore,
  waits,
  withPlaces,
  withRevisionsKept,
  withRolesSettled,
} from './wrong-decisions.ts';

// Controllers that are wrong in one way each. Every layer that an entry names has to find it: that is how the layers are
// tested.

const faultless = (replicas: number): World => worldOf(replicas, { faults: 0, badRevision: false, countMoves: true });

const small = (replicas: number, ...families: readonly Family[]): World =>
  worldOf(replicas, { faults: 1, badRevision: false, families: new Set(families) });

/** Pods are taken away by others. */
const losses = (
  replicas: number,
  wanted: Partial<Omit<World, 'replicas' | 'policy'>> = {},
  settings: Parameters<typeof worldOf>[2] = {},
): World =>
  worldOf(
    replicas,
    { detail: 'coarse', badRevision: false, faults: 1, families: new Set<Family>(['new-pods']), ...wanted },
    settings,
  );

/** The cluster gets two more members while the rollout is paused. */
const scaledUp = (replicas: number): World =>
  losses(replicas, { faults: 0, families: new Set<Family>(['new-pods', 'scaling']), requests: new Set(['pauses']) });

/** Nodes are emptied, and nothing else goes wrong. */
const emptying = (begins: World['begins'], settings: Parameters<typeof worldOf>[2] = {}): World =>
  worldOf(
    3,
    { detail: 'coarse', badRevision: false, faults: 0, families: new Set<Family>(['leaving-nodes']), begins },
    settings,
  );

/** What a controller sees that reads resizes in another way. */
function withResizes(snapshot: ClusterSnapshot, read: (resize: Resize) => Resize | null): ClusterSnapshot {
  const members = snapshot.members.map((one) => {
    const { inPlace } = one;
    const isResized = inPlace?.kind === 'possible' && inPlace.resize !== null && inPlace.resize.awaited.length > 0;
    return isResized && inPlace.resize ? { ...one, inPlace: { ...inPlace, resize: read(inPlace.resize) } } : one;
  });
  return { ...snapshot, members };
}

/** It lets new pods start at the current revision. */
const isKeeping = (step: Step): boolean => step.kind === 'setStrategy' && step.newPods === 'CurrentRevision';

/** It remembers of these members that the mysqld of the current revision was the last to work on their data. */
function withOlderData(snapshot: ClusterSnapshot, members: readonly { readonly ordinal: number }[]): ClusterSnapshot {
  const revision = snapshot.statefulSet?.currentRevision ?? '';
  const isOne = (ordinal: number): boolean => members.some((one) => one.ordinal === ordinal);
  return {
    ...snapshot,
    lastRuns: snapshot.lastRuns.map((run) => (isOne(run.ordinal) ? { ...run, revision, worked: true } : run)),
    dataRecords: snapshot.dataRecords.filter(({ ordinal }) => !isOne(ordinal)),
  };
}

export const mistakes: Readonly<Record<string, Mistake>> = {
  'trusts Healthy alone': {
    wrong: 'takes the next replica as soon as MOCO calls the cluster Healthy, no matter which members are still away',
    decide: (snapshot, policy) =>
      snapshot.cluster.healthy ? evictsInstead(waits, staleReplica)(snapshot, policy) : decide(snapshot, policy),
    snapshots: /reduces needs roomForOne/,
    explorer: { finds: 'I2', world: small(3) },
    simulation: ['members', 'moco'],
  },
  'frees a claim': {
    wrong: 'takes a member although its claim is being deleted',
    decide: (snapshot, policy) => {
      const members = snapshot.members.map((member) => ({ ...member, recreatable: justCreated }));
      return decide({ ...snapshot, members }, policy);
    },
    snapshots: /freesClaims needs keepsItsData/,
  },
  'trusts the statuses of containers alone': {
    wrong: 'calls a member down whose container statuses are missing, although its pod is Ready',
    decide: misreadingMembers((one) => ({
      ...one,
      ready: one.ready && one.containers.every(({ ready }) => ready),
      containers: one.containers.map((container) => ({
        ...container,
        reason: container.state === 'waiting' ? (container.reason ?? 'ContainerCreating') : container.reason,
      })),
    })),
    snapshots: /contradictory facts led to a step/,
    simulation: ['statuses'],
  },
  'mistakes a pod without a node for a broken one': {
    wrong: 'updates a held member as soon as a drain leaves its new pod without a node',
    decide: (snapshot, policy) =>
      decide(
        ofEveryMember(snapshot, (one) => ({ ...one, unschedulable: one.unschedulable && 'Insufficient cpu' })),
        policy,
      ),
    snapshots: /delete needs staysWhileHeld/,
    simulation: ['maintenance', 'drains'],
  },
  'takes what keeps a pod from one node for what keeps it from all': {
    wrong: 'updates a held member whose node was drained, because its anti-affinity keeps it from the other nodes',
    decide: (snapshot, policy) =>
      decide(
        ofEveryMember(snapshot, (one) => ({
          ...one,
          unschedulable: one.unschedulable?.replace(/.*(Insufficient|didn't match).*/, '3 Insufficient cpu') ?? null,
        })),
        policy,
      ),
    snapshots: /delete needs staysWhileHeld/,
  },
  'replaces whatever has the labels of a member': {
    wrong: 'deletes a pod with the labels of a member that the StatefulSet does not control',
    decide: misreadingMembers((one) => ({ ...one, ofStatefulSet: true })),
    snapshots: /a target that does not exist/,
  },
  'asks the count of restarts alone whether mysqld has run': {
    wrong: 'gives the older revision to a member whose mysqld has run once and waits for its image since',
    decide: (snapshot, policy) => {
      const misjudged = ofEveryMember(snapshot, (one) => ({
        ...one,
        containers: one.containers.map((container) => ({
          ...container,
          hasRun: container.state !== 'waiting' || container.restarts > 0,
        })),
      }));
      const { lastRuns } = withOlderData(snapshot, misjudged.members.filter(hasNeverStarted));
      return decide({ ...misjudged, lastRuns }, policy);
    },
    snapshots: /I24: a member goes back that has run/,
  },
  'reads what is verified instead of the record of the data': {
    wrong: 'lets a member back that has worked at the update revision, since no pod shows that any more',
    decide: (snapshot, policy) => decide(dataByWhatIsVerified(snapshot), policy),
    snapshots: /I24: a member goes back behind its data/,
    explorer: { finds: 'back', world: losses(3, { requests: new Set(['pauses']) }, { partition: 2 }) },
  },
  'mistakes a missing record for the absence of data': {
    wrong: 'lets a member come back although it is unknown which mysqld has started on its data',
    decide: (snapshot, policy) => decide(unknownDataAsBefore(snapshot), policy),
    snapshots: /I24: (a member goes back behind its data|kept at rest beside other data)/,
  },
  'mistakes a member without a claim for one with newer data': {
    wrong: 'stops keeping revisions in a paused rollout as soon as the cluster is scaled up',
    decide: (snapshot, policy) =>
      decide({ ...snapshot, dataRecords: snapshot.dataRecords.map(({ claim: _, ...one }) => one) }, policy),
    snapshots: /I24: a paused rollout no longer keeps revisions/,
    explorer: { finds: 'lost', world: scaledUp(3) },
  },
  'takes a claim without a volume for one with newer data': {
    wrong: 'stops keeping revisions in a paused rollout as soon as a quota refuses the pods of new members',
    decide: (snapshot, policy) => {
      const withoutEvidence = ({ claim, ...one }: DataRecordFacts) =>
        claim === undefined || claim === 'unbound' ? one : { ...one, claim };
      return decide({ ...snapshot, dataRecords: snapshot.dataRecords.map(withoutEvidence) }, policy);
    },
    snapshots: /I24: a paused rollout no longer keeps revisions/,
  },
  'trusts an old answer that there is no claim': {
    wrong: 'lets a member come back although its claim may have been created, and its data upgraded, since it was read',
    decide: (snapshot, policy) =>
      decide({ ...snapshot, dataRecords: snapshot.dataRecords.map((one) => ({ ...one, ageSeconds: 0 })) }, policy),
    snapshots: /I24: (a member goes back behind its data|kept at rest beside other data)/,
  },
  'stops keeping as soon as the kubelet ends a pod': {
    wrong:
      'lets new pods start at the update revision right before the pod of a held member is created, although another member has newer data',
    decide: misreadingMembers((one) =>
      one.graceSeconds === 0 && one.terminatingForSeconds !== null ? { ...one, terminatingForSeconds: 9999 } : one,
    ),
    snapshots: /I24: a member that is held would come back updated/,
  },
  'mistakes the end of a policy for the end of a freeze': {
    wrong: 'continues as soon as a policy is gone, which may be about to be created again',
    decide: (snapshot, policy) => decide({ ...snapshot, policyGone: null }, policy),
    snapshots: /a policy has only just gone/,
  },
  'knows no versions of MySQL': {
    wrong: 'gives a member a mysqld that refuses its data',
    decide: (snapshot, policy) => {
      const { statefulSet } = snapshot;
      // Another image, of a version that opens whatever a mysqld of the same version has opened.
      const mysqld = (version: string) => ({ image: 'another', version: { version, source: 'tag' as const } });
      const known = ofEveryMember(snapshot, (one) => ({ ...one, mysqld: mysqld('8.4.8') }));
      const lastRuns = known.lastRuns.map((one) => ({ ...one, version: '8.4.8' }));
      const dataRecords = known.dataRecords.map(({ record, ...one }) => ({
        ...one,
        record: record && { ...record, version: '8.4.8' },
      }));
      const set = statefulSet && { ...statefulSet, mysqld: mysqld('8.4.9') };
      return decide({ ...known, lastRuns, dataRecords, statefulSet: set }, policy);
    },
    snapshots: /brings needs opensData/,
  },
  'knows the versions only of members with a pod': {
    wrong: 'lets a member whose pod is gone start at a mysqld that refuses its data',
    decide: (snapshot, policy) => {
      const hasPod = ({ ordinal }: { readonly ordinal: number }): boolean =>
        snapshot.members.some((one) => one.ordinal === ordinal);
      const lastRuns = snapshot.lastRuns.map((one) => (hasPod(one) ? one : { ...one, version: null }));
      const dataRecords = snapshot.dataRecords.map((one) =>
        hasPod(one) ? one : { ...one, record: one.record && { ...one.record, version: null } },
      );
      return decide({ ...snapshot, lastRuns, dataRecords }, policy);
    },
    snapshots: /I24: a missing member would start at a mysqld that refuses it/,
  },
  'believes that every version can be cloned': {
    wrong: 'takes the data of a replica that its next mysqld could not copy from the primary',
    decide: (snapshot, policy) => {
      const { overrides } = policy;
      const off = { rule: 'CloneImpossible', remainingSeconds: 60 };
      return decide(snapshot, { ...policy, overrides: [...overrides.filter(({ rule }) => rule !== off.rule), off] });
    },
    snapshots: /freesClaims needs findsADonor/,
  },
  'assumes that every redo log is closed': {
    wrong: 'gives a member that is down a mysqld that does not read the redo log which it may have left open',
    decide: (snapshot, policy) => {
      const image = snapshot.statefulSet?.mysqld.image ?? null;
      return decide(
        ofEveryMember(snapshot, (one) => ({ ...one, mysqld: { ...one.mysqld, image } })),
        policy,
      );
    },
    snapshots: /brings needs readsLog/,
  },
  'restarts a replica that clones': {
    wrong: 'restarts a replica that copies the data of another member as if it were behind',
    decide: misreadingMembers((one) => ({
      ...one,
      clone: { reading: { kind: 'notCloning' }, ageSeconds: 0, unknownForSeconds: 0 },
    })),
    snapshots: /stops needs copiesNothing/,
  },
  'releases although members have newer data': {
    wrong: 'releases a StatefulSet whose new pods start at the current revision although members have newer data',
    decide: (snapshot, policy) => {
      const right = decide(snapshot, policy);
      const { step } = right;
      const isPromoted = step.kind === 'promoteRevision' && step.for === 'release';
      return isPromoted && snapshot.statefulSet?.newPods === 'CurrentRevision'
        ? doing(right, { kind: 'release' })
        : right;
    },
    snapshots: /I24: released beside other data/,
  },
  'does not ask whether MOCO works': {
    wrong: 'stops a member while moco-controller is away, and the member stays down',
    decide: (snapshot, policy) => decide({ ...snapshot, moco: justRenewed(snapshot.moco) }, policy),
    snapshots: /stops needs mocoWorks/,
    simulation: ['mocoAway'],
  },
  "believes the pods of members that don't answer": {
    wrong: 'replaces the next member although another one does not answer, as long as its pod is ready',
    decide: (snapshot, policy) => decide({ ...snapshot, memberAnswers: everyAnswer(snapshot.members) }, policy),
    snapshots: /stops needs othersAnswer/,
    simulation: ['facts'],
  },
  'restarts a running replica without asking other members': {
    wrong: 'deletes a replica that may still acknowledge although another member does not answer',
    decide: (snapshot, policy) => {
      const believing = decide({ ...snapshot, memberAnswers: everyAnswer(snapshot.members) }, policy);
      const { step } = believing;
      const isOfRunning =
        step.kind === 'delete' && (step.rule === 'MemberNotParticipating' || step.rule === 'MemberUnreachable');
      return isOfRunning ? believing : decide(snapshot, policy);
    },
    snapshots: /stops needs othersAnswer/,
  },
  'believes every claim that is not being deleted': {
    wrong: 'replaces a member whose claim is Lost, or not the one that the pod was started with',
    decide: misreadingMembers(({ recreatable, ...one }) => {
      if (recreatable.kind !== 'asked') return { ...one, recreatable };
      const claims = recreatable.claims.filter(({ state }) => state === 'terminating' || state === 'missing');
      return { ...one, recreatable: { ...recreatable, claims } };
    }),
    snapshots: /freesClaims needs keepsItsData/,
    simulation: ['facts'],
  },
  'believes the pod of a primary that MOCO does not reach': {
    wrong: 'restarts running replicas in the middle of a failover, since the pod of the primary is ready',
    decide: (snapshot, policy) => {
      const { cluster } = snapshot;
      const mocoState = unreachedPrimary(cluster) === null ? cluster.mocoState : 'Incomplete';
      return decide({ ...snapshot, cluster: { ...cluster, mocoState } }, policy);
    },
    snapshots: /losesRelayLog needs somebodyLeads/,
    simulation: ['cutPrimary'],
  },
  'mistakes every closed budget for a backup': {
    wrong: 'waits for a backup while a PodDisruptionBudget is closed that MOCO did not create',
    decide: (snapshot, policy) =>
      decide({ ...snapshot, budgets: snapshot.budgets.map((one) => ({ ...one, ofMoco: true })) }, policy),
    snapshots: /a backup that nothing shows/,
  },
  'blames the revision for what a node does': {
    wrong: 'calls a revision failing because a node has shut down, or has evicted a pod for its own sake',
    decide: misreadingMembers((one) =>
      one.phase === 'Failed' ? { ...one, failedReason: 'Error', disruption: null } : one,
    ),
    snapshots: /the revision is blamed for its node/,
    simulation: ['shutdowns'],
  },
  'ignores the budget': {
    wrong: 'takes the next replica although as many members are away as may be',
    decide: evictsInstead(waits, staleReplica),
    snapshots: /reduces needs roomForOne/,
    explorer: { finds: 'I2', world: small(3) },
  },
  'overlooks the Jobs of backups': {
    wrong: 'takes members while a backup runs, unless MOCO has closed the PodDisruptionBudget for it',
    decide: (snapshot, policy) => decide({ ...snapshot, backupJobs: [] }, policy),
    snapshots: /stops needs noBackup/,
    explorer: { finds: 'backup', world: small(3, 'budget') },
    simulation: ['user'],
  },
  'evicts the primary without a demotion': {
    wrong: 'evicts the primary without asking MOCO for a switchover first',
    decide: instead((step) =>
      step.kind === 'demote' ? { kind: 'evict', rule: 'SingleMember', targets: step.targets } : null,
    ),
    snapshots: /I3: a healthy primary/,
    explorer: { finds: 'I3', world: faultless(3) },
  },
  'mistakes the index for the end of a switchover': {
    wrong: 'takes the old primary as soon as the index has moved, before MOCO has finished the switchover',
    decide: (snapshot, policy) => decide(withRolesSettled(snapshot), policy),
    snapshots: /needs (roomForOne|rolesRest)/,
    explorer: { finds: 'I3', world: small(3) },
    simulation: ['alone'],
  },
  'deletes instead of evicting': {
    wrong: 'deletes a healthy member, which no PodDisruptionBudget can refuse',
    decide: instead((step) => (step.kind === 'evict' ? { ...step, kind: 'delete' } : null)),
    snapshots: /I4: a healthy member deleted/,
    explorer: { finds: 'I4', world: small(3) },
    simulation: [],
  },
  'does not see that a member is updated': {
    wrong: 'evicts replicas whatever their revision is',
    decide: evictsInstead(waits, isReplica),
    snapshots: /I5: an updated member/,
    explorer: { finds: 'I5', world: small(3) },
  },
  'deletes replicas while the primary is down': {
    wrong: 'deletes a replica that runs and is not ready although the failover still needs it',
    decide: changing((right, snapshot) => {
      const next = snapshot.members.findLast((member) => runs(member) && staleReplica(snapshot, member));
      if (right.hold?.rule !== 'AwaitingFailover' || !next) return right;
      return doing(right, { kind: 'delete', rule: 'MemberNotParticipating', targets: [target(next)] });
    }),
    snapshots: /I2b: the floor of those that acknowledge/,
    explorer: { finds: 'I2b', world: small(3) },
    simulation: ['members', 'nodes'],
  },
  'mistakes replicas that lost their primary for broken ones': {
    wrong:
      'deletes a replica that has just ceased to be ready, before Kubernetes has noticed that the primary’s node is lost',
    decide: changing((right, snapshot) => {
      const { hold } = right;
      const member = snapshot.members.find(
        ({ ordinal }) => hold?.rule === 'AwaitingFailover' && ordinal === hold.replica,
      );
      if (member === undefined) return right;
      return doing(right, { kind: 'delete', rule: 'MemberNotParticipating', targets: [target(member)] });
    }),
    simulation: ['nodes'],
    firstSeed: 14,
  },
  'continues with a revision that fails': {
    wrong: 'gives the next member a revision with which another one does not come up',
    decide: evictsInstead([...waits, 'UpdateRevisionFailing'], staleReplica),
    snapshots: /brings needs standsUnlessDown/,
    explorer: { finds: 'I7', world: worldOf(5, { faults: 0 }) },
  },
  'replaces the primary first': {
    wrong: 'demotes the primary while replicas are stale, so that a second switchover is needed',
    decide: instead((step, snapshot) => {
      const primary = snapshot.members.find((member) => !isReplica(snapshot, member));
      if (step.kind !== 'evict' || !primary || !isStale(snapshot, primary)) return null;
      const revision = snapshot.statefulSet?.updateRevision ?? '';
      return { kind: 'demote', rule: 'PrimaryLast', targets: [target(primary)], mark: revision };
    }),
    snapshots: /a demotion before its turn/,
    explorer: { finds: 'I8', world: faultless(3) },
  },
  'does not say why it waits': {
    wrong: 'waits for a failover without naming a hold',
    decide: changing((right) => (right.hold?.rule === 'AwaitingFailover' ? { ...right, hold: null } : right)),
    snapshots: /I11: no step, no hold, and stale members/,
    explorer: { finds: 'facts', world: small(3) },
  },
  'never takes a demotion back': {
    wrong: 'leaves its demotion on a member although its reason is gone',
    decide: changing((right) =>
      right.step.kind === 'undemote'
        ? { ...right, step: { kind: 'none' }, hold: { rule: 'RolesNotSettled', members: [] } }
        : right,
    ),
    snapshots: /I12: a demotion outlives its reason/,
    explorer: { finds: 'facts', world: faultless(3) },
  },
  'does not wait for a container that restarts in place': {
    wrong: 'takes a container for restarted as soon as the pod has the label of the revision',
    decide: (snapshot, policy) => {
      const members = snapshot.members.map((member) => ({ ...member, restartInPlace: null }));
      return decide({ ...snapshot, members }, policy);
    },
    snapshots: /complete while a container has still to restart/,
    explorer: { finds: 'I17', world: small(3, 'in-place') },
  },
  'restarts containers of the primary in place': {
    wrong: 'restarts containers while the member is primary, although the user has not said so',
    decide: (snapshot, policy) =>
      decide(snapshot, { ...policy, inPlaceUpdates: { ...policy.inPlaceUpdates, primary: 'InPlace' } }),
    explorer: { finds: 'I21', world: small(3, 'slow-log') },
    simulation: ['inPlace'],
  },
  'labels a member before the kubelet has resized it': {
    wrong: 'takes a member for resized as soon as the spec of its pod has the resources of the revision',
    decide: misreading((snapshot) => withResizes(snapshot, () => null)),
    snapshots: /I17: the label before the kubelet has resized its containers/,
    explorer: { finds: 'I17', world: small(3, 'resize') },
  },
  'forgets resizes once updates in place are off': {
    wrong: 'goes by the label of a pod that was resized for a template that was taken back',
    decide: (snapshot, policy) => {
      if (policy.inPlaceUpdates.mode !== 'Never') return decide(snapshot, policy);
      const updateRevision = snapshot.statefulSet?.updateRevision ?? '';
      const members = snapshot.members.map((one) => (one.revision === '' ? { ...one, revision: updateRevision } : one));
      return decide({ ...snapshot, members }, policy);
    },
    simulation: findings['replaces a member with resources that no revision asks for, once updates in place are off'],
  },
  'waits for a deferred resize forever': {
    wrong: 'waits for a resize that the kubelet defers, however long that takes',
    decide: misreading((snapshot) => withResizes(snapshot, (resize) => ({ ...resize, forSeconds: 0 }))),
    explorer: { finds: 'stuck', world: { ...small(3, 'resize'), faults: 0 } },
  },
  'resizes the next member while one is being resized': {
    wrong: 'resizes every member at once, before it is known whether one can be resized',
    decide: changing((right, snapshot) => {
      const next = snapshot.members.find(
        ({ inPlace }) => inPlace?.kind === 'possible' && inPlace.change.resources.length > 0,
      );
      if (right.hold?.rule !== 'AwaitingResize' || next?.inPlace?.kind !== 'possible') return right;
      const revision = snapshot.statefulSet?.updateRevision ?? '';
      const { resources } = next.inPlace.change;
      const step = {
        kind: 'resizeInPlace',
        rule: 'ResizeRestartsNothing',
        targets: [target(next)],
        revision,
        resources,
      } as const;
      return doing(right, step);
    }),
    snapshots: /changesInPlace needs nobodyResizes/,
    explorer: { finds: 'I17', world: small(3, 'resize') },
  },
  'skips the confirmation': {
    wrong: 'acts on what its cache has, without reading again right before the step',
    explorer: { finds: 'I2', world: small(3), breaks: { unconfirmed: true } },
    module: replaced('src/controller/reconciler.ts', 'src/objects/cluster-client.ts', 'without-confirmation'),
    simulation: ['blind'],
  },
  'changes the revision of new pods without a confirmation': {
    wrong: 'lets new pods come up updated, or makes the update revision the current one, as its cache has it',
    explorer: {
      finds: 'lost',
      world: losses(1, { requests: new Set(['pauses']) }),
      breaks: { unconfirmed: 'StatefulSet' },
    },
    module: replaced('src/controller/', 'src/controller/disrupt/disrupt.ts', 'without-confirmed-strategies'),
  },
  'goes from a leaving node with nowhere to go': {
    wrong: 'replaces members on nodes that are to be emptied first although no node accepts their next pods',
    decide: (snapshot, policy) => decide(withPlaces(snapshot), policy),
    snapshots: /mustReturn needs hasANode/,
    simulation: findings['takes no member whose next pod no node takes, since every node is cordoned'],
  },
  'mistakes an unknown placement for a possible one': {
    wrong: 'replaces a member although its next pod has so many constraints that it is unknown which nodes can run it',
    decide: misreadingMembers(({ recreatable, ...one }) => ({
      ...one,
      recreatable: recreatable.kind === 'asked' ? { ...recreatable, unjudged: null } : recreatable,
    })),
    snapshots: /mustReturn needs isPlaced/,
  },
  'moves members from nodes that stay': {
    wrong: 'takes the node of every member for one that is being taken out of service',
    decide: misreadingMembers((one) => ({ ...one, leaving: 'is cordoned' })),
    snapshots: /I29: a member leaves a node that is not emptied/,
  },
  'evacuates where only primaries are to move': {
    wrong: 'evicts replicas from nodes that are being taken out of service although `nodeMaintenance` is Switchover',
    decide: (snapshot, policy) =>
      decide(snapshot, policy.nodeMaintenance === 'Switchover' ? { ...policy, nodeMaintenance: 'Evacuate' } : policy),
    snapshots: /I29: a replica leaves although only the primary is to be moved/,
    explorer: { finds: 'I29', world: emptying('updated', { nodeMaintenance: 'Switchover' }) },
  },
  'moves members although the user wants to ignore nodes': {
    wrong: 'takes members from nodes that are being taken out of service although `nodeMaintenance` is Ignore',
    decide: (snapshot, policy) =>
      decide(snapshot, policy.nodeMaintenance === 'Ignore' ? { ...policy, nodeMaintenance: 'Evacuate' } : policy),
    snapshots: /I29: a member leaves although the user wants to ignore nodes/,
  },
  'moves the primary from one leaving node to the next': {
    wrong:
      'asks for a switchover although MOCO would choose a replica whose node is being taken out of service as well',
    decide: misreadingMembers((one, snapshot) => ({ ...one, leaving: isReplica(snapshot, one) ? null : one.leaving })),
    snapshots: /demote needs heirStays/,
    explorer: { finds: 'I29', world: emptying('updated') },
  },
  'leaves a demotion for its node on a primary whose node stays': {
    wrong: 'lets MOCO move the primary off a node that is no longer being taken out of service',
    decide: misreadingMembers((one) => ({
      ...one,
      leaving: one.demotedFor === markOfLeavingNode ? 'is cordoned' : one.leaving,
    })),
    snapshots: /I12: a demotion outlives its reason/,
    explorer: { finds: 'facts', world: emptying('updated') },
  },
  'mistakes the mark of a node for that of another revision': {
    wrong: 'takes the demotion of a primary for its node back, and demotes it again, without end',
    decide: misreadingMembers((one) => ({
      ...one,
      demotedFor: one.demotedFor === markOfLeavingNode ? 'another' : one.demotedFor,
    })),
    explorer: { finds: 'cycle', world: emptying('updated') },
  },
  'rolls out beside a maintenance of nodes': {
    wrong: 'updates a member on a node that stays although `rolloutsDuringMaintenance` is Wait',
    decide: (snapshot, policy) => decide({ ...snapshot, nodesLeaving: null }, policy),
    snapshots: /(evict|risks|demote) needs leavesOrMaintenanceOver/,
    explorer: { finds: 'nodes', world: emptying('stale', { rolloutsDuringMaintenance: 'Wait' }) },
  },
  'moves members at their old revision while rollouts wait for nodes': {
    wrong: 'evacuates a stale member at its old revision although its update could move it, and updates it later',
    decide: (snapshot, policy) =>
      decide(
        snapshot,
        snapshot.nodesLeaving?.names.length ? { ...policy, partition: snapshot.cluster.replicas } : policy,
      ),
    simulation: ['nodeMaintenance'],
    firstSeed: 13,
  },
  'rolls out between two nodes': {
    wrong: 'updates a member after one node is back, and moves it again when the next node is cordoned',
    decide: (snapshot, policy) => {
      const { nodesLeaving } = snapshot;
      return decide({ ...snapshot, nodesLeaving: nodesLeaving?.names.length ? nodesLeaving : null }, policy);
    },
    snapshots: /(evict|risks|demote) needs leavesOrMaintenanceOver/,
    simulation: ['nodeMaintenance'],
  },
  'updates a member that only leaves its node': {
    wrong:
      'evicts a held member from a node that is being taken out of service although its next pod starts at the update revision',
    decide: changing((right, snapshot, policy) => {
      const { step } = decide(withRevisionsKept(snapshot), policy);
      return step.kind === 'evict' && step.rule === 'NodeLeaving' ? doing(right, step) : right;
    }),
    snapshots: /I29: a member that leaves comes back as another/,
  },
  'mistakes a node that has never reported for a ready one': {
    wrong: 'counts a node without the condition Ready as one that may have the next pod of a member',
    module: replaced('src/controller/questions/recreatable.ts', 'src/moco/nodes.ts', 'with-nodes-that-never-reported'),
    simulation: findings['takes no member whose next pod no node takes, since the only free one has never reported'],
  },
  'ignores what keeps members apart': {
    wrong: 'counts the nodes of other members as ones that may have the next pod, whatever the anti-affinity says',
    module: replaced('src/controller/questions/recreatable.ts', 'src/moco/placement.ts', 'without-barriers'),
    simulation: findings['takes no member whose next pod no node takes, since the others are kept apart from it'],
  },
  'reads the pods before the StatefulSet': {
    wrong: 'compares pods with an update revision that is newer than they are',
    explorer: {
      finds: 'I2b',
      world: worldOf(3, {
        detail: 'coarse',
        faults: 1,
        changes: 1,
        badRevision: false,
        families: new Set(['template']),
      }),
      breaks: { podsFirst: true },
    },
  },
  'drops the preconditions': {
    wrong: 'deletes and evicts whichever pod has the name, in whatever version',
    explorer: {
      finds: 'I5',
      world: { ...small(1, 'late-write'), preconditions: false },
      breaks: { unconditional: true },
    },
    module: replaced('src/controller/reconciler.ts', 'src/objects/cluster-client.ts', 'without-preconditions'),
    simulation: ['late'],
  },
  'skips the intent': {
    wrong: 'takes a step that it has not written down, so that the next process takes another one beside it',
    explorer: { finds: 'I1', world: small(3, 'late-write'), breaks: { unfenced: true } },
    module: replaced('src/controller/disrupt/', 'src/controller/status/write.ts', 'without-intent'),
    simulation: ['orphans', 'processes'],
  },
  'forgets what it has just done': {
    wrong: 'decides before its watches have shown its last write',
    module: replaced('src/controller/', 'src/controller/facts/last-step.ts', 'without-expectations'),
    simulation: [],
    firstSeed: 17,
  },
  'judges a pod by the grace period that it has at the end': {
    wrong: 'calls a terminating pod stuck once the kubelet has shortened its grace period to 0',
    module: replaced('src/controller/', 'src/moco/ages.ts', 'with-current-grace-period'),
    simulation: ['nodes'],
    firstSeed: 19,
  },
  'counts ready instead of participating': {
    wrong: 'counts members on a lost node and errant replicas as participating',
    decide: (snapshot, policy) =>
      decide(
        {
          ...snapshot,
          cluster: { ...snapshot.cluster, errantOrdinals: [] },
          members: snapshot.members.map(readyByContainers),
        },
        policy,
      ),
    snapshots: /stops needs (failoverHadItsTime|replicasOnly)/,
    simulation: ['nodes', 'moco'],
  },
  'switches over towards a replica that is behind': {
    wrong: 'demotes the primary although the replica that MOCO chooses has not caught up, so that writes are blocked',
    decide: (snapshot, policy) => decide({ ...snapshot, replicationDelays: noDelays(snapshot.members) }, policy),
    snapshots: /movesPrimary needs othersCaughtUp/,
    simulation: ['lag'],
  },
  'counts a replica as soon as it is ready': {
    wrong: 'takes the next replica although the one that came back has received nothing, so that commits wait for it',
    decide: (snapshot, policy) => decide({ ...snapshot, mysql: null }, policy),
    snapshots: /stops needs othersReceived/,
    explorer: { finds: 'I27', world: small(3, 'delay') },
  },
  'ignores a failing check': {
    wrong: 'takes members that work although a check of the user fails',
    decide: (snapshot, policy) => decide({ ...snapshot, checks: [] }, policy),
    snapshots: /risks needs passed/,
    simulation: ['checks'],
  },
  'relies on an old answer to a check': {
    wrong: 'takes members that work because a check of the user has passed some time ago',
    module: replaced('src/controller/', 'src/controller/questions/checks.ts', 'with-first-answers'),
    simulation: ['checks'],
    firstSeed: 4,
  },
  'knows the pods of a preflight by their label alone': {
    wrong: 'deletes whatever has the label of a pod that fetches images, members as well',
    module: replaced('src/controller/reconciler.ts', 'src/objects/cluster-client.ts', 'with-labels-for-proof'),
    simulation: ['preflight'],
    firstSeed: 15,
  },
  'assumes that every node can fetch': {
    wrong: 'restarts a container in place on a node that has not fetched its image',
    module: replaced(
      'src/controller/questions/in-place.ts',
      'src/controller/questions/preflight-images.ts',
      'with-every-image-fetched',
    ),
    simulation: findings['restarts no container in place whose image its node has not fetched, whatever is overridden'],
  },
  'forgets prevent-delete': {
    wrong: 'takes members that MOCO protects from deletion',
    decide: (snapshot, policy) =>
      decide({ ...snapshot, members: snapshot.members.map((one) => ({ ...one, preventDelete: false })) }, policy),
    snapshots: /a protected member/,
    simulation: ['burdens'],
    explorer: { finds: 'protected', world: small(1, 'prevent-delete') },
  },
  'protects the primary alone': {
    wrong: 'takes a replica that still carries prevent-delete from when it was primary',
    decide: (snapshot, policy) => {
      const members = snapshot.members.map((one) => ({
        ...one,
        preventDelete: one.preventDelete && !isReplica(snapshot, one),
      }));
      return decide({ ...snapshot, members }, policy);
    },
    snapshots: /a protected member/,
    explorer: { finds: 'protected', world: small(3, 'prevent-delete') },
  },
  'restarts a member that recovers': {
    wrong: 'deletes a member whose mysqld recovers after a crash, so that the recovery begins anew',
    decide: (snapshot, policy) => {
      const startupSeconds = policy.failoverGraceSeconds;
      return decide({ ...snapshot, members: snapshot.members.map((one) => ({ ...one, startupSeconds })) }, policy);
    },
    explorer: { finds: 'recovering', world: small(3, 'recovery') },
  },
  'mistakes a primary whose upstream is away for one that is gone': {
    wrong: 'takes an intermediate primary that is not ready because its upstream is away',
    decide: (snapshot, policy) => {
      const { cluster, members } = snapshot;
      const primary = members.find((member) => !isReplica(snapshot, member));
      const unavailable = primary?.ready === false ? policy.failoverGraceSeconds : null;
      return decide(
        {
          ...snapshot,
          cluster: { ...cluster, replicatesFromElsewhere: false, primaryUnavailableForSeconds: unavailable },
        },
        policy,
      );
    },
    snapshots: /stops needs failoverHadItsTime/,
    explorer: { finds: 'I3', world: small(3, 'upstream') },
  },
  'does not listen to the user': {
    wrong: 'goes on while the rollout is paused, and takes pinned members',
    decide: (snapshot, policy) => decide(snapshot, { ...policy, paused: false, pinnedOrdinals: [] }),
    snapshots: /brings needs notKept/,
    explorer: { finds: 'setting', world: small(3, 'user') },
  },
  'does not keep to maintenance windows': {
    wrong: 'takes members that work while no maintenance window is open',
    decide: (snapshot, policy) => decide({ ...snapshot, maintenance: null }, policy),
    snapshots: /movesPrimary needs inTime/,
    explorer: { finds: 'I18', world: small(3, 'maintenance') },
    simulation: ['maintenance'],
  },
  'counts a demotion without its eviction': {
    wrong: 'asks for a switchover although the update of the old primary does not fit into the maintenance window',
    decide: changing((right, snapshot, policy) => {
      if (right.hold?.rule !== 'OutsideMaintenanceWindow' || right.hold.closesAt === null) return right;
      const early = decide({ ...snapshot, maintenance: null }, policy);
      return early.step.kind === 'demote' ? early : right;
    }),
    explorer: { finds: 'I18', world: small(3, 'maintenance') },
  },
  'takes its demotion back as soon as it sees it': {
    wrong: 'demotes the primary and takes that back, again and again, since it forgets that it has tried',
    decide: (snapshot, policy) => {
      const right = decide({ ...snapshot, memory: { ...snapshot.memory, switchoverTries: 0 } }, policy);
      const demoted = snapshot.members.find(({ demotedFor }) => demotedFor !== null);
      if (!demoted) return right;
      const step: Step = { kind: 'undemote', targets: [target(demoted)], reason: 'OthersDue', demoted: demoted.demote };
      return doing(right, step);
    },
    explorer: { finds: 'cycle', world: worldOf(3, { faults: 0, badRevision: false }) },
  },
  'waits for a budget that is never opened': {
    wrong: 'never evicts a member, since it takes the budget for used up',
    decide: changing((right) => {
      if (right.step.kind !== 'evict') return right;
      return {
        ...right,
        step: { kind: 'none' },
        hold: { rule: 'MaxUnavailableReached', unavailable: [], maxUnavailable: 1 },
      };
    }),
    explorer: { finds: 'stuck', world: worldOf(3, { faults: 0, badRevision: false }) },
  },
  'believes in errant replicas': {
    wrong: 'counts a replica that MOCO lists as errant, and has left out, as one that acknowledges commits',
    decide: (snapshot, policy) => decide({ ...snapshot, cluster: { ...snapshot.cluster, errantOrdinals: [] } }, policy),
    explorer: { finds: 'I2', world: small(3, 'errant') },
  },
  'ignores the partition': {
    wrong: 'updates members below the partition that the user has set',
    decide: (snapshot, policy) => decide(snapshot, { ...policy, partition: 0 }),
    explorer: { finds: 'setting', world: { ...small(3, 'partition'), faults: 0 } },
  },
  'mistakes maxUnavailable for the quorum': {
    wrong: 'takes as many replicas at once as the user allows, although too few are left to acknowledge commits',
    decide: evictsInstead(['NotEnoughAcknowledging', 'MaxUnavailableReached'], staleReplica),
    explorer: { finds: 'I2', world: { ...small(5, 'two-at-once'), faults: 0 } },
  },
  'counts the members that there are': {
    wrong:
      'takes the number of pods for the number of replicas, so that the quorum is too small while members are added',
    decide: (snapshot, policy) =>
      decide({ ...snapshot, cluster: { ...snapshot.cluster, replicas: snapshot.members.length } }, policy),
    explorer: { finds: 'I2b', world: { ...small(5, 'scaling'), faults: 0 } },
  },
  'goes on beside a demotion of another client': {
    wrong: 'takes a replica although another client has asked MOCO to move the primary',
    decide: evictsInstead(['ForeignDemote'], staleReplica),
    simulation: ['others'],
    explorer: { finds: 'facts', world: small(3, 'foreign-demote') },
  },
  'lowers the partition while it has to wait': {
    wrong: 'lets the StatefulSet controller replace the next member before the last one participates',
    decide: changing((right, snapshot) => {
      const partition = (snapshot.statefulSet?.partition ?? 0) - 1;
      const next = snapshot.members.find(({ ordinal }) => ordinal === partition);
      if (!next || right.hold === null || !waits.includes(right.hold.rule)) return right;
      return doing(right, { kind: 'setPartition', rule: 'ReplicaHealthy', partition, targets: [target(next)] });
    }),
    explorer: { finds: 'facts', world: { ...small(3, 'partition-mode'), faults: 0 } },
  },
  'waits for the sidecar of an impaired member': {
    wrong: 'never replaces a member whose mysqld serves while another of its containers fails',
    decide: neverDeletes('MemberImpaired'),
    explorer: { finds: 'stuck', world: small(1, 'impaired') },
  },
  'interrupts a failover that needs a relay log': {
    wrong: 'restarts a replica that has received what no other member has, while MOCO waits until it is applied',
    decide: changing((right, snapshot) => {
      const next = snapshot.members.findLast((member) => runs(member) && staleReplica(snapshot, member));
      const rules = ['FailoverUnfinished', 'AwaitingFailover', 'MemberUnreachable'];
      if (right.hold === null || !rules.includes(right.hold.rule) || !next) return right;
      return doing(right, { kind: 'delete', rule: 'MemberNotParticipating', targets: [target(next)] });
    }),
    explorer: {
      finds: 'I20',
      world: worldOf(3, { detail: 'coarse', faults: 1, badRevision: false, families: new Set(['relay-log']) }),
    },
  },
  'waits for agents that have died': {
    wrong: 'never restarts a primary that runs and is not ready, although no replica can take over',
    decide: neverDeletes('PrimaryNotParticipating'),
    explorer: { finds: 'stuck', world: small(1, 'agents') },
  },
  'restarts a replica only if no other one is down': {
    wrong:
      'leaves replicas that do not participate alone while another one runs, although MOCO fails to configure that one',
    decide: neverDeletes('MemberNotParticipating', (snapshot, step) =>
      snapshot.members.some((one) => runs(one) && !step.targets.some(({ ordinal }) => ordinal === one.ordinal)),
    ),
    explorer: {
      finds: 'cycle',
      world: worldOf(3, { detail: 'coarse', faults: 1, badRevision: false, families: new Set(['unconfigurable']) }),
    },
  },
  'ignores lost members': {
    wrong: 'lets a held member come back updated after another client has deleted its pod',
    decide: changing((right) => (isKeeping(right.step) ? { ...right, step: { kind: 'none' } } : right)),
    explorer: { finds: 'lost', world: losses(1) },
    simulation: ['losses'],
  },
  'keeps although a working updated member is going': {
    wrong: 'lets new pods start at the old revision while a member goes that works at the new one',
    decide: (snapshot, policy) => {
      const { members, memory, statefulSet } = snapshot;
      const isGoing = members.some(
        ({ revision, terminatingForSeconds }) =>
          revision === statefulSet?.updateRevision && terminatingForSeconds !== null,
      );
      if (!isGoing) return decide(snapshot, policy);
      const unproven = members.map((one) => ({
        ...one,
        participatingForSeconds: one.participatingForSeconds === null ? null : 0,
      }));
      const updated = members.filter(({ revision }) => revision === statefulSet?.updateRevision);
      const believed = withOlderData(snapshot, updated);
      return decide({ ...believed, members: unproven, memory: { ...memory, verified: false } }, policy);
    },
    snapshots: /I24: a member goes back behind its data/,
    simulation: ['lossesHalfway'],
  },
  'never goes back to OnDelete': {
    wrong: 'leaves new pods at the old revision once it has begun with that',
    decide: changing((right, snapshot) => {
      if (right.step.kind !== 'setStrategy' || snapshot.statefulSet?.newPods !== 'CurrentRevision') return right;
      return { ...right, step: { kind: 'none' } };
    }),
    snapshots: /I11: no step, no hold, and stale members/,
    explorer: { finds: 'stuck', world: losses(1) },
    simulation: ['lossesHalfway'],
  },
  'does not wait for OnDelete before its own eviction': {
    wrong: 'takes a member although its next pod comes up at the old revision',
    decide: changing((right, snapshot, policy) => {
      const { statefulSet } = snapshot;
      if (statefulSet === null || right.step.kind !== 'setStrategy' || right.step.newPods !== 'UpdateRevision')
        return right;
      const atOnDelete = { ...statefulSet, strategy: 'OnDelete', newPods: 'UpdateRevision', partition: null } as const;
      const early = decide({ ...snapshot, statefulSet: atOnDelete }, policy);
      return early.step.kind === 'evict' || early.step.kind === 'delete' ? early : right;
    }),
    snapshots: /brings needs comesUpUpdated/,
    explorer: { finds: 'kept', world: losses(1) },
    simulation: ['losses'],
  },
  'mistakes its own evicted member for a lost one': {
    wrong: 'lets a member that it has taken itself come back as what it was',
    decide: changing((right, snapshot, policy) => {
      const taken = snapshot.memory.taken.filter(({ restores }) => restores);
      const own = decide({ ...snapshot, memory: { ...snapshot.memory, waiting: null, taken } }, policy);
      return isKeeping(own.step) ? own : right;
    }),
    explorer: { finds: 'cycle', world: { ...losses(1), faults: 0 } },
    simulation: ['losses'],
  },
  'does not wait until the strategy is observed': {
    wrong: 'takes a member as soon as the strategy is written, before the StatefulSet controller has observed it',
    decide: (snapshot, policy) => {
      const { statefulSet } = snapshot;
      return decide({ ...snapshot, statefulSet: statefulSet && { ...statefulSet, observed: true } }, policy);
    },
    snapshots: /the update revision is not known/,
    explorer: { finds: 'kept', world: losses(1) },
  },
  'keeps whatever the current revision is': {
    wrong: 'does not make the revision of a lost member the current one before new pods come up at that',
    decide: changing((right) => {
      if (right.step.kind !== 'promoteRevision' || right.step.for !== 'keep') return right;
      return { ...right, step: { kind: 'setStrategy', newPods: 'CurrentRevision', lasts: 'untilCreated' } };
    }),
    snapshots: /I24: a member goes back behind its data/,
    explorer: { finds: 'lost', world: losses(1, { current: 'older' }) },
  },
  'gives back a member that has started': {
    wrong: 'restores a member that another client has updated although its mysqld has run at the update revision',
    decide: (snapshot, policy) => {
      const { memory, statefulSet } = snapshot;
      const created = memory.createdWhileHeld.map(({ ordinal }) => ({ ordinal, started: false }));
      const members = snapshot.members.map((one) => {
        const isCreated = created.some(({ ordinal }) => ordinal === one.ordinal);
        return isCreated && one.revision === statefulSet?.updateRevision && !one.ready ? neverStarted(one) : one;
      });
      const believed = withOlderData(snapshot, members.filter(hasNeverStarted));
      return decide({ ...believed, members, memory: { ...memory, createdWhileHeld: created } }, policy);
    },
    snapshots: /I24: a member goes back that has run/,
    explorer: { finds: 'restored', world: losses(1) },
  },
  'forgets in which pods mysqld has started': {
    wrong: 'asks the pod that there is now, and no earlier one, whether mysqld has run at the update revision',
    decide: (snapshot, policy) => {
      const { memory, members } = snapshot;
      const createdWhileHeld = memory.createdWhileHeld.map((one) => ({ ...one, started: false }));
      const believed = withOlderData(snapshot, members.filter(hasNeverStarted));
      return decide({ ...believed, memory: { ...memory, createdWhileHeld } }, policy);
    },
    snapshots: /I24: a member goes back behind its data/,
    explorer: { finds: 'restored', world: losses(1, { badRevision: true, faults: 2 }) },
  },
  'knows a restored member by its name': {
    wrong: 'takes the pod with which a restored member has come back for the one that a step has deleted',
    decide: (snapshot, policy) => {
      const { memory, members } = snapshot;
      const taken = memory.taken.map(({ ordinal, uid, restores }) => ({
        ordinal,
        uid: members.find((one) => one.ordinal === ordinal)?.uid ?? uid,
        restores,
      }));
      return decide({ ...snapshot, memory: { ...memory, taken } }, policy);
    },
    explorer: { finds: 'lost', world: losses(1, { badRevision: true, requests: new Set(['restores']) }) },
  },
  'replaces members with the gate off': {
    wrong: 'goes on as at OnDelete once the feature gate is off, and releases nothing to MOCO',
    decide: (snapshot, policy) => decide(snapshot, { ...policy, mode: 'OnDelete' }),
    snapshots: /I10: a write with the gate off/,
    simulation: ['flips'],
  },
  'allows one failure too many': {
    wrong: 'lets clusters begin although maxFailures + 1 rollouts of a stage fail',
    module: replaced(
      'src/controller/fleet/sequence-stages.ts',
      'src/core/fleet/stage-waits.ts',
      'with-one-more-failure',
    ),
    fleet: /begins: \w+ fails/,
  },
  'forgets who has left a stage': {
    wrong: 'lets production begin once the canary that fails is deleted, taken offline or relabelled',
    module: replaced(
      'src/controller/fleet/sequence-stages.ts',
      'src/core/fleet/stage-counts.ts',
      'with-no-member-gone',
    ),
    fleet: /begins: \S+ of \w+ has gone/,
  },
  'mistakes a superseded rollout for one that has begun': {
    wrong: 'goes on at once with a template that replaces another one in the middle of a rollout',
    module: replaced(
      'src/controller/fleet/',
      'src/controller/fleet/fleet-standing.ts',
      'with-superseded-rollouts-begun',
    ),
    fleet: /begins: it has not settled/,
  },
  'counts only what is written': {
    wrong: 'gives the last slot of a stage to two clusters that decide before either has written its first step',
    module: replaced('src/controller/fleet/', 'src/controller/fleet/fleet-standing.ts', 'with-slots-for-no-step'),
    fleet: /begins: \w+ is full/,
  },
  'takes a lost answer for a refusal': {
    wrong: 'believes that a step has not happened because the answer to its write was lost',
    module: replaced('src/controller/disrupt/', 'src/objects/execute.ts', 'with-no-answer-for-no'),
    simulation: ['api', 'lostAnswers'],
    firstSeed: 16,
  },
  'deletes what it may not evict': {
    wrong: 'deletes a member that works if a policy or a missing right refuses its eviction',
    module: replaced('src/controller/disrupt/', 'src/objects/execute.ts', 'with-deletions-for-evictions'),
    simulation: ['refusals'],
    firstSeed: 4,
  },
  'takes repeated events for news': {
    wrong: 'puts an older object into its cache when a watch repeats itself, and forgets what it has done since',
    module: replaced('src/kube/reflector.ts', 'src/kube/raw-object.ts', 'with-repetitions-for-news'),
    simulation: ['watches'],
    firstSeed: 19,
  },
  'takes any 404 for an empty collection': {
    wrong: 'forgets all policies, Jobs or sequences as soon as a proxy answers a list with a page that says 404',
    module: replaced('src/kube/reflector.ts', 'src/kube/discovery.ts', 'with-any-404-for-proof'),
    cache: ['a', 'b'],
  },
  'trusts its own clock': {
    wrong: 'counts ages at a takeover from the clock of its machine, which may be an hour ahead',
    module: replaced(
      'test/verification/simulation/controller-process.ts',
      'src/kube/server-clock.ts',
      'with-own-clock',
    ),
    simulation: ['clocks'],
    firstSeed: 4,
  },
};
