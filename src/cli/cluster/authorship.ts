import { type Json, object, omitUndefined, text } from '../../base/json.ts';
import { timeText } from '../../core/sentences.ts';
import { UsageError } from '../../failure.ts';
import { anyText, duration, type Values } from '../option.ts';
import { unlessRefused } from './clusters.ts';
import type { Session } from './session.ts';

// The author of a setting, the reason for it, and the time at which it ends.

/** Must match the limit in the CRDs. */
const longestReason = 256;

/** The options of commands that pause rollouts. */
export const pauseOptions = {
  reason: anyText('--reason <text>', 'reason, for other people'),
  for: duration('--for <duration>', 'end the pause by itself after this time, such as 4h (default: no end)'),
};

/** The name of the session's user; `undefined` if the API server does not return it. */
export async function userName({ client }: Session): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = `/apis/${body.apiVersion}/selfsubjectreviews`;
  const review = await unlessRefused(client.call<Json>({ method: 'POST', path, body, priority: 'read' }));
  return text(object(object(review?.['status'])['userInfo'])['username']) ?? undefined;
}

/** The value for the field `pause`. Throws `UsageError` for a reason that is too long. */
export async function pauseOf(session: Session, { reason, for: forMilliseconds }: Values<typeof pauseOptions>) {
  if (reason !== undefined && reason.length > longestReason) {
    throw new UsageError(`expected --reason to have at most ${longestReason} characters, got ${reason.length}`);
  }
  const until = forMilliseconds === undefined ? undefined : timeText((session.world.wall() + forMilliseconds) / 1000);
  const by = (await userName(session))?.slice(0, longestReason);
  return omitUndefined<{ reason?: string; by?: string; until?: string }>({ reason, by, until });
}
