import type { NodesSettings } from '../../../test/support/nodes/settings.ts';

/**
 * A member's restart that is as short as possible except for its termination, so that the control plane is the limit.
 */
export function restartOf(terminationSeconds: number): Partial<NodesSettings> {
  return {
    stopMilliseconds: terminationSeconds * 1000,
    initMilliseconds: 0,
    startMilliseconds: 300,
    startupMilliseconds: 0,
  };
}
