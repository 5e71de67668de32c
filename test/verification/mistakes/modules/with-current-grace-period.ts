import { Ages as Right } from '../../../../src/moco/ages.ts';

/** Counts from the first request, and compares that with the grace period that a pod has now. */
export class Ages extends Right {
  override since(...[object, fact, value, wallMilliseconds]: Parameters<Right['since']>): number {
    return super.since(object, fact, fact === 'terminating' ? 'yes' : value, wallMilliseconds);
  }
}
