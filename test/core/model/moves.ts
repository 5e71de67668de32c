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
    awayLong: !serves(world, world.primary),
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
    awayLong: after.awayLong && !serves(after, after.primary) && before.primary === after.primary,
  };
}

const created = (world: World, ordinal: number): World => ({
  ...world,
  lastUid: world.lastUid + 1,
  pods: world.pods.map((pod, index) => (index === ordinal ? fresh(world.lastUid + 1, world.template) : pod)),
});

type PodMove = readonly [MoveKind, string, Partial<Pod> | null];

function movesOfPod(world: World, ordinal: number, pod: Pod): readonly PodMove[] {
  if (pod.lost) return [['repair', 'the node comes back of', pod.leaving ? null : { lost: false, ...restarted(pod) }]];
  const broken = world.brokenRevisions.includes(pod.revision);
  const found: PodMove[] = [['fault', 'the node is lost of', { lost: true }]];
  if (pod.leaving) found.push(['benign', 'away goes', null]);
  else found.push(['fault', 'somebody deletes', { leaving: true }]);
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

function steadyMoves(world: World): readonly WorldMove[] {
  const found: WorldMove[] = [];
  const primary = podAt(world, world.primary);
  for (const ordinal of ordinals(world)) {
    const pod = podAt(world, ordinal);
    const configurable = ordinal === world.primary || primary?.body === 'up';
    if (pod?.body === 'up' && !pod.lost && pod.role !== roleOf(world, ordinal) && configurable) {
      found.push(['benign', `MOCO configures ${ordinal}`, withPod(world, ordinal, { role: roleOf(world, ordinal) })]);
    }
  }
  const wanted = primary !== null && (primary.leaving || primary.demote !== null);
  const successor = ordinals(world).find((ordinal) => ordinal !== world.primary && serves(world, ordinal));
  if (wanted && successor !== undefined && mysqldReady(world, world.primary) && !primary.lost) {
    const switchovers = world.switchovers + 1;
    found.push([
      'benign',
      `MOCO switches over to ${successor}`,
      { ...world, primary: successor, roles: 'index moved', switchovers },
    ]);
  }
  const running = ordinals(world).filter((ordinal) => {
    const pod = podAt(world, ordinal);
    return ordinal !== world.primary && pod?.body === 'up' && pod.role !== null && runs(pod) && !pod.leaving;
  });
  const [heir] = running;
  if (!runs(primary) && heir !== undefined && running.length > world.pods.length / 2) {
    found.push(['benign', `MOCO fails over to ${heir}`, { ...world, primary: heir, roles: 'index moved' }]);
  }
  if (!world.pods.includes(null)) {
    const synced = ordinals(world).filter((ordinal) => serves(world, ordinal)).length;
    const available = serves(world, world.primary) && synced > world.pods.length / 2;
    const report = { healthy: synced === world.pods.length, available, synced };
    if (JSON.stringify(report) !== JSON.stringify(world.report))
      found.push(['benign', 'MOCO reports', { ...world, report }]);
  }
  return found;
}

export function budgetOf(world: World): number {
  if (world.backup) return 0;
  const ready = ordinals(world).filter((ordinal) => serves(world, ordinal) && !podAt(world, ordinal)?.sidecarBroken);
  return Math.max(0, ready.length - (world.pods.length - Math.floor(world.pods.length / 2)));
}

function movesOfPeople(world: World): readonly WorldMove[] {
  const found: WorldMove[] = [];
  const disruptionsAllowed = budgetOf(world);
  if (disruptionsAllowed !== world.disruptionsAllowed)
    found.push(['benign', 'Kubernetes counts', { ...world, disruptionsAllowed }]);
  if (world.backup) found.push(['repair', 'the backup ends', { ...world, backup: false }]);
  else found.push(['fault', 'a backup begins', { ...world, backup: true }]);
  const next = {
    ...world,
    template: world.template + 1,
    proven: false,
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
