import { canonical } from './canonical.ts';
import * as c from './cells.ts';
import { changesStatefulSet, perform, remember, untouched } from './controller.ts';
import { Decisions, type Verdict } from './decisions.ts';
import { environmentMoves } from './environment.ts';
import * as facts from './facts.ts';
import type { Bounds, Broken, Counterexample, Findings } from './findings.ts';
import { Frontier } from './frontier.ts';
import { type Invariant, judge, judgeState, type Wanted } from './judge.ts';
import { Layout } from './layout.ts';
import { judgeStrategy } from './new-pods.ts';
import { isAround, isFirstRead, isLastRead } from './reads.ts';
import { StateTable } from './state-table.ts';
import { moco, Successors } from './successors.ts';
import { beginnings, type World } from './world.ts';

const intents: readonly Verdict['kind'][] = [
  'delete',
  'evict',
  'demote',
  'undemote',
  'setPartition',
  'updateInPlace',
  'resizeInPlace',
  'restore',
];

/** After the kinds: a demotion with the mark of a leaving node. */
const demotesForNode = intents.length + 1;

/** What is written down of the step. */
const codeOf = ({ kind, rule }: Verdict): number =>
  kind === 'demote' && rule === 'NodeLeaving' ? demotesForNode : intents.indexOf(kind) + 1;

/** Of an intent that is carried out late. */
const nothing: Verdict = {
  kind: 'none',
  disruptive: true,
  confirmed: true,
  targets: 0,
  rule: null,
  reason: null,
  demoted: false,
  partition: -1,
  newPods: null,
  promotes: null,
  hold: null,
  stale: 0,
  verified: false,
  complete: false,
  created: 0,
  objection: null,
};

const isTaken = ({ targets }: Verdict, member: number): boolean => member >= 0 && (targets & c.bit(member)) !== 0;

/** What a pass without a step writes down, where that is worth a state of its own. */
export function notes(verdict: Verdict, now: c.Cells, after: c.Cells, world: World): void {
  after.set(now);
  remember(verdict, false, now, after, world);
  if (verdict.verified) after[c.VERIFIED] = 1;
  canonical(now, after, world);
}

/**
 * Every state that can be reached, those with the fewest faults first and then breadth first, so that no counterexample
 * with fewer faults is missed for a shorter one with more.
 */
export class Exploration {
  readonly world: World;
  readonly layout: Layout;
  readonly table: StateTable;
  readonly decisions: Decisions;
  readonly #broken: Broken;
  readonly #isWanted: Wanted;
  #parents = new Int32Array(1 << 16);
  #transitions = 0;
  #races = 0;
  #steps = 0;
  #found: Counterexample | null = null;
  #at = 0;
  readonly #frontier = new Frontier();
  readonly #key: Int32Array;
  readonly #first = new Successors();
  readonly #second = new Successors();
  /** Of the moves between a decision and its commit. */
  readonly #between = [new Successors(), new Successors(), new Successors()] as const;
  readonly #lastReads: (Verdict | null)[] = Array.from({ length: 4 * c.mostMembers }, () => null);
  readonly #after = new Uint16Array(c.cellCount);

  constructor(world: World, broken: Broken = {}) {
    this.world = world;
    this.layout = new Layout(world);
    this.table = new StateTable(this.layout.words);
    this.decisions = new Decisions(world, this.layout, broken.decide);
    this.#broken = broken;
    const { wanted } = broken;
    this.#isWanted = (invariant) => wanted === undefined || invariant === wanted;
    this.#key = new Int32Array(this.layout.words);
  }

  run({ states = Number.POSITIVE_INFINITY }: Bounds = {}): Findings {
    const begin = beginnings(this.world);
    const [like] = begin;
    if (like === undefined) throw new Error('expected a world to have a beginning, got none');
    for (const cells of begin) this.#reach(cells, -1);
    const cells = like.slice();
    this.#at = this.#frontier.next();
    while (this.#at >= 0 && this.#found === null && this.table.count < states) {
      this.state(this.#at, cells);
      this.#visit(cells);
      if (this.world.folded && facts.graceRuns(cells, this.world)) {
        cells[c.GRACE] = 1;
        this.#visit(cells, true);
        cells[c.GRACE] = 0;
      }
      this.#at = this.#frontier.next();
    }
    return {
      states: this.table.count,
      transitions: this.#transitions,
      races: this.#races,
      steps: this.#steps,
      decisions: this.decisions.asked,
      finished: this.#at < 0 && this.#found === null,
      counterexample: this.#found,
    };
  }

  /** Unpacks a state; cells that never vary keep what `cells` has. */
  state(number: number, cells: c.Cells): void {
    this.table.read(number, this.#key);
    this.layout.unpack(this.#key, cells);
    if (this.world.folded) cells[c.GRACE] = 0;
    cells[c.FAULTS] = this.#frontier.faultsOf(number);
    if (!this.world.families.has('budget')) {
      cells[c.OPEN] = facts.budgetAllows(cells, facts.replicasOf(cells, this.world)) ? 1 : 0;
    }
  }

  numberOf(cells: c.Cells): number {
    this.layout.pack(cells, 0, this.#key);
    return this.table.find(this.#key);
  }

  /** The states from a beginning to this one. */
  pathTo(number: number): readonly c.Cells[] {
    const path: c.Cells[] = [];
    for (let at = number; at >= 0; at = this.#parents[at] as number) {
      const cells = (beginnings(this.world)[0] as c.Cells).slice();
      this.state(at, cells);
      path.push(cells);
    }
    return path.toReversed();
  }

  #reach(cells: c.Cells, parent: number): void {
    this.#transitions++;
    this.layout.pack(cells, 0, this.#key);
    const found = this.table.add(this.#key);
    const number = found < 0 ? ~found : found;
    if (!this.#frontier.reached(number, found < 0, cells[c.FAULTS] as number)) return;
    if (number >= this.#parents.length) {
      const grown = new Int32Array(this.#parents.length * 2);
      grown.set(this.#parents);
      this.#parents = grown;
    }
    this.#parents[number] = parent;
  }

  /** `again` where the state has been visited with another appearance, from which the world moves alike. */
  #visit(zero: c.Cells, again = false): void {
    const { world, decisions } = this;
    const now = decisions.of(zero, zero, zero);
    if (now.objection !== null && this.#isWanted('facts')) return this.#find('facts', [zero], now);
    const wrong = judgeState(now, zero, world);
    if (wrong !== null && this.#isWanted(wrong)) return this.#find(wrong, [zero], now);
    environmentMoves(zero, world, this.#first);
    const further = again ? 0 : this.#first.count;
    for (let one = 0; one < further; one++) this.#reach(this.#first.states[one] as c.Cells, this.#at);
    this.#lastReads.fill(null);
    if (world.families.has('new-pods')) {
      notes(now, zero, this.#after, world);
      this.#reach(this.#after, this.#at);
    } else if (now.verified && zero[c.VERIFIED] === 0) {
      this.#after.set(zero);
      this.#after[c.VERIFIED] = 1;
      this.#after[c.TAKEN] = 0;
      this.#reach(this.#after, this.#at);
    }
    if (zero[c.INTENT] !== 0) {
      this.#lateWrite(zero);
      if (!this.#broken.unfenced) return;
    }
    if (now.confirmed) this.#commit(now, zero, [zero], 2);
    else if (now.kind === 'undemote') this.#act(now, [zero]);
    else if (changesStatefulSet(now) && world.families.has('new-pods')) this.#commit(now, zero, [zero], 1);
    for (let one = 0; one < this.#first.count && this.#found === null; one++) {
      this.#confirmAcross(zero, this.#first.states[one] as c.Cells, now);
    }
  }

  /** Reads that lie on both sides of one move or two. */
  #confirmAcross(zero: c.Cells, one: c.Cells, now: Verdict): void {
    const { decisions, world } = this;
    const lastMoved = isLastRead(zero, one);
    const aroundMoved = isFirstRead(zero, one);
    if (lastMoved) {
      const verdict = this.#withLastRead(zero, one);
      if (verdict !== now && verdict.confirmed && this.#stands(verdict, zero, one)) {
        this.#commit(verdict, one, [zero, one], 1);
      }
    }
    if (aroundMoved) {
      const verdict = decisions.of(zero, one, one);
      if (verdict.confirmed) this.#commit(verdict, one, [zero, one], 1);
    }
    const configuring = (one[c.PHASE] as number) >= c.Phase.Repointing && world.families.size === 0;
    if (configuring && !aroundMoved) return;
    environmentMoves(one, world, this.#second, aroundMoved ? 'all' : 'last read');
    const second = this.#second;
    for (let two = 0; two < second.count && this.#found === null; two++) {
      const last = second.states[two] as c.Cells;
      if (((second.kinds[two] as number) & moco) !== 0 && isLastRead(one, last)) {
        const verdict = this.#withLastRead(zero, last);
        if (verdict.confirmed) this.#confirmed(verdict, [zero, one, last], 0);
        if (aroundMoved) this.#confirmed(decisions.of(zero, one, last), [zero, one, last], 1);
      }
      if (aroundMoved) this.#confirmed(decisions.of(zero, last, last), [zero, one, last], 2);
      if (this.#broken.podsFirst && isAround(one, last)) {
        this.#confirmed(decisions.of(last, zero, last), [zero, one, last], 0);
      }
    }
  }

  /** What is decided when only the MySQLCluster has changed since; few things of it are read, so it is asked for once. */
  #withLastRead(zero: c.Cells, last: c.Cells): Verdict {
    if (this.world.families.size > 0) return this.decisions.of(zero, zero, last);
    const code = (last[c.INDEX] as number) * 4 + (last[c.STATUS] as number);
    return (this.#lastReads[code] ??= this.decisions.of(zero, zero, last));
  }

  /** The pods were read at `read` of the path, and the step is done at its end. */
  #confirmed(verdict: Verdict, path: readonly c.Cells[], read: number): void {
    if (!verdict.confirmed) return;
    for (let at = read + 1; at < path.length; at++) {
      if (!this.#stands(verdict, path[at - 1] as c.Cells, path[at] as c.Cells)) return;
    }
    this.#act(verdict, path);
  }

  #stands(verdict: Verdict, before: c.Cells, after: c.Cells): boolean {
    return this.#broken.unconditional === true || untouched(before, after, verdict);
  }

  /** Done at once, or after at most so many moves that leave its pods alone. */
  #commit(verdict: Verdict, at: c.Cells, path: readonly c.Cells[], moves: number): void {
    if (this.#found !== null) return;
    if (this.world.families.has('late-write') && verdict.disruptive) this.#intend(verdict, at);
    this.#act(verdict, path);
    if (moves === 0) return;
    const next = this.#between[moves] as Successors;
    environmentMoves(at, this.world, next);
    for (let number = 0; number < next.count; number++) {
      const state = next.states[number] as c.Cells;
      // Where the same would be decided anew, that confirmation begins later and is judged by itself.
      if (this.decisions.of(state, state, state) === verdict) continue;
      if (this.#stands(verdict, at, state)) this.#commitLater(verdict, state, [...path, state], moves - 1);
    }
  }

  #commitLater(verdict: Verdict, at: c.Cells, path: readonly c.Cells[], moves: number): void {
    if (this.#found !== null) return;
    if (moves > 0) this.#commit(verdict, at, path, moves);
    else this.#act(verdict, path);
  }

  #act(verdict: Verdict, path: readonly c.Cells[]): void {
    const now = path.at(-1) as c.Cells;
    const window = this.#isUnconfirmed(verdict) ? [now] : path;
    const { violated, race, taken } = judge(verdict, window, this.world, this.#isWanted);
    const twice = now[c.INTENT] !== 0 && now[c.INTENDED] !== 0 && verdict.disruptive;
    if (race) this.#races++;
    if (violated !== null) return this.#find(violated, path, verdict);
    const unkept = this.world.families.has('new-pods') ? judgeStrategy(verdict, window, this.world) : null;
    if (unkept !== null && this.#isWanted(unkept)) return this.#find(unkept, path, verdict);
    if (twice && this.#isWanted('I1')) return this.#find('I1', path, verdict);
    this.#steps++;
    perform(verdict, now, this.#after, this.world, taken, path[0]);
    // Whoever decided while the primary served is not to blame for what its death has made of the step.
    if ((path[0] as c.Cells)[c.TOP] === 0 && isTaken(verdict, (now[c.TOP] as number) - 1)) this.#after[c.TOP] = 0;
    if (now[c.INTENT] !== 0 && verdict.disruptive) {
      this.#after[c.INTENT] = 0;
      this.#after[c.INTENDED] = 0;
    }
    this.#reach(this.#after, this.#at);
  }

  #isUnconfirmed(verdict: Verdict): boolean {
    const { unconfirmed = false } = this.#broken;
    return unconfirmed === 'StatefulSet' ? changesStatefulSet(verdict) : unconfirmed;
  }

  /** Written down, and then its author dies or its request is slow. */
  #intend(verdict: Verdict, at: c.Cells): void {
    this.#after.set(at);
    this.#after[c.INTENT] = codeOf(verdict);
    this.#after[c.INTENDED] = verdict.targets;
    // The status that carries the intent carries these too.
    if (verdict.rule === 'MemberDown') this.#after[c.TAKEN] = (this.#after[c.TAKEN] as number) | verdict.targets;
    if (verdict.verified) this.#after[c.VERIFIED] = 1;
    if (this.#after[c.VERIFIED] === 1) this.#after[c.TAKEN] = 0;
    this.#reach(this.#after, this.#at);
  }

  #lateWrite(zero: c.Cells): void {
    const targets = zero[c.INTENDED] as number;
    if (targets === 0) return;
    const isForNode = zero[c.INTENT] === demotesForNode;
    const kind = isForNode ? 'demote' : (intents[(zero[c.INTENT] as number) - 1] as Verdict['kind']);
    const rule = isForNode ? 'NodeLeaving' : kind === 'delete' ? 'MemberNotParticipating' : null;
    const partition = kind === 'setPartition' ? (zero[c.PARTITION] as number) - 1 : -1;
    const verdict: Verdict = { ...nothing, kind, targets, rule, partition, demoted: kind === 'undemote' };
    if (this.#broken.unconditional) {
      const { violated } = judge({ ...verdict, rule: null }, [zero], this.world, (invariant) => invariant === 'I5');
      if (violated !== null) return this.#find(violated, [zero], verdict);
    }
    perform(verdict, zero, this.#after, this.world, 0);
    this.#after[c.INTENT] = 0;
    this.#after[c.INTENDED] = 0;
    this.#reach(this.#after, this.#at);
  }

  #find(invariant: Invariant, window: readonly c.Cells[], verdict: Verdict): void {
    this.#found ??= { invariant, path: this.pathTo(this.#at), window: window.map((cells) => cells.slice()), verdict };
  }
}
