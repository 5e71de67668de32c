import type { ClusterReader } from './cluster-reader.ts';
import type { ClusterState } from './cluster-state.ts';
import { refreshAlteredFields } from './contention.ts';
import { refreshCreateFailure } from './create-failure.ts';
import type { Dependencies } from './dependencies.ts';
import type { Observation } from './observe.ts';
import { refreshTemplate } from './template-reading.ts';

/**
 * Reads what no watch delivers and only users need: why a member cannot be created, what a rollout changes in the pod
 * template, and why MOCO writes the StatefulSet again and again. No step waits for it. Resolves to whether anything changed.
 */
export async function readDetails(
  observation: Observation,
  state: ClusterState,
  { api, world }: Pick<Dependencies, 'world'> & { readonly api: ClusterReader },
  signal: AbortSignal,
): Promise<boolean> {
  if (observation.decision.step.kind !== 'none') return false;
  const failure = await refreshCreateFailure(observation, observation.decision, state, api, world, signal);
  const template = await refreshTemplate(observation, state, api, world, signal);
  const altered = await refreshAlteredFields(observation, state, api, world, signal);
  return failure || template || altered;
}
