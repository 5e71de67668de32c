import { identityOf, isObject, type Json, whole as wholeOf } from '../base/json.ts';
import type { Stored } from '../kube/store.ts';
import type { LabelSelector } from '../moco/records.ts';
import { selectorOf } from '../moco/selects.ts';
import { condition } from './rollout-status.ts';
import {
  count,
  generation,
  type Infer,
  labelSelector,
  listBy,
  optional,
  ownKind,
  problemOf,
  struct,
  text,
  validations,
  whole,
  written,
} from './schema.ts';
import { commonSettings } from './settings.ts';

// MySQLRolloutPolicy (moco-rollout.io/v1alpha1), cluster-scoped: settings for many clusters, meant to be kept in git.

export const policyKind = ownKind('mysqlrolloutpolicies', 'MySQLRolloutPolicy', false);

const selection = optional({
  priority: whole(
    -(2 ** 31),
    2 ** 31 - 1,
    'Which policy has precedence if several set the same field for a cluster: the one with the higher priority, ' +
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
        'Settings that have precedence over the MySQLRollouts of the selected MySQLClusters ' +
          'and over the settings of every policy, field by field.',
      ),
      maxNamespaceShare: whole(
        1,
        100,
        'The percentage of the slots of --max-concurrent-rollouts that the clusters of each selected namespace may hold ' +
          'while other namespaces have clusters as well, rounded up. 100 means no limit. It applies to whole namespaces, ' +
          "so the policy must not have a selector. Defaults to the controller's flag --max-namespace-share (50).",
      ),
    }),
  },
  'The MySQLClusters that the policy applies to, and the settings for their rollouts.',
).meta(
  validations({
    rule:
      '!has(self.maxNamespaceShare) || !has(self.selector) || ' +
      '(!has(self.selector.matchLabels) && !has(self.selector.matchExpressions))',
    message: 'maxNamespaceShare applies to whole namespaces: use namespaceSelector instead of selector',
  }),
);

const settingStatus = struct(
  {
    name: text(128, 'The field of the spec, such as enforced.paused.'),
    clusters: count('The number of clusters for which the policy decides it: no source with precedence sets it.'),
  },
  'A setting of the policy.',
);

export const policyStatus = written(
  optional({
    observedGeneration: generation('The generation of the spec that the status describes.'),
    clusters: count('The number of MySQLClusters that the policy selects.'),
    members: count('The number of members of these clusters.'),
    settings: listBy(
      'name',
      settingStatus,
      128,
      'The settings of the policy, and for how many clusters each is in force.',
    ),
    conditions: listBy(
      'type',
      condition,
      32,
      'Readable: every field is valid. Selects: there is a MySQLCluster that the policy applies to.',
    ),
  }),
  'What the controller observed. Only the controller writes it.',
);

export type PolicyStatus = Infer<typeof policyStatus>;

export interface Unreadable {
  readonly problem: string;
}

export interface PolicyRecord extends Stored {
  readonly generation: number;
  readonly priority: number | Unreadable;
  /** An empty selector selects every cluster, unlike the selector of a PodDisruptionBudget. */
  readonly selector: LabelSelector | Unreadable;
  readonly namespaceSelector: LabelSelector | Unreadable;
  /**
   * The settings as they are stored, not validated yet. `undefined` if the spec has no settings, `null` if the spec
   * cannot be read.
   */
  readonly settings: unknown;
  /** The enforced settings, stored in the same form as `settings`. */
  readonly enforced: unknown;
  /** A percentage of the slots; `null` if the policy does not set it. */
  readonly maxNamespaceShare: number | null | Unreadable;
  /** Why the policy is invalid: its first invalid field, with its path. `null` if the policy is valid. */
  readonly problem: string | null;
  readonly status: PolicyStatus;
}

export const policySource = (name: string): string => `${policyKind.kind}/${name}`;

export const isPolicySource = (source: string): boolean => source.startsWith(policySource(''));

export function projectPolicy(raw: Json): PolicyRecord {
  const { spec = {}, status = {} } = raw;
  const problem = problemOf(policySpec, spec, 'spec');
  const fields = isObject(spec) ? spec : null;
  // Each selector is read separately, because a policy is assumed to select every cluster that its readable selectors
  // do not exclude.
  const read = <Value>(
    field: keyof typeof selection | 'maxNamespaceShare',
    valueOf: (value: unknown) => Value,
  ): Value | Unreadable => {
    const value = fields?.[field];
    const isLeftOut = fields !== null && value === undefined;
    const wrong = fields === null ? problem : problemOf(policySpec.shape[field], value, `spec.${field}`);
    return isLeftOut || wrong === null ? valueOf(value) : { problem: wrong };
  };
  return {
    ...identityOf(raw),
    problem,
    status: problemOf(policyStatus, status, 'status') === null ? (status as PolicyStatus) : {},
    priority: read('priority', (value) => wholeOf(value, 0)),
    selector: read('selector', selectorOf),
    namespaceSelector: read('namespaceSelector', selectorOf),
    settings: fields === null ? null : fields['settings'],
    enforced: fields === null ? null : fields['enforced'],
    maxNamespaceShare: read('maxNamespaceShare', (value) => (value === undefined ? null : wholeOf(value, 1))),
  };
}
