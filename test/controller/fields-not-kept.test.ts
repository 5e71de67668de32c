import { expect } from 'chai';
import { fieldsNotKept } from '../../src/controller/fields-not-kept.ts';
import { type RolloutStatus, rolloutKind as rollout } from '../../src/controller/rollout-resource.ts';
import { Bench } from './bench.ts';
import type { Raw } from './object-server.ts';

const wholeRollout = ['evict 2'];
const lookAgainMilliseconds = 30_000;

const recordedIntent = {
  id: 'before-1',
  holder: 'before',
  step: 'evict',
  rule: 'ReplicaHealthy',
  revision: 'moco-test-7966559688',
  at: '2026-07-01T11:59:59.000Z',
};

/** The API server of an older CRD: it leaves out what that does not know, at whatever depth, and says nothing. */
const without =
  (path: readonly string[]) =>
  (after: Raw): Raw =>
    'status' in after ? { ...after, status: pruned(after['status'], path) } : after;

function pruned(value: unknown, [field = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => pruned(one, [field, ...rest]));
  if (typeof value !== 'object' || value === null || !(field in value)) return value;
  const { [field]: gone, ...others } = value as Readonly<Record<string, unknown>>;
  return rest.length === 0 ? others : { ...others, [field]: pruned(gone, rest) };
}

describe('a status of which the API server keeps only a part', () => {
  const needed: readonly (readonly string[])[] = [
    ['intent'],
    ['intent', 'holder'],
    ['intent', 'pods'],
    ['intent', 'pods', 'resourceVersion'],
    ['rollout'],
    ['rollout', 'startedAt'],
    ['recentRevisions'],
  ];
  for (const path of needed) {
    const name = ['status', ...path].join('.');

    it(`has no step done that rests on ${name}, until the CRD knows it`, async () => {
      const bench = new Bench();
      bench.server.admit = without(path);
      const program = bench.start();
      await program.work();
      expect(bench.steps).to.deep.equal([]);
      const { rule, message } = bench.status.hold ?? {};
      expect(rule).to.equal('DefinitionOutdated');
      expect(message).to.contain(name).and.to.contain('apply the CRDs');
      bench.server.admit = (after) => after;
      bench.world.freeze(lookAgainMilliseconds);
      await program.work();
      expect(bench.status.hold?.rule).not.to.equal('DefinitionOutdated');
      expect(bench.steps).to.deep.equal(wholeRollout);
    });
  }

  it('is found out by every process for itself, which needs one write', async () => {
    const bench = new Bench();
    bench.server.admit = without(['intent']);
    for (const program of [bench.start(), bench.start()]) await program.work();
    expect(bench.steps).to.deep.equal([]);
  });

  it('leaves a step of which too little is written down to nobody: its author has not sent it', async () => {
    const bench = new Bench();
    bench.server.change(rollout, 'test', { status: { intent: recordedIntent } });
    await bench.start().work();
    expect(bench.steps).to.deep.equal(wholeRollout);
    expect(bench.status.lastStep?.step).to.equal('evict');
  });

  it('is looked at without writing, and said once', async () => {
    const bench = new Bench();
    bench.server.admit = without(['intent']);
    const program = bench.start();
    await program.work();
    const before = bench.server.get(rollout, 'test').metadata.resourceVersion;
    const written = bench.server.writes.length;
    for (const _ of [1, 2, 3]) {
      bench.world.freeze(lookAgainMilliseconds);
      await program.work();
    }
    expect(bench.server.get(rollout, 'test').metadata.resourceVersion).to.equal(before);
    const since = bench.server.writes.slice(written).map(({ path }) => path.split('/').slice(-2).join('/'));
    expect(since).to.deep.equal(['test/status?dryRun', 'test/status?dryRun', 'test/status?dryRun']);
  });

  it('may lack what is only shown', () => {
    const sent: RolloutStatus = { phase: 'Progressing', members: {}, replicas: 3 };
    expect(fieldsNotKept(sent, {})).to.deep.equal([]);
  });
});
