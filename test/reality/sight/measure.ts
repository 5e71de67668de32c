import { isBack, isSettled, isUpdated, type Sight } from './sight.ts';

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
  readonly latest: Sight;
  /** In the order in which the members went. */
  readonly absences: readonly Absence[];
  readonly switchovers: readonly Switchover[];
  /** Since when every member is back and updated; `null` while one is not. */
  readonly wholeSince: number | null;
}

export function beginMeasure(latest: Sight, beganMilliseconds: number): Measure {
  return { beganMilliseconds, latest, absences: [], switchovers: [], wholeSince: null };
}

/** Adds the next sight. */
export function measured(measure: Measure, sight: Sight): Measure {
  const isWhole = sight.members.every((member) => isBack(member) && isUpdated(member, sight));
  return {
    ...measure,
    latest: sight,
    absences: absences(measure.absences, sight),
    switchovers: switchovers(measure.switchovers, measure.latest, sight),
    wholeSince: isWhole ? (measure.wholeSince ?? sight.atMilliseconds) : null,
  };
}

/**
 * The time that no order of restarting one member at a time can be under, in milliseconds, of what was measured: every
 * member's own restart, one switchover, and `minReadySeconds` between one member and the next.
 */
export function limitOf(
  { absences: all, switchovers: moves }: Pick<Measure, 'absences' | 'switchovers'>,
  minReadySeconds: number,
): number {
  // One that went more than once had to go once.
  const restarts = [...Map.groupBy(all, ({ ordinal }) => ordinal).values()].map((own) =>
    Math.min(...own.map((one) => lasted(one) ?? Number.NaN)),
  );
  const switchover = Math.max(0, ...moves.map((move) => lasted(move) ?? Number.NaN));
  const waits = Math.max(0, restarts.length - 1) * minReadySeconds * 1000;
  return restarts.reduce((sum, restart) => sum + restart, 0) + switchover + waits;
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
