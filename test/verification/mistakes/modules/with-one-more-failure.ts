import type { Sequence } from '../../../../src/core/fleet/stage-counts.ts';
import { stageGates as rightGates, stageWaits as rightWaits } from '../../../../src/core/fleet/stage-waits.ts';

export { nextInStage } from '../../../../src/core/fleet/stage-waits.ts';

const tolerant = (sequence: Sequence): Sequence => ({
  ...sequence,
  stages: sequence.stages.map((stage) => ({ ...stage, maxFailures: stage.maxFailures + 1 })),
});

export const stageGates: typeof rightGates = (sequence, counts, index) => rightGates(tolerant(sequence), counts, index);

export const stageWaits: typeof rightWaits = (asking, countsOf, nowSeconds) => {
  const places = asking.places.map((place) => ({ ...place, sequence: tolerant(place.sequence) }));
  return rightWaits({ ...asking, places }, countsOf, nowSeconds);
};
