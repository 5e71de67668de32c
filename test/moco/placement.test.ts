import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { barriersOf, keepsApart, type PlacedPod } from '../../src/moco/placement.ts';

const hostname = 'kubernetes.io/hostname';
const node = (name: string, zone: string): Json => ({ metadata: { name, labels: { [hostname]: name, zone } } });
/** Two in the first zone, one in each of the others. */
const nodes = [node('n-0', 'a'), node('n-1', 'a'), node('n-2', 'b'), node('n-3', 'c')];
const ofCluster = { matchLabels: { app: 'mysql' } };
const pod = (
  name: string,
  on: string,
  labels: PlacedPod['labels'] = { app: 'mysql' },
  terminating = false,
): PlacedPod => ({
  name,
  node: on,
  labels,
  terminating,
});
const template = (spec: Json): Json => ({ metadata: { labels: { app: 'mysql' } }, spec });
const apart = (term: Json): Json =>
  template({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
const spread = (constraint: Json): Json =>
  template({
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', labelSelector: ofCluster, whenUnsatisfiable: 'DoNotSchedule', ...constraint },
    ],
  });

/** The nodes that nothing rules out, by their numbers. */
function allowed(given: Json, others: readonly PlacedPod[], all = nodes): string {
  const barriers = barriersOf(given, 'new', 'default', others, all);
  return all.flatMap((one, index) => (barriers.every(({ allows }) => allows(one)) ? [index] : [])).join();
}

interface Line {
  readonly given: Json;
  readonly others: readonly PlacedPod[];
  readonly allowed: string;
}

const byHost = { topologyKey: hostname, labelSelector: ofCluster };
const lines: Readonly<Record<string, Line>> = {
  'a template without such rules may be anywhere': {
    given: template({}),
    others: [pod('b', 'n-0')],
    allowed: '0,1,2,3',
  },
  'anti-affinity by host rules out the nodes of the others': {
    given: apart(byHost),
    others: [pod('b', 'n-0'), pod('c', 'n-2', { app: 'mysql' }, true)],
    allowed: '1,3',
  },
  'anti-affinity by zone rules out every node of their zones': {
    given: apart({ ...byHost, topologyKey: 'zone' }),
    others: [pod('b', 'n-0')],
    allowed: '2,3',
  },
  'anti-affinity against pods of another label rules out nothing': {
    given: apart({ ...byHost, labelSelector: { matchLabels: { app: 'web' } } }),
    others: [pod('b', 'n-0')],
    allowed: '0,1,2,3',
  },
  'anti-affinity without a selector is against no pod': {
    given: apart({ topologyKey: hostname }),
    others: [pod('b', 'n-0')],
    allowed: '0,1,2,3',
  },
  'anti-affinity in another namespace concerns no member': {
    given: apart({ ...byHost, namespaces: ['other'] }),
    others: [pod('b', 'n-0')],
    allowed: '0,1,2,3',
  },
  'anti-affinity within a revision does not mind members of another one': {
    given: apart({ ...byHost, matchLabelKeys: ['controller-revision-hash'] }),
    others: [
      pod('b', 'n-0', { app: 'mysql', 'controller-revision-hash': 'old' }),
      pod('c', 'n-2', { app: 'mysql', 'controller-revision-hash': 'new' }),
    ],
    allowed: '0,1,3',
  },
  'a spread leaves the emptiest zones': {
    given: spread({}),
    others: [pod('b', 'n-0'), pod('c', 'n-2')],
    allowed: '3',
  },
  'a spread with more skew leaves more': {
    given: spread({ maxSkew: 2 }),
    others: [pod('b', 'n-0'), pod('c', 'n-2')],
    allowed: '0,1,2,3',
  },
  'a spread does not count pods that terminate': {
    given: spread({}),
    others: [pod('b', 'n-0'), pod('c', 'n-2', { app: 'mysql' }, true)],
    allowed: '2,3',
  },
  'a spread that is only wished for rules out nothing': {
    given: spread({ whenUnsatisfiable: 'ScheduleAnyway' }),
    others: [pod('b', 'n-0'), pod('c', 'n-2')],
    allowed: '0,1,2,3',
  },
  'a spread with more domains than there are counts an empty one': {
    given: spread({ minDomains: 4 }),
    others: [pod('b', 'n-0'), pod('c', 'n-2'), pod('d', 'n-3')],
    allowed: '',
  },
  'a spread counts only nodes that the template may be on': {
    given: template({
      nodeSelector: { zone: 'a' },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: hostname, labelSelector: ofCluster, whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
    others: [pod('b', 'n-0')],
    allowed: '1,2,3',
  },
};

describe('where the next pod of a member may run beside the others', () => {
  for (const [sentence, line] of Object.entries(lines)) {
    it(sentence, () => expect(allowed(line.given, line.others)).to.equal(line.allowed));
  }

  it('is asked only of templates that keep pods apart', () => {
    expect(
      [template({}), apart(byHost), spread({}), spread({ whenUnsatisfiable: 'ScheduleAnyway' })].map(keepsApart),
    ).to.deep.equal([false, true, true, false]);
  });

  it('has a name for people', () => {
    const all = [...barriersOf(apart(byHost), '', '', [], nodes), ...barriersOf(spread({}), '', '', [], nodes)];
    expect(all.map(({ what }) => what)).to.deep.equal([
      'the required pod anti-affinity by kubernetes.io/hostname',
      'the topology spread by zone',
    ]);
  });
});
