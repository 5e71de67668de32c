import { annotationOn, demoteAnnotation, mysqldContainer, roleLabel } from '../../../src/moco/names.ts';
import type { Disruption } from './disruption.ts';
import { isPrimary, isReady, isTerminating, participates, revisionOf, runs, updateRevisionOf } from './member.ts';
import { type Member, type Moment, nothing } from './moment.ts';
import type { WitnessedContainer } from './objects.ts';

/**
 * What a step does, as the objects show it.
 * - `brings`: a container of the update revision has started in the member, or one has got its resources
 * - `stops`: mysqld of the member has ended
 * - `leavesService`: a Service has lost the member as an endpoint
 * - `movesPrimary`: MOCO's index has moved away from the member
 * - `losesRelayLog`: mysqld of a running replica has ended while nobody served as primary
 */
export type ObservedEffect = 'brings' | 'stops' | 'leavesService' | 'movesPrimary' | 'losesRelayLog';

/** What was true of the member at every moment of the confirmation: only that can be the step's doing. */
interface Given {
  readonly ran: boolean;
  readonly wasEndpoint: boolean;
  readonly led: boolean;
  readonly wasUnserved: boolean;
  /** By name: how often each container had restarted. */
  readonly restarts: ReadonlyMap<string, number>;
  readonly resizedAt: number | null;
  readonly updateRevision: string;
}

const takesPod = ({ verb }: Disruption): boolean => ['delete', 'evict', 'setPartition', 'restore'].includes(verb);

/**
 * Watches one member that a step is about, from the step's request on, and finds the step's effects. What another
 * client does to the member counts for nothing: mysqld has to end in a pod that goes, the index has to move away from a
 * member that led, and so on.
 */
export class ObservedEffects {
  readonly #step: Disruption;
  readonly #given: Given;
  readonly #found = new Set<ObservedEffect>();
  /**
   * The pod that came in the place of the one that the step took, and the revision that it was created at: neither later
   * pods nor a later update in place are the step's doing.
   */
  #successor: { readonly uid: string; readonly revision: string } | null = null;

  /** `window`: every moment from the beginning of the confirmation up to the request. */
  constructor(step: Disruption, window: readonly Moment[]) {
    this.#step = step;
    this.#given = givenIn(window, step);
  }

  get found(): readonly ObservedEffect[] {
    return [...this.#found];
  }

  /** The effects that this moment is the first to show. */
  observe(moment: Moment): readonly ObservedEffect[] {
    const fresh = this.#shownBy(moment).filter((effect) => !this.#found.has(effect));
    for (const effect of fresh) this.#found.add(effect);
    return fresh;
  }

  #shownBy(moment: Moment): readonly ObservedEffect[] {
    const target = moment.members.find(({ pod }) => pod.metadata.uid === this.#step.uid);
    if (takesPod(this.#step)) return this.#ofPod(moment, target);
    if (target === undefined) return [];
    return this.#step.verb === 'demote' ? this.#ofDemotion(moment, target) : this.#inPlace(target);
  }

  #ofPod(moment: Moment, target: Member | undefined): readonly ObservedEffect[] {
    const { ran, wasEndpoint, led, wasUnserved } = this.#given;
    const goes = target === undefined || isTerminating(target);
    const stops = ran && goes && (target === undefined || !runs(target));
    const next = moment.members.find(
      ({ ordinal, pod }) => ordinal === this.#step.ordinal && pod.metadata.uid !== this.#step.uid,
    );
    if (next !== undefined) this.#successor ??= { uid: next.pod.metadata.uid, revision: revisionOf(next.pod) };
    const { uid, revision } = this.#successor ?? {};
    const successor = next !== undefined && next.pod.metadata.uid === uid ? next : undefined;
    // A member that is restored must not get the revision that was the update revision then.
    const brought = this.#step.verb === 'restore' ? this.#given.updateRevision : updateRevisionOf(moment);
    return [
      ...effect('stops', stops),
      ...effect('losesRelayLog', stops && wasUnserved),
      ...effect('leavesService', wasEndpoint && goes),
      ...effect('movesPrimary', led && goes && !leads(moment, this.#step.ordinal)),
      ...effect('brings', successor !== undefined && revision === brought && startedAnything(successor)),
    ];
  }

  #ofDemotion(moment: Moment, target: Member): readonly ObservedEffect[] {
    const { led, wasEndpoint } = this.#given;
    const isAsked = target.pod.metadata.annotations?.[demoteAnnotation] === annotationOn;
    const moved = led && !leads(moment, target.ordinal);
    return [
      ...effect('movesPrimary', moved),
      ...effect('leavesService', wasEndpoint && (moved || isAsked) && serviceOf(target) !== 'primary'),
    ];
  }

  /** Where mysqld restarts because its agent was away for too long, its probes have done that, not the step. */
  #inPlace(target: Member): readonly ObservedEffect[] {
    const { ran, wasEndpoint, wasUnserved, restarts, resizedAt } = this.#given;
    const { containers = [] } = this.#step;
    const own = containersOf(target).filter(({ name }) => containers.includes(name));
    const hasRestarted = (one: WitnessedContainer): boolean => (one.restartCount ?? 0) > (restarts.get(one.name) ?? 0);
    const ended = own.filter((one) => hasRestarted(one) || one.state?.running === undefined);
    const stops = ran && ended.some(({ name }) => name === mysqldContainer);
    const starts = own.some((one) => hasRestarted(one) && one.state?.running !== undefined);
    return [
      ...effect('stops', stops),
      ...effect('losesRelayLog', stops && wasUnserved),
      ...effect('leavesService', wasEndpoint && ended.length > 0 && serviceOf(target) === null),
      ...effect('brings', starts || (this.#step.verb === 'resize' && target.resizedAt !== resizedAt)),
    ];
  }
}

/** The effects that were not declared. */
export function undeclared(
  observed: readonly ObservedEffect[],
  declared: readonly string[],
): readonly ObservedEffect[] {
  return observed.filter((one) => !declared.includes(one));
}

function givenIn(window: readonly Moment[], { uid }: Disruption): Given {
  const cases = window.flatMap((moment) => {
    const member = moment.members.find(({ pod }) => pod.metadata.uid === uid);
    return member === undefined ? [] : [{ moment, member }];
  });
  const always = (holds: (moment: Moment, member: Member) => boolean): boolean =>
    cases.length > 0 && cases.every(({ moment, member }) => holds(moment, member));
  const last = cases.at(-1)?.member;
  return {
    ran: always((_, member) => runs(member)),
    wasEndpoint: always((_, member) => serviceOf(member) !== null),
    led: always((moment, member) => isPrimary(moment, member) && participates(moment, member)),
    wasUnserved: always((moment, member) => !isPrimary(moment, member) && !isServed(moment)),
    restarts: new Map(
      last === undefined ? [] : containersOf(last).map(({ name, restartCount = 0 }) => [name, restartCount]),
    ),
    resizedAt: last?.resizedAt ?? null,
    updateRevision: updateRevisionOf(window.at(-1) ?? nothing),
  };
}

const effect = (name: ObservedEffect, isShown: boolean): readonly ObservedEffect[] => (isShown ? [name] : []);

const containersOf = ({ pod }: Member): readonly WitnessedContainer[] => pod.status?.containerStatuses ?? [];

const startedAnything = (member: Member): boolean =>
  [...containersOf(member), ...(member.pod.status?.initContainerStatuses ?? [])].some(
    ({ state }) => state?.running !== undefined || state?.terminated !== undefined,
  );

/**
 * The Service, by the role label that it selects, to whose endpoints a pod belongs: it is ready and labelled. `null` for
 * none.
 */
function serviceOf(member: Member): 'primary' | 'replica' | null {
  const role = member.pod.metadata.labels?.[roleLabel];
  const isEndpoint = isReady(member) && !isTerminating(member) && (role === 'primary' || role === 'replica');
  return isEndpoint ? role : null;
}

const leads = ({ cluster }: Moment, ordinal: number): boolean =>
  (cluster?.status?.currentPrimaryIndex ?? 0) === ordinal;

/** Whoever MOCO calls primary participates. */
export function isServed(moment: Moment): boolean {
  return (
    !isUnreached(moment) && moment.members.some((member) => isPrimary(moment, member) && participates(moment, member))
  );
}

/** MOCO says that it does not reach the primary, whatever the primary's pod says. */
export function isUnreached({ cluster }: Moment): boolean {
  const { reason } = cluster?.status?.conditions?.find(({ type }) => type === 'Healthy') ?? {};
  return reason === 'Failed' || reason === 'Lost';
}
