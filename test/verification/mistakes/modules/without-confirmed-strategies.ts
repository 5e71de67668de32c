import type { perform as right } from '../../../../src/controller/disrupt/disrupt.ts';
import { perform as rightly } from '../../../../src/controller/disrupt/disrupt.ts';
import { isDisruptive } from '../../../../src/core/step.ts';
import { execute } from '../../../../src/objects/execute.ts';

/** Confirms what acts on pods, and nothing else. */
export const perform: typeof right = async (pass, observed, step) => {
  const isStrategy = step.kind === 'setStrategy' || step.kind === 'promoteRevision';
  if (!isStrategy || isDisruptive(step)) return rightly(pass, observed, step);
  const answer = await execute(step, observed, pass.api, pass.context.world);
  return { kind: 'acted', report: 'cached', observation: observed, step, intent: null, ...answer };
};
