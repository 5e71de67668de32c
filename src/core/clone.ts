import { mysqldOf } from './member.ts';
import type { Member } from './situation.ts';

/**
 * A replica that runs and is not ready may be copying its data from another member, for hours: its startup probe has
 * passed, and nothing in its pod says so. MOCO clones only what holds no data, so a member that has followed since its
 * pod was created and crash-loops now does not.
 */
export const mayClone = ({ state, primary, facts, crashLoop }: Member): boolean =>
  state === 'running' && !primary && crashLoop === null && mysqldOf(facts)?.state === 'running';
