import { neverInPlace } from '../core/in-place-changes.ts';
import { mysqldContainer } from '../moco/names.ts';
import { maintenanceWindow } from './maintenance-settings.ts';
import { flag, listOf, oneOf, optional, struct, text, validations } from './schema.ts';

// How pods are updated without being replaced: the setting `inPlace`.

const mostContainers = 16;
const mostKeys = 32;
const notMysqld = 'the name of a container other than mysqld';

const container = text(63, 'The name of a container.').refine((name) => name !== mysqldContainer, notMysqld);

/** A key consists of a prefix of at most 253 characters, a slash, and a name of at most 63 characters. */
const longestKey = 317;
const aKey = 'the key of a label or an annotation, or a prefix of keys followed by a *';
const key = text(longestKey, 'The key of a label or an annotation.').regex(/^[A-Za-z0-9][A-Za-z0-9._/-]*[*]?$/, aKey);

const fields = optional({
  mode: oneOf(
    ['Never', 'IfPossible', 'Only'],
    'Whether running pods are changed instead of replaced. With IfPossible a member is replaced if its pod cannot ' +
      'be changed. With Only such a member waits (RestartNeeded) until a person approves the revision or overrides the ' +
      `rule, or for one of the restartWindows; members that are down are replaced anyway. Defaults to ${neverInPlace.mode}.`,
  ),
  containers: listOf(
    container,
    mostContainers,
    'The containers that may restart with another image while mysqld keeps running. The image has to be on the node already, ' +
      'since the kubelet stops the container before it pulls. Never mysqld. Defaults to ' +
      `${neverInPlace.containers.join(', ')}.`,
  ).meta(
    validations({ rule: `!('${mysqldContainer}' in self)`, message: 'must not contain mysqld: it would restart' }),
  ),
  resources: flag(
    'Whether CPU and memory of containers, including mysqld, may change in a running pod. mysqld never gets a lower ' +
      `memory limit this way. Defaults to ${neverInPlace.resources}.`,
  ),
  metadata: listOf(
    key,
    mostKeys,
    'The labels and annotations that may change in a running pod, by key. Name only those that no program reads when a ' +
      'pod is created, and that no tool changes to have pods restarted. A * at the end matches any rest, as in example.com/*. ' +
      'A change of any other key needs a new pod. So does a label that selects the pod, a key that the spec of the pod ' +
      'reads, kubectl.kubernetes.io/restartedAt, and a key that MOCO acts on. ' +
      `Defaults to ${neverInPlace.metadata.join(', ')}.`,
  ),
  primary: oneOf(
    ['InPlace', 'AfterSwitchover'],
    'Whether containers of the primary restart while it is primary, or after a switchover. If the new container can ' +
      `start, the Service of the primary has no endpoint. Defaults to ${neverInPlace.primary}.`,
  ),
  restartWindows: listOf(
    maintenanceWindow,
    8,
    'The times at which the mode Only replaces members that need a new pod, if the expected time fits into what is ' +
      'left of the window. The maintenance windows apply as well. Without any, a person has to allow it.',
  ),
});

export const inPlaceField = struct(
  fields,
  'How members are updated in their running pods. This requires the feature gate InPlaceUpdate and ' +
    'the strategy OnDelete.',
);
