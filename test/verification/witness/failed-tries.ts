import type { Moment } from './moment.ts';

/** What timestamps and the way of a change leave open. */
const toleranceMilliseconds = 5000;
const defaultSwitchoverTimeoutSeconds = 90;

/**
 * A switchover that is reported as failed had its full time: one for the same update revision was requested at least
 * switchoverTimeoutSeconds ago. One that was cancelled earlier, or for another revision, does not count as failed.
 */
export class FailedTries {
  /** By update revision: when the last demotion for it was written down. */
  readonly #askedAt = new Map<string, number>();
  #intent = '';
  /** The rollout whose attempts were reported last, and how many. */
  #reported = { revision: '', count: 0 };

  /** A message for each reported failure that was none; each is reported once. */
  observe({ settings, atMilliseconds }: Moment): readonly string[] {
    const { rollout, intent, settings: inForce } = settings?.status ?? {};
    const { revision = '', tries } = rollout ?? {};
    const count = tries?.count ?? 0;
    const before = this.#reported.revision === revision ? this.#reported.count : 0;
    this.#reported = { revision, count };
    const askedAt = this.#askedAt.get(revision);
    if (intent?.step === 'demote' && intent.id !== this.#intent) {
      this.#intent = intent.id;
      this.#askedAt.set(intent.revision, atMilliseconds);
    }
    if (count <= before) return [];
    if (askedAt === undefined) return [`a failed switchover was told of ${revision}, for which none was asked for`];
    const setting = Number(inForce?.switchoverTimeoutSeconds?.value ?? defaultSwitchoverTimeoutSeconds);
    const lasted = atMilliseconds - askedAt;
    return lasted < setting * 1000 - toleranceMilliseconds
      ? [`a switchover was told as failed ${(lasted / 1000).toFixed(1)} s after it was asked for, of ${setting} s`]
      : [];
  }
}
