import type { Json } from '../../../src/base/json.ts';

export type { Json } from '../../../src/base/json.ts';
export { object as record } from '../../../src/base/json.ts';

export interface Metadata {
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly Json[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** A version of an object in the API server. Immutable: a write creates another one. */
export interface StoredObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}
