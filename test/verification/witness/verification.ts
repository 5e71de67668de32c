import { revisionOf, updateRevisionOf } from './member.ts';
import type { Moment } from './moment.ts';

const defaultMinReadySeconds = 5;
/** Timestamps of objects have whole seconds, and what a watch tells is on its way. */
const inexactMilliseconds = 2_000;
/** The program writes down what it has seen. */
const writtenWithinMilliseconds = 5_000;

interface Holder {
  readonly revision: string;
  readonly sinceMilliseconds: number;
}

/** Whether a member has participated at the update revision for minReadySeconds, since that is the update revision. */
export class Verification {
  readonly #defaultSeconds: number;
  #revision = '';
  /** By uid: the revision of the pod, and since when. An update in place changes it. */
  readonly #holders = new Map<string, Holder>();
  /** When the program may have taken it for verified at the earliest, and when it has at the latest. */
  #fromMilliseconds: number | null = null;
  #byMilliseconds: number | null = null;
  /** Since when the member has participated that has verified it first. */
  #sinceMilliseconds = 0;
  /** The MySQLRollout whose status has it. */
  #recordedIn: string | null = null;

  constructor(defaultMinReadySecondsOfProgram = defaultMinReadySeconds) {
    this.#defaultSeconds = defaultMinReadySecondsOfProgram;
  }

  observe(moment: Moment): void {
    const revision = updateRevisionOf(moment);
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#fromMilliseconds = null;
      this.#byMilliseconds = null;
    }
    const { minReadySeconds = this.#defaultSeconds } = moment.settings?.spec ?? {};
    for (const { pod } of moment.members) {
      const { uid } = pod.metadata;
      const known = this.#holders.get(uid);
      const held = revisionOf(pod);
      if (known?.revision !== held)
        this.#holders.set(uid, { revision: held, sinceMilliseconds: moment.atMilliseconds });
      const since = moment.participatingSince.get(uid);
      if (held !== revision || since === undefined) continue;
      const from = Math.max(since, this.#holders.get(uid)?.sinceMilliseconds ?? 0);
      this.#note(moment, from, minReadySeconds * 1000);
    }
  }

  #note({ atMilliseconds: now, settings }: Moment, since: number, milliseconds: number): void {
    const earliest = since + Math.max(0, milliseconds - inexactMilliseconds);
    if (earliest <= now) this.#fromMilliseconds = Math.min(this.#fromMilliseconds ?? earliest, earliest);
    const latest = since + milliseconds + inexactMilliseconds + writtenWithinMilliseconds;
    if (latest > now || this.#byMilliseconds !== null) return;
    this.#byMilliseconds = latest;
    this.#sinceMilliseconds = since;
    this.#recordedIn = settings?.metadata.uid ?? null;
  }

  /** The program may take the revision for verified at that time. */
  mayBe(atMilliseconds: number): boolean {
    return this.#fromMilliseconds !== null && this.#fromMilliseconds <= atMilliseconds;
  }

  /** The program takes it for verified, if it could see and write all that time (`could`). */
  isSure(moment: Moment, atMilliseconds: number, could: (from: number, until: number) => boolean): boolean {
    const by = this.#byMilliseconds;
    if (by === null || by > atMilliseconds || moment.settings?.metadata.uid !== this.#recordedIn) return false;
    return could(this.#sinceMilliseconds, by);
  }
}
