import type { fetches as right } from '../../../../src/controller/facts/preflight-facts.ts';

export * from '../../../../src/controller/facts/preflight-facts.ts';

/** A node fetches the images unless it is known that it does not. */
export const fetches: typeof right = (_, last) => (node) => {
  const result = last?.nodes.find(({ name }) => name === node)?.result;
  return result !== 'TimedOut' && result !== 'Skipped' && result !== 'Unknown';
};
