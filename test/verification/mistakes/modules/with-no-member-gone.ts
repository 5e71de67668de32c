import { stageCounts as right } from '../../../../src/core/fleet/stage-counts.ts';

export const stageCounts: typeof right = (sequence, clusters) => right(sequence, clusters);
