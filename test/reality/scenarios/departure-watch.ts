import { isBack, type MemberSight, type Sight } from '../sight/sight.ts';

/** Watches which members go while none serves: only the primary, and replicas only while there is a primary. */
export class DepartureWatch {
  readonly #gone = new Set<string>();
  #complaint: string | null = null;

  /** The first thing that was wrong, as a sentence. */
  get complaint(): string | null {
    return this.#complaint;
  }

  see(sight: Sight): void {
    const away = sight.members.filter((member) => member.uid === null || member.terminating);
    const going = away.filter(({ uid }) => uid !== null && !this.#gone.has(uid));
    for (const { uid } of going) if (uid !== null) this.#gone.add(uid);
    this.#complaint ??= togetherIn(away) ?? unledIn(going, sight);
  }
}

function togetherIn(away: readonly MemberSight[]): string | null {
  if (away.length < 2) return null;
  return `members ${away.map(({ ordinal }) => ordinal).join(', ')} were away at the same time`;
}

function unledIn(going: readonly MemberSight[], { members, primary }: Sight): string | null {
  // A replica that is ready follows a primary, whatever answers the primary's probes.
  const isLed = members.some((member) => isBack(member) && !going.includes(member));
  const replica = going.find(({ ordinal }) => ordinal !== primary);
  return replica === undefined || isLed
    ? null
    : `replica ${replica.ordinal} went while no primary served, and no replica followed one`;
}
