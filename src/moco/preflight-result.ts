import { conditionOf, type Json, named, object, objects, text } from '../base/json.ts';
import { fullName } from './in-place/images.ts';
import { describeErrors, errorsIn, isAboutMissingFile, versionIn } from './mysqld-log.ts';
import { mysqldContainer } from './names.ts';
import { mysqldOf, versionContainer } from './preflight-pod.ts';

// The result of a preflight: what the status of its pod says about the node and the revision.

/** What the status of a preflight pod shows about its node. The messages come from Kubernetes or mysqld. */
export type PreflightResult =
  | { readonly kind: 'running'; readonly message: string | null }
  | { readonly kind: 'fetched'; readonly version?: string }
  /** The images have been fetched, but the container that prints the version has not ended. */
  | { readonly kind: 'awaitsVersion' }
  | { readonly kind: 'timedOut' }
  /** The kubelet could not get an image, and tries again by itself, for the first time after 10 s (1.36). */
  | { readonly kind: 'failing'; readonly message: string }
  | { readonly kind: 'ImageUnavailable' | 'ConfigurationRefused' | 'unknown'; readonly message: string };

/** Reasons for which the kubelet can never get an image (Kubernetes 1.36, pkg/kubelet/images/types.go). */
const noImageEver = ['InvalidImageName', 'ErrImageNeverPull'];
/**
 * Reasons for which the kubelet cannot get an image now, but tries again. For example, a registry may be busy for a
 * moment.
 */
const noImageYet = [
  'ErrImagePull',
  'ImagePullBackOff',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
];

/**
 * The full names of the images that the message may name. The message names an image either as given or in the notation
 * of container runtimes (`docker://docker.io/library/mysql:1:`). A registry can write a long message, so it is split
 * only once, and not for every image.
 */
const imagesIn = (message: string): ReadonlySet<string> =>
  new Set(message.split(/[^\w./:@-]+/).map((word) => fullName(withoutEnd(word.replace(/^\w+:\/\//, '')))));

/** Removes the punctuation that follows the image's name in the message. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && '.:'.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

/** Whether the message is about the image that the pod itself runs, and not about an image that it has to fetch. */
function isOfOwnImage(words: string, spec: Json): boolean {
  const own = text(mysqldOf({ spec })['image']);
  const fetched = objects(spec['volumes']).flatMap(({ image }) => text(object(image)['reference']) ?? []);
  if (own === null || fetched.length === 0) return false;
  const named = imagesIn(words);
  return named.has(fullName(own)) && !fetched.some((image) => named.has(fullName(image)));
}

/** The exit code of a mysqld that rejects an option (9.7). */
const refusedExitCode = 1;

export function readPreflightPod(pod: Json, checksConfiguration: boolean): PreflightResult {
  const said = judge(pod, checksConfiguration);
  return said.kind === 'fetched' && !checksConfiguration ? withVersion(object(pod['status'])) : said;
}

/**
 * The reasons of a container that will still start. With any other reason it gives no version, but the images have been
 * fetched.
 */
const startingReasons: readonly string[] = ['', 'ContainerCreating', 'PodInitializing'];

function withVersion(status: Json): PreflightResult {
  const { waiting, running, terminated } = object(named(status['containerStatuses'], versionContainer)['state']);
  const isStarting = waiting !== undefined && startingReasons.includes(text(object(waiting)['reason']) ?? '');
  const isOver = status['phase'] === 'Succeeded' || status['phase'] === 'Failed';
  if (!isOver && (running !== undefined || isStarting)) return { kind: 'awaitsVersion' };
  const version = versionIn(text(object(terminated)['message']) ?? '');
  return version === null ? { kind: 'fetched' } : { kind: 'fetched', version };
}

function judge(pod: Json, checksConfiguration: boolean): PreflightResult {
  const status = object(pod['status']);
  // Looks up the container by name, since a webhook may have added others.
  const { waiting, terminated, running } = object(named(status['containerStatuses'], mysqldContainer)['state']);
  const message = text(object(waiting)['message']) ?? text(status['message']);
  const reason = text(object(waiting)['reason']) ?? text(status['reason']) ?? '';
  if (noImageEver.includes(reason) || noImageYet.includes(reason)) {
    const words = message ?? reason;
    if (isOfOwnImage(words, object(pod['spec']))) return { kind: 'unknown', message: words };
    return { kind: noImageEver.includes(reason) ? 'ImageUnavailable' : 'failing', message: words };
  }
  if (status['phase'] === 'Succeeded') return { kind: 'fetched' };
  const hasEnded = terminated !== undefined && text(object(terminated)['reason']) !== 'ContainerStatusUnknown';
  const { exitCode, reason: ended, message: said } = object(terminated);
  // A container is created only after its volumes, here the images, have been mounted.
  if (hasEnded && (!checksConfiguration || exitCode === 0)) return { kind: 'fetched' };
  if (status['reason'] === 'DeadlineExceeded') return { kind: 'timedOut' };
  if (hasEnded) {
    const without = `${text(ended) ?? 'Error'}, exit code ${String(exitCode)}`;
    // If a container did not start, the kubelet reports the reason.
    if (exitCode !== refusedExitCode)
      return { kind: 'unknown', message: (ended === 'StartError' ? text(said) : null) ?? without };
    const all = errorsIn(text(said) ?? '');
    const refusals = all.filter((error) => !isAboutMissingFile(error));
    if (refusals.length > 0) return { kind: 'ConfigurationRefused', message: describeErrors(refusals) };
    return all.length > 0
      ? {
          kind: 'unknown',
          message: `a file is missing, which the volumes of the member may contain: ${describeErrors(all)}`,
        }
      : { kind: 'ConfigurationRefused', message: `mysqld --validate-config names no error (${without})` };
  }
  if (status['phase'] === 'Failed') return { kind: 'unknown', message: message ?? `its pod has failed: ${reason}` };
  if (reason.endsWith('Error')) return { kind: 'unknown', message: message ?? reason };
  if (running !== undefined && !checksConfiguration) return { kind: 'fetched' };
  const scheduled = conditionOf(status, 'PodScheduled');
  return { kind: 'running', message: scheduled['status'] === 'False' ? text(scheduled['message']) : null };
}
