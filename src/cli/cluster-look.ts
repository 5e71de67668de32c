import { ClusterState } from '../controller/cluster-state.ts';
import { type Gathered, gather } from '../controller/gather.ts';
import type { StrategySettings } from '../controller/mode.ts';
import { policyKind, projectPolicy } from '../controller/policy-resource.ts';
import type { MySQLRollout, RolloutSpec, RolloutStatus, Strategy } from '../controller/rollout-resource.ts';
import { builtInStrategy, type DefaultWishes } from '../controller/wishes.ts';
import { defaultPolicy } from '../core/policy.ts';
import { isForbidden } from '../kube/api-error.ts';
import { namespaces, podDisruptionBudgets, type ResourceKind } from '../kube/resource.ts';
import type { Json } from '../moco/json.ts';
import { projectBudget, projectNamespace } from '../moco/projections.ts';
import type { ClusterRecord } from '../moco/records.ts';
import { listAll, listIfThere } from './clusters.ts';
import { CommandError } from './failure.ts';
import { nothingKnown, surroundingsOf } from './live-look.ts';
import type { Session } from './session.ts';

/** A cluster as it is now, with everything that people have said of it. */
export interface ClusterLook {
  readonly rollout: MySQLRollout | null;
  /** With further wishes in place of those of the MySQLRollout. */
  readonly gathered: (assumed?: RolloutSpec) => Gathered;
  /** What may not be read with the rights of whoever asks, and is left out. */
  readonly unread: readonly string[];
}

/** Reads everything that a decision needs, with the rights of the user. Rejects with `ApiError`. */
export async function lookAt(session: Session, cluster: ClusterRecord): Promise<ClusterLook> {
  const { api, world, signal } = session;
  const { namespace } = cluster;
  const unread: string[] = [];
  const orLeaveOut = async (kind: ResourceKind, where: string | null): Promise<readonly Json[] | null> => {
    try {
      return await (kind === policyKind ? listIfThere(session, kind, where) : listAll(session, kind, where));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unread.push(kind.plural);
      return null;
    }
  };
  const [live, budgets, policies, own] = await Promise.all([
    api.readAll(nothingKnown(cluster), signal),
    orLeaveOut(podDisruptionBudgets, namespace),
    orLeaveOut(policyKind, null),
    namespaceOf(session, namespace),
  ]);
  if (live === null) throw new CommandError(`${namespace}/${cluster.name} has just been deleted`);
  const { rollout } = live;
  const objects = budgets
    ? { ...live.objects, budgets: budgets.map(projectBudget).filter((budget) => budget !== null) }
    : live.objects;
  return {
    rollout,
    unread,
    gathered: (assumed = {}) =>
      gather(
        objects,
        rollout && { ...rollout, spec: { ...rollout.spec, ...assumed } },
        new ClusterState(world),
        surroundingsOf(world, {
          strategies: strategiesOf(rollout?.status, objects.statefulSet?.labelled === true, assumed),
          defaults: defaultsOf(rollout?.status),
          policies: (policies ?? []).map(projectPolicy),
          namespaceLabels: own && projectNamespace(own).labels,
        }),
        'live',
      ),
  };
}

/** Who may read no namespaces may read theirs no more: its labels are unknown then. */
async function namespaceOf({ client, signal }: Session, name: string): Promise<Json | null> {
  try {
    return await client.get<Json>(namespaces, { name }, { lane: 'read', signal });
  } catch (error) {
    if (isForbidden(error)) return null;
    throw error;
  }
}

/** The controller's flags, as far as its status tells of them. */
function strategiesOf(
  { strategy }: RolloutStatus = {},
  labelled: boolean,
  { strategy: assumed }: RolloutSpec,
): StrategySettings {
  const onDelete = strategy === undefined ? labelled : strategy === 'OnDelete';
  return {
    onDeleteEnabled: onDelete || assumed === 'OnDelete',
    partitionDriver: strategy === 'Partition' ? 'own' : 'moco',
  };
}

function defaultsOf({ effectivePolicy = {} }: RolloutStatus = {}): DefaultWishes {
  const flag = (field: string): string | undefined =>
    effectivePolicy[field]?.source.startsWith('flag') ? effectivePolicy[field].value : undefined;
  const minReadySeconds = Number(flag('minReadySeconds') ?? defaultPolicy.minReadySeconds);
  return {
    policy: { ...defaultPolicy, minReadySeconds },
    strategy: (flag('strategy') as Strategy | undefined) ?? builtInStrategy,
  };
}
