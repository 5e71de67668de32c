import type { Decision } from '../../core/decision.ts';
import type { World } from '../../kube/world.ts';
import type { ObservedFacts } from '../facts/collect-facts.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import type { ClusterReader } from './cluster-reader.ts';
import { refreshAlteredFields } from './read-altered-fields.ts';
import { refreshCreateFailure } from './read-create-failure.ts';
import { refreshTemplate } from './read-template.ts';

/**
 * Reads what no watch delivers and only users need: why a member cannot be created, what a rollout changes in the pod
 * template, and why MOCO writes the StatefulSet again and again. No step waits for it. Resolves to whether anything
 * changed.
 */
export async function readDetails(
  observation: ObservedFacts & { readonly decision: Decision },
  state: ClusterState,
  { api, world }: { readonly api: ClusterReader; readonly world: World },
  signal: AbortSignal,
): Promise<boolean> {
  if (observation.decision.step.kind !== 'none') return false;
  const failure = await refreshCreateFailure(observation, observation.decision, state, api, world, signal);
  const template = await refreshTemplate(observation, state, api, world, signal);
  const altered = await refreshAlteredFields(observation, state, api, world, signal);
  return failure || template || altered;
}
