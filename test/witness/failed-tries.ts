import type { Moment } from './moment.ts';

/** What timestamps and the way of a change leave open. */
const toleranceMilliseconds = 5000;
const defaultSwitchoverTimeoutSeconds = 90;

/**
 * A switchover that is told as failed has had its time: one for that very update revision was asked for at least
 * switchoverTimeoutSeconds ago. What is taken back earlier, or for another revision, is nobody's failure.
 */
export class FailedTries {
  /** By update revision: when the last demotion for it was written down. */
  readonly #askedAt = new Map<string, number>();
  #intent = '';
  /** The rollout whose tries were told last, and how many. */
  #told = { revision: '', count: 0 };
  #isDoubtful = false;

  /** A clock has been moved: whoever starts after it may count from a wrong time. */
  doubt(): void {
    this.#isDoubtful = true;
  }

  /** A sentence for each failure that none was; each is told once. */
  observe({ wishes, atMilliseconds }: Moment): readonly string[] {
    const { rollout, intent, effectivePolicy } = wishes?.status ?? {};
    const { revision = '', tries } = rollout ?? {};
    const count = tries?.count ?? 0;
    const before = this.#told.revision === revision ? this.#told.count : 0;
    this.#told = { revision, count };
    const askedAt = this.#askedAt.get(revision);
    if (intent?.step === 'demote' && intent.id !== this.#intent) {
      this.#intent = intent.id;
      this.#askedAt.set(intent.revision, atMilliseconds);
    }
    if (count <= before || this.#isDoubtful) return [];
    if (askedAt === undefined) return [`a failed switchover was told of ${revision}, for which none was asked for`];
    const setting = Number(effectivePolicy?.['switchoverTimeoutSeconds']?.value ?? defaultSwitchoverTimeoutSeconds);
    const lasted = atMilliseconds - askedAt;
    return lasted < setting * 1000 - toleranceMilliseconds
      ? [`a switchover was told as failed ${(lasted / 1000).toFixed(1)} s after it was asked for, of ${setting} s`]
      : [];
  }
}
