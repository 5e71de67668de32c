import { rolloutKind } from '../../../src/api/rollout.ts';
import { demotedForAnnotation } from '../../../src/moco/names.ts';
import { type Json, record } from '../../support/api-server/stored-object.ts';
import type { LostMember } from '../witness/lost-members.ts';
import type { Measures } from '../witness/measures.ts';
import { isUpdated, participates } from '../witness/member.ts';
import type { Moment } from '../witness/moment.ts';
import type { Finding } from '../witness/witness.ts';
import type { Circumstances } from './circumstances.ts';
import type { Scenario } from './draw.ts';
import type { Strikes } from './faults.ts';
import { type Happening, happen, isUneventful, lengthOf } from './happening.ts';
import type { Drain } from './node-upgrades.ts';
import { clusterName, Simulation } from './simulation.ts';
import type { Situation } from './situations.ts';

export interface Outcome {
  /** Template changes that were asked for. */
  readonly rollouts: number;
  readonly steps: number;
  readonly simulatedMilliseconds: number;
  readonly violations: readonly Finding[];
  readonly races: readonly Finding[];
  readonly measures: Measures;
  /** Members whose pods another client deleted while they were held, and how many got their revision back. */
  readonly lost: readonly LostMember[];
  readonly restored: number;
  readonly strikes: Strikes;
  readonly situations: readonly Situation[];
  readonly drains: readonly Drain[];
  readonly historyHash: string;
  /** What was in progress if it didn't end, else `null`. */
  readonly stuck: string | null;
}

/** Every rollout that can end has ended this long after the last happening. */
const patienceMilliseconds = 3 * 3600_000;
/** Waits outside of the program's control may last forever: the run ends after this time. */
const firstPatienceMilliseconds = 15 * 60_000;
/** And nothing of it is left after that. */
const aftermathMilliseconds = 20_000;
const leadMilliseconds = 6_000;

/** Plays a scenario to its end, or until nothing can be expected of it any more. */
export async function run({ circumstances, plan }: Scenario): Promise<Outcome> {
  const simulation = new Simulation(circumstances);
  const { clock, witness, server, namespace, key } = simulation;
  await simulation.start();
  const beganAt = clock.nowMilliseconds + leadMilliseconds;
  let pending = plan.length;
  for (const { atMilliseconds, what } of plan) {
    clock.after(leadMilliseconds + atMilliseconds, () => {
      happen(simulation, what);
      clock.after(lengthOf(what), () => {
        pending -= 1;
      });
    });
  }
  const over = (): boolean => pending === 0;
  const longest = Math.max(0, ...plan.map(({ atMilliseconds, what }) => atMilliseconds + lengthOf(what)));
  await clock.runUntil(over, leadMilliseconds + longest + 1);
  const isComplete = (): boolean => simulation.isComplete(simulation.wanted.image);
  const isOthers = (): boolean => isForOthers(circumstances.mode, simulation.moment);
  const ended =
    (await clock.runUntil(isComplete, firstPatienceMilliseconds)) ||
    (!isOthers() && (await clock.runUntil(isComplete, patienceMilliseconds)));
  if (ended) await clock.runUntil(() => false, aftermathMilliseconds);
  const rollout = server.store.get(rolloutKind, namespace, clusterName);
  const left = simulation.members.filter(({ metadata }) => metadata.annotations?.[demotedForAnnotation] !== undefined);
  for (const { metadata } of ended ? left : []) {
    witness.object('I12', `a demotion of ours outlived the rollout on ${metadata.name}`, clock.nowMilliseconds);
  }
  const measures = witness.measures(key, beganAt);
  if (isCalm(plan) && circumstances.mode === 'OnDelete' && measures.switchovers > 1) {
    const text = `${measures.switchovers} switchovers in a rollout in which nothing else happened`;
    witness.object('I8', text, clock.nowMilliseconds);
  }
  simulation.platform.end();
  const { findings } = witness;
  for (const { law, text, atMilliseconds } of findings.filter(({ kind }) => kind === 'race')) {
    if (isOfOneImage(plan))
      witness.object('race', `${law}: ${text}, though no member failed by itself`, atMilliseconds);
  }
  const { lost, restored } = witness.lostMembers(key);
  simulation.kept.ended({ lost, restored }, circumstances.replicas);
  const situations = simulation.situations.found;
  const why = ended || isOthers() ? null : stuckAt(record(rollout?.['status']), plan);
  return {
    rollouts: plan.reduce((sum, { what }) => sum + changesOf(what), 0),
    steps: clock.steps,
    simulatedMilliseconds: clock.nowMilliseconds,
    violations: findings.filter(({ kind }) => kind === 'violation'),
    races: findings.filter(({ kind }) => kind === 'race'),
    measures,
    lost,
    restored,
    strikes: simulation.strikes,
    situations,
    drains: simulation.platform.drains,
    historyHash: simulation.platform.historyHash(),
    stuck: why,
  };
}

/** One rollout of an image that works, and nothing else. */
function isCalm(plan: Scenario['plan']): boolean {
  return plan.length === 1 && plan.every(({ what }) => what.kind === 'rollOut');
}

/** No random failures, and one image. */
function isOfOneImage(plan: Scenario['plan']): boolean {
  const all = plan.map(({ what }) => (what.kind === 'atWrite' ? what.what : what));
  return all.every(isUneventful) && all.filter(({ kind }) => kind === 'rollOut').length === 1;
}

/** Changes of mysqld's image. Those that may be made in running pods come on top. */
function changesOf(what: Happening): number {
  if (what.kind === 'together') return what.all.reduce((sum, one) => sum + changesOf(one.what), 0);
  return what.kind === 'rollOut' || what.kind === 'rollOutBad' ? 1 : 0;
}

/** Nothing that this program could do would end it. */
function isForOthers(mode: Circumstances['mode'], moment: Moment): boolean {
  return mode === 'MOCO' || (mode === 'Partition' && isOutOfOrder(moment));
}

/** A partition cannot replace a broken member before those with higher ordinals. */
function isOutOfOrder(moment: Moment): boolean {
  const { rollingUpdate } = moment.statefulSet?.spec.updateStrategy ?? {};
  return moment.members.some(
    (member) =>
      !isUpdated(moment, member) &&
      !participates(moment, member) &&
      member.ordinal + 1 < (rollingUpdate?.partition ?? 0),
  );
}

/** A hold that only a person can end, and that reports so, counts as an expected end. */
const forPeople: ReadonlySet<unknown> = new Set(['MemberDownOutOfOrder', 'SwitchoverFailing']);
/** Only the running pod has the data of its member from then on, so only a person can end `ClaimTerminating`. */
const losesClaim: ReadonlySet<Happening['kind']> = new Set(['loseVolume', 'swapClaim']);

function stuckAt({ hold }: Json, plan: Scenario['plan']): string | null {
  const { rule, message } = record(hold);
  const isLost = rule === 'ClaimTerminating' && plan.some(({ what }) => losesClaim.has(what.kind));
  return isLost || forPeople.has(rule) ? null : `${String(rule)}: ${String(message)}`;
}
