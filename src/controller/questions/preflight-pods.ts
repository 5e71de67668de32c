import { identityOf, type Json, milliseconds, object, omitUndefined } from '../../base/json.ts';
import { shortened } from '../../base/text.ts';
import { ApiError, withoutRequest } from '../../kube/api-error.ts';
import { type PreflightSaid, readPreflightPod } from '../../moco/preflight-pod.ts';
import type { Observed } from './asking.ts';
import { isRefused, type NodeQuestion } from './preflight-facts.ts';

// What the pods of a preflight show. Nothing here sends a request.

/** A pod from the list, `null` if it is not in it, or why there is no list. */
export type ListedPod = Json | null | ApiError;

/** Since when the kubelet has had no image for pods, by uid, on the monotonic clock. */
export type FailingPods = ReadonlyMap<string, number>;

const longestMessage = 448;
/**
 * Within this time the kubelet has tried a second time. A registry that was busy once, or a broken connection, holds no
 * rollout.
 */
const failingMilliseconds = 30_000;

/** A question after its pod was checked: answered, or still open. */
export function inspected(one: NodeQuestion, pod: ListedPod, failing: FailingPods, observed: Observed): NodeQuestion {
  const said = readPod(one, pod);
  switch (said.kind) {
    case 'fetched':
      return settled(one, observed, one.about === 'configuration' ? 'Accepted' : 'Fetched');
    case 'timedOut':
      return settled(one, observed, 'TimedOut', one.message);
    case 'unknown':
      return settled(one, observed, 'Unknown', said.message);
    case 'failing': {
      const since = failing.get(uidOf(pod)) ?? observed.nowMilliseconds;
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

/** The pods for which the kubelet has no image. A pod that has another image, or is gone, starts again. */
export const failingAmong = (pods: readonly Json[], before: FailingPods, nowMilliseconds: number): FailingPods =>
  new Map(
    pods
      .filter((pod) => !isTerminating(pod) && readPreflightPod(pod, false).kind === 'failing')
      .map((pod) => [uidOf(pod), before.get(uidOf(pod)) ?? nowMilliseconds] as const),
  );

/** The question stays open, and the message is shown meanwhile, unless it has been refused. */
export const stillAsked = (one: NodeQuestion, message: string | null): NodeQuestion =>
  isRefused(one)
    ? one
    : omitUndefined<NodeQuestion>({
        ...one,
        message: message === null ? undefined : shortened(message, longestMessage),
      });

/** The answer. A refusal stays until there is an answer. */
export function settled(
  one: NodeQuestion,
  { now }: Observed,
  answer: NonNullable<NodeQuestion['result']>,
  message?: string,
): NodeQuestion {
  const { about, name, at, result: before, since } = one;
  // A question without a result is asked again, and all tries together have one limit.
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
    trying: undefined,
  });
}

/** The reason without the request and its object, because space in the status is limited. */
export const describe = (error: ApiError): string => withoutRequest(error).replace(/^.* denied (the )?request: /s, '');

export const isTerminating = (pod: Json): boolean => object(pod['metadata'])['deletionTimestamp'] !== undefined;

function readPod({ about }: NodeQuestion, pod: ListedPod): PreflightSaid {
  if (pod instanceof ApiError) return { kind: 'running', message: describe(pod) };
  if (pod === null) return { kind: 'unknown', message: 'its pod was deleted, or a pod of somebody else has its name' };
  // The pod may answer an earlier question.
  if (isTerminating(pod)) return { kind: 'running', message: 'its pod is being deleted' };
  return readPreflightPod(pod, about === 'configuration');
}

function isLate({ name, about, at }: NodeQuestion, { snapshot, policy, now }: Observed): boolean {
  const awaited = snapshot.preflight?.awaited.find((one) => one.nodeName === name && one.about === about)?.forSeconds;
  const seconds = awaited ?? ((milliseconds(now) ?? 0) - (milliseconds(at) ?? 0)) / 1000;
  return seconds >= policy.preflightTimeoutSeconds;
}

const uidOf = (pod: ListedPod): string => (pod === null || pod instanceof ApiError ? '' : identityOf(pod).uid);
