import type { Condition } from '../../api/rollout-status.ts';

/** Makes the conditions of an object from those that it has: one whose status stays keeps the time of its change. */
export const conditionsAfter =
  (before: readonly Condition[] | undefined, observedGeneration: number, nowTimestamp: string) =>
  (type: string, values: Pick<Condition, 'status' | 'reason' | 'message'>): Condition => {
    const known = before?.find((one) => one.type === type);
    const lastTransitionTime = known?.status === values.status ? known.lastTransitionTime : nowTimestamp;
    return { type, ...values, lastTransitionTime, observedGeneration };
  };
