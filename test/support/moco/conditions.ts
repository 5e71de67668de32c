import { timestamp } from '../moment.ts';
import type { Condition, MySQLClusterStatus } from './objects.ts';

/**
 * Sets some conditions among many as `meta.SetStatusCondition` of apimachinery does: in place, or appended; the time
 * of transition moves only with the status. Conditions of other types, anybody's, stay.
 */
export function withConditions(
  { conditions = [] }: MySQLClusterStatus = {},
  wanted: readonly Omit<Condition, 'lastTransitionTime'>[],
  wallMilliseconds: number,
): readonly Condition[] {
  return wanted.reduce((before, one) => withCondition(before, one, wallMilliseconds), conditions);
}

function withCondition(
  conditions: readonly Condition[],
  wanted: Omit<Condition, 'lastTransitionTime'>,
  wallMilliseconds: number,
): readonly Condition[] {
  const existing = conditions.find(({ type }) => type === wanted.type);
  const lastTransitionTime =
    existing?.status === wanted.status ? existing.lastTransitionTime : timestamp(wallMilliseconds);
  const condition: Condition = { ...wanted, lastTransitionTime };
  return existing === undefined
    ? [...conditions, condition]
    : conditions.map((candidate) => (candidate.type === wanted.type ? condition : candidate));
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
