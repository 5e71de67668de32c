import { setTimeout as delay } from 'node:timers/promises';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import type { Host } from '../../src/cli/host.ts';
import { block } from '../../src/cli/terminal/cluster-lines.ts';
import { brief } from '../../src/cli/terminal/lines.ts';
import { changeLog, type Display, picture } from '../../src/cli/terminal/live.ts';
import { type ClusterView, viewOf } from '../../src/cli/terminal/view.ts';
import { projectCluster } from '../../src/moco/projections.ts';
import { realEnd } from '../../test/support/nodes/settings.ts';
import { setImage } from '../../test/verification/simulation/acts-of-people.ts';
import { type Circumstances, plainCircumstances } from '../../test/verification/simulation/circumstances.ts';
import { clusterName, firstImage, Simulation, soleNamespace } from '../../test/verification/simulation/simulation.ts';
import { eventsOf } from './events-of-demo.ts';
import { playSideBySide } from './side-by-side.ts';

// Simulates a rollout in virtual time and shows it on a terminal.

const second = 1_000;
/** Virtual time between two frames. */
const frameMilliseconds = second / 2;
/**
 * The longest time for a rollout. A longer one means that something is wrong, because three members take two virtual
 * minutes.
 */
const patienceMilliseconds = 15 * 60 * second;
/** How long the last frame is shown, in virtual time. */
const lingerMilliseconds = 20 * second;
/** Wide enough for `+1m05s`. */
const timeColumns = 6;
export const images = { good: 'mysql:8.4.1', bad: 'mysql:8.4.2-crash', corrected: 'mysql:8.4.3' };

/** Three members that take about as long as real ones to stop, start and switch over. */
export const circumstances: Circumstances = {
  ...plainCircumstances,
  seed: 'demo',
  nodes: { ...realEnd, startMilliseconds: 3 * second, startupMilliseconds: 3 * second, crashAfterMilliseconds: second },
  moco: { notice: second, drain: second, healthyFalse: second, healthyTrue: 2 * second },
};

/**
 * Simulates a rollout, then a bad revision that stops and is corrected, with the whole controller in virtual time. At
 * the end it shows the same rollout side by side with a StatefulSet's own rolling update, while a member is down.
 *
 * @param speed how many times faster than real time; `Infinity` runs as fast as it can be computed
 */
export async function playDemo(host: Host, speed: number): Promise<void> {
  const simulation = new Simulation(circumstances);
  await simulation.start();
  const stage = new Stage(simulation, host, speed);
  await simulation.clock.runUntil(() => stage.isUpToDate(firstImage), patienceMilliseconds);
  await stage.play(
    `A new image, ${images.good}: replicas first, the primary last, after a switchover.`,
    () => setImage(simulation, images.good),
    () => stage.isUpToDate(images.good),
  );
  await stage.play(
    `An image that crashes, ${images.bad}: the rollout halts at the first member, and the others keep serving.`,
    () => setImage(simulation, images.bad),
    () => stage.isStalled,
  );
  await stage.play(
    `Its correction, ${images.corrected}: the broken member goes first.`,
    () => setImage(simulation, images.corrected),
    () => stage.isUpToDate(images.corrected),
  );
  for (const process of simulation.processes) process.end();
  await playSideBySide(host, circumstances, images.good, speed);
}

/** Shows the simulated cluster as `status --watch` does, or as a log of events. */
class Stage {
  readonly #simulation: Simulation;
  readonly #host: Host;
  readonly #speed: number;
  /** One for all parts, so that a part does not repeat the state in which the previous one ended. */
  readonly #log: Display<ClusterView>;
  #changedAtMilliseconds = 0;

  constructor(simulation: Simulation, host: Host, speed: number) {
    this.#simulation = simulation;
    this.#host = host;
    this.#speed = speed;
    const elapsed = (): string => brief((simulation.clock.nowMilliseconds - this.#changedAtMilliseconds) / second);
    this.#log = changeLog(host, eventsOf, () => `+${elapsed()}`.padEnd(timeColumns));
  }

  async play(title: string, change: () => void, isOver: () => boolean): Promise<void> {
    this.#host.out(`\n${title}\n\n`);
    this.#changedAtMilliseconds = this.#simulation.clock.nowMilliseconds;
    const display = this.#host.terminal() === null ? this.#log : pictureOf(this.#host);
    display([this.#view()]);
    change();
    if (!(await this.#show(display, isOver, patienceMilliseconds)))
      throw new Error(`Expected this to finish: ${title}`);
    await this.#show(display, () => false, lingerMilliseconds);
  }

  get isStalled(): boolean {
    return this.#view().stalled;
  }

  /** Whether every member runs this image, and the view shows that. */
  isUpToDate(image: string): boolean {
    return this.#simulation.isComplete(image) && this.#view().phase === 'UpToDate';
  }

  /** Runs until the condition holds or this much virtual time has passed. Resolves to whether it holds. */
  async #show(display: Display<ClusterView>, isOver: () => boolean, withinMilliseconds: number): Promise<boolean> {
    const { clock } = this.#simulation;
    const end = clock.nowMilliseconds + withinMilliseconds;
    let over = false;
    while (!over && clock.nowMilliseconds < end) {
      over = await clock.runUntil(isOver, frameMilliseconds);
      display([this.#view()]);
      if (Number.isFinite(this.#speed)) await delay(frameMilliseconds / this.#speed);
    }
    return over;
  }

  #view(): ClusterView {
    const { server, cluster, wall } = this.#simulation;
    const record = cluster === null ? null : projectCluster(cluster);
    if (record === null) throw new Error('Expected the simulated MySQLCluster to exist, it does not');
    const rollout = server.store.get(rolloutKind, soleNamespace, clusterName) as MySQLRollout | null;
    return viewOf(record, rollout, wall());
  }
}

const pictureOf = (host: Host): Display<ClusterView> =>
  picture(host, (views, { columns }) => views.flatMap((view) => block(view, columns)));
