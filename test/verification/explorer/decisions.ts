import { decide } from '../../../src/core/decide.ts';
import type { Decision, HoldRule, Step } from '../../../src/core/decision.ts';
import { isConfirmed, kindsOf } from '../../../src/core/effects.ts';
import type { RolloutPolicy } from '../../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../../src/core/snapshot.ts';
import { isDisruptive, type RestoreRule, type StepRule } from '../../../src/core/step.ts';
import { violations } from '../../core/invariants.ts';
import * as c from './cells.ts';
import type { Layout } from './layout.ts';
import { StateTable } from './state-table.ts';
import { policyOf, snapshotOf } from './view.ts';
import type { World } from './world.ts';

export type Decide = (snapshot: ClusterSnapshot, policy: RolloutPolicy) => Decision;

/** What matters of a decision. */
export interface Verdict {
  readonly kind: Step['kind'];
  /** The step acts on pods: it is written down before it is done, and carries their uids and resourceVersions. */
  readonly disruptive: boolean;
  /** Everything is read again right before the step is done. */
  readonly confirmed: boolean;
  /** Members that the step is about, as bits. */
  readonly targets: number;
  readonly rule: StepRule | RestoreRule | null;
  readonly reason: string | null;
  /** `demote` itself is taken back, not only a mark. */
  readonly demoted: boolean;
  readonly partition: number;
  /** What new pods are to start at from now on. */
  readonly newPods: 'UpdateRevision' | 'CurrentRevision' | null;
  /** The revision that `status.currentRevision` becomes. */
  readonly promotes: string | null;
  readonly hold: HoldRule | null;
  readonly stale: number;
  readonly verified: boolean;
  readonly complete: boolean;
  /** Updated members of which it says that another client has updated them while they were held, as bits. */
  readonly created: number;
  /** What the judge of single decisions says against it, on what was read; `null` for nothing. */
  readonly objection: string | null;
}

const readBy = (...reads: readonly c.Declared['read'][]): Uint8Array =>
  Uint8Array.from(c.cells.filter(({ read }) => reads.includes(read)).map(({ at }) => at));
const unseen = readBy('none');
const ofTheCluster = readBy('cluster');
const ofItsSurroundings = readBy('around', 'memory');

/** `decide`, asked once about everything that it can be shown: reads of up to three moments. */
export class Decisions {
  readonly #world: World;
  readonly #layout: Layout;
  readonly #decide: Decide;
  readonly #seen: StateTable;
  /** Which of the verdicts, by the number of the facts. */
  #numbers = new Uint16Array(1 << 16);
  readonly #verdicts: Verdict[] = [];
  readonly #byText = new Map<string, number>();
  readonly #key: Int32Array;
  readonly #packed: Int32Array;
  readonly #shown = new Uint16Array(c.cellCount);

  constructor(world: World, layout: Layout, decideWith: Decide = decide) {
    this.#world = world;
    this.#layout = layout;
    this.#decide = decideWith;
    this.#seen = new StateTable(layout.words + 1);
    this.#key = new Int32Array(layout.words + 1);
    this.#packed = new Int32Array(layout.words);
  }

  /** How many different sets of facts were decided on. */
  get asked(): number {
    return this.#seen.count;
  }

  /** What is decided on the StatefulSet as it was in `around`, the pods in `pods` and the MySQLCluster in `last`. */
  of(around: c.Cells, pods: c.Cells, last: c.Cells): Verdict {
    this.#show(around, pods, last);
    const number = this.#seen.add(this.#key);
    if (number >= 0) return this.#verdicts[this.#numbers[number] as number] as Verdict;
    const [snapshot, policy] = [snapshotOf(around, pods, last, this.#world), policyOf(around, this.#world)];
    const decision = this.#decide(snapshot, policy);
    const [objection = null] = violations(snapshot, policy, decision);
    const verdict = verdictOf(decision, objection);
    const text = JSON.stringify(verdict);
    let known = this.#byText.get(text);
    if (known === undefined) {
      known = this.#verdicts.push(verdict) - 1;
      this.#byText.set(text, known);
    }
    if (~number >= this.#numbers.length) {
      const grown = new Uint16Array(this.#numbers.length * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[~number] = known;
    return this.#verdicts[known] as Verdict;
  }

  /** Packs what a controller can see, and nothing else. */
  #show(around: c.Cells, pods: c.Cells, last: c.Cells): void {
    const shown = this.#shown;
    shown.set(pods);
    const index = last[c.INDEX] as number;
    const sameIndex = pods[c.INDEX] === index;
    for (let ordinal = 0; ordinal < this.#world.replicas; ordinal++) {
      // Only MOCO knows whether it follows another member.
      const health = shown[c.HEALTH + ordinal];
      if (health === c.Health.Missing) shown[c.REVISION + ordinal] = 0;
      if (health === c.Health.Severed) shown[c.HEALTH + ordinal] = c.Health.Lagging;
      if (!sameIndex && (ordinal === index || ordinal === pods[c.INDEX])) shown[c.SETTLED + ordinal] = 0;
    }
    const grace = shown[c.GRACE] as number;
    shown[c.GRACE] = 0;
    for (let at = 0; at < unseen.length; at++) shown[unseen[at] as number] = 0;
    for (let at = 0; at < ofTheCluster.length; at++) {
      const cell = ofTheCluster[at] as number;
      shown[cell] = last[cell] as number;
    }
    for (let at = 0; at < ofItsSurroundings.length; at++) {
      const cell = ofItsSurroundings[at] as number;
      shown[cell] = around[cell] as number;
    }
    if (around[c.NOTED] === 0) shown[c.WAITING] = 0;
    shown[c.STAGE] = (last[c.STAGE] === c.Stage.Asked ? 1 : 0) + (around[c.STAGE] === c.Stage.Applied ? 2 : 0);
    shown[c.SCALE] = (last[c.SCALE] === c.Scale.Before ? 0 : 1) + (around[c.SCALE] === c.Scale.Done ? 2 : 0);
    this.#layout.pack(shown, 0, this.#packed);
    this.#key.set(this.#packed);
    this.#key[this.#layout.words] =
      (around[c.OPEN] as number) +
      2 * (around[c.COMPUTED] as number) +
      4 * (around[c.BACKUP] as number) +
      16 * (pods[c.TARGET] === around[c.TARGET] ? 0 : 1) +
      32 * grace +
      64 * (sameIndex ? 0 : 1);
  }
}

const isTooEarly = ({ recreated }: Decision['members'][number]): boolean =>
  recreated?.as === 'updated' && recreated.because !== null;

export function verdictOf(decision: Decision, objection: string | null = null): Verdict {
  const { step, hold, members, stale, verified, complete } = decision;
  const targets = 'targets' in step ? step.targets.reduce((bits, { ordinal }) => bits | c.bit(ordinal), 0) : 0;
  return {
    kind: step.kind,
    disruptive: isDisruptive(step),
    // A controller with a mistake may do another step than the one whose effects it declares.
    confirmed: isDisruptive(step) || isConfirmed(kindsOf(decision.effects)),
    targets,
    rule: 'rule' in step ? step.rule : null,
    reason: step.kind === 'undemote' ? step.reason : null,
    demoted: step.kind === 'undemote' && step.demoted,
    partition: step.kind === 'setPartition' ? step.partition : -1,
    newPods: step.kind === 'setStrategy' ? step.newPods : null,
    promotes: step.kind === 'promoteRevision' ? step.revision : null,
    hold: hold?.rule ?? null,
    stale,
    verified,
    complete,
    created: members.reduce((bits, one) => bits | (one.updated && isTooEarly(one) ? c.bit(one.ordinal) : 0), 0),
    objection,
  };
}
