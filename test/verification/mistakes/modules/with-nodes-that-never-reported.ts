import { type Json, object, objects } from '../../../../src/base/json.ts';
import { refusalsOf as right } from '../../../../src/moco/nodes.ts';

export * from '../../../../src/moco/nodes.ts';

/** Says nothing against a node that says nothing itself. */
export const refusalsOf: typeof right = (node, tolerations) => {
  if (node === null) return right(node, tolerations);
  const status = object(node['status']);
  const conditions = objects(status['conditions']);
  const isSilent = !conditions.some(({ type }) => type === 'Ready');
  const ready: Json = { type: 'Ready', status: 'True' };
  return right(isSilent ? { ...node, status: { ...status, conditions: [...conditions, ready] } } : node, tolerations);
};
