import { omitUndefined } from '../base/json.ts';
import { shortened } from '../base/text.ts';
import { overridableRules } from '../core/rules/catalogue.ts';
import type { RolloutProblem } from '../core/snapshot.ts';
import type { Stored } from '../kube/store.ts';
import { clusterKind } from '../moco/names.ts';
import type { RolloutStatus } from './rollout-status.ts';
import { type Infer, listBy, oneOf, optional, ownKind, setOf, struct, text, time, whole, written } from './schema.ts';
import { commonFields, deadlineAfterReady, keepsItsRevision } from './settings.ts';

// MySQLRollout (moco-rollout.io/v1alpha1): the user's settings in `spec`, and the observed state in `status`. The
// controller creates a missing MySQLRollout. The only change that it makes in `spec` is to remove the plugin's expired
// overrides. It replaces `status` as a whole, with the resourceVersion as a precondition.

export const rolloutKind = ownKind('mysqlrollouts', 'MySQLRollout', true);

export interface MySQLRollout {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly { readonly kind: string; readonly name?: string; readonly uid: string }[];
  };
  readonly spec?: RolloutSpec;
  readonly status?: RolloutStatus;
}

export const rolloutSpec = struct(
  {
    ...commonFields,
    ...optional({
      approvedRevision: text(
        253,
        'The update revision whose primary may be updated, under primaryUpdatePolicy Manual or after failed switchovers. ' +
          'It is the full name of the revision or the hash at its end, and approves that revision and no later one.',
      ),
      pinnedMembers: listBy(
        'ordinal',
        struct(
          {
            ordinal: whole(0, 999, 'The ordinal of the member.'),
            reason: text(256, 'Why the member is pinned, for other people.'),
          },
          'A member that keeps its revision.',
        ),
        64,
        'Members that keep their revision until they are removed from this list. A pinned member whose pod another ' +
          `client deletes ${keepsItsRevision}. The primary is not updated while a pinned member is at an older revision ` +
          'than it would be.',
      ),
      restore: written(
        {
          revision: text(
            253,
            'The full name of the update revision that the members have to leave. It does not apply to a later revision.',
          ),
          members: setOf(
            whole(0, 999, 'The ordinal of a member.'),
            1,
            64,
            'The ordinals of the members that have to come back at their previous revision.',
          ),
        },
        'Members that failed at an update revision and have to get their previous revision back. Such a member that is ' +
          'at this update revision and does not participate is deleted, and its new pod is created at the revision ' +
          'that it had. No member gets the update revision until the template is corrected, this field is removed, or ' +
          'UpdateRevisionFailing is overridden. It has an effect only under OnDelete.',
      ),
      overrides: listBy(
        'rule',
        struct(
          {
            rule: oneOf(overridableRules, 'The name of the rule, as holds show it.'),
            until: time('When the rule is in force again.'),
            reason: text(256, 'Why the rule is overridden, for other people.'),
            ...optional({
              by: text(256, 'Who overrides the rule: the name of the user, or nothing. The plugin fills it in.'),
            }),
          },
          'A rule that is switched off for a while.',
        ),
        16,
        'Rules that are switched off for a while. Rules that protect the data or the quorum of the cluster cannot be ' +
          "overridden. An entry has an effect in the last hours before its end, as many as the controller's flag " +
          '--max-override-duration says (24). The controller removes the entries of the plugin that have ended.',
      ),
    }),
  },
  'The settings for the rollouts of one MySQLCluster.',
).meta({
  ...deadlineAfterReady,
  description:
    'The settings for the rollouts of this MySQLCluster. A field that is left out follows from the ' +
    "MySQLRolloutPolicies that select the MySQLCluster, then from the controller's flags.",
});

/**
 * The field manager that the plugin uses for a command. Its name differs from those of kubectl's field managers,
 * because Flux takes over their fields.
 */
export const pluginManager = (verb: string): string => `moco-rollout-cli-${verb}`;

export type RolloutSpec = Infer<typeof rolloutSpec>;

/**
 * Whether the MySQLRollout belongs to exactly this MySQLCluster. If an earlier cluster of the same name left it behind,
 * it is about to be garbage collected, and its status describes other members. A MySQLRollout without an owner was
 * created by the user and stays.
 */
export function isOwnOf({ uid }: { readonly uid: string }, { metadata }: MySQLRollout): boolean {
  const owners = metadata.ownerReferences?.filter(({ kind }) => kind === clusterKind.kind) ?? [];
  return owners.length === 0 || owners.some((owner) => owner.uid === uid);
}

/** Why a MySQLRollout cannot be used; `null` if it can. */
export function rolloutProblem(
  cluster: { readonly uid: string; readonly deleting: boolean },
  rollout: MySQLRollout | null,
): RolloutProblem | null {
  if (rollout === null || cluster.deleting) return null;
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = rollout.metadata;
  if (deletionTimestamp !== undefined) return { kind: 'terminating', finalizers };
  if (isOwnOf(cluster, rollout)) return null;
  const owner = ownerReferences.find(({ kind }) => kind === clusterKind.kind);
  return { kind: 'notOwned', owner: `${owner?.name ?? 'without a name'} (uid ${owner?.uid})` };
}

export interface RolloutRecord extends Stored {
  readonly object: MySQLRollout;
  /**
   * Whether spec and status are missing, because the MySQLCluster did not exist when the MySQLRollout was delivered.
   * The MySQLRollout is read by name once the cluster exists.
   */
  readonly partial: boolean;
}

/**
 * How many owners and finalizers are kept, and how many characters of their names. There are limits because a tenant
 * writes them.
 */
const mostKept = 8;
const longestKept = 253;

/**
 * The fields of a MySQLRollout that are used. The others are dropped, because labels, annotations and managedFields may
 * be a thousand times larger. A PUT of the status without them does not change them: from the metadata of such a PUT
 * the API server takes only resourceVersion and managedFields.
 */
export function usedOf({ apiVersion, kind, metadata, spec, status }: MySQLRollout): MySQLRollout {
  const { namespace, name, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  const finalizers = metadata.finalizers?.slice(0, mostKept).map((finalizer) => shortened(finalizer, longestKept));
  // If too many other owners precede the real one, the MySQLRollout does not count as owned, and the rollout is held.
  const ownerReferences = metadata.ownerReferences
    ?.filter((owner) => owner.kind === clusterKind.kind)
    .slice(0, mostKept)
    .map((owner) => ({
      kind: owner.kind,
      name: shortened(owner.name ?? '', longestKept),
      uid: shortened(owner.uid, longestKept),
    }));
  const used = { namespace, name, uid, resourceVersion, generation, deletionTimestamp, finalizers, ownerReferences };
  return omitUndefined<MySQLRollout>({
    apiVersion,
    kind,
    metadata: omitUndefined<MySQLRollout['metadata']>(used),
    spec,
    status,
  });
}

export function wholeRecord(rollout: MySQLRollout): RolloutRecord {
  const { namespace, name, uid, resourceVersion } = rollout.metadata;
  return { namespace, name, uid, resourceVersion, object: usedOf(rollout), partial: false };
}

/**
 * The record of a MySQLRollout that has no MySQLCluster. It has neither spec nor status, which are not needed, so many
 * such records take up little memory.
 */
export function partialRecord(rollout: MySQLRollout): RolloutRecord {
  const { spec: _spec, status: _status, ...object } = usedOf(rollout);
  return { ...wholeRecord(rollout), object, partial: true };
}
