import { shortened } from '../base/text.ts';
import { type EvictionRecord, isAwaited, mostMessageCharacters } from './eviction.ts';

// What this program reports in an Eviction. The report depends only on the Eviction, on whether the member may go, and
// on the time.
//
//     Active --> waits: heartbeat --> mayGo: completed --> Kubernetes' own responder evicts the pod
//                     `--> the limit has passed: completed, with the reason ------'

/**
 * After 20 minutes without a heartbeat, Kubernetes passes an Eviction to the next responder (KEP-4563; the validation
 * of apiserver 1.37 calls the limit `heartbeatDeadline`). Four heartbeats may be lost before that.
 */
const heartbeatMilliseconds = 240_000;
/** Kubernetes asks each responder to send at most one heartbeat in 20 s (`ResponderStatus.heartbeatTime`). */
const shortestMilliseconds = 20_000;
/** If an estimate changes by less than this, the new estimate is not worth a write. */
const sameEstimateMilliseconds = 60_000;
const secondMilliseconds = 1000;

/** Whether a member that has to leave its node may go now. */
export type Standing =
  /** The member has to stay for now. `expectedSeconds` is the time until it may go; `null` if that is not known. */
  | { readonly kind: 'waits'; readonly message: string; readonly expectedSeconds: number | null }
  /** Nothing is left to do before the member is evicted. */
  | { readonly kind: 'mayGo'; readonly message: string };

/** The entry of this program in `status.responders`. Times are milliseconds since 1970, in whole seconds. */
export interface ResponderEntry {
  readonly heartbeatAt: number;
  readonly expectedAt: number | null;
  readonly completedAt: number | null;
  readonly message: string;
}

/**
 * The entry to write, or `null`, and the time until the Eviction is checked again, unless something changes earlier.
 */
export interface Response {
  readonly entry: ResponderEntry | null;
  readonly againMilliseconds: number | null;
}

const nothing: Response = { entry: null, againMilliseconds: null };

/**
 * Decides what to report. Reports nothing unless Kubernetes waits for this program: not before this program is active,
 * not after every request is withdrawn, and not after this program has completed its part.
 *
 * @param nowMilliseconds the time on the API server's clock; the API server refuses times that differ from it by 30 s
 * @param limitMilliseconds how long this program may delay the eviction, counted from `startTime`
 */
export function respond(
  eviction: EvictionRecord,
  standing: Standing,
  nowMilliseconds: number,
  limitMilliseconds: number,
): Response {
  const { startedAt } = eviction;
  if (!isAwaited(eviction) || startedAt === null) return nothing;
  if (standing.kind === 'mayGo') return completed(eviction, standing.message, nowMilliseconds);
  const leftMilliseconds = startedAt + limitMilliseconds - nowMilliseconds;
  if (leftMilliseconds <= 0) {
    const limit =
      limitMilliseconds % 60_000 === 0 ? `${limitMilliseconds / 60_000} min` : `${limitMilliseconds / 1000} s`;
    return completed(eviction, `gave up after ${limit}: ${standing.message}`, nowMilliseconds);
  }
  return waiting(eviction, standing, nowMilliseconds, leftMilliseconds);
}

function completed(eviction: EvictionRecord, message: string, nowMilliseconds: number): Response {
  const at = presentFor(eviction, nowMilliseconds);
  const entry = { heartbeatAt: at, expectedAt: at, completedAt: at, message: bounded(message) };
  return { entry, againMilliseconds: null };
}

function waiting(
  eviction: EvictionRecord,
  { message, expectedSeconds }: Extract<Standing, { kind: 'waits' }>,
  nowMilliseconds: number,
  leftMilliseconds: number,
): Response {
  const at = presentFor(eviction, nowMilliseconds);
  const entry = {
    heartbeatAt: at,
    expectedAt: expectedSeconds === null ? null : wholeSecond(at + expectedSeconds * secondMilliseconds),
    completedAt: null,
    message: bounded(message),
  };
  const sinceMilliseconds = eviction.heartbeatAt === null ? null : nowMilliseconds - eviction.heartbeatAt;
  if (sinceMilliseconds === null)
    return { entry, againMilliseconds: Math.min(heartbeatMilliseconds, leftMilliseconds) };
  const dueMilliseconds = isNews(eviction, entry) ? shortestMilliseconds : heartbeatMilliseconds;
  const inMilliseconds = dueMilliseconds - sinceMilliseconds;
  return inMilliseconds <= 0
    ? { entry, againMilliseconds: Math.min(heartbeatMilliseconds, leftMilliseconds) }
    : { entry: null, againMilliseconds: Math.min(inMilliseconds, leftMilliseconds) };
}

/** Whether the entry tells a reader of the Eviction something new. */
function isNews({ message, expectedAt }: EvictionRecord, entry: ResponderEntry): boolean {
  if (message !== entry.message || (expectedAt === null) !== (entry.expectedAt === null)) return true;
  return Math.abs((expectedAt ?? 0) - (entry.expectedAt ?? 0)) >= sameEstimateMilliseconds;
}

/**
 * The current time as the API server accepts it: in whole seconds, and neither before the start nor before the last
 * heartbeat.
 */
const presentFor = ({ startedAt, heartbeatAt }: EvictionRecord, nowMilliseconds: number): number =>
  Math.max(wholeSecond(nowMilliseconds), startedAt ?? 0, heartbeatAt ?? 0);

const wholeSecond = (milliseconds: number): number =>
  Math.floor(milliseconds / secondMilliseconds) * secondMilliseconds;

/** The entry is compared with the stored entry, so the messages of both are shortened to the same length. */
const bounded = (message: string): string => shortened(message, mostMessageCharacters);
