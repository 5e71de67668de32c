import type { InPlaceUpdate, RestartInPlace } from '../../../src/core/in-place-changes.ts';
import type { MocoState } from '../../../src/core/moco-state.ts';
import { justCreated, type MysqlReading, type ReplicationDelay } from '../../../src/core/on-demand-facts.ts';
import type { RolloutPolicy } from '../../../src/core/policy.ts';
import { everyAnswer } from '../../../src/core/rules/members.ts';
import type {
  BackupJobFacts,
  ClusterSnapshot,
  ContainerFacts,
  DataRecordFacts,
  LastRun,
  MaintenanceFacts,
  MemberFacts,
  Moment,
  NodesLeaving,
  RolloutMemory,
  StatefulSetFacts,
} from '../../../src/core/snapshot.ts';
import { markOfLeavingNode } from '../../../src/core/step.ts';
import { mysqldAt, usualVersion } from '../../core/member-builder.ts';
import { caughtUp, mysqlReading } from '../../core/mysql-readings.ts';
import { delayRead, noDelays } from '../../core/replication-delays.ts';
import { undisturbed } from '../../core/undisturbed.ts';
import * as c from './cells.ts';
import * as facts from './facts.ts';
import type { World } from './world.ts';

// What a controller reads of a state, in the core's words. Three reads at up to three moments: the StatefulSet, the
// budgets and its own MySQLRollout together, then the pods, the MySQLCluster last.

const revisionPrefix = 'revision-';
export const revisionName = (revision: number): string => `${revisionPrefix}${revision}`;
export const revisionNumber = (name: string): number => Number(name.slice(revisionPrefix.length));
/** Of the pod that a restore has deleted. The next one has another. */
const restoredUid = (ordinal: number): string => `restored-uid-${ordinal}`;
const takenUid = (ordinal: number): string => `taken-uid-${ordinal}`;
export const memberName = (ordinal: number): string => `moco-test-${ordinal}`;

const mocoStates: Readonly<Record<number, MocoState>> = {
  [c.Status.Poor]: 'Incomplete',
  [c.Status.Available]: 'Degraded',
  [c.Status.Healthy]: 'Healthy',
  [c.Status.Unserved]: 'Failed',
};
/** No family changes the version of MySQL. */
const mysqld = mysqldAt(usualVersion);
const longSeconds = 100_000;
const backupJob: BackupJobFacts = { name: 'emergency', restores: false, startedAt: 'T', activeForSeconds: 0 };
/** Longer than a start usually takes, and within the progress deadline. */
const slowSeconds = 100;
const shortSeconds = 1;
const memberSeconds = 60;
/** Longer than a failover may take, and within the progress deadline. */
const recoveringSeconds = 300;
/** Between that and `longSeconds`. */
const startupSeconds = 600;

const running: Omit<ContainerFacts, 'name' | 'part'> = {
  state: 'running',
  reason: null,
  ready: true,
  started: true,
  restarts: 0,
  hasRun: true,
  sidecar: false,
  injected: false,
  readySinceRestart: true,
  restartsInVain: 0,
  notReadyForSeconds: 0,
};
const notReady = { ready: false, notReadyForSeconds: longSeconds };
const creating = {
  ...notReady,
  state: 'waiting',
  reason: 'ContainerCreating',
  started: false,
  hasRun: false,
  readySinceRestart: false,
} as const;
const recovering = { ...notReady, started: false, readySinceRestart: false, restarts: 1, restartsInVain: 1 };
const backOff = {
  ...notReady,
  state: 'waiting',
  reason: 'CrashLoopBackOff',
  started: false,
  readySinceRestart: false,
  restarts: 3,
  restartsInVain: 3,
} as const;

const { Health } = c;

const mysqldOf: Readonly<Record<number, Partial<ContainerFacts>>> = {
  [Health.Starting]: creating,
  [Health.Idle]: creating,
  [Health.Up]: { ...notReady, readySinceRestart: false },
  [Health.Lagging]: notReady,
  [Health.Severed]: notReady,
  [Health.Recovering]: { ...recovering, notReadyForSeconds: recoveringSeconds },
  [Health.Hanging]: recovering,
  [Health.Crashed]: backOff,
  [Health.Retrying]: { ...notReady, restarts: 3, readySinceRestart: false, restartsInVain: 3 },
  [Health.Failed]: { ...notReady, state: 'terminated', reason: 'Error', started: false },
  [Health.Unpulled]: { ...creating, reason: 'ImagePullBackOff' },
};

const behindFor = (pods: c.Cells, ordinal: number): Partial<ContainerFacts> =>
  facts.isBehind(pods, ordinal) && pods[c.GRACE] === 0 ? { notReadyForSeconds: shortSeconds } : {};

/** Every update changes the CPU of mysqld alone. */
function resizesMysqld(pods: c.Cells, ordinal: number): InPlaceUpdate {
  const state = pods[c.RESIZE + ordinal];
  if (state === c.Resize.Refused) return { kind: 'impossible', reasons: ['the kubelet calls its resize infeasible'] };
  const resources = [{ name: 'mysqld', limits: { cpu: '2' }, requests: {}, restarts: false }];
  const change = { resources: [], resized: [], labels: {}, annotations: {}, containers: [], initContainers: [] };
  if (state === c.Resize.None || state === c.Resize.ForAnother)
    return { kind: 'possible', change: { ...change, resources }, resize: null };
  const isDone = state === c.Resize.Done || state === c.Resize.Fresh;
  const forSeconds = state === c.Resize.Pending || state === c.Resize.Fresh ? shortSeconds : longSeconds;
  const resize = { awaited: isDone ? [] : ['mysqld'], deferred: null, forSeconds, mysqldRestarted: false };
  return { kind: 'possible', change: { ...change, resized: ['mysqld'] }, resize };
}

/** Every update changes the image of that container alone. */
const changesImage = (name: string): InPlaceUpdate => ({
  kind: 'possible',
  change: {
    resources: [],
    resized: [],
    labels: {},
    annotations: {},
    containers: [{ name, image: `${name}:2` }],
    initContainers: [],
  },
  resize: null,
});
const awaits = (name: string): RestartInPlace => ({
  restarts: { [name]: 1 },
  awaited: [name],
  doneForSeconds: 0,
  mysqldRestarted: false,
});

/** The container whose image an update changes, or `null`. */
const changedContainer = ({ families }: World): string | null =>
  families.has('in-place') ? 'agent' : families.has('slow-log') ? 'slow-log' : null;

function inPlaceOf(pods: c.Cells, ordinal: number, world: World): InPlaceUpdate | null {
  if (world.families.has('resize')) return resizesMysqld(pods, ordinal);
  const changed = changedContainer(world);
  return changed === null ? null : changesImage(changed);
}

function phaseOf(health: number): MemberFacts['phase'] {
  if (health === Health.Failed) return 'Failed';
  return health === Health.Starting || health === Health.Idle || health === Health.Unpulled ? 'Pending' : 'Running';
}

const ordinalsOf = (members: number | undefined, replicas: number): readonly number[] =>
  [...Array(replicas).keys()].filter((ordinal) => facts.has(members, ordinal));

/** One that lacks its label while another is behind has served for as long as that. */
function servedForSeconds(pods: c.Cells, ordinal: number): number {
  if (facts.healthOf(pods, ordinal) === Health.Young) return 0;
  const isLeftOut = pods[c.SETTLED + ordinal] === 0 && pods[c.GRACE] === 1;
  return isLeftOut && facts.count(pods, c.mostMembers, facts.isBehind) > 0 ? longSeconds : 100;
}

function uidOf(pods: c.Cells, ordinal: number): string {
  if (facts.has(pods[c.BACK], ordinal)) return restoredUid(ordinal);
  return facts.has(pods[c.TOOK], ordinal) ? takenUid(ordinal) : `uid-${ordinal}`;
}

/** What our mark next to `demote` says. */
function markOf(pods: c.Cells, demote: number): string | null {
  switch (demote) {
    case c.Demote.Ours:
    case c.Demote.MarkWithoutDemote:
      return revisionName(pods[c.TARGET] as number);
    case c.Demote.OursForAnother:
      return 'another';
    case c.Demote.OursForNode:
    case c.Demote.MarkForNode:
      return markOfLeavingNode;
    default:
      return null;
  }
}

export function memberFacts(pods: c.Cells, ordinal: number, world: World | null = null): MemberFacts {
  const health = facts.healthOf(pods, ordinal);
  const role = ordinal === pods[c.INDEX] ? 'primary' : 'replica';
  const settledThen = pods[c.SETTLED + ordinal] === 1;
  const serves =
    health === Health.Young ||
    health === Health.Serving ||
    health === Health.Impaired ||
    facts.leadsFromElsewhere(pods, ordinal);
  return {
    ordinal,
    name: memberName(ordinal),
    uid: uidOf(pods, ordinal),
    resourceVersion: '1',
    revision: facts.isHalfResized(pods, ordinal) ? '' : revisionName(pods[c.REVISION + ordinal] as number),
    role: settledThen ? role : null,
    phase: phaseOf(health),
    ready: health === Health.Young || health === Health.Serving || health === Health.Terminating,
    readinessGateClosed: false,
    unschedulable: null,
    failedReason: null,
    disruption: null,
    exceededLimits: false,
    ofStatefulSet: true,
    startupSeconds,
    containers: [
      { ...running, name: 'mysqld', part: 'mysqld', ...mysqldOf[health], ...behindFor(pods, ordinal) },
      { ...running, name: 'agent', part: 'agent' },
      { ...running, name: 'slow-log', part: 'side', ...(health === Health.Impaired ? backOff : {}) },
    ],
    initContainers: [],
    terminatingForSeconds: facts.isTerminating(pods, ordinal) ? 1 : null,
    graceSeconds: 300,
    mysqldIdleForSeconds: health === Health.Idle ? slowSeconds : 0,
    mysqldStartedForSeconds: longSeconds,
    participatingForSeconds: serves ? servedForSeconds(pods, ordinal) : null,
    revisionForSeconds: health === Health.Young ? 0 : 100,
    demote: facts.isDemoted(pods, ordinal),
    demotedFor: markOf(pods, pods[c.DEMOTE + ordinal] as number),
    demoteForSeconds: facts.isDemoted(pods, ordinal) && pods[c.TIMEOUT] === 1 ? longSeconds : 0,
    preventDelete: facts.isProtected(pods, ordinal),
    inPlace: world && inPlaceOf(pods, ordinal, world),
    restartInPlace: facts.restarts(pods, ordinal) ? awaits((world && changedContainer(world)) ?? 'agent') : null,
    mysqld,
    mysqldKilled: false,
    serverVersion: null,
    clone: { reading: { kind: 'notCloning' }, ageSeconds: 0, unknownForSeconds: 0 },
    leaving: facts.has(pods[c.LEAVING], ordinal) ? 'is cordoned' : null,
    node: `n-${ordinal}`,
    recreatable: justCreated,
  };
}

/** `around` is the first read, `pods` the second, `last` the third. */
export function snapshotOf(around: c.Cells, pods: c.Cells, last: c.Cells, world: World): ClusterSnapshot {
  const index = last[c.INDEX] as number;
  const replicas = facts.replicasOf(last, world);
  const target = revisionName(around[c.TARGET] as number);
  const sameIndex = pods[c.INDEX] === index;
  const grace = sameIndex && pods[c.GRACE] === 1;
  const primaryServes = facts.participates(pods, index);
  const primaryIsSettled = primaryServes && sameIndex && pods[c.SETTLED + index] === 1;
  const members: MemberFacts[] = [];
  for (let ordinal = 0; ordinal < world.replicas; ordinal++) {
    if (!facts.isMissing(pods, ordinal)) members.push(memberFacts(pods, ordinal, world));
  }
  const stage = last[c.STAGE];
  const generation = 5;
  const reconciled = stage === c.Stage.Asked ? generation - 1 : generation;
  const status = last[c.STATUS];
  const errantOrdinals: number[] = [];
  for (let ordinal = 0; ordinal < replicas; ordinal++) if (facts.isErrant(last, ordinal)) errantOrdinals.push(ordinal);
  return {
    cluster: {
      deleting: false,
      generation,
      replicas,
      primaryIndex: index,
      syncedReplicas: world.families.has('two-at-once')
        ? (last[c.SYNCED] as number)
        : status === c.Status.Healthy
          ? replicas
          : replicas - 1,
      errantOrdinals,
      reconciledGeneration: reconciled,
      succeededGeneration: reconciled,
      initialized: true,
      available: status === c.Status.Available || status === c.Status.Healthy,
      healthy: status === c.Status.Healthy,
      mocoState: mocoStates[status as number] ?? null,
      offline: false,
      reconciliationStopped: false,
      clusteringStopped: false,
      forcedRollingUpdate: false,
      replicatesFromElsewhere: world.families.has('upstream'),
      primaryUnavailableForSeconds: primaryServes ? null : grace ? longSeconds : 0,
      primarySettledForSeconds: primaryIsSettled ? (grace ? longSeconds : 100) : null,
    },
    statefulSet: {
      deleting: false,
      replicas: facts.podsWanted(around, world),
      observed: facts.isObserved(around),
      currentRevision: currentRevision(around, world),
      updateRevision: target,
      forcedRollingUpdate: false,
      labelled: world.policy.mode === 'OnDelete',
      mysqld,
      ...strategyOf(around, world),
    },
    members,
    budgets:
      replicas < 3
        ? []
        : [
            {
              name: 'moco-test',
              ofMoco: true,
              whose: null,
              observed: around[c.COMPUTED] === 1,
              disruptionsAllowed: around[c.OPEN] as number,
              currentHealthy: 0,
              desiredHealthy: 0,
              awaiting: 0,
              closed: around[c.BACKUP] === c.Backup.Closed,
              refusal: null,
              refusedForSeconds: 0,
            },
          ],
    backupJobs: around[c.BACKUP] === c.Backup.None ? [] : [backupJob],
    backupsUnreadable: null,
    lastRuns: lastRunsOf(pods, world),
    dataRecords: claimsWanting(pods, world),
    memory: {
      verified: around[c.VERIFIED] === 1,
      failing: null,
      takenDown: [...Array(world.replicas).keys()].filter(
        (ordinal) => ((around[c.TAKEN] as number) & c.bit(ordinal)) !== 0,
      ),
      ...remembered(around, world),
      sinceProgressSeconds: around[c.STUCK] === 1 ? longSeconds : 0,
      // After the second try of the model there is none left that comes by itself.
      switchoverTries: around[c.TRIES] === 2 ? 4 : (around[c.TRIES] as number),
      sinceLastTrySeconds: around[c.WAITED] === 1 ? longSeconds : 0,
      recentRevisions: [],
      shown: null,
      earlier: [],
    },
    ...undisturbed,
    ...(world.families.has('new-pods') ? { strategyKeeper: world.keeper } : {}),
    nodesLeaving: nodesLeaving(pods, world),
    maintenance: world.families.has('maintenance') ? maintenanceFacts(around) : null,
    mysql: world.families.has('delay') ? whatMysqlSays(members, index, around[c.DELAYED] === 1) : null,
    memberAnswers: everyAnswer(members),
    replicationDelays: around[c.DELAYED] === 1 ? longDelays(members) : noDelays(members),
  };
}

function currentRevision(around: c.Cells, { families }: World): string {
  if (families.has('new-pods')) return revisionName(around[c.CURRENT] as number);
  return revisionName(around[c.PROMOTED] === 1 ? (around[c.TARGET] as number) : 0);
}

function strategyOf(around: c.Cells, world: World): Pick<StatefulSetFacts, 'strategy' | 'partition' | 'newPods'> {
  if (world.policy.mode !== 'OnDelete')
    return { strategy: 'RollingUpdate', partition: around[c.PARTITION] as number, newPods: 'UpdateRevision' };
  const newPods = around[c.NEW_PODS] === c.NewPods.Updated ? 'UpdateRevision' : 'CurrentRevision';
  return around[c.NEW_PODS] === c.NewPods.Kept
    ? { strategy: 'RollingUpdate', partition: facts.podsWanted(around, world), newPods }
    : { strategy: 'OnDelete', partition: null, newPods };
}

/**
 * As the controller knows it: an updated member whose mysqld has not run since has the data of before. Of which revision
 * those are is not known where the template may have changed twice.
 */
function lastRunsOf(pods: c.Cells, world: World): readonly LastRun[] {
  const isTracked = world.families.has('new-pods');
  return Array.from({ length: world.replicas }, (_, ordinal) => ordinal).flatMap((ordinal): readonly LastRun[] => {
    const revision = isTracked ? facts.dataOf(pods, ordinal, world) : (pods[c.REVISION + ordinal] as number);
    if (revision === null || (isTracked && facts.isUnborn(pods, ordinal, world))) return [];
    return [{ ordinal, revision: revisionName(revision), image: null, version: '8.4.8', worked: true }];
  });
}

/** The answers of the API server about claims that no pod has needed yet: they do not exist. */
function claimsWanting(pods: c.Cells, world: World): readonly DataRecordFacts[] {
  if (!world.families.has('new-pods')) return [];
  return Array.from({ length: world.replicas }, (_, ordinal) => ordinal).flatMap((ordinal) =>
    facts.isUnborn(pods, ordinal, world) ? [{ ordinal, record: null, claim: 'missing' as const, ageSeconds: 0 }] : [],
  );
}

/** Where nothing is remembered of members, a step has taken each: nobody's revision is kept. */
function remembered(
  around: c.Cells,
  { families, replicas }: World,
): Pick<RolloutMemory, 'waiting' | 'from' | 'taken' | 'updatedOutOfBand' | 'createdWhileHeld'> {
  const isNoted = around[c.NOTED] === 1;
  const waiting = isNoted ? ordinalsOf(around[c.WAITING], replicas) : null;
  return {
    waiting: families.has('new-pods') ? waiting : [],
    from: isNoted ? revisionName(0) : null,
    taken: [
      ...ordinalsOf(around[c.RESTORING], replicas).map((ordinal) => ({
        ordinal,
        uid: restoredUid(ordinal),
        restores: true,
      })),
      ...ordinalsOf(
        isNoted && families.has('new-pods') ? ~((around[c.WAITING] as number) | (around[c.RESTORING] as number)) : 0,
        replicas,
      ).map((ordinal) => ({ ordinal, uid: takenUid(ordinal), restores: false })),
    ],
    updatedOutOfBand: [],
    createdWhileHeld: ordinalsOf(around[c.CREATED], replicas).map((ordinal) => ({
      ordinal,
      started: facts.has(around[c.STARTED], ordinal),
    })),
  };
}

/** While replicas are behind, they have not received what the primary has committed. */
function whatMysqlSays(members: readonly MemberFacts[], primary: number, behind: boolean): MysqlReading {
  const replicas = members.filter(({ ordinal }) => behind && ordinal !== primary);
  const says = Object.fromEntries(replicas.map(({ ordinal }) => [ordinal, { ...caughtUp, missing: 1 }]));
  return mysqlReading(members, primary, { says });
}

const longDelays = (members: readonly MemberFacts[]): readonly ReplicationDelay[] =>
  members.map((member) => delayRead(member, { kind: 'delay', seconds: longSeconds }));

/** After the last node the rollout may go on at any moment: waiting only holds steps. */
function nodesLeaving(pods: c.Cells, { policy, replicas }: World): NodesLeaving | null {
  if (policy.rolloutsDuringMaintenance === 'Proceed') return null;
  return { names: ordinalsOf(pods[c.LEAVING], replicas).map((ordinal) => `n-${ordinal}`), overForSeconds: longSeconds };
}

/** A window that is open, or the next one. */
function maintenanceFacts(around: c.Cells): MaintenanceFacts {
  const opensIn = around[c.WINDOW] === c.Window.Closed ? slowSeconds : 0;
  const closesIn = around[c.WINDOW] === c.Window.Short ? memberSeconds : longSeconds;
  const moment = (inSeconds: number): Moment => ({ inSeconds, at: String(inSeconds) });
  const later = { from: moment(2 * longSeconds), until: moment(3 * longSeconds) };
  return {
    windows: [{ from: moment(opensIn), until: moment(closesIn) }, later],
    restartWindows: null,
    blackouts: [],
    memberSeconds,
  };
}

export function policyOf(around: c.Cells, world: World): RolloutPolicy {
  if (!world.families.has('user') && world.requests.size === 0) return world.policy;
  const target = revisionName(around[c.TARGET] as number);
  return {
    ...world.policy,
    paused: around[c.PAUSED] === 1,
    pinnedOrdinals: around[c.HELD] === 1 ? [world.replicas - 1] : [],
    approvedRevision: around[c.APPROVED] === 1 ? target : null,
    restore: around[c.RESTORE] === 1 ? { revision: target, ordinals: [world.replicas - 1] } : null,
  };
}
