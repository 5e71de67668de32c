import { expect } from 'chai';
import type { Observed } from '../../../src/controller/questions/asking.ts';
import { inPlace } from '../../../src/controller/questions/in-place.ts';
import {
  type InPlaceReadings,
  nothingReadInPlace,
  withDryRuns,
} from '../../../src/controller/questions/in-place-facts.ts';

describe('the dry runs of updates in place', () => {
  const known = withDryRuns(nothingReadInPlace, 'after', [
    { uid: 'stays', refusal: null },
    { uid: 'goes', refusal: null },
    { uid: 'stays, refused', refusal: 'no' },
    { uid: 'goes, refused', refusal: 'no' },
  ]);

  /** What is kept while these pods are stale. A pinned member is stale through many rollouts. */
  function keptOf(...uids: readonly string[]): InPlaceReadings | undefined {
    const statefulSet = { observed: true, updateRevision: 'after' };
    const pods = uids.map((uid) => ({ uid, revision: 'before', live: {} }));
    const policy = { inPlaceUpdates: { mode: 'IfPossible' } };
    return inPlace.keep?.(known, { objects: { statefulSet, pods }, policy } as unknown as Observed);
  }

  it('are forgotten with their pods', () => {
    const { accepted, refusals } = keptOf('stays', 'stays, refused', 'new') ?? nothingReadInPlace;
    expect([...accepted.keys(), ...refusals.keys()]).to.deep.equal(['stays', 'stays, refused']);
  });

  it('are the same object while all of their pods exist, so that nothing has to be decided again', () => {
    expect(keptOf(...known.accepted.keys(), ...known.refusals.keys())).to.equal(known);
  });
});
