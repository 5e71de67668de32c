import { rolloutCompleteCondition } from '../../../src/moco/names.ts';
import { Ability } from './ability.ts';
import { Blame } from './blame.ts';
import { budgetOf } from './budget.ts';
import { Chronicle } from './chronicle.ts';
import { DataOfMembers } from './data.ts';
import type { Demotions } from './demotions.ts';
import type { Disruption } from './disruption.ts';
import { isAskedOf } from './law.ts';
import { laws } from './laws.ts';
import { isRequested } from './laws-of-restoring.ts';
import { isToBeMoved, movesOff } from './leaving-nodes.ts';
import { type LostMember, LostMembers } from './lost-members.ts';
import { type Measures, measure } from './measures.ts';
import { hasResourcesOf, isUpdated, isWell, revisionOf, runsImageOf, updateRevisionOf } from './member.ts';
import { type Change, clusterOf, type Member, type Moment } from './moment.ts';
import type { ObservedEffect } from './observed-effects.ts';
import { SecondRestarts } from './second-restarts.ts';
import { StepLog } from './step-log.ts';
import { Verification } from './verification.ts';

/**
 * A law that did not hold when a member was taken down. It is a race where it had held since the actor began to ask,
 * and a violation where it held at no moment.
 */
export interface Finding {
  readonly kind: 'violation' | 'race';
  readonly law: string;
  readonly text: string;
  readonly atMilliseconds: number;
  /** From the beginning of the actor's last question to the deed. */
  readonly windowMilliseconds: number;
}

/** A working member that was replaced for a revision that no member had run yet. */
interface Trial {
  readonly cluster: string;
  readonly revision: string;
  readonly ordinal: number;
  readonly uid: string;
}

interface Options {
  /** When its times begin, since 1970. */
  readonly epochMilliseconds?: number;
  readonly ability?: Ability;
  /** The program's own default. */
  readonly minReadySeconds?: number;
}

interface Lost {
  readonly verification: Verification;
  readonly members: LostMembers;
  readonly data: DataOfMembers;
}

/**
 * Watches what an API server stores, and nothing else, and judges who takes members down. It knows MOCO's names and
 * Kubernetes' objects; of the program that it judges it knows only which requests are its own.
 */
export class Witness {
  readonly #chronicles = new Map<string, Chronicle>();
  readonly #findings: Finding[] = [];
  readonly #disruptions: Disruption[] = [];
  /** By cluster, update revision and member: what has been taken for it. */
  readonly #takenFor = new Map<string, number>();
  /** Those of them whose pods the program has removed by itself. */
  readonly #removed = new Set<string>();
  /** Members at work that were taken for a revision before anybody had shown that it works. */
  #trials: readonly Trial[] = [];
  readonly #verified = new Set<string>();
  /** Not judged without: it has to be known when nobody could have taken a demotion back. */
  readonly #demotions: Demotions | null;
  /** When its times begin, since 1970. */
  readonly #epochMilliseconds: number;
  /** By cluster. */
  readonly #blame = new Map<string, Blame>();
  /** By cluster. */
  readonly #steps = new Map<string, StepLog>();
  /** By cluster. */
  readonly #lost = new Map<string, Lost>();
  /** By cluster. */
  readonly #secondRestarts = new Map<string, SecondRestarts>();
  /** Lost members are not judged without: whether the program could act. */
  readonly #ability: Ability;
  readonly #minReadySeconds: number | undefined;
  #needless = 0;

  constructor(demotions: Demotions | null = null, { epochMilliseconds = 0, ability, minReadySeconds }: Options = {}) {
    this.#demotions = demotions;
    this.#epochMilliseconds = epochMilliseconds;
    this.#ability = ability ?? new Ability();
    this.#minReadySeconds = minReadySeconds;
  }

  /** In the order of the store's revisions. */
  observe(change: Change): void {
    if (change.kind === 'MySQLRolloutPolicy' || change.kind === 'Node') {
      for (const [cluster, chronicle] of this.#chronicles) {
        this.#secondRestartsOf(cluster).observe(chronicle.add(change));
      }
      return;
    }
    const cluster = clusterOf(change.kind, change.identity);
    if (cluster === null) return;
    const moment = this.#chronicleOf(cluster).add(change);
    for (const { podName, why, forMilliseconds } of this.#demotions?.observe(moment) ?? []) {
      const seconds = (forMilliseconds / 1000).toFixed(1);
      this.object('I12', `a demotion was left on ${podName} for ${seconds} s after ${why}`, change.atMilliseconds);
    }
    for (const text of this.#steps.get(cluster)?.observe(moment) ?? []) {
      this.object('effects', text, change.atMilliseconds);
    }
    for (const text of this.#blameOf(cluster).observe(change)) this.object('blame', text, change.atMilliseconds);
    if (change.kind === 'Pod') this.#noteProof(cluster, moment);
    this.#secondRestartsOf(cluster).observe(moment);
    const { verification, members, data } = this.#lostOf(cluster);
    verification.observe(moment);
    for (const text of members.observe(change, this.#chronicleOf(cluster))) {
      this.object('I24', text, change.atMilliseconds);
    }
    // After the members: they are judged by the data that a new pod finds.
    for (const text of data.observe(change, this.#chronicleOf(cluster))) {
      this.object('data', text, change.atMilliseconds);
    }
    if (change.kind === 'MySQLCluster') this.#judgeCompletion(moment);
  }

  /** Right when it happens: after the changes before it, and before those that it makes. */
  disrupted(given: Disruption): void {
    const moments = this.#momentsOf(given);
    const disruption = moments.some((moment) => isToBeRestored(moment, given)) ? asRestore(given) : given;
    const { members } = this.#lostOf(disruption.cluster);
    const confirmedAtMilliseconds = this.#epochMilliseconds + disruption.confirmingSince.atMilliseconds;
    const cases = moments.flatMap((began, index) => {
      const atMilliseconds = moments[index + 1]?.atMilliseconds ?? disruption.atMilliseconds;
      const moment = { ...began, atMilliseconds };
      const target = targetOf(moment, disruption);
      return target === undefined ? [] : [{ moment, target, disruption, confirmedAtMilliseconds }];
    });
    const leavesNode = cases.some(({ moment, target }) => movesOff(moment, target, disruption));
    if (!leavesNode) members.took(disruption);
    for (const law of laws.filter((one) => isAskedOf(one, disruption))) {
      const { name, sentence, holds } = law;
      const last = cases.at(-1);
      if (last === undefined || holds(last)) continue;
      this.#find(cases.some(holds) ? 'race' : 'violation', name, sentence, disruption);
    }
    const second = this.#secondRestartsOf(disruption.cluster).took(cases);
    if (second !== null) this.#find('violation', 'twice', second, disruption);
    this.#stepsOf(disruption.cluster).begin(disruption, moments);
    if (disruption.verb === 'resize' || disruption.verb === 'demote') return;
    this.#judgeOrder(disruption);
    if (disruption.verb === 'restore') {
      const { ordinal } = disruption;
      const isDue = ({ moment }: (typeof cases)[number]): boolean =>
        isRequested(moment, ordinal) || members.heldBecause(moment, ordinal) !== null;
      if (!cases.some(isDue)) this.#find('violation', 'I24', 'nothing kept it from the update revision', disruption);
      this.#disruptions.push(disruption);
      return;
    }
    const last = cases.at(-1);
    if (last !== undefined && !leavesNode) this.#count(disruption, last.moment, last.target);
    this.#disruptions.push(disruption);
  }

  /**
   * Whether, at any moment while the step was being confirmed, the member was meant to leave its node. Failing checks do
   * not delay such a move.
   */
  leavesNode(disruption: Disruption): boolean {
    const { verb } = disruption;
    return this.#momentsOf(disruption).some((moment) => {
      const target = targetOf(moment, disruption);
      if (target === undefined) return false;
      return verb === 'demote' ? isToBeMoved(moment, target) : movesOff(moment, target, disruption);
    });
  }

  /** The moments from the beginning of its confirmation on. */
  #momentsOf({ cluster, confirmingSince, before }: Disruption): readonly Moment[] {
    return this.#chronicleOf(cluster).between(confirmingSince.revision, before);
  }

  /** Something is wrong that no disruption shows. */
  object(law: string, text: string, atMilliseconds: number): void {
    this.#findings.push({ kind: 'violation', law, text, atMilliseconds, windowMilliseconds: 0 });
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  get disruptions(): readonly Disruption[] {
    return this.#disruptions;
  }

  /** The newest moment of a cluster. */
  latest(cluster: string): Moment {
    return this.#chronicleOf(cluster).latest;
  }

  /** What a cluster has been through since a moment. */
  measures(cluster: string, sinceMilliseconds: number): Measures {
    const own = this.#disruptions.filter((one) => one.cluster === cluster && one.atMilliseconds >= sinceMilliseconds);
    const { moments } = this.#chronicleOf(cluster);
    return { ...measure(moments, sinceMilliseconds), disruptions: own.length, needless: this.#needless };
  }

  /** Of every step of the program in a cluster. */
  effects(cluster: string): readonly ObservedEffect[] {
    return this.#stepsOf(cluster).effects;
  }

  /**
   * Members of a cluster whose pods another client deleted while they were held, and how many got their revision back.
   */
  lostMembers(cluster: string): { readonly lost: readonly LostMember[]; readonly restored: number } {
    const { lost, restored } = this.#lostOf(cluster).members;
    return { lost, restored };
  }

  #lostOf(cluster: string): Lost {
    const known = this.#lost.get(cluster);
    if (known !== undefined) return known;
    const verification = new Verification(this.#minReadySeconds);
    const data = new DataOfMembers(this.#ability);
    const members = new LostMembers({
      ability: this.#ability,
      verification,
      data,
      epochMilliseconds: this.#epochMilliseconds,
    });
    const fresh = { verification, members, data };
    this.#lost.set(cluster, fresh);
    return fresh;
  }

  #stepsOf(cluster: string): StepLog {
    const steps = this.#steps.get(cluster) ?? new StepLog();
    this.#steps.set(cluster, steps);
    return steps;
  }

  #secondRestartsOf(cluster: string): SecondRestarts {
    const known = this.#secondRestarts.get(cluster);
    if (known !== undefined) return known;
    const fresh = new SecondRestarts({ ability: this.#ability, epochMilliseconds: this.#epochMilliseconds });
    this.#secondRestarts.set(cluster, fresh);
    return fresh;
  }

  #blameOf(cluster: string): Blame {
    const blame = this.#blame.get(cluster) ?? new Blame();
    this.#blame.set(cluster, blame);
    return blame;
  }

  #chronicleOf(cluster: string): Chronicle {
    const chronicle = this.#chronicles.get(cluster) ?? new Chronicle();
    this.#chronicles.set(cluster, chronicle);
    return chronicle;
  }

  /**
   * At most one step in flight: two that were confirmed at the same time are one too many, whichever process sent them.
   */
  #judgeOrder(disruption: Disruption): void {
    const { confirmingSince, cluster, uid, actor } = disruption;
    for (const earlier of this.#disruptions.toReversed()) {
      if (earlier.cluster !== cluster) continue;
      if (earlier.before < confirmingSince.revision) break;
      const sameStep = earlier.actor === actor && earlier.confirmingSince.revision === confirmingSince.revision;
      if (sameStep && earlier.uid !== uid) continue;
      this.#find('violation', 'I1', `another member was being taken (${earlier.verb} ${earlier.ordinal})`, disruption);
      break;
    }
  }

  #count(disruption: Disruption, moment: Moment, target: Member): void {
    const revision = `${disruption.cluster} ${updateRevisionOf(moment)}`;
    const taken = `${revision} ${disruption.ordinal} ${target.pod.metadata.uid}`;
    const before = this.#takenFor.get(taken) ?? 0;
    this.#takenFor.set(taken, before + 1);
    // The StatefulSet controller has not followed a lowered partition as long as the pod is there: it goes only once.
    const again = this.#removed.has(taken);
    if (disruption.verb !== 'setPartition') this.#removed.add(taken);
    // One whose resize was taken back has the label alone.
    const isDone = isUpdated(moment, target) && hasResourcesOf(moment.statefulSet?.spec.template, target);
    if (again || isDone) this.#needless += 1;
    if (before > 0 || !isWell(moment, target) || this.#verified.has(revision)) return;
    const { cluster, ordinal, uid } = disruption;
    this.#trials = [...this.#trials, { cluster, revision: updateRevisionOf(moment), ordinal, uid }];
    const unproven = this.#trials.filter(
      (trial) => trial.cluster === cluster && trial.revision === updateRevisionOf(moment),
    ).length;
    // A revision that no pod has come up with has not been tried yet.
    const tried = moment.members.some((member) => revisionOf(member.pod) === updateRevisionOf(moment));
    if (unproven > budgetOf(moment) && tried) {
      this.#find('violation', 'I7', `${unproven} members at work were given a revision that no member ran`, disruption);
    }
  }

  /** Somebody has run that revision and been at work with it. */
  #noteProof(cluster: string, moment: Moment): void {
    for (const member of moment.members) {
      if (isWell(moment, member)) this.#verified.add(`${cluster} ${revisionOf(member.pod)}`);
    }
    this.#trials = this.#trials.filter((trial) => trial.cluster !== cluster || !isOff(trial, moment));
  }

  /** Complete means that every member runs what the MySQLCluster asks for. */
  #judgeCompletion({ cluster, members, atMilliseconds }: Moment): void {
    const said = cluster?.status?.conditions?.find(({ type }) => type === rolloutCompleteCondition);
    if (cluster === null || said?.status !== 'True' || said.observedGeneration !== cluster.metadata.generation) return;
    const { podTemplate } = cluster.spec;
    const others = members.filter(
      (member) => !runsImageOf(podTemplate, member) || !hasResourcesOf(podTemplate, member),
    );
    if (others.length === 0) return;
    const ordinals = others.map(({ ordinal }) => ordinal).join(', ');
    this.object('complete', `RolloutComplete was True with other images or resources in ${ordinals}`, atMilliseconds);
  }

  #find(kind: Finding['kind'], law: string, sentence: string, disruption: Disruption): void {
    const { verb, ordinal, actor, atMilliseconds, confirmingSince } = disruption;
    this.#findings.push({
      kind,
      law,
      text: `${verb} ${ordinal} by ${actor}: ${sentence}`,
      atMilliseconds,
      windowMilliseconds: atMilliseconds - confirmingSince.atMilliseconds,
    });
  }
}

/** The program has written down that it deletes the pod so that the member comes back as what it was. */
function isToBeRestored({ settings }: Moment, { verb, uid }: Disruption): boolean {
  const { step, pods = [] } = settings?.status?.intent ?? {};
  return verb === 'delete' && step === 'restore' && pods.some((one) => one.uid === uid);
}

const asRestore = (disruption: Disruption): Disruption => ({ ...disruption, verb: 'restore' });

/** Whoever has come in its place runs something else: the partition was put back before the StatefulSet made a new one. */
function isOff({ revision, ordinal, uid }: Trial, { members }: Moment): boolean {
  const successor = members.find((member) => member.ordinal === ordinal && member.pod.metadata.uid !== uid);
  return successor !== undefined && revisionOf(successor.pod) !== revision;
}

const targetOf = ({ members }: Moment, { uid }: Disruption): Member | undefined =>
  members.find(({ pod }) => pod.metadata.uid === uid);
