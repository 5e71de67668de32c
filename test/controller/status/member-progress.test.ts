import { expect } from 'chai';
import type { Intent, RolloutProgress } from '../../../src/api/rollout-status.ts';
import type { Finished } from '../../../src/controller/facts/last-step.ts';
import { memberProgressOf, type SeenMember } from '../../../src/controller/status/member-progress.ts';
import { newsOf } from '../../../src/controller/status/news.ts';
import type { MemberFacts, StatefulSetFacts } from '../../../src/core/snapshot.ts';
import { revisionHashLabel } from '../../../src/moco/names.ts';
import type { OwnWrite } from '../../../src/objects/execute.ts';
import { atWork, Bench, begin, member, type Process } from '../bench.ts';
import { revisionAfter, revisionBefore } from '../moco-objects.ts';
import { rollOut, switchOver } from '../whole-rollout.ts';

const reported = ({ events }: Process): readonly (string | undefined)[] =>
  events.filter(({ reason }) => reason === 'UpdatedOutOfBand').map(({ related }) => related?.name);

const counted = async ({ registry }: Pick<Process, 'registry'>): Promise<number> => {
  const text = await registry.getSingleMetricAsString('moco_rollout_unplanned_updates_total');
  return Number(/ (\d+)$/m.exec(text)?.[1]);
};

describe('a member that comes up at the update revision without a step', () => {
  it('is reported once by a verdict, an Event and a metric, also after a restart of the program', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = await bench.started();
    expect(bench.status.rollout?.waiting).to.deep.equal([0, 1, 2]);
    bench.removePod(1);
    await program.work();
    bench.replace(1);
    await program.reportAll();
    expect(bench.status.rollout).to.deep.include({ waiting: [0, 2], updatedOutOfBand: [1] });
    expect(bench.status.members?.[1]?.verdict).to.equal('UpdatedOutOfBand');
    expect(reported(program)).to.deep.equal([member(1)]);
    expect(program.events.find(({ reason }) => reason === 'UpdatedOutOfBand')).to.include({ type: 'Warning' });
    expect(await counted(program)).to.equal(1);
    const next = await bench.started();
    expect(bench.status.members?.[1]?.verdict).to.equal('UpdatedOutOfBand');
    expect([reported(next), await counted(next)]).to.deep.equal([[], 0]);
  });

  it('is known as held when it came up, and that its mysqld has started since, whatever its pod', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = await bench.started();
    bench.replace(1);
    bench.mysqld(1, 'ImagePullBackOff');
    await program.reportAll();
    expect(bench.status.rollout?.createdWhileHeld).to.deep.equal([{ ordinal: 1, started: false }]);
    bench.mysqld(1, 'CrashLoopBackOff');
    await program.reportAll();
    expect(bench.status.rollout?.createdWhileHeld).to.deep.equal([{ ordinal: 1, started: true }]);
    bench.replace(1);
    bench.mysqld(1, 'ImagePullBackOff');
    await bench.start().reportAll();
    expect(bench.status.rollout?.createdWhileHeld).to.deep.equal([{ ordinal: 1, started: true }]);
  });

  it('is not known as held if nothing held it when it came up', async () => {
    const bench = new Bench();
    bench.setting({ paused: false });
    const program = await bench.started({ minReadySeconds: 0 });
    bench.replace(2);
    await program.work();
    bench.replace(0, { role: 'primary' });
    await program.work();
    expect(bench.status.rollout).to.deep.include({ updatedOutOfBand: [0] });
    expect(bench.status.rollout).to.not.have.property('createdWhileHeld');
    bench.setting({ paused: true });
    await program.reportAll();
    expect(bench.status.rollout).to.not.have.property('createdWhileHeld');
  });

  it('is reported even if it was never seen unavailable, or was the last one', async () => {
    const bench = new Bench({ replicas: 1 });
    bench.setting({ paused: true });
    const program = await bench.started();
    bench.replace(0, { role: 'primary' });
    await program.work();
    expect(bench.status.phase).to.not.equal('Progressing');
    expect(bench.status.rollout).to.equal(undefined);
    expect(bench.status.history?.[0]?.updatedOutOfBand).to.deep.equal([0]);
    expect(reported(program)).to.deep.equal([member(0)]);
    bench.setting({ paused: false });
    await program.work();
    bench.setting({ paused: true });
    await program.work();
    expect(await counted(program), 'however often the status is written').to.equal(1);
  });

  it('has the time at which it began to participate, not that at which it had settled', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = await bench.started({ minReadySeconds: 20 });
    bench.replace(1, { ready: false });
    await program.work();
    bench.world.freeze(5000);
    bench.mysqld(1, 'ready');
    const since = bench.now;
    await program.work();
    await program.workAfter(60_000);
    expect(bench.status.members?.[1]).to.include({ verdict: 'UpdatedOutOfBand', updatedAt: since });
  });

  it('is not one that a step has disrupted', async () => {
    const [bench, program] = begin();
    await rollOut(bench, program);
    expect(bench.status.history?.[0]).to.not.have.property('updatedOutOfBand');
    expect(reported(program)).to.deep.equal([]);
  });

  it('is not one that a crashed process disrupted before it could record that', async () => {
    const bench = new Bench();
    bench.server.loseAnswer('POST', /\/eviction$/);
    const program = bench.start();
    await program.turn().catch(() => {});
    const next = bench.start();
    bench.replace(2);
    await next.work();
    expect(bench.status.members?.[2]?.verdict).to.equal('Updated');
    expect(reported(next)).to.deep.equal([]);
  });

  it('can be one whose eviction was refused', async () => {
    const [bench, program] = begin();
    bench.server.refuse('POST', /\/eviction$/, 429, 'TooManyRequests');
    await program.turn();
    bench.setting({ paused: true });
    await program.work();
    bench.replace(2);
    await program.work();
    expect(reported(program)).to.deep.equal([member(2)]);
  });

  it('can be one that was only asked to give up the primary role', async () => {
    const [bench, program] = await atWork();
    bench.replace(2);
    await program.work();
    bench.replace(1);
    await program.work();
    expect(bench.steps.at(-1)).to.equal('demote 0');
    bench.setting({ paused: true });
    switchOver(bench, 0, 1);
    await program.work();
    bench.replace(0);
    await program.work();
    expect(reported(program)).to.deep.equal([member(0)]);
  });

  it('is not one that was up to date all along and restarts', async () => {
    const [bench, program] = await atWork();
    bench.replace(2);
    bench.setting({ paused: true });
    await program.work();
    bench.removePod(2);
    await program.work();
    bench.replace(2);
    await program.work();
    expect(reported(program)).to.deep.equal([]);
  });

  it('is not one that has the revision of a restored template', async () => {
    const [bench, program] = await atWork();
    bench.replace(2);
    bench.setting({ paused: true });
    await program.work();
    bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
    await program.work();
    expect(bench.status.rollout).to.deep.include({ revision: revisionBefore, waiting: [2] });
    expect(reported(program)).to.deep.equal([]);
  });

  it('does not exist if the StatefulSet controller replaces the members', async () => {
    const bench = new Bench();
    bench.atPartition(2);
    bench.setting({ strategy: 'Partition' });
    const program = await bench.started();
    expect(bench.status.rollout?.waiting).to.equal(undefined);
    bench.changePod(2, { metadata: { labels: { [revisionHashLabel]: revisionAfter } } });
    await program.work();
    expect(reported(program)).to.deep.equal([]);
  });
});

describe('the progress of members', () => {
  const onDelete = { members: [], statefulSet: { strategy: 'OnDelete' } as StatefulSetFacts };
  const seen = (ordinal: number, more: Partial<SeenMember> = {}): SeenMember => ({
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
    sparesSwitchover: false,
    demotion: null,
  });
  const noWrites: readonly OwnWrite[] = [];
  const known = { waiting: [0, 1], unavailableMembers: [{ ordinal: 2, since: '2026-01-01T00:00:00Z' }] };
  const turns = (two: Partial<SeenMember>, end: Finished | null, pending: readonly OwnWrite[] = noWrites) =>
    memberProgressOf(
      known,
      null,
      [seen(0), seen(1), seen(2, two)],
      onDelete,
      end,
      pending,
      '2026-01-01T00:01:00Z',
      null,
    );
  const begins = (waiting: readonly number[] | null, one: Partial<SeenMember>) =>
    memberProgressOf(
      {},
      { earlier: waiting && ({ revision: 'earlier', waiting } as RolloutProgress) },
      [seen(0), seen(1, one)],
      onDelete,
      null,
      noWrites,
      '2026-01-01T00:01:00Z',
      null,
    ).waiting;

  it('awaits a restored member until it has another pod', () => {
    const since = '2026-01-01T00:00:00Z';
    const taken = { ordinal: 1, since, uid: 'uid-1' };
    const awaits = (uid: string | null, end: Finished | null = null) =>
      memberProgressOf(
        { waiting: [], unavailableMembers: [{ ...taken, restores: true }] },
        null,
        [seen(0), seen(1)],
        { ...onDelete, members: uid === null ? [] : [{ ordinal: 1, uid } as MemberFacts] },
        end,
        noWrites,
        '2026-01-01T00:01:00Z',
        null,
      ).unavailableMembers;
    expect(awaits('uid-1')).to.deep.equal([{ ...taken, restores: true }]);
    expect(awaits(null)).to.deep.equal([{ ...taken, restores: true }]);
    expect(awaits('another')).to.equal(undefined);
  });

  it('is reset for a member that is stale in another pod than the one that a step took, even if that one goes', () => {
    const after = (uid: string, two: Partial<SeenMember> = {}) =>
      memberProgressOf(
        { ...known, unavailableMembers: [{ ordinal: 2, since: '2026-01-01T00:00:00Z', uid: 'taken' }] },
        null,
        [seen(0), seen(1), seen(2, two)],
        { ...onDelete, members: [{ ordinal: 2, uid } as MemberFacts] },
        null,
        noWrites,
        '2026-01-01T00:01:00Z',
        null,
      ).waiting;
    expect(after('taken')).to.deep.equal([0, 1]);
    expect(after('another')).to.deep.equal([0, 1, 2]);
    expect(after('another', { state: 'terminating' })).to.deep.equal([0, 1, 2]);
    expect(after('another', { state: 'terminating', updated: true })).to.deep.equal([0, 1]);
  });

  it('begins with those whose pods go at that moment, unless a step of the rollout before has taken them', () => {
    for (const state of ['terminating', 'missing'] as const) {
      expect(begins(null, { state }), state).to.deep.equal([0, 1]);
      expect(begins([1], { state }), state).to.deep.equal([0, 1]);
      expect(begins([0], { state }), state).to.deep.equal([0]);
    }
    expect(begins([0], { state: 'terminating', revision: 'earlier' })).to.deep.equal([0, 1]);
  });

  it('begins with them as well when a mode ends in which that is not recorded, unless a step has taken them', () => {
    const after = (recorded: Partial<RolloutProgress>) =>
      memberProgressOf(
        recorded,
        null,
        [seen(0), seen(1, { state: 'terminating' })],
        onDelete,
        null,
        noWrites,
        '2026-01-01T00:01:00Z',
        null,
      ).waiting;
    expect(after({})).to.deep.equal([0, 1]);
    expect(after({ waiting: [0] })).to.deep.equal([0]);
    expect(after({ unavailableMembers: [{ ordinal: 1, since: 'then' }] })).to.deep.equal([0]);
  });

  it('begins without a member that an earlier step may still take', () => {
    const unresolved: Intent = {
      id: 'i',
      holder: 'h',
      step: 'evict',
      rule: 'ReplicaHealthy',
      revision: 'earlier',
      at: 'then',
      pods: [{ name: member(1), uid: 'uid-1', resourceVersion: '1' }],
    };
    const begun = memberProgressOf(
      {},
      { earlier: { revision: 'earlier', waiting: [0] as readonly number[] } as RolloutProgress },
      [seen(0), seen(1)],
      onDelete,
      null,
      noWrites,
      '2026-01-01T00:01:00Z',
      null,
      unresolved,
    );
    expect(begun.waiting).to.deep.equal([0]);
  });

  it('is reset for a member that is unchanged after a step that did not happen', () => {
    for (const result of ['refused', 'conflict'] as const) {
      expect(turns({}, ended(result)), result)
        .to.include({ unavailableMembers: undefined })
        .and.to.have.deep.property('waiting', [0, 1, 2]);
    }
  });

  for (const [what, two, end, pending] of [
    ['after a step that has happened', {}, ended('done'), noWrites],
    ['after a step of which nobody knows whether it has happened', {}, ended('unknown'), noWrites],
    ['while it is terminating', { state: 'terminating' }, ended('conflict'), noWrites],
    ['while it is missing', { state: 'missing' }, ended('conflict'), noWrites],
    [
      'once it is updated, and not yet participating',
      { updated: true, participating: false },
      ended('conflict'),
      noWrites,
    ],
    [
      'while an own write is not seen yet',
      {},
      ended('conflict'),
      [{ what: 'eviction', uid: 'u', expected: 'gone', sinceMilliseconds: 0 }],
    ],
  ] as const) {
    it(`is not reset ${what}`, () => {
      expect(turns(two, end, pending)).to.deep.include({
        waiting: [0, 1],
        unavailableMembers: known.unavailableMembers,
      });
    });
  }
});

describe('members that were updated without a step', () => {
  const at = '2026-01-01T00:00:00Z';
  const rollout = (startedAt: string, updatedOutOfBand?: readonly number[]): RolloutProgress => ({
    revision: 'r',
    startedAt,
    lastProgressAt: at,
    verified: true,
    takenDown: [],
    disruptions: 0,
    switchovers: 0,
    ...(updatedOutOfBand && { updatedOutOfBand }),
  });
  for (const [what, before, after, expected] of [
    ['one more', rollout('a', [1]), rollout('a', [1, 2]), [2]],
    ['the same', rollout('a', [1]), rollout('a', [1]), []],
    ['one of a rollout that is over', undefined, null, []],
    ['one of an earlier rollout of the same revision', rollout('b', [1]), rollout('a', [1]), [1]],
    ['one at the first observation of the rollout', undefined, rollout('a', [0]), [0]],
  ] as const) {
    it(`are reported once: ${what}`, () => {
      expect(newsOf(before, after, null, false, at).outOfBand).to.deep.equal(expected);
    });
  }
});
