import { expect } from 'chai';
import { Registry } from 'prom-client';
import { Announcer } from '../../src/controller/announcer.ts';
import type { ClusterState, Finished } from '../../src/controller/cluster-state.ts';
import type { HistoryEntry, RolloutProgress } from '../../src/controller/rollout-resource.ts';
import { type Seen, turnsOf } from '../../src/controller/turns.ts';
import type { StatefulSetFacts } from '../../src/core/snapshot.ts';
import type { World } from '../../src/kube/world.ts';
import { revisionHashLabel } from '../../src/moco/names.ts';
import { RolloutMetrics } from '../../src/telemetry/rollout-metrics.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { Bench, member, type Process } from './bench.ts';
import { revisionAfter, revisionBefore } from './moco-objects.ts';
import { rollOut, switchOver } from './whole-rollout.ts';

const told = ({ events }: Process): readonly (string | undefined)[] =>
  events.filter(({ reason }) => reason === 'UpdatedOutOfTurn').map(({ related }) => related?.name);

const counted = async ({ registry }: Pick<Process, 'registry'>): Promise<number> => {
  const text = await registry.getSingleMetricAsString('moco_rollout_unplanned_updates_total');
  return Number(/ (\d+)$/m.exec(text)?.[1]);
};

describe('a member that comes up at the update revision without a step', () => {
  it('is said by a verdict, an event and a metric, once, also over a restart of the program', async () => {
    const bench = new Bench();
    bench.wish({ paused: true });
    const program = bench.start();
    await program.work();
    expect(bench.status.rollout?.waiting).to.deep.equal([0, 1, 2]);
    bench.removePod(1);
    await program.work();
    bench.replace(1);
    await program.work();
    expect(bench.status.rollout).to.deep.include({ waiting: [0, 2], updatedOutOfTurn: [1] });
    expect(bench.status.members?.['1']?.verdict).to.equal('UpdatedOutOfTurn');
    expect(told(program)).to.deep.equal([member(1)]);
    expect(program.events.find(({ reason }) => reason === 'UpdatedOutOfTurn')).to.include({ type: 'Warning' });
    expect(await counted(program)).to.equal(1);
    const next = bench.start();
    await next.work();
    expect(bench.status.members?.['1']?.verdict).to.equal('UpdatedOutOfTurn');
    expect([told(next), await counted(next)]).to.deep.equal([[], 0]);
  });

  it('is said although nobody saw it away, and also where it was the last one', async () => {
    const bench = new Bench({ replicas: 1 });
    bench.wish({ paused: true });
    const program = bench.start();
    await program.work();
    bench.replace(0, { role: 'primary' });
    await program.work();
    expect(bench.status.phase).to.not.equal('Progressing');
    expect(bench.status.rollout).to.equal(undefined);
    expect(bench.status.history?.[0]?.updatedOutOfTurn).to.deep.equal([0]);
    expect(told(program)).to.deep.equal([member(0)]);
    bench.wish({ paused: false });
    await program.work();
    bench.wish({ paused: true });
    await program.work();
    expect(await counted(program), 'however often the status is written').to.equal(1);
  });

  it('has the moment at which it took part, and not that at which it counted as settled', async () => {
    const bench = new Bench();
    bench.wish({ paused: true });
    const program = bench.start({ minReadySeconds: 20 });
    await program.work();
    bench.replace(1, { ready: false });
    await program.work();
    bench.world.freeze(5000);
    bench.mysqld(1, 'ready');
    const since = bench.now;
    await program.work();
    bench.world.freeze(60_000);
    await program.work();
    expect(bench.status.members?.['1']).to.include({ verdict: 'UpdatedOutOfTurn', updatedAt: since });
  });

  it('is none of those that a step has taken', async () => {
    const bench = new Bench();
    const program = bench.start();
    await rollOut(bench, program);
    expect(bench.status.history?.[0]).to.not.have.property('updatedOutOfTurn');
    expect(told(program)).to.deep.equal([]);
  });

  it('is none of those that a program has taken which died before it could say so', async () => {
    const bench = new Bench();
    bench.server.loseAnswer('POST', /\/eviction$/);
    const program = bench.start();
    program.sync();
    await program.pass().catch(() => {});
    const next = bench.start();
    bench.replace(2);
    await next.work();
    expect(bench.status.members?.['2']?.verdict).to.equal('Updated');
    expect(told(next)).to.deep.equal([]);
  });

  it('is one of those whose eviction was refused', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.refuse('POST', /\/eviction$/, 429, 'TooManyRequests');
    program.sync();
    await program.pass();
    bench.wish({ paused: true });
    await program.work();
    bench.replace(2);
    await program.work();
    expect(told(program)).to.deep.equal([member(2)]);
  });

  it('is one that was only asked to hand on the primary role', async () => {
    const bench = new Bench();
    const program = bench.start();
    await program.work();
    bench.replace(2);
    await program.work();
    bench.replace(1);
    await program.work();
    expect(bench.steps.at(-1)).to.equal('demote 0');
    bench.wish({ paused: true });
    switchOver(bench, 0, 1);
    await program.work();
    bench.replace(0);
    await program.work();
    expect(told(program)).to.deep.equal([member(0)]);
  });

  it('is none that was updated all along and restarts', async () => {
    const bench = new Bench();
    const program = bench.start();
    await program.work();
    bench.replace(2);
    bench.wish({ paused: true });
    await program.work();
    bench.removePod(2);
    await program.work();
    bench.replace(2);
    await program.work();
    expect(told(program)).to.deep.equal([]);
  });

  it('is none where a template was put back and members have its revision again', async () => {
    const bench = new Bench();
    const program = bench.start();
    await program.work();
    bench.replace(2);
    bench.wish({ paused: true });
    await program.work();
    bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
    await program.work();
    expect(bench.status.rollout).to.deep.include({ revision: revisionBefore, waiting: [2] });
    expect(told(program)).to.deep.equal([]);
  });

  it('is none where the StatefulSet itself replaces members', async () => {
    const bench = new Bench();
    bench.changeStatefulSet({
      metadata: { labels: { 'moco-rollout.io/strategy': null } },
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } },
    });
    bench.wish({ strategy: 'Partition' });
    const program = bench.start();
    await program.work();
    expect(bench.status.rollout?.waiting).to.equal(undefined);
    bench.changePod(2, { metadata: { labels: { [revisionHashLabel]: revisionAfter } } });
    await program.work();
    expect(told(program)).to.deep.equal([]);
  });
});

describe('the turns of members', () => {
  const onDelete = { statefulSet: { strategy: 'OnDelete' } as StatefulSetFacts };
  const seen = (ordinal: number, more: Partial<Seen> = {}): Seen => ({
    ordinal,
    updated: false,
    participating: true,
    state: 'participating',
    ...more,
  });
  const ended = (result: Finished['result']): Finished => ({
    lastStep: { step: 'evict', rule: 'ReplicaHealthy', pods: [member(2)], at: 'then', result },
    result,
    revision: revisionAfter,
    disrupted: 0,
    demotion: null,
  });
  const noWrites = { ownWrites: [] };
  const known = { waiting: [0, 1], takenAt: { 2: '2026-01-01T00:00:00Z' } };
  const turns = (two: Partial<Seen>, end: Finished | null, pending: Pick<ClusterState, 'ownWrites'> = noWrites) =>
    turnsOf(known, [seen(0), seen(1), seen(2, two)], onDelete, end, pending, '2026-01-01T00:01:00Z', null);

  it('come again for a member that is there as it was after a step that did not happen', () => {
    for (const result of ['refused', 'conflict'] as const) {
      expect(turns({}, ended(result)), result)
        .to.include({ takenAt: undefined })
        .and.to.have.deep.property('waiting', [0, 1, 2]);
    }
  });

  for (const [what, two, end, pending] of [
    ['after a step that has happened', {}, ended('done'), noWrites],
    ['after a step of which nobody knows whether it has happened', {}, ended('unknown'), noWrites],
    ['while it is leaving', { state: 'leaving' }, ended('conflict'), noWrites],
    ['while it is missing', { state: 'missing' }, ended('conflict'), noWrites],
    [
      'once it is updated, and not yet taking part',
      { updated: true, participating: false },
      ended('conflict'),
      noWrites,
    ],
    [
      'while an own write is not seen yet',
      {},
      ended('conflict'),
      { ownWrites: [{ what: 'eviction', uid: 'u', expected: 'gone', sinceMilliseconds: 0 }] },
    ],
  ] as const) {
    it(`do not come again ${what}`, () => {
      expect(turns(two, end, pending)).to.deep.include({ waiting: [0, 1], takenAt: known.takenAt });
    });
  }
});

describe('members that came up by themselves', () => {
  const at = '2026-01-01T00:00:00Z';
  const rollout = (startedAt: string, updatedOutOfTurn?: readonly number[]): RolloutProgress => ({
    revision: 'r',
    startedAt,
    lastProgressAt: at,
    proven: true,
    takenDown: [],
    disruptions: 0,
    switchovers: 0,
    ...(updatedOutOfTurn && { updatedOutOfTurn }),
  });
  const entry = (startedAt: string): HistoryEntry => ({
    revision: 'r',
    startedAt,
    finishedAt: at,
    disruptions: 0,
    switchovers: 0,
    outcome: 'Complete',
    updatedOutOfTurn: [1],
  });

  for (const [what, before, after, expected] of [
    ['one more', { rollout: rollout('a', [1]) }, { rollout: rollout('a', [1, 2]) }, 1],
    ['the same', { rollout: rollout('a', [1]) }, { rollout: rollout('a', [1]) }, 0],
    ['one with which the rollout ends', { rollout: rollout('a') }, { history: [entry('a')] }, 1],
    ['one that was told of before its end', { rollout: rollout('a', [1]) }, { history: [entry('a')] }, 0],
    ['one of a rollout that is long over', {}, { history: [entry('a')] }, 0],
    [
      'one of an earlier rollout of the same revision',
      { rollout: rollout('b') },
      { rollout: rollout('b'), history: [entry('a')] },
      0,
    ],
    ['one at the first sight of the rollout', {}, { rollout: rollout('a', [0]) }, 1],
  ] as const) {
    it(`are counted once: ${what}`, async () => {
      const registry = new Registry();
      const metrics = new RolloutMetrics(registry);
      const world = { wall: () => 0 } as World;
      const announcer = new Announcer({ recorder: { record: () => {} }, metrics, log: new FakeLog(), world });
      announcer.published(before, after, null);
      expect(await counted({ registry })).to.equal(expected);
    });
  }
});
