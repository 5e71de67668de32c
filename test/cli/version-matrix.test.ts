import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { controllerRevisions, pods, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind, revisionHashLabel } from '../../src/moco/names.ts';
import { revisionAfter } from '../controller/moco-objects.ts';
import { answer } from '../kube/fake-world.ts';
import { FakeCluster, type Fault } from './fake-cluster.ts';
import { expectGolden } from './golden.ts';

const froms = ['8.0.40', '8.4.8', '9.2.0', '9.7.4', '?'];
const tos = ['8.0.28', '8.0.42', '8.4.9', '9.2.0', '9.7.4'];

const labels = { 'app.kubernetes.io/instance': 'test' };
/** An image with a digest instead of a tag says no version. */
const imageOf = (version: string): string => (version === '?' ? `mysql@sha256:${'0'.repeat(64)}` : `mysql:${version}`);
const specOf = (version: string) => ({ spec: { containers: [{ name: 'mysqld', image: imageOf(version) }] } });

/** What `check` reads beside the clusters is of no concern here. */
const uninstalled: Fault = ({ path }) => {
  if (path === '/version') return answer(200, { gitVersion: 'v1.36.3' });
  if (path.startsWith('/apis/apiextensions')) {
    return answer(200, { spec: { versions: [{ name: 'v1beta2', served: true, schema: {} }] } });
  }
  const isList = path.startsWith('/apis/admissionregistration') || path.startsWith('/apis/apps/v1/deployments');
  return isList ? answer(200, { items: [] }) : null;
};

const next = 'moco-test-6f8d9c7b54';

/** What a place says, in a word; the sentence behind it goes below the table. */
interface Said {
  readonly word: string;
  readonly sentence: string | null;
}

const kinds: readonly (readonly [word: string, shape: RegExp])[] = [
  ['refused', /mysqld \S+ refuses data that mysqld \S+ has opened: MySQL [^\n;]*?(?= \(|, for |\. |;|\.?$)/m],
  ['one way', /there is no way back: [^\n;]*/],
  [
    'unknown',
    /(MySQL's rules for upgrades are not checked, because [^\n;]*|the images of \d+ others do not say theirs)/,
  ],
];

function saidIn(out: string, otherwise: string): Said {
  for (const [word, shape] of kinds) {
    const [sentence] = shape.exec(out) ?? [];
    if (sentence !== undefined) return { word, sentence };
  }
  return { word: otherwise, sentence: null };
}

/** Each place before the first member has the new version, and `undo` and `check` once one has it. */
async function say(from: string, to: string, directory: string): Promise<readonly Said[]> {
  const cluster = await FakeCluster.start({ stale: false });
  try {
    const { server, bench } = cluster;
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': null };
    server.change(clusterKind, 'test', { metadata: { annotations }, spec: { podTemplate: specOf(from) } });
    server.change(statefulSets, 'moco-test', { spec: { template: specOf(from) } });
    for (const ordinal of [0, 1, 2]) server.change(pods, `moco-test-${ordinal}`, specOf(from));
    await bench.start().work();
    const metadata = { name: 'test', namespace: 'default' };
    const spec = { replicas: 3, podTemplate: specOf(to) };
    const file = join(directory, 'orders.yaml');
    await writeFile(
      file,
      JSON.stringify({ apiVersion: 'moco.cybozu.com/v1beta2', kind: clusterKind.kind, metadata, spec }),
    );
    const before = await cluster.run('plan', '-f', file);
    // MOCO has applied it.
    server.change(clusterKind, 'test', { spec: { podTemplate: specOf(to) } });
    server.change(statefulSets, 'moco-test', {
      spec: { template: specOf(to) },
      status: { updateRevision: next },
    });
    for (const [name, revision, version] of [
      [revisionAfter, 1, from],
      [next, 2, to],
    ] as const) {
      const creationTimestamp = '2026-07-01T11:00:00Z';
      const data = { spec: { template: { $patch: 'replace', metadata: { labels }, ...specOf(version) } } };
      server.create(controllerRevisions, { metadata: { name, labels, creationTimestamp }, revision, data });
    }
    const plan = await cluster.run('plan', 'test');
    await bench.start().work();
    const status = await cluster.run('status', 'test');
    cluster.fault = uninstalled;
    const check = await cluster.run('check');
    cluster.fault = () => null;
    server.change(pods, 'moco-test-2', { metadata: { labels: { [revisionHashLabel]: next } }, ...specOf(to) });
    const undo = await cluster.run('undo', 'test');
    const line = check.out.split('\n').filter((one) => one.includes(' MySQL versions '));
    return [
      saidIn(before.out, 'steps'),
      saidIn(plan.out, 'steps'),
      saidIn(status.out, bench.steps.length > 0 ? 'begins' : 'waits'),
      saidIn(line.join('\n'), 'fine'),
      saidIn(undo.out, 'patch'),
    ];
  } finally {
    await cluster.close();
  }
}

describe('what each command says of a version', () => {
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'versions-'));
  });
  after(() => rm(directory, { recursive: true }));

  it('is the same in every place, for every way from one version to another', async () => {
    const places = ['plan -f', 'plan', 'status', 'check', 'undo'];
    const sentences = new Set<string>();
    const rows: (readonly string[])[] = [['from', 'to', ...places]];
    for (const from of froms) {
      for (const to of tos.filter((one) => one !== from)) {
        const said = await say(from, to, directory);
        const [planned, ...others] = said.map(({ word }) => word);
        for (const place of [0, 1, 2]) {
          expect(others[place] === 'refused', `${places[place + 1]} of ${from} to ${to}`).to.equal(
            planned === 'refused',
          );
        }
        rows.push([from, to, ...said.map(({ word }) => word)]);
        for (const { sentence } of said) if (sentence !== null) sentences.add(sentence);
      }
    }
    const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
    const table = rows.map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
    expectGolden('version-matrix.txt', `${[...table, '', ...[...sentences].toSorted()].join('\n')}\n`);
  });
});
