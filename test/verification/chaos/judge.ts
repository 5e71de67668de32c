import { annotationOn, demoteAnnotation, demotedForAnnotation, strategyLabel } from '../../../src/moco/names.ts';
import { controllerUser, storyOf } from '../../cluster/rollout-story.ts';
import type { AuditEvent } from '../../support/control-plane/control-plane.ts';
import type { Ability } from '../witness/ability.ts';
import type { Disruption } from '../witness/disruption.ts';
import { isWell } from '../witness/member.ts';
import type { Change, Moment } from '../witness/moment.ts';
import { Witness } from '../witness/witness.ts';
import { actorOf, disruptionsOf, isAgreed, type Requests } from './disruptions.ts';
import type { Driver } from './plan.ts';

/** All that is known of one cluster, from the API server alone but for when processes began to ask. */
export interface Evidence extends Requests {
  /** As often may the primary have moved; `null`: it may move at every member. */
  readonly mostSwitchovers: number | null;
  readonly ended: boolean;
  readonly driver: Driver;
  /** Without it lost members are counted, not judged. */
  readonly ability?: Ability;
  /** Processes with the gate off. */
  readonly withoutGate: ReadonlySet<string>;
}

export interface Verdict {
  readonly witness: Witness;
  /** What the controller has done to the cluster. */
  readonly steps: number;
  readonly disruptions: number;
  readonly needless: number;
  readonly switchovers: number;
  /** Members that somebody else took while they were held, how many kept their revision, and how many were given it back. */
  readonly lost: number;
  readonly kept: number;
  readonly restored: number;
  /** A line a deed, with the time of day before it. */
  readonly story: readonly string[];
}

/** Has the witness see everything in the order of the store. */
export function judge(evidence: Evidence): Verdict {
  const { namespace, cluster, changes, audit, ended, mostSwitchovers } = evidence;
  const key = `${namespace}/${cluster}`;
  const witness = new Witness(null, { minReadySeconds: 0, ...(evidence.ability && { ability: evidence.ability }) });
  const disruptions = disruptionsOf(evidence, (...found) => witness.object(...found));
  const demotions = new Map<string, number>();
  const disrupted = (disruption: Disruption): void => {
    witness.disrupted(disruption);
    const moment = witness.latest(key);
    for (const [law, text] of [
      ...demotionsLeft(disruption, moment, demotions),
      ...forbiddenWithoutGate(disruption, evidence),
    ]) {
      const { verb, ordinal, actor, atMilliseconds } = disruption;
      witness.object(law, `${verb} ${ordinal} by ${actor}: ${text}`, atMilliseconds);
    }
  };
  let next = 0;
  for (const change of changes) {
    for (; next < disruptions.length; next++) {
      const disruption = disruptions[next];
      if (disruption === undefined || disruption.before >= change.revision) break;
      disrupted(disruption);
    }
    witness.observe(change);
    noteDemotion(change, demotions);
  }
  for (const disruption of disruptions.slice(next)) disrupted(disruption);
  const { atMilliseconds } = witness.latest(key);
  for (const pod of ended ? demotions.keys() : []) {
    witness.object('I12', `a demotion of ours outlived the rollout on ${pod}`, atMilliseconds);
  }
  for (const event of audit.filter((one) => takesWithoutGate(one, evidence))) {
    const at = Date.parse(event.requestReceivedTimestamp);
    witness.object('I10', `${event.verb} ${event.objectRef?.name} by ${actorOf(event)}, with the gate off`, at);
  }
  const measures = witness.measures(key, 0);
  if (mostSwitchovers !== null && measures.switchovers > mostSwitchovers) {
    const text = `${measures.switchovers} switchovers where ${mostSwitchovers} would do`;
    witness.object('I8', text, atMilliseconds);
  }
  const { lost, restored } = witness.lostMembers(key);
  const story = storyOf(audit, namespace);
  return {
    witness,
    steps: story.filter(({ by, code }) => by === 'controller' && code < 300).length,
    disruptions: disruptions.length,
    needless: measures.needless,
    switchovers: measures.switchovers,
    lost: lost.length,
    kept: lost.filter(({ outcome }) => outcome === 'kept').length,
    restored,
    story: story.map(({ at, by, text }) => `${at.slice(11, 23)} ${by.padEnd(10)} ${text}`),
  };
}

/** The revision since which each pod has a demotion of ours. It ends with a terminating pod. */
function noteDemotion({ kind, object, identity, revision }: Change, demotions: Map<string, number>): void {
  if (kind !== 'Pod') return;
  const { name, annotations, deletionTimestamp } = identity.metadata;
  const isDemoted = annotations?.[demotedForAnnotation] !== undefined;
  if (object === null || deletionTimestamp !== undefined || !isDemoted) demotions.delete(name);
  else if (!demotions.has(name)) demotions.set(name, revision);
}

type Objection = readonly [law: string, text: string];

/**
 * A demotion is the last step before a primary is updated: a step that disrupts a working member while a demotion
 * exists, and existed before the confirmation, has left a demotion without a reason. A stale annotation, which requests
 * nothing from MOCO, may disappear with its pod.
 */
function demotionsLeft(
  { uid, confirmingSince }: Disruption,
  moment: Moment,
  demotions: ReadonlyMap<string, number>,
): readonly Objection[] {
  const target = moment.members.find(({ pod }) => pod.metadata.uid === uid);
  if (target === undefined || !isWell(moment, target)) return [];
  const { name, annotations } = target.pod.metadata;
  const goesWithItsMark = annotations?.[demoteAnnotation] !== annotationOn;
  return [...demotions]
    .filter(([pod, since]) => since <= confirmingSince.revision && !(pod === name && goesWithItsMark))
    .map(([pod]) => ['I12', `a demotion of ours was left on ${pod}`]);
}

/** If this program lowers partitions, it may also delete members. Which of them, the witness judges. */
function forbiddenWithoutGate({ actor, verb }: Disruption, { driver, withoutGate }: Evidence): readonly Objection[] {
  if (!withoutGate.has(actor)) return [];
  const mayBe = driver === 'own' && (verb === 'setPartition' || verb === 'delete');
  return mayBe ? [] : [['I10', 'the gate was off']];
}

interface Labelled {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string | null>>;
    readonly annotations?: Readonly<Record<string, string | null>>;
  };
}

/** A demotion, or a StatefulSet set to OnDelete, by a process with the gate off. */
function takesWithoutGate(event: AuditEvent, { namespace, withoutGate }: Evidence): boolean {
  const { user, verb, objectRef, requestObject, requestURI } = event;
  if (user.username !== controllerUser || objectRef?.namespace !== namespace || verb !== 'patch') return false;
  if (!withoutGate.has(actorOf(event)) || !isAgreed(event) || requestURI.includes('dryRun=')) return false;
  const { labels, annotations } = ((requestObject ?? {}) as Labelled).metadata ?? {};
  return typeof labels?.[strategyLabel] === 'string' || annotations?.[demoteAnnotation] === annotationOn;
}
