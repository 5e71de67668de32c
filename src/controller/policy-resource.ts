import type { Stored } from '../kube/store.ts';
import { type Json, object, text, whole } from '../moco/json.ts';
import type { LabelSelector } from '../moco/records.ts';
import type { CommonWishes } from './rollout-resource.ts';

// MySQLRolloutPolicy (moco-rollout.io/v1alpha1), cluster-scoped: the wishes for many clusters, which live in git.

export const policyKind = {
  group: 'moco-rollout.io',
  version: 'v1alpha1',
  plural: 'mysqlrolloutpolicies',
  kind: 'MySQLRolloutPolicy',
  namespaced: false,
} as const;

/** What is wished for the clusters that both selectors select; an absent or empty one selects everything. */
export interface RolloutPolicySpec extends CommonWishes {
  /** By the labels of the cluster's namespace, `kubernetes.io/metadata.name` among them. */
  readonly namespaceSelector?: Partial<LabelSelector>;
  /** By the labels of the MySQLCluster. */
  readonly selector?: Partial<LabelSelector>;
  /** Of the policies that select a cluster only the one of the highest weight counts. Absent: 0. */
  readonly weight?: number;
}

/** A MySQLRolloutPolicy as the cache keeps it. */
export interface PolicyRecord extends Stored {
  readonly generation: number;
  /** As it came: whoever uses it checks it. */
  readonly spec: unknown;
}

/** How it is called as the source of a wish. */
export const policySource = (name: string): string => `${policyKind.kind}/${name}`;

export const isPolicySource = (source: string): boolean => source.startsWith(policySource(''));

export function projectPolicy({ metadata, spec = {} }: Json): PolicyRecord {
  const { name, uid, resourceVersion, generation } = object(metadata);
  return {
    namespace: '',
    name: text(name) ?? '',
    uid: text(uid) ?? '',
    resourceVersion: text(resourceVersion) ?? '',
    generation: whole(generation, 0),
    spec,
  };
}
