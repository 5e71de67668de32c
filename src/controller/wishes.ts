import type { RolloutPolicy } from '../core/policy.ts';
import type { RolloutSpec } from './rollout-resource.ts';

/** The wishes in force, or a sentence why they can't be read. */
export interface Wishes {
  readonly policy: RolloutPolicy;
  readonly problem: string | null;
}

/**
 * The user's wishes over the flags' defaults. The CRD's schema refuses what is checked here; an object from before a
 * change of the schema is not trusted to follow it.
 */
export function wishesOf(spec: RolloutSpec | undefined, defaults: RolloutPolicy): Wishes {
  const {
    paused = defaults.paused,
    partition = defaults.partition,
    minReadySeconds = defaults.minReadySeconds,
  } = spec ?? {};
  const problem =
    expected(typeof paused === 'boolean', 'spec.paused', 'true or false', paused) ??
    expected(isWhole(partition), 'spec.partition', 'a whole number from 0 up', partition) ??
    expected(isWhole(minReadySeconds), 'spec.minReadySeconds', 'a whole number of seconds from 0 up', minReadySeconds);
  if (problem !== null) return { policy: defaults, problem };
  return { policy: { ...defaults, paused, partition, minReadySeconds }, problem: null };
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

function expected(holds: boolean, field: string, what: string, got: unknown): string | null {
  return holds ? null : `expected ${field} to be ${what}, got ${JSON.stringify(got)}`;
}
