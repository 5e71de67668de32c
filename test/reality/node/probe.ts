/** As it stands in a pod's spec. Only requests by HTTP: MOCO has no others. */
export interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port: number | string };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

/** Results in a row, and what follows from them. */
export interface ProbeCount {
  readonly successes: number;
  readonly failures: number;
  /** `null` until a threshold has been reached for the first time. */
  readonly passes: boolean | null;
}

export const nothingProbed: ProbeCount = { successes: 0, failures: 0, passes: null };

const defaultFailureThreshold = 3;

/** A result more: a verdict stays until enough others in a row speak against it. */
export function probed(count: ProbeCount, succeeded: boolean, probe: Probe): ProbeCount {
  const successes = succeeded ? count.successes + 1 : 0;
  const failures = succeeded ? 0 : count.failures + 1;
  const { successThreshold = 1, failureThreshold = defaultFailureThreshold } = probe;
  if (successes >= successThreshold) return { successes, failures, passes: true };
  return { successes, failures, passes: failures >= failureThreshold ? false : count.passes };
}
