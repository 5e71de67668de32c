import type { Stored } from '../kube/store.ts';
import { type Json, object, text as textOf, whole as wholeOf } from '../moco/json.ts';
import { labelSelector } from './label-selector.ts';
import { type Infer, struct, whole } from './schema.ts';
import { commonSettings, optional } from './settings.ts';

// MySQLRolloutPolicy (moco-rollout.io/v1alpha1), cluster-scoped: the settings for many clusters, which live in git.

export const policyKind = {
  group: 'moco-rollout.io',
  version: 'v1alpha1',
  plural: 'mysqlrolloutpolicies',
  kind: 'MySQLRolloutPolicy',
  namespaced: false,
} as const;

const selection = optional({
  priority: whole(
    -(2 ** 31),
    2 ** 31 - 1,
    'Which policy has precedence where several set the same field for a cluster: the one with the higher priority, ' +
      'then the one whose name comes first in the alphabet. Defaults to 0.',
  ),
  selector: labelSelector(
    'The MySQLClusters that the policy applies to, by their labels. If it is empty or left out, the policy applies to ' +
      'all MySQLClusters of the selected namespaces.',
  ),
  namespaceSelector: labelSelector(
    'The namespaces that the policy applies to, by their labels. If it is empty or left out, the policy applies to all ' +
      'namespaces.',
  ),
});

export const policySpec = struct(
  {
    ...selection,
    ...optional({
      settings: commonSettings(
        'Default settings for the selected MySQLClusters. The MySQLRollout of a cluster overrides them field by field. A ' +
          "field that is left out follows from the next policy, then from the controller's flags.",
      ),
      enforced: commonSettings(
        'Settings that nobody can override: they have precedence over the MySQLRollouts of the selected MySQLClusters ' +
          'and over the settings of every policy, field by field.',
      ),
    }),
  },
  'The MySQLClusters that the policy applies to, and the settings for their rollouts.',
);

export type RolloutPolicySpec = Infer<typeof policySpec>;

/** The part of the spec that says which clusters the policy applies to: it is validated apart from the settings. */
export const policySelection = struct(selection, 'Which clusters a policy applies to.');

/** A MySQLRolloutPolicy as the cache keeps it. */
export interface PolicyRecord extends Stored {
  readonly generation: number;
  /** The spec as stored, not validated yet. */
  readonly spec: unknown;
}

/** The policy's name as the source of a setting. */
export const policySource = (name: string): string => `${policyKind.kind}/${name}`;

export const isPolicySource = (source: string): boolean => source.startsWith(policySource(''));

export function projectPolicy({ metadata, spec = {} }: Json): PolicyRecord {
  const { name, uid, resourceVersion, generation } = object(metadata);
  return {
    namespace: '',
    name: textOf(name) ?? '',
    uid: textOf(uid) ?? '',
    resourceVersion: textOf(resourceVersion) ?? '',
    generation: wholeOf(generation, 0),
    spec,
  };
}
