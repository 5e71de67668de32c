import { isBack, isSettled, type Sight } from './sight.ts';

/** A member's absence: from its deletionTimestamp to its next pod being ready and labelled by MOCO. */
export interface Absence {
  readonly ordinal: number;
  readonly name: string;
  readonly fromMilliseconds: number;
  /** `null` while it lasts. */
  readonly toMilliseconds: number | null;
}

/** From the demotion or loss of the primary to a settled new primary in a Healthy cluster. */
export interface Switchover {
  readonly from: number;
  /** `null` before the index has moved. */
  readonly to: number | null;
  readonly fromMilliseconds: number;
  /** `null` while it lasts. */
  readonly toMilliseconds: number | null;
}

/** What was seen of one rollout so far. Moments are of the monotonic clock. */
export interface Measure {
  /** When the template change was sent. */
  readonly beganMilliseconds: number;
  /** In the order in which the members went. */
  readonly absences: readonly Absence[];
  readonly switchovers: readonly Switchover[];
}

export function beginMeasure(beganMilliseconds: number): Measure {
  return { beganMilliseconds, absences: [], switchovers: [] };
}

/** Adds the next sight; `before` is the previous one. */
export function measured(measure: Measure, before: Sight, sight: Sight): Measure {
  return {
    ...measure,
    absences: absences(measure.absences, sight),
    switchovers: switchovers(measure.switchovers, before, sight),
  };
}

function absences(known: readonly Absence[], sight: Sight): readonly Absence[] {
  const { atMilliseconds } = sight;
  const ended = known.map((absence): Absence => {
    const member = sight.members.find(({ ordinal }) => ordinal === absence.ordinal);
    const back = absence.toMilliseconds === null && member !== undefined && isBack(member);
    return back ? { ...absence, toMilliseconds: atMilliseconds } : absence;
  });
  const begun = sight.members
    .filter(({ terminating, uid }) => terminating || uid === null)
    .filter(({ ordinal }) => !ended.some((absence) => absence.ordinal === ordinal && absence.toMilliseconds === null))
    .map(
      ({ ordinal, name }): Absence => ({
        ordinal,
        name,
        fromMilliseconds: atMilliseconds,
        toMilliseconds: null,
      }),
    );
  return begun.length === 0 && ended.every((absence, index) => absence === known[index]) ? known : [...ended, ...begun];
}

function switchovers(known: readonly Switchover[], before: Sight, sight: Sight): readonly Switchover[] {
  const { atMilliseconds, primary } = sight;
  const last = known.at(-1);
  if (last !== undefined && last.toMilliseconds === null) {
    const to = primary === last.from ? null : primary;
    const toMilliseconds = to !== null && isSettled(sight) ? atMilliseconds : null;
    // A cancelled demotion does not count.
    if (to === null && !isAskedToGo(sight)) return known.slice(0, -1);
    return [...known.slice(0, -1), { ...last, to, toMilliseconds }];
  }
  // The index can move before the pod's own watch has shown why.
  const from = before.primary >= 0 && primary !== before.primary ? before.primary : isAskedToGo(sight) ? primary : null;
  if (from === null) return known;
  return [
    ...known,
    { from, to: primary === from ? null : primary, fromMilliseconds: atMilliseconds, toMilliseconds: null },
  ];
}

function isAskedToGo({ members, primary }: Sight): boolean {
  const member = members.find(({ ordinal }) => ordinal === primary);
  return members.length > 1 && member !== undefined && (member.demoted || member.terminating);
}

/** How long it has lasted, or `null` while it does. */
export function lasted({
  fromMilliseconds,
  toMilliseconds,
}: Pick<Absence, 'fromMilliseconds' | 'toMilliseconds'>): number | null {
  return toMilliseconds === null ? null : toMilliseconds - fromMilliseconds;
}
