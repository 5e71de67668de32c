import type { InPlaceChange } from '../../core/in-place.ts';
import { type Json, object, objects, strings } from '../json.ts';
import { agentContainer } from '../names.ts';
import { isUntagged } from './pod-defaults.ts';

/** An image that has to be on the node before its container restarts. */
export interface ImageNeeded {
  readonly container: string;
  readonly image: string;
  /** The kubelet asks the registry although it has the image. */
  readonly pulledAlways: boolean;
}

/**
 * The kubelet stops a container first and pulls its new image afterwards. The agent answers the probes of mysqld: while
 * its image is pulled they fail, and after 20 to 30 s the kubelet restarts mysqld. `template` is `withPodDefaults`.
 */
export function imagesNeeded({ containers }: InPlaceChange, template: Json): readonly ImageNeeded[] {
  const specs = objects(object(template['spec'])['containers']);
  return containers
    .filter(({ name }) => name === agentContainer)
    .map(({ name, image }) => ({
      container: name,
      image,
      pulledAlways: specs.find((one) => one['name'] === name)?.['imagePullPolicy'] === 'Always',
    }));
}

/** Whether a Node reports the image. A node reports at most 50 images by default (nodeStatusMaxImages of the kubelet). */
export function hasImage(node: Json, image: string): boolean {
  const names = objects(object(node['status'])['images']).flatMap((one) => strings(one['names']));
  return names.map(fullName).includes(fullName(image));
}

/** `mysql` is `docker.io/library/mysql:latest`, as container runtimes name it. */
function fullName(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const path = isHost ? image : `docker.io/${rest.length === 0 ? 'library/' : ''}${image}`;
  return isUntagged(path) ? `${path}:latest` : path;
}
