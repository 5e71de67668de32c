import type { NodesSettings } from '../../../test/support/nodes/settings.ts';

/** The shortest possible restart of a member, except for its termination. So the control plane limits the speed. */
export function restartOf(terminationSeconds: number): Partial<NodesSettings> {
  return {
    stopMilliseconds: terminationSeconds * 1000,
    initMilliseconds: 0,
    startMilliseconds: 300,
    startupMilliseconds: 0,
  };
}
