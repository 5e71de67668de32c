import { pods } from '../../../src/kube/resource.ts';
import { setImage } from '../../../test/verification/simulation/acts-of-people.ts';
import { plainCircumstances } from '../../../test/verification/simulation/circumstances.ts';
import { clusterName, Simulation, soleNamespace } from '../../../test/verification/simulation/simulation.ts';
import { isUpdated, participates, primaryOf, updateRevisionOf } from '../../../test/verification/witness/member.ts';
import type { Moment } from '../../../test/verification/witness/moment.ts';
import { backupMilliseconds, newImage, type Playing, type Scenario, type Way } from './ways.ts';

// Simulates one rollout in virtual time and measures it.

/** The circumstances that one row of a table shows. */
export interface Row {
  readonly scenario: Scenario;
  readonly members: number;
  /** The time from SIGTERM to readiness, in the model of the nodes. */
  readonly restartSeconds: number;
}

/** The result of one rollout. */
export interface Result {
  /** The time from the change until every member participates at the new revision; `null` if that never happens. */
  readonly seconds: number | null;
  /** How long members were unavailable, added up. */
  readonly memberSecondsAway: number;
  readonly secondsWithoutCommits: number;
  readonly moves: number;
  readonly mostAway: number;
  /**
   * The number of members that went down during the backup. The backup starts when the first member goes down, which
   * does not count.
   */
  readonly duringBackup: number;
}

const lookMilliseconds = 10;
/**
 * Far longer than the 45 s for each member that MOCO's partitions can take. After this time a method counts as stuck.
 */
const patienceMilliseconds = 15 * 60_000;

const circumstances = { ...plainCircumstances, moco: { notice: 5, healthyTrue: 20 }, lagMilliseconds: 5 };

/** Simulates one rollout in virtual time. The same seed gives the same result. */
export async function play(row: Row, way: Way, seed: string): Promise<Result> {
  const restart = 1000 * row.restartSeconds;
  const simulation = new Simulation({
    ...circumstances,
    seed,
    replicas: row.members,
    mode: way.mode,
    backups: row.scenario.whenOneGoes !== undefined,
    nodes: { stopMilliseconds: 0.35 * restart, startMilliseconds: 0.5 * restart, startupMilliseconds: 0.15 * restart },
  });
  await simulation.start();
  simulation.setting({ minReadySeconds: 0, ...way.settings });
  try {
    return await new Rollout(simulation, row).play(way);
  } finally {
    for (const process of simulation.processes) process.end();
  }
}

class Rollout implements Playing {
  readonly simulation: Simulation;
  readonly #row: Row;
  #counts = { memberMilliseconds: 0, withoutCommits: 0, moves: 0, mostAway: 0, duringBackup: 0 };
  #lastPrimary = 0;
  #backupUntil: number | null = null;

  constructor(simulation: Simulation, row: Row) {
    this.simulation = simulation;
    this.#row = row;
  }

  async play(way: Way): Promise<Result> {
    const { simulation } = this;
    const { scenario } = this.#row;
    const { clock } = simulation;
    way.before?.(simulation);
    await scenario.before?.(this);
    this.#lastPrimary = this.primary();
    this.#lookOn();
    simulation.server.store.subscribe(({ kind, type, object: { metadata } }) => {
      if (kind === pods && type === 'MODIFIED' && metadata.deletionTimestamp !== undefined) this.#goes(metadata.uid);
    });
    await scenario.first?.(this);
    const before = updateRevisionOf(this.#moment);
    const beganAt = clock.nowMilliseconds;
    setImage(simulation, newImage);
    const isDone = (): boolean => updateRevisionOf(this.#moment) !== before && this.#isWhole();
    const ended = await clock.runUntil(isDone, patienceMilliseconds);
    const { memberMilliseconds, withoutCommits, moves, mostAway, duringBackup } = this.#counts;
    return {
      seconds: ended ? (clock.nowMilliseconds - beganAt) / 1000 : null,
      memberSecondsAway: memberMilliseconds / 1000,
      secondsWithoutCommits: ended || simulation.moco.acceptsCommits ? withoutCommits / 1000 : Number.POSITIVE_INFINITY,
      moves,
      mostAway,
      duringBackup,
    };
  }

  async until(sentence: string, condition: () => boolean): Promise<void> {
    const came = await this.simulation.clock.runUntil(condition, patienceMilliseconds);
    if (!came) throw new Error(`Expected ${sentence}, but that did not happen: ${this.#row.scenario.title}`);
  }

  away(): readonly number[] {
    const here = this.#moment.members.filter((member) => participates(this.#moment, member));
    const ordinals = new Set(here.map(({ ordinal }) => ordinal));
    return Array.from({ length: this.#row.members }, (_, ordinal) => ordinal).filter((one) => !ordinals.has(one));
  }

  primary(): number {
    return primaryOf(this.#moment);
  }

  readonly isUpdated = (ordinal: number): boolean =>
    this.#moment.members.some((member) => member.ordinal === ordinal && isUpdated(this.#moment, member));

  get #moment(): Moment {
    return this.simulation.witness.latest(`${soleNamespace}/${clusterName}`);
  }

  #isWhole(): boolean {
    return this.away().length === 0 && this.#moment.members.every((member) => isUpdated(this.#moment, member));
  }

  readonly #gone = new Set<string>();

  #goes(uid: string): void {
    if (this.#gone.has(uid)) return;
    this.#gone.add(uid);
    const { nowMilliseconds } = this.simulation.clock;
    if (this.#backupUntil === null) {
      this.#backupUntil = nowMilliseconds + backupMilliseconds;
      this.#row.scenario.whenOneGoes?.(this);
    } else if (nowMilliseconds < this.#backupUntil) this.#counts.duringBackup += 1;
  }

  /** Observes the cluster from now on, until virtual time stops. */
  #lookOn(): void {
    const counts = this.#counts;
    const away = this.away().length;
    const primary = this.primary();
    counts.memberMilliseconds += away * lookMilliseconds;
    counts.mostAway = Math.max(counts.mostAway, away);
    if (!this.simulation.moco.acceptsCommits) counts.withoutCommits += lookMilliseconds;
    if (primary !== this.#lastPrimary) counts.moves += 1;
    this.#lastPrimary = primary;
    this.simulation.clock.after(lookMilliseconds, () => this.#lookOn());
  }
}
