import {
  clusterKind,
  demoteAnnotation,
  invalidatedIntentAnnotation,
  newPodsLabel,
  strategyLabel,
} from '../../../src/moco/names.ts';

/** A request of the controller between two of which it can be stopped, in the order of a step. */
export const requestNames = [
  'confirm',
  'confirmed',
  'intent',
  'void',
  'demote',
  'undemote',
  'evict',
  'delete',
  'setPartition',
  'record',
  'promote',
  'condition',
  'takeOver',
  'release',
  'lease',
] as const;

export type RequestName = (typeof requestNames)[number];

export interface NamedRequest {
  readonly name: RequestName;
  readonly namespace: string;
}

type Body = Readonly<Record<string, unknown>>;

const target = /^\/apis?\/(?:[^/]+\/)?v[^/]+\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/;

/**
 * What a request is for; `null` for one that is no part of a step. A confirmation begins with the StatefulSet and ends
 * with the MySQLCluster.
 */
export function nameOf(method: string, url: string, text: string): NamedRequest | null {
  const [, namespace = '', plural = '', , subresource] = target.exec(url.split('?')[0] ?? '') ?? [];
  const name = named(method, subresource === undefined ? plural : `${plural}/${subresource}`, text);
  return name === null ? null : { name, namespace };
}

function named(method: string, what: string, text: string): RequestName | null {
  switch (`${method} ${what}`) {
    case 'GET statefulsets':
      return 'confirm';
    case `GET ${clusterKind.plural}`:
      return 'confirmed';
    case 'PUT mysqlrollouts/status':
      return record(parsed(text)['status'])['intent'] === undefined ? 'record' : 'intent';
    case 'PATCH pods':
      return ofPod(record(record(parsed(text)['metadata'])['annotations']));
    case 'POST pods/eviction':
      return 'evict';
    case 'DELETE pods':
      return 'delete';
    case 'PATCH statefulsets/status':
      return 'promote';
    case 'PATCH statefulsets':
      return ofStatefulSet(parsed(text));
    case `PUT ${clusterKind.plural}/status`:
      return 'condition';
    case 'PUT leases':
      return 'lease';
    default:
      return null;
  }
}

/** A dry run is named as what it tries. */
function ofStatefulSet(body: Body): RequestName {
  const { labels, annotations } = record(body['metadata']);
  if (invalidatedIntentAnnotation in record(annotations)) return 'void';
  const label = record(labels)[strategyLabel];
  if (label !== undefined) return label === null ? 'release' : 'takeOver';
  // What new pods come up at.
  if (newPodsLabel in record(labels)) return 'takeOver';
  return 'setPartition';
}

function ofPod(annotations: Body): RequestName {
  if (invalidatedIntentAnnotation in annotations) return 'void';
  return annotations[demoteAnnotation] === null ? 'undemote' : 'demote';
}

function parsed(text: string): Body {
  return text === '' ? {} : record(JSON.parse(text));
}

function record(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}
