import type { Verdict } from './judge.ts';

/** The results of a run. */
export class Tally {
  rollouts = 0;
  steps = 0;
  violations = 0;
  races = 0;
  lost = 0;
  disruptions = 0;
  needless = 0;
  switchovers = 0;
  longestWindowMilliseconds = 0;
  /** Members that somebody else took while they were held. */
  lostMembers = 0;
  kept = 0;
  restored = 0;
  points = 0;
  disturbances = 0;
  /** Of the gate, and of a cluster's strategy in the middle of a rollout. */
  flips = 0;
  kills = 0;
  /** Restarts of moco-controller, and how many of them without any of our processes. */
  mocoRestarts = 0;
  restartsTogether = 0;
  processes = 0;
  /** Processes that ended by a defect, and reasons why the run proves nothing. */
  readonly defects: string[] = [];

  add(verdict: Verdict, lost: string | null): void {
    const { witness, steps, disruptions, needless, switchovers } = verdict;
    this.lostMembers += verdict.lost;
    this.kept += verdict.kept;
    this.restored += verdict.restored;
    const races = witness.findings.filter(({ kind }) => kind === 'race');
    this.steps += steps;
    this.disruptions += disruptions;
    this.needless += needless;
    this.switchovers += switchovers;
    this.violations += witness.findings.length - races.length;
    this.races += races.length;
    this.lost += lost === null ? 0 : 1;
    const windows = races.map(({ windowMilliseconds }) => windowMilliseconds);
    this.longestWindowMilliseconds = Math.max(this.longestWindowMilliseconds, ...windows);
  }

  get isFailure(): boolean {
    return this.violations > 0 || this.lost > 0 || this.needless > 0 || this.defects.length > 0;
  }

  get lines(): readonly string[] {
    return [
      ...this.defects,
      `${this.processes} processes, ${this.kills} killed, ${this.points} points met, ${this.disturbances} disturbances, ${this.flips} flips of gate or strategy`,
      `${this.mocoRestarts} restarts of moco-controller, ${this.restartsTogether} of them with all processes killed as well`,
      `${this.disruptions} disruptions, ${this.needless} needless; ${this.switchovers} switchovers; ${this.lost} rollouts that never ended; ${this.races} races, the longest window ${this.longestWindowMilliseconds} ms`,
      `${this.lostMembers} members lost while held, ${this.kept} kept their revision, ${this.restored} were given it back`,
      this.closingLine,
    ];
  }

  get closingLine(): string {
    return `${this.rollouts} rollouts, ${this.steps} steps, ${this.violations} violations`;
  }
}
