import { type Json, object, objects, strings } from '../../base/json.ts';
import type { InPlaceChange } from '../../core/in-place-changes.ts';
import type { LivePod } from '../records.ts';
import { isUntagged } from './pod-defaults.ts';

/** An image that has to be on the node before a container restarts. */
export interface ImageNeeded {
  readonly container: string;
  readonly image: string;
  /** Whether the kubelet asks the registry even if the node has the image. */
  readonly pulledAlways: boolean;
}

/**
 * The kubelet stops a container first and pulls its image afterwards (1.36.3), so the container does not run until the
 * pull is complete. If that container is the agent, which answers mysqld's probes, the kubelet restarts mysqld as well,
 * after 20 to 30 s. If a container restarts because of a resize, the node already has its image, but the kubelet may
 * have to ask the registry again.
 */
export function imagesNeeded({ containers, resources }: InPlaceChange, live: LivePod): readonly ImageNeeded[] {
  const find = (name: string): LivePod['containers'][number] | undefined =>
    live.containers.find((one) => one.name === name);
  const changed = containers.map(({ name, image }) => ({
    container: name,
    image,
    pulledAlways: find(name)?.pulledAlways ?? true,
  }));
  const restarted = resources
    .filter(({ name, restarts }) => restarts && !containers.some((one) => one.name === name))
    .map(({ name }) => ({ container: name, image: find(name)?.image ?? '', pulledAlways: true }))
    .filter(({ container }) => find(container)?.pulledAlways ?? true);
  return [...changed, ...restarted];
}

/** What a Node reports about an image. */
export interface ImageReport {
  readonly present: boolean;
  /** Whether the node reports all of its images. */
  readonly isWhole: boolean;
}

/** The default for the maximum number of images that a node reports (nodeStatusMaxImages of the kubelet). */
const mostReported = 50;

/** A node that is gone (`null`) reports no images. */
export const imageReport = (node: Json | null, image: string): ImageReport => ({
  present: node !== null && hasImage(node, image),
  isWhole: node === null || objects(object(node['status'])['images']).length < mostReported,
});

/** Whether a Node reports the image. */
export function hasImage(node: Json, image: string): boolean {
  const names = objects(object(node['status'])['images']).flatMap((one) => strings(one['names']));
  return names.map(fullName).includes(fullName(image));
}

/** For example, `mysql` is `docker.io/library/mysql:latest` in the notation of container runtimes. */
export function fullName(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = isHost ? image : `docker.io/${rest.length === 0 ? 'library/' : ''}${image}`;
  return isUntagged(path) ? `${path}:latest` : path;
}
