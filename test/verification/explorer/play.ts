import { decide } from '../../../src/core/decide.ts';
import type { Decision } from '../../../src/core/decision.ts';
import type { ClusterSnapshot, Moment } from '../../../src/core/snapshot.ts';
import { violations } from '../../core/invariants.ts';
import * as c from './cells.ts';
import { perform } from './controller.ts';
import { verdictOf } from './decisions.ts';
import { environmentMoves } from './environment.ts';
import * as facts from './facts.ts';
import { judge, judgeState } from './judge.ts';
import { changes, decided } from './story.ts';
import { benign, late, Successors } from './successors.ts';
import { policyOf, snapshotOf } from './view.ts';
import type { World } from './world.ts';

/** `perhaps` are faults, and what may go well or not. */
export type MoveKind = 'benign' | 'late' | 'perhaps';

/** A revision is a bit of `BAD`; the last one is left to the repair. */
const mostRevisions = 15;
/** Far more moves and passes than a member's update takes. */
const mostPassesOfMember = 1_000;

const moment = (inSeconds: number): Moment => ({ inSeconds, at: `in ${inSeconds} s` });
const openWindow = { from: moment(-1), until: moment(100_000) };
const laterWindow = { from: moment(100_000), until: moment(200_000) };

/** One history of a world and the controller in it. It throws at the first thing that is wrong. */
export class Play {
  readonly world: World;
  cells: c.Cells;
  /** Steps that were taken, as `evict 2`. */
  readonly steps: string[] = [];
  /** The maintenance window. */
  isWindowOpen = true;
  readonly #history: string[] = [];
  readonly #moves = new Successors();
  readonly #after = new Uint16Array(c.cellCount);

  constructor(world: World, cells: c.Cells) {
    this.world = world;
    this.cells = cells.slice();
  }

  snapshot(): ClusterSnapshot {
    const { cells, world, isWindowOpen } = this;
    const windows = [isWindowOpen ? openWindow : laterWindow];
    const maintenance = { windows, restartWindows: null, blackouts: [], memberSeconds: 100 };
    return { ...snapshotOf(cells, cells, cells, world), maintenance };
  }

  /** One pass on what is true now, judged by what it sees and by what is true. */
  controller(): Decision {
    const { cells, world } = this;
    const [snapshot, policy] = [this.snapshot(), policyOf(cells, world)];
    const decision = decide(snapshot, policy);
    const verdict = verdictOf(decision);
    const { violated, taken } = judge(verdict, [cells], world);
    const broken = violated ?? judgeState(verdict, cells, world);
    const found = [...violations(snapshot, policy, decision), ...(broken === null ? [] : [`${broken} is broken`])];
    if (found.length > 0) this.fail(`${decided(verdict)}: ${found.join('; ')}`);
    if (decision.step.kind !== 'none') {
      const targets = 'targets' in decision.step ? decision.step.targets.map(({ ordinal }) => ordinal).join() : '';
      this.steps.push(`${decision.step.kind} ${targets}`.trim());
      this.#history.push(`  ${decided(verdict)}`);
      if (verdict.kind !== 'evict' || this.#mayEvict()) {
        perform(verdict, cells, this.#after, world, taken);
        cells.set(this.#after);
      }
    } else if (verdict.verified) {
      cells[c.VERIFIED] = 1;
      cells[c.TAKEN] = 0;
    }
    return decision;
  }

  /** One of the moves of a kind, chosen by a number; `false` if there is none. */
  happens(kind: MoveKind, choice: number): boolean {
    environmentMoves(this.cells, this.world, this.#moves);
    const { states, kinds, count } = this.#moves;
    const possible = states.slice(0, count).filter((_, number) => kindOf(kinds[number] as number) === kind);
    const next = possible[choice % Math.max(1, possible.length)];
    if (next === undefined) return false;
    this.#become(next);
    return true;
  }

  /** The user asks for another template. */
  changeTemplate(bad: boolean): void {
    if ((this.cells[c.WANTED] as number) < mostRevisions) this.#wantNext(bad);
  }

  #wantNext(bad: boolean): void {
    const revision = (this.cells[c.WANTED] as number) + 1;
    const next = this.cells.slice();
    next[c.WANTED] = revision;
    next[c.STAGE] = c.Stage.Asked;
    if (bad) next[c.BAD] = (next[c.BAD] as number) | c.bit(revision - 1);
    this.#become(next);
  }

  /**
   * Lets everything happen that needs no person, lets time pass only if nothing else can happen, and then lets a person
   * repair what is left.
   */
  calmDown(choices: () => number): Decision {
    for (let count = 0; count < mostPassesOfMember * (this.world.replicas + 1); count++) {
      const decision = this.controller();
      if (decision.step.kind !== 'none' && decision.step.kind !== 'evict') continue;
      const choice = choices();
      const moved = this.happens('benign', choice) || this.happens('late', choice) || this.#repaired();
      if (!moved && decision.step.kind === 'none') return decision;
    }
    return this.fail('no end in sight');
  }

  /** Lets everything happen that comes by itself before the controller looks again, so that each step is seen alone. */
  stepByStep(): void {
    do {
      while (this.happens('benign', 0));
    } while (this.controller().step.kind !== 'none' || this.happens('late', 0));
  }

  fail(why: string): never {
    throw new Error(`${why}\n${this.#history.join('\n')}`);
  }

  #become(next: c.Cells): void {
    this.#history.push(changes(this.cells, next));
    const newRevision = next[c.TARGET] !== this.cells[c.TARGET];
    this.cells.set(next);
    if (newRevision) this.cells[c.PROMOTED] = 0;
  }

  /** A budget that lags behind lets a step be decided that the API server refuses. */
  #mayEvict(): boolean {
    return this.world.replicas < 3 || facts.budgetAllows(this.cells, this.world.replicas);
  }

  /**
   * Somebody comes: for the template, for a failing sidecar, for switchovers that fail, and for a label
   * that is absent; and the maintenance window opens.
   */
  #repaired(): boolean {
    const { cells, world } = this;
    if (facts.isBadRevision(cells, cells[c.TARGET] as number)) {
      if (cells[c.STAGE] === c.Stage.Settled) this.#wantNext(false);
      return true;
    }
    const next = cells.slice();
    next[c.TRIES] = 0;
    for (let ordinal = 0; ordinal < world.replicas; ordinal++) {
      if (facts.healthOf(next, ordinal) === c.Health.Impaired) next[c.HEALTH + ordinal] = c.Health.Young;
      // MOCO labels no replica that it calls healthy; a person, or failoverGraceSeconds, end the wait for it.
      if (facts.participates(next, ordinal)) next[c.SETTLED + ordinal] = 1;
    }
    const isRepaired = cells.every((value, at) => value === next[at]) && this.isWindowOpen;
    this.isWindowOpen = true;
    if (isRepaired) return false;
    this.#become(next);
    return true;
  }
}

function kindOf(kind: number): MoveKind {
  if ((kind & benign) !== 0) return 'benign';
  return (kind & late) !== 0 ? 'late' : 'perhaps';
}
