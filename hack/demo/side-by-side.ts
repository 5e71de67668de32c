import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '../../src/cli/host.ts';
import { brief } from '../../src/cli/terminal/lines.ts';
import { path } from '../../src/kube/resource.ts';
import { clusterKind, forceRollingUpdateAnnotation, mysqldContainer } from '../../src/moco/names.ts';
import { record } from '../../test/support/api-server/stored-object.ts';
import { withContainerFault } from '../../test/support/nodes/fault-script.ts';
import { setImage } from '../../test/verification/simulation/acts-of-people.ts';
import type { Circumstances } from '../../test/verification/simulation/circumstances.ts';
import { clusterName, imageOf, Simulation, soleNamespace } from '../../test/verification/simulation/simulation.ts';

// Simulates one rollout twice, side by side: with moco-rollout and without.

const second = 1_000;
const stepMilliseconds = second;
const patienceMilliseconds = 10 * 60 * second;
/** The member whose mysqld no longer starts. It is already down before the rollout. */
const broken = 1;

/** What a member is doing. `new`: it works at the new revision. */
export type MemberState = 'old' | 'new' | 'away' | 'broken';

/** The symbol of each state on a terminal. */
const signs: Readonly<Record<MemberState, string>> = { old: '●', new: '■', away: '·', broken: '×' };

/** What a cluster looks like at one moment. */
export interface Picture {
  readonly members: readonly MemberState[];
  readonly works: number;
  readonly acceptsCommits: boolean;
}

/** Both clusters, this many seconds of virtual time after the image was changed. */
export interface Moment {
  readonly seconds: number;
  readonly pictures: readonly Picture[];
}

/** One of two clusters that get the same image. */
interface Side {
  readonly title: string;
  readonly simulation: Simulation;
  blockedMilliseconds: number;
  fewest: number;
}

/**
 * The same rollout twice, while a member is already down: by moco-rollout, and by the StatefulSet's own rolling update,
 * which MOCO permits with its annotation `force-rolling-update`.
 */
export class Comparison {
  readonly #sides: readonly Side[];
  readonly #image: string;

  private constructor(sides: readonly Side[], image: string) {
    this.#sides = sides;
    this.#image = image;
  }

  /** Resolves once both clusters serve with one member down. Reading `moments` begins the rollout. */
  static async begin(circumstances: Circumstances, image: string): Promise<Comparison> {
    const side = async (title: string, byKubernetes: boolean): Promise<Side> => {
      const simulation = await begin(circumstances, byKubernetes);
      return { title, simulation, blockedMilliseconds: 0, fewest: 3 };
    };
    const sides = [await side('moco-rollout', false), await side("StatefulSet's own rolling update", true)];
    return new Comparison(sides, image);
  }

  get titles(): readonly string[] {
    return this.#sides.map(({ title }) => title);
  }

  /**
   * One moment for each second of virtual time, until every member of both clusters is updated. Can be read only once.
   */
  async *moments(): AsyncGenerator<Moment> {
    for (const { simulation } of this.#sides) setImage(simulation, this.#image);
    for (let at = 0; at < patienceMilliseconds; at += stepMilliseconds) {
      const pictures = this.#sides.map((side) => look(side, this.#image));
      yield { seconds: at / second, pictures };
      if (pictures.every(({ members }) => members.every((state) => state === 'new'))) return;
      for (const side of this.#sides) await advance(side);
    }
  }

  /** The result for each cluster, in the order of the titles. */
  get outcomes(): readonly string[] {
    return this.#sides.map(({ fewest, blockedMilliseconds }) => {
      const quorum = fewest < 2 ? 'QUORUM LOST' : 'quorum kept';
      return `${quorum}: at least ${fewest} of 3 worked, and commits blocked for ${(blockedMilliseconds / second).toFixed(1)} s`;
    });
  }

  end(): void {
    for (const { simulation } of this.#sides) for (const process of simulation.processes) process.end();
  }
}

/** Prints a line for each change of either cluster, and the results at the end. */
export async function playSideBySide(
  host: Host,
  circumstances: Circumstances,
  image: string,
  speed: number,
): Promise<void> {
  const comparison = await Comparison.begin(circumstances, image);
  const legend = `${signs.old} works   ${signs.new} works, updated   ${signs.away} away or starting   ${signs.broken} broken`;
  host.out(`\nThe same rollout with moco-${clusterName}-${broken} down already, side by side:  ${legend}\n\n`);
  const inColumns = (texts: readonly string[]): string =>
    texts
      .map((text) => text.padEnd(columnWidth))
      .join('  ')
      .trimEnd();
  host.out(`  after   ${inColumns(comparison.titles)}\n`);
  let last = '';
  for await (const { seconds, pictures } of comparison.moments()) {
    const row = inColumns(pictures.map(inWords));
    if (row !== last) host.out(`  ${`+${brief(seconds)}`.padEnd(6)}  ${row}\n`);
    last = row;
    if (Number.isFinite(speed)) await delay(stepMilliseconds / speed);
  }
  const outcomes = comparison.titles.map(
    (title, side) => `  ${title.padEnd(columnWidth)}  ${comparison.outcomes[side]}\n`,
  );
  host.out(`\n${outcomes.join('')}`);
  comparison.end();
}

/** Wide enough for `● × ●  2 of 3 work, COMMITS BLOCK`. */
const columnWidth = 34;

async function begin(circumstances: Circumstances, byKubernetes: boolean): Promise<Simulation> {
  const simulation = new Simulation(circumstances);
  await simulation.start();
  if (byKubernetes) {
    const body = { metadata: { annotations: { [forceRollingUpdateAnnotation]: 'true' } } };
    simulation.request({
      method: 'PATCH',
      path: path(clusterKind, { namespace: soleNamespace, name: clusterName }),
      body,
    });
    await simulation.clock.runUntil(() => false, 20 * second);
  }
  simulation.kubelets.fault(soleNamespace, nameOf(broken), withContainerFault(mysqldContainer, 'dead'));
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
  const members = [0, 1, 2].map((ordinal): MemberState => {
    const pod = simulation.members.find(({ metadata }) => metadata.name === nameOf(ordinal));
    const isNew = pod !== undefined && imageOf(pod) === image;
    if (worksOf(simulation, ordinal)) return isNew ? 'new' : 'old';
    const isOldAndThere = pod !== undefined && !isNew && pod.metadata.deletionTimestamp === undefined;
    return ordinal === broken && isOldAndThere ? 'broken' : 'away';
  });
  const works = members.filter((state) => state === 'old' || state === 'new').length;
  return { members, works, acceptsCommits: simulation.moco.acceptsCommits };
}

/** A description such as `2 of 3 work, COMMITS BLOCK`. */
export const describe = ({ members, works, acceptsCommits }: Picture): string =>
  `${works} of ${members.length} ${works === 1 ? 'works' : 'work'}${acceptsCommits ? '' : ', COMMITS BLOCK'}`;

const inWords = (picture: Picture): string =>
  `${picture.members.map((state) => signs[state]).join(' ')}  ${describe(picture)}`;

async function advance(side: Side): Promise<void> {
  const { simulation } = side;
  const steps = 10;
  for (let step = 0; step < steps; step += 1) {
    await simulation.clock.runUntil(() => false, stepMilliseconds / steps);
    if (!simulation.moco.acceptsCommits) side.blockedMilliseconds += stepMilliseconds / steps;
    side.fewest = Math.min(side.fewest, look(side, '').works);
  }
}
