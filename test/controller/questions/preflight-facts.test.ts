import { expect } from 'chai';
import type { PreflightStatus } from '../../../src/api/rollout-status.ts';
import { preflightFacts } from '../../../src/controller/questions/preflight-facts.ts';
import { fetchedImages } from '../../../src/controller/questions/preflight-images.ts';
import type { Preflight } from '../../../src/core/on-demand-facts.ts';
import { defaultPolicy } from '../../../src/core/policy.ts';
import type { ClusterObjects } from '../../../src/moco/records.ts';

type Result = PreflightStatus['nodes'][number]['result'];

const at = '2026-01-01T00:00:00Z';
const askedSeconds = 200;
const asked = (forSeconds: number): Preflight => ({
  awaited: [{ about: 'images', nodeName: 'n', forSeconds, message: null }],
  refusals: [],
  fetched: [],
  mysqldVersion: null,
});
const refused: Preflight = {
  awaited: [],
  refusals: [{ nodeName: 'n', members: [0], result: 'ImageUnavailable', message: '', againInSeconds: 40 }],
  fetched: [],
  mysqldVersion: null,
};
const settled: Preflight = { awaited: [], refusals: [], fetched: [], mysqldVersion: null };
const override = (rule: string) => ({ ...defaultPolicy, overrides: [{ rule, remainingSeconds: 60 }] });

/** Read so many seconds ago. */
const reading = (present: boolean, isWhole: boolean, ageSeconds: number) => ({
  present,
  isWhole,
  atMilliseconds: -1000 * ageSeconds,
});

function has(facts: Preflight, result?: Result, policy = defaultPolicy, read?: ReturnType<typeof reading>): boolean {
  const last = { revision: 'r', nodes: result === undefined ? [] : [{ name: 'n', since: at, at, result }] };
  const nobody = { statefulSet: { updateRevision: 'r' }, pods: [] } as unknown as ClusterObjects;
  const nodes = { ...policy, mode: 'OnDelete', preflight: 'Nodes' } as const;
  const fetched = preflightFacts(nobody, nodes, last, () => askedSeconds)?.fetched ?? [];
  return fetchedImages({ ...facts, fetched }, policy, 0)('n', read);
}

describe('an image that a preflight is to fetch', () => {
  it('is present once it was fetched or is reported, and after no other result', () => {
    const ends = ['Present', 'Fetched', 'TimedOut', 'Skipped', 'Unknown', 'ImageUnavailable'] as const;
    expect(ends.filter((result) => has(settled, result))).to.deep.equal(['Present', 'Fetched']);
    expect(has(settled)).to.equal(false);
  });

  it('counts while a rule waits for it, and never once its limit has passed or the rule is overridden', () => {
    const { preflightTimeoutSeconds: limit } = defaultPolicy;
    expect([has(asked(0)), has(asked(limit - 1)), has(asked(limit))]).to.deep.equal([true, true, false]);
    expect(has(asked(0), undefined, override('PreflightRunning'))).to.equal(false);
    expect([has(refused), has(refused, undefined, override('ImageUnavailable'))]).to.deep.equal([true, false]);
    const ofConfiguration: Preflight = {
      ...settled,
      awaited: asked(0).awaited.map((one) => ({ ...one, about: 'configuration' })),
    };
    expect(has(ofConfiguration)).to.equal(false);
  });

  it('is gone once a later report of the node has all of its images and not this one', () => {
    const cases = {
      'not reported yet': reading(false, true, askedSeconds - 30),
      'read before': reading(false, true, askedSeconds + 30),
      'a report without room': reading(false, false, 10),
      'still reported': reading(true, true, 10),
    };
    for (const [what, read] of Object.entries(cases))
      expect(has(settled, 'Fetched', defaultPolicy, read), what).to.equal(true);
    for (const result of ['Fetched', 'Present'] as const)
      expect(has(settled, result, defaultPolicy, reading(false, true, 10))).to.equal(false);
  });
});

describe('the time that a preflight has waited', () => {
  const pod = (ordinal: number) => ({ node: `n-${ordinal}`, ordinal, revision: 'old', deletionTimestamp: null });
  const objects = { statefulSet: { updateRevision: 'r' }, pods: [pod(0), pod(1)] } as unknown as ClusterObjects;
  const policy = { ...defaultPolicy, mode: 'OnDelete', preflight: 'NodesAndConfiguration' } as const;

  /** Both were asked the last time a minute ago, and for the first time so long ago. */
  function awaited(result: Result, sinceSeconds: number): Preflight['awaited'] {
    const ofOne = (name: string, given: Result) => ({ name, since: at, at, result: given });
    const last = {
      revision: 'r',
      nodes: [ofOne('n-0', 'Accepted'), ofOne('n-1', result)],
      configuration: ofOne('n-0', result),
    } as PreflightStatus;
    const age = (fact: string): number => (fact.endsWith('since') ? sinceSeconds : 60);
    return preflightFacts(objects, policy, last, age)?.awaited ?? [];
  }

  const both = (forSeconds: number): Preflight['awaited'] => [
    { about: 'images', nodeName: 'n-1', forSeconds, message: null },
    { about: 'configuration', nodeName: 'n-1', forSeconds, message: null },
  ];

  it('continues over tries without an answer, also from node to node, up to the limit', () => {
    expect(awaited('Unknown', 120)).to.deep.equal(both(120));
    expect(awaited('Unknown', defaultPolicy.preflightTimeoutSeconds)).to.deep.equal([]);
  });

  it('starts again after an hour, and for a node that was not asked', () => {
    expect(awaited('Unknown', 3600)).to.deep.equal(both(0));
    expect(awaited('Skipped', 500)).to.deep.equal(both(0));
    expect(awaited('Skipped', 120).map(({ forSeconds }) => forSeconds)).to.deep.equal([0, 120]);
  });
});
