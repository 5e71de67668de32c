import { Deadlines } from '../../core/deadlines.ts';
import type { Preflight } from '../../core/on-demand-facts.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import { overriddenNow } from '../../core/situation.ts';
import type { ImageReading } from './in-place-facts.ts';

/** A kubelet lists its images every 30 s and reports a change within 10 s (1.36). This limit leaves a margin. */
const reportedWithinSeconds = 60;

/**
 * Whether the preflight has shown that a node has the images of the update revision, or a rule prevents container
 * restarts there anyway. A node may remove images that it has pulled, so a later, complete report without the image has
 * precedence.
 */
export function fetchedImages(
  preflight: Preflight | null,
  policy: Pick<RolloutPolicy, 'preflightTimeoutSeconds' | 'overrides'>,
  nowMilliseconds: number,
): (node: string, reading: ImageReading | undefined) => boolean {
  if (preflight === null) return () => false;
  const { awaited, refusals, fetched } = preflight;
  const overridden = overriddenNow(policy, new Deadlines());
  return (node, reading) => {
    const known = fetched.find(({ nodeName }) => nodeName === node);
    if (known !== undefined) {
      const isDenied = reading !== undefined && !reading.present && reading.isWhole;
      const readAfterSeconds = known.ageSeconds - (nowMilliseconds - (reading?.atMilliseconds ?? 0)) / 1000;
      return !isDenied || readAfterSeconds < reportedWithinSeconds;
    }
    const isAsked = awaited.some(
      ({ about, nodeName, forSeconds }) =>
        about === 'images' && nodeName === node && forSeconds < policy.preflightTimeoutSeconds,
    );
    const isRefusing = refusals.some(({ result, nodeName }) => result === 'ImageUnavailable' && nodeName === node);
    return (isAsked && !overridden.has('PreflightRunning')) || (isRefusing && !overridden.has('ImageUnavailable'));
  };
}
