import type { Decision } from '../../core/decision.ts';
import type { World } from '../../kube/world.ts';
import type { ObservedFacts } from '../facts/collect-facts.ts';
import type { Readings } from '../facts/readings.ts';
import type { ClusterReader } from './cluster-reader.ts';
import { readAlteredFields } from './read-altered-fields.ts';
import { readCreateFailure } from './read-create-failure.ts';
import { readTemplate } from './read-template.ts';

interface Observed extends ObservedFacts {
  readonly decision: Decision;
  readonly heldForSeconds: number;
}

/**
 * Reads what no watch delivers and only users need: why a member cannot be created, what a rollout changes in the pod
 * template, and why MOCO writes the StatefulSet again and again. No step waits for it. Resolves to `null` while a step
 * is due, and if nothing is new.
 */
export async function readDetails(
  observed: Observed,
  known: Readings,
  api: ClusterReader,
  world: World,
): Promise<Pick<Readings, 'createFailure' | 'template' | 'altered'> | null> {
  if (observed.decision.step.kind !== 'none') return null;
  const createFailure = await readCreateFailure(observed, known, api, world);
  const template = await readTemplate(observed, known, api, world);
  const altered = await readAlteredFields(observed, known, api, world);
  const isKnown = createFailure === known.createFailure && template === known.template && altered === known.altered;
  return isKnown ? null : { createFailure, template, altered };
}
