import { identityOf, type Json, milliseconds, object, omitUndefined } from '../../base/json.ts';
import { shortened } from '../../base/text.ts';
import { ApiError, withoutRequest } from '../../kube/api-error.ts';
import { type PreflightResult, readPreflightPod } from '../../moco/preflight-result.ts';
import type { Observed } from './asking.ts';
import { isRefused, type NodeQuestion } from './preflight-facts.ts';

// What the pods of a preflight show. The code in this file sends no requests.

/** A pod from the list; `null` if the list does not contain it; or an error if there is no list. */
export type ListedPod = Json | null | ApiError;

/**
 * Since when the kubelet has been without an image for a pod, or has not started the mysqld that prints its version, by
 * the uid of the pod, on the monotonic clock.
 */
export type FailingPods = ReadonlyMap<string, number>;

const longestMessage = 448;
/**
 * Within this time the kubelet tries twice. So a rollout is not held because a registry is busy once or a connection
 * breaks.
 */
const failingMilliseconds = 30_000;

/** Updates the question from what its pod shows. The result is answered or still open. */
export function inspected(one: NodeQuestion, pod: ListedPod, failing: FailingPods, observed: Observed): NodeQuestion {
  const said = readPod(one, pod);
  switch (said.kind) {
    case 'fetched':
      return {
        ...settled(one, observed, one.about === 'configuration' ? 'Accepted' : 'Fetched'),
        ...(said.version !== undefined && { version: said.version }),
      };
    case 'awaitsVersion': {
      // The images are there, even if the version stays unknown.
      const since = failing.get(waitOf(pod, said)) ?? observed.nowMilliseconds;
      const isLasting = observed.nowMilliseconds - since >= failingMilliseconds;
      return isLasting || isLate(one, observed) ? settled(one, observed, 'Fetched') : stillAsked(one, null);
    }
    case 'timedOut':
      return settled(one, observed, 'TimedOut', one.message);
    case 'unknown':
      return settled(one, observed, 'Unknown', said.message);
    case 'failing': {
      const since = failing.get(waitOf(pod, said)) ?? observed.nowMilliseconds;
      const isLasting = observed.nowMilliseconds - since >= failingMilliseconds;
      return isRefused(one) || isLate(one, observed) || isLasting
        ? settled(one, observed, 'ImageUnavailable', said.message)
        : stillAsked(one, said.message);
    }
    case 'running':
      if (isLate(one, observed)) return settled(one, observed, 'TimedOut', said.message ?? one.message);
      return stillAsked(one, said.message);
    default:
      return settled(one, observed, said.kind, said.message);
  }
}

/**
 * Since when each pod has waited for something that is awaited only briefly. The time starts over if a pod waits for
 * something else or is gone.
 */
export const failingAmong = (pods: readonly Json[], before: FailingPods, nowMilliseconds: number): FailingPods =>
  new Map(
    pods.flatMap((pod) => {
      const said = readPreflightPod(pod, false);
      if (isTerminating(pod) || (said.kind !== 'failing' && said.kind !== 'awaitsVersion')) return [];
      const wait = waitOf(pod, said);
      return [[wait, before.get(wait) ?? nowMilliseconds] as const];
    }),
  );

const waitOf = (pod: ListedPod, { kind }: Pick<PreflightResult, 'kind'>): string =>
  kind === 'awaitsVersion' ? `${uidOf(pod)} ${kind}` : uidOf(pod);

/** Keeps the question open, and shows the message meanwhile. If the question was refused, the refusal stays instead. */
export const stillAsked = (one: NodeQuestion, message: string | null): NodeQuestion =>
  isRefused(one)
    ? one
    : omitUndefined<NodeQuestion>({
        ...one,
        message: message === null ? undefined : shortened(message, longestMessage),
      });

/** Records an answer. A refusal stays until the node gives a definite answer. */
export function settled(
  one: NodeQuestion,
  { now }: Observed,
  answer: NonNullable<NodeQuestion['result']>,
  message?: string,
): NodeQuestion {
  const { about, name, at, result: before, since, version } = one;
  // A question without a result is asked again. All its attempts together have one time limit.
  const isOpen = answer === 'Unknown' || answer === 'Skipped';
  const stands = isRefused(one) && (isOpen || answer === 'TimedOut');
  const result = stands ? before : answer;
  const words = stands ? one.message : message;
  return omitUndefined<NodeQuestion>({
    about,
    name,
    since: before === result || (isOpen && !stands) ? since : now,
    at,
    result,
    message: words === undefined ? undefined : shortened(words, longestMessage),
    version,
    trying: undefined,
  });
}

/**
 * The API server's reason, without the text about the request and its object, because space in the status is limited.
 */
export const describe = (error: ApiError): string => withoutRequest(error).replace(/^.* denied (the )?request: /s, '');

export const isTerminating = (pod: Json): boolean => object(pod['metadata'])['deletionTimestamp'] !== undefined;

function readPod({ about }: NodeQuestion, pod: ListedPod): PreflightResult {
  if (pod instanceof ApiError) return { kind: 'running', message: describe(pod) };
  if (pod === null)
    return {
      kind: 'unknown',
      message: 'its pod was deleted, or its name belongs to a pod that moco-rollout did not create',
    };
  // A terminating pod may belong to an earlier question.
  if (isTerminating(pod)) return { kind: 'running', message: 'its pod is being deleted' };
  return readPreflightPod(pod, about === 'configuration');
}

function isLate({ name, about, at }: NodeQuestion, { snapshot, policy, now }: Observed): boolean {
  const awaited = snapshot.preflight?.awaited.find((one) => one.nodeName === name && one.about === about)?.forSeconds;
  const seconds = awaited ?? ((milliseconds(now) ?? 0) - (milliseconds(at) ?? 0)) / 1000;
  return seconds >= policy.preflightTimeoutSeconds;
}

const uidOf = (pod: ListedPod): string => (pod === null || pod instanceof ApiError ? '' : identityOf(pod).uid);
