import {
  budgetMaxUnavailable,
  type ClusteringFacts,
  candidates,
  electable,
  has,
  isAvailable,
  isHealthy,
  lowest,
  type Members,
  membersWhere,
  operationOf,
  stateOf,
  syncedReplicas,
} from '../../support/moco/decisions.ts';
import {
  fresh,
  isPrimarySettled,
  mysqldReady,
  ordinals,
  type Pod,
  podAt,
  roleOf,
  runs,
  serves,
  type World,
  withPod,
} from './world.ts';

/** `benign` ones happen by themselves, sooner than time makes a difference; `repair` needs somebody to come. */
export type MoveKind = 'benign' | 'settle' | 'long wait' | 'noise' | 'fault' | 'repair';

export interface Move {
  readonly name: string;
  readonly kind: MoveKind;
  readonly to: World;
}

/** Everything that can happen next but for what the controller does. */
export function moves(world: World): readonly Move[] {
  const found: Move[] = [];
  const add = (kind: MoveKind, name: string, to: World): number => found.push({ kind, name, to: aged(world, to) });
  for (const ordinal of ordinals(world)) {
    const pod = podAt(world, ordinal);
    if (pod === null) {
      add('benign', `pod ${ordinal} is created`, created(world, ordinal));
    } else {
      for (const [kind, name, change] of movesOfPod(world, ordinal, pod)) {
        add(kind, `${name} ${ordinal}`, withPod(world, ordinal, change));
      }
    }
  }
  for (const [kind, name, to] of movesOfMoco(world)) add(kind, name, to);
  for (const [kind, name, to] of movesOfPeople(world)) add(kind, name, to);
  const settled = {
    ...world,
    pods: world.pods.map((pod, ordinal) => pod && { ...pod, participatesLong: serves(world, ordinal) }),
  };
  if (differ(settled, world)) found.push({ kind: 'settle', name: 'some seconds pass', to: settled });
  const waited = {
    ...settled,
    primarySettledLong: isPrimarySettled(world),
    pods: settled.pods.map(
      (pod) => pod && { ...pod, idleLong: pod.body === 'creating', demotedLong: pod.demote !== null },
    ),
    unavailableLong: !serves(world, world.primary),
    triedLong: world.tries > 0,
    progressLong: true,
  };
  if (differ(waited, world)) found.push({ kind: 'long wait', name: 'an hour passes', to: waited });
  return found;
}

const differ = (one: World, other: World): boolean => JSON.stringify(one) !== JSON.stringify(other);

/** An age ends with the state that it belongs to. */
function aged(before: World, after: World): World {
  const pods = after.pods.map((pod, ordinal) => {
    if (pod === null) return null;
    return {
      ...pod,
      participatesLong: pod.participatesLong && serves(after, ordinal),
      looping: pod.looping && !mysqldReady(after, ordinal),
    };
  });
  return {
    ...after,
    pods,
    primarySettledLong: after.primarySettledLong && isPrimarySettled(after) && before.primary === after.primary,
    unavailableLong: after.unavailableLong && !serves(after, after.primary) && before.primary === after.primary,
  };
}

const created = (world: World, ordinal: number): World => ({
  ...world,
  lastUid: world.lastUid + 1,
  pods: world.pods.map((pod, index) => (index === ordinal ? fresh(world.lastUid + 1, world.template) : pod)),
});

type PodMove = readonly [MoveKind, string, Partial<Pod> | null];

function movesOfPod(world: World, ordinal: number, pod: Pod): readonly PodMove[] {
  if (pod.lost)
    return [['repair', 'the node comes back of', pod.terminating ? null : { lost: false, ...restarted(pod) }]];
  const broken = world.brokenRevisions.includes(pod.revision);
  const found: PodMove[] = [['fault', 'the node is lost of', { lost: true }]];
  if (pod.terminating) found.push(['benign', 'away goes', null]);
  else found.push(['fault', 'somebody deletes', { terminating: true }]);
  switch (pod.body) {
    case 'creating':
      found.push(['benign', 'mysqld is started of', { body: 'starting', idleLong: false }]);
      break;
    case 'starting':
      found.push(['benign', 'mysqld gets ahead of', broken ? { body: 'crashed', looping: true } : { body: 'up' }]);
      break;
    case 'crashed':
      found.push([broken ? 'noise' : 'benign', 'mysqld is tried again of', { body: 'starting' }]);
      break;
    case 'up':
      found.push(['fault', 'mysqld crashes of', { body: 'crashed', looping: true }]);
      if (pod.lagging) found.push(['repair', 'behind no more is', { lagging: false }]);
      else if (ordinal !== world.primary) found.push(['fault', 'behind falls', { lagging: true }]);
      break;
  }
  if (pod.body === 'up') {
    if (pod.sidecarBroken) found.push(['repair', 'the sidecar recovers of', { sidecarBroken: false }]);
    else found.push(['fault', 'the sidecar breaks of', { sidecarBroken: true }]);
  }
  if (pod.demote === 'foreign') found.push(['repair', 'somebody takes a demotion back of', { demote: null }]);
  if (ordinal === world.primary && pod.demote === null) {
    found.push(['fault', 'somebody demotes', { demote: 'foreign', demotedLong: false }]);
  }
  return found;
}

/** While its node was away, mysqld was not restarted: it goes on where it was. */
const restarted = (pod: Pod): Partial<Pod> => (pod.body === 'up' ? { lagging: true } : {});

type WorldMove = readonly [MoveKind, string, World];

function movesOfMoco(world: World): readonly WorldMove[] {
  switch (world.roles) {
    case 'index moved':
      return [
        [
          'benign',
          'MOCO says unhealthy',
          { ...world, roles: 'unhealthy', report: { ...world.report, healthy: false, available: false } },
        ],
      ];
    case 'unhealthy':
      return [
        [
          'benign',
          'MOCO sets the roles',
          { ...world, roles: 'labelled', pods: world.pods.map((pod, ordinal) => labelled(world, ordinal, pod)) },
        ],
      ];
    case 'labelled':
      return [['benign', 'MOCO opens the primary', opened(world)]];
    case 'steady':
      return steadyMoves(world);
  }
}

const labelled = (world: World, ordinal: number, pod: Pod | null): Pod | null =>
  pod?.body === 'up' && !pod.lost ? { ...pod, role: roleOf(world, ordinal) } : pod;

const opened = (world: World): World => ({
  ...world,
  roles: 'steady',
  report: { ...world.report, available: true },
  pods: world.pods.map(
    (pod, ordinal) => pod && (ordinal === world.primary ? pod : { ...pod, demote: null, demotedLong: false }),
  ),
});

/** What MOCO's decisions ask for. */
function clusteringFacts(world: World): ClusteringFacts {
  const { primary } = world;
  const where = (holds: (pod: Pod, ordinal: number) => boolean): Members =>
    membersWhere(world.pods.length, (ordinal) => {
      const pod = podAt(world, ordinal);
      return pod !== null && holds(pod, ordinal);
    });
  const leader = podAt(world, primary);
  const following = where(({ role }, ordinal) => role === roleOf(world, ordinal));
  return {
    replicas: world.pods.length,
    primary,
    ready: where(({ lost, sidecarBroken }, ordinal) => mysqldReady(world, ordinal) && !lost && !sidecarBroken),
    answering: where(runs),
    following,
    connected: runs(leader) ? following & where(runs) : 0,
    configured: where(({ role }) => role !== null),
    errant: 0,
    writable: leader?.role === 'primary',
    stepsDown: leader !== null && (leader.terminating || leader.demote !== null),
    lags: false,
    mislabelled: where((pod, ordinal) => pod.body === 'up' && !pod.lost && pod.role !== roleOf(world, ordinal)),
    misconfigured: 0,
  };
}

/** What MOCO does next: nothing while a pod is missing. */
function steadyMoves(world: World): readonly WorldMove[] {
  if (world.pods.includes(null)) return [];
  const found: WorldMove[] = [];
  const facts = clusteringFacts(world);
  const state = stateOf(facts);
  const move = (name: string, to: Partial<World>): number => found.push(['benign', name, { ...world, ...to }]);
  switch (operationOf(facts, state)) {
    case 'switchover': {
      const to = lowest(candidates(facts)) ?? world.primary;
      const switchovers = world.switchovers + 1;
      move(`MOCO switches over to ${to}`, { primary: to, roles: 'index moved', switchovers });
      break;
    }
    case 'failover': {
      const to = lowest(electable(facts)) ?? world.primary;
      move(`MOCO fails over to ${to}`, { primary: to, roles: 'index moved' });
      break;
    }
    case 'configure':
      for (const ordinal of ordinals(world).filter((one) => has(facts.mislabelled, one))) {
        move(`MOCO configures ${ordinal}`, withPod(world, ordinal, { role: roleOf(world, ordinal) }));
      }
      break;
    case 'nothing':
  }
  const report = { healthy: isHealthy(state), available: isAvailable(state), synced: syncedReplicas(facts) };
  if (JSON.stringify(report) !== JSON.stringify(world.report)) move('MOCO reports', { report });
  return found;
}

export function budgetOf(world: World): number {
  const replicas = world.pods.length;
  const maxUnavailable = budgetMaxUnavailable(replicas, world.backup) ?? 0;
  const ready = ordinals(world).filter((ordinal) => serves(world, ordinal) && !podAt(world, ordinal)?.sidecarBroken);
  return Math.max(0, ready.length - (replicas - maxUnavailable));
}

function movesOfPeople(world: World): readonly WorldMove[] {
  const found: WorldMove[] = [];
  const disruptionsAllowed = budgetOf(world);
  if (disruptionsAllowed !== world.disruptionsAllowed)
    found.push(['benign', 'Kubernetes counts', { ...world, disruptionsAllowed }]);
  if (world.backup) found.push(['repair', 'the backup ends', { ...world, backup: false }]);
  else found.push(['fault', 'a backup begins', { ...world, backup: true }]);
  if (world.windowOpen) found.push(['fault', 'the maintenance window closes', { ...world, windowOpen: false }]);
  else found.push(['repair', 'the maintenance window opens', { ...world, windowOpen: true }]);
  const next = {
    ...world,
    template: world.template + 1,
    verified: false,
    takenDown: [],
    tries: 0,
    triedLong: false,
    progressLong: false,
  };
  if (world.brokenRevisions.includes(world.template)) found.push(['repair', 'the template is corrected', next]);
  else {
    found.push(['fault', 'the template changes', next]);
    found.push([
      'fault',
      'the template is broken',
      { ...next, brokenRevisions: [...world.brokenRevisions, next.template] },
    ]);
  }
  if (world.tries > 3)
    found.push(['repair', 'somebody looks at the switchovers', { ...world, tries: 0, triedLong: false }]);
  return found;
}
