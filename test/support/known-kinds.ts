import * as rollouts from '../../src/api/rollout.ts';
import * as policies from '../../src/api/rollout-policy.ts';
import * as sequences from '../../src/api/rollout-sequence.ts';
import * as resources from '../../src/kube/resource.ts';
import * as names from '../../src/moco/names.ts';

/** Every kind that the program has a name for, whether it watches it or not: what an API server of a test has to serve. */
export const knownKinds: readonly resources.ResourceKind[] = [policies, rollouts, sequences, resources, names]
  .flatMap((file) => Object.values(file) as unknown[])
  .filter(isKind);

export function isKind(value: unknown): value is resources.ResourceKind {
  return typeof value === 'object' && value !== null && 'plural' in value && 'kind' in value;
}
