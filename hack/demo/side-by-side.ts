import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '../../src/cli/host.ts';
import { path } from '../../src/kube/resource.ts';
import { clusterKind, forceRollingUpdateAnnotation, mysqldContainer } from '../../src/moco/names.ts';
import { record } from '../../test/support/api-server/stored-object.ts';
import { withContainerFault } from '../../test/support/nodes/fault-script.ts';
import { setImage } from '../../test/verification/simulation/acts-of-people.ts';
import type { Circumstances } from '../../test/verification/simulation/circumstances.ts';
import { clusterName, imageOf, namespace, Simulation } from '../../test/verification/simulation/simulation.ts';

// Plays one rollout twice, side by side: with moco-rollout and without.

const second = 1_000;
const stepMilliseconds = second;
const patienceMilliseconds = 10 * 60 * second;
/** The member whose mysqld no longer starts, even before the rollout. */
const broken = 1;

/** The signs of a member, by its state. */
const signs = { old: '●', new: '■', away: '·', broken: '×' } as const;
type Sign = keyof typeof signs;

/** What a cluster looks like at a moment. */
interface Picture {
  readonly members: readonly Sign[];
  readonly works: number;
  readonly acceptsCommits: boolean;
}

/** One of two clusters that get the same image. */
interface Side {
  readonly title: string;
  readonly simulation: Simulation;
  blockedMilliseconds: number;
  fewest: number;
}

/**
 * Plays one rollout twice while a member is already down: by moco-rollout, and by the StatefulSet's own rolling update,
 * which MOCO allows under its annotation `force-rolling-update`. Prints a line for each change of either.
 */
export async function playSideBySide(
  host: Host,
  circumstances: Circumstances,
  image: string,
  speed: number,
): Promise<void> {
  const [ours, theirs] = [await begin(circumstances, false), await begin(circumstances, true)];
  const sides: readonly [Side, Side] = [
    { title: 'moco-rollout', simulation: ours, blockedMilliseconds: 0, fewest: 3 },
    { title: "StatefulSet's own rolling update", simulation: theirs, blockedMilliseconds: 0, fewest: 3 },
  ];
  const legend = `${signs.old} works   ${signs.new} works, updated   ${signs.away} away or starting   ${signs.broken} broken`;
  host.out(`\nThe same rollout with moco-${clusterName}-${broken} down already, side by side:  ${legend}\n\n`);
  host.out(
    `  after    ${sides
      .map(({ title }) => title.padEnd(columnWidth))
      .join('  ')
      .trimEnd()}\n`,
  );
  for (const { simulation } of sides) setImage(simulation, image);
  let last = '';
  for (let at = 0; at < patienceMilliseconds; at += stepMilliseconds) {
    const pictures = sides.map((side) => look(side, image));
    const row = pictures.map((one) => inWords(one).padEnd(columnWidth)).join('  ');
    if (row !== last) host.out(`  ${`${at / second} s`.padEnd(7)}  ${row.trimEnd()}\n`);
    last = row;
    if (pictures.every(({ members }) => members.every((sign) => sign === 'new'))) break;
    for (const side of sides) await advance(side);
    if (Number.isFinite(speed)) await delay(stepMilliseconds / speed);
  }
  host.out(`\n${sides.map(summary).join('')}`);
  for (const { simulation } of sides) for (const process of simulation.processes) process.end();
}

/** Wide enough for `● × ●  2 of 3 work, COMMITS BLOCK`. */
const columnWidth = 34;

async function begin(circumstances: Circumstances, byKubernetes: boolean): Promise<Simulation> {
  const simulation = new Simulation(circumstances);
  await simulation.start();
  if (byKubernetes) {
    const body = { metadata: { annotations: { [forceRollingUpdateAnnotation]: 'true' } } };
    simulation.request({ method: 'PATCH', path: path(clusterKind, { namespace, name: clusterName }), body });
    await simulation.clock.runUntil(() => false, 20 * second);
  }
  simulation.kubelets.fault(namespace, nameOf(broken), withContainerFault(mysqldContainer, 'dead'));
  await simulation.clock.runUntil(() => !worksOf(simulation, broken), patienceMilliseconds);
  await simulation.clock.runUntil(() => false, 30 * second);
  return simulation;
}

const nameOf = (ordinal: number): string => `moco-${clusterName}-${ordinal}`;

function worksOf(simulation: Simulation, ordinal: number): boolean {
  const pod = simulation.members.find(({ metadata }) => metadata.name === nameOf(ordinal));
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  const conditions = (record(pod['status'])['conditions'] ?? []) as readonly { type?: unknown; status?: unknown }[];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function look({ simulation }: Side, image: string): Picture {
  const members = [0, 1, 2].map((ordinal): Sign => {
    const pod = simulation.members.find(({ metadata }) => metadata.name === nameOf(ordinal));
    const isNew = pod !== undefined && imageOf(pod) === image;
    if (worksOf(simulation, ordinal)) return isNew ? 'new' : 'old';
    const isOldAndThere = pod !== undefined && !isNew && pod.metadata.deletionTimestamp === undefined;
    return ordinal === broken && isOldAndThere ? 'broken' : 'away';
  });
  const works = members.filter((sign) => sign === 'old' || sign === 'new').length;
  return { members, works, acceptsCommits: simulation.moco.acceptsCommits };
}

const inWords = ({ members, works, acceptsCommits }: Picture): string =>
  `${members.map((sign) => signs[sign]).join(' ')}  ${works} of ${members.length} ${works === 1 ? 'works' : 'work'}${acceptsCommits ? '' : ', COMMITS BLOCK'}`;

async function advance(side: Side): Promise<void> {
  const { simulation } = side;
  const steps = 10;
  for (let step = 0; step < steps; step += 1) {
    await simulation.clock.runUntil(() => false, stepMilliseconds / steps);
    if (!simulation.moco.acceptsCommits) side.blockedMilliseconds += stepMilliseconds / steps;
    side.fewest = Math.min(side.fewest, look(side, '').works);
  }
}

function summary({ title, fewest, blockedMilliseconds }: Side): string {
  const quorum = fewest < 2 ? 'QUORUM LOST' : 'quorum kept';
  return `  ${title.padEnd(columnWidth)}  ${quorum}: at least ${fewest} of 3 worked, and commits blocked for ${(blockedMilliseconds / second).toFixed(1)} s\n`;
}
