import { mysqldOf } from './member.ts';
import type { Member } from './situation.ts';

/**
 * A replica that runs and is not ready may be copying its data from another member, which can take hours. Its startup
 * probe has passed, and nothing in its pod shows the copy. MOCO clones only members without data. So if a replica has
 * followed the primary since its pod was created, and is now crash-looping, it is not cloning.
 */
export const mayClone = ({ state, primary, facts, crashLoop }: Member): boolean =>
  state === 'running' && !primary && crashLoop === null && mysqldOf(facts)?.state === 'running';
