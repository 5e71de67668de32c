import { execute as right } from '../../../../src/objects/execute.ts';

export * from '../../../../src/objects/execute.ts';

/** Takes a write whose answer was lost for one that was refused. */
export const execute: typeof right = async (...step) => {
  const answer = await right(...step);
  return answer.result === 'unknown' ? { ...answer, result: 'refused', ownWrites: [] } : answer;
};
