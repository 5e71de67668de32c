import { execute as right } from '../../../../src/objects/execute.ts';

export * from '../../../../src/objects/execute.ts';

/** Deletes a pod if a policy, or a missing right, refuses its eviction. */
export const execute: typeof right = async (step, ...rest) => {
  const answer = await right(step, ...rest);
  const isForced = step.kind === 'evict' && [403, 422].includes(answer.failure?.status ?? 0);
  return isForced ? right({ ...step, kind: 'delete' }, ...rest) : answer;
};
