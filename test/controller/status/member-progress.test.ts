import { expect } from 'chai';
import { newRollout, type RolloutProgress } from '../../../src/api/rollout-progress.ts';
import { type Intent } from '../../../src/api/rollout-status.ts';
import type { UnreportedStep } from '../../../src/controller/facts/last-step.ts';
import { changesOf } from '../../../src/controller/status/changes.ts';
import {
  type MemberContext,
  memberProgressOf,
  type SeenMember,
} from '../../../src/controller/status/member-progress.ts';
import type { MemberFacts, StatefulSetFacts } from '../../../src/core/snapshot.ts';
import { revisionHashLabel } from '../../../src/moco/names.ts';
import type { OwnWrite } from '../../../src/objects/execute.ts';
import { atWork, Bench, member, type Process } from '../bench.ts';
import { revisionAfter, revisionBefore } from '../moco-objects.ts';

const reported = ({ events }: Process): readonly (string | undefined)[] =>
  events.filter(({ reason }) => reason === 'UpdatedOutOfBand').map(({ related }) => related?.name);

const counted = async ({ registry }: Pick<Process, 'registry'>): Promise<number> => {
  const text = await registry.getSingleMetricAsString('moco_rollout_unplanned_updates_total');
  return Number(/ (\d+)$/m.exec(text)?.[1]);
};

describe('a member that starts at the update revision without a step', () => {
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

  it('is reported of no member of a cluster that was offline meanwhile', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = await bench.started();
    bench.changeCluster({ spec: { offline: true } });
    for (const ordinal of [0, 1, 2]) bench.removePod(ordinal);
    await program.work();
    bench.changeCluster({ spec: { offline: false } });
    await program.work();
    for (const ordinal of [0, 1, 2]) bench.replace(ordinal);
    await program.reportAll();
    expect(bench.status.rollout?.updatedOutOfBand).to.equal(undefined);
    expect([reported(program), await counted(program)]).to.deep.equal([[], 0]);
  });

  it('is recorded as held when its pod was created, and as started once its mysqld has, whatever its pod', async () => {
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

  it('is not recorded as held if nothing held it when its pod was created', async () => {
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
  const since = '2026-01-01T00:00:00Z';
  const seen = (ordinal: number, more: Partial<SeenMember> = {}): SeenMember => ({
    ordinal,
    updated: false,
    participating: true,
    state: 'participating',
    ...more,
  });
  const ended = (result: UnreportedStep['result']): UnreportedStep => ({
    lastStep: { step: 'evict', rule: 'ReplicaHealthy', pods: [member(2)], at: 'then', result },
    result,
    revision: revisionAfter,
    disrupted: 0,
    sparesSwitchover: false,
    demotion: null,
  });
  const quiet: MemberContext = {
    snapshot: { cluster: { offline: false }, members: [], statefulSet: { strategy: 'OnDelete' } as StatefulSetFacts },
    ended: null,
    ownWrites: [],
    intent: null,
    unresolved: null,
    now: '2026-01-01T00:01:00Z',
  };
  /** Of a rollout that goes on, with nothing more to happen than what is said. */
  const goesOn = (
    known: Partial<RolloutProgress>,
    members: readonly SeenMember[],
    more: Partial<Omit<MemberContext, 'snapshot'>> & { readonly uids?: Readonly<Record<number, string>> } = {},
  ) => {
    const { uids = {}, ...occasion } = more;
    const pods = Object.entries(uids).map(([ordinal, uid]) => ({ ordinal: Number(ordinal), uid }) as MemberFacts);
    const snapshot = { ...quiet.snapshot, members: pods };
    return memberProgressOf(known, null, members, { ...quiet, snapshot, ...occasion });
  };
  /** Who waits when a rollout begins after another one, of which these waited. */
  const begins = (waiting: readonly number[] | null, one: Partial<SeenMember>, more: Partial<MemberContext> = {}) => {
    const earlier = waiting && ({ revision: 'earlier', waiting } as RolloutProgress);
    return memberProgressOf({}, { earlier }, [seen(0), seen(1, one)], { ...quiet, ...more }).waiting;
  };
  const known = { waiting: [0, 1], unavailableMembers: [{ ordinal: 2, since }] };
  const of = (two: Partial<SeenMember>) => [seen(0), seen(1), seen(2, two)];

  it('awaits a restored member until it has another pod', () => {
    const taken = { ordinal: 1, since, uid: 'uid-1', restores: true };
    const awaits = (uids: Readonly<Record<number, string>>) =>
      goesOn({ waiting: [], unavailableMembers: [taken] }, [seen(0), seen(1)], { uids }).unavailableMembers;
    expect(awaits({ 1: 'uid-1' })).to.deep.equal([taken]);
    expect(awaits({})).to.deep.equal([taken]);
    expect(awaits({ 1: 'another' })).to.equal(undefined);
  });

  it('is reset for a member that is stale in another pod than the one that a step deleted, even if that one goes', () => {
    const unavailableMembers = [{ ordinal: 2, since, uid: 'taken' }];
    const after = (uid: string, two: Partial<SeenMember> = {}) =>
      goesOn({ ...known, unavailableMembers }, of(two), { uids: { 2: uid } }).waiting;
    expect(after('taken')).to.deep.equal([0, 1]);
    expect(after('another')).to.deep.equal([0, 1, 2]);
    expect(after('another', { state: 'terminating' })).to.deep.equal([0, 1, 2]);
    expect(after('another', { state: 'terminating', updated: true })).to.deep.equal([0, 1]);
  });

  it('begins with those whose pods are terminating at that moment, unless a step of the previous rollout has deleted them', () => {
    for (const state of ['terminating', 'missing'] as const) {
      expect(begins(null, { state }), state).to.deep.equal([0, 1]);
      expect(begins([1], { state }), state).to.deep.equal([0, 1]);
      expect(begins([0], { state }), state).to.deep.equal([0]);
    }
    expect(begins([0], { state: 'terminating', revision: 'earlier' })).to.deep.equal([0, 1]);
  });

  it('begins with them as well when a mode ends in which that is not recorded, unless a step has deleted them', () => {
    const after = (recorded: Partial<RolloutProgress>) =>
      goesOn(recorded, [seen(0), seen(1, { state: 'terminating' })]).waiting;
    expect(after({})).to.deep.equal([0, 1]);
    expect(after({ waiting: [0] })).to.deep.equal([0]);
    expect(after({ unavailableMembers: [{ ordinal: 1, since: 'then' }] })).to.deep.equal([0]);
  });

  const takes: Readonly<Record<Exclude<Intent['step'], 'none'>, boolean>> = {
    delete: true,
    evict: true,
    restore: true,
    setPartition: true,
    updateInPlace: true,
    resizeInPlace: false,
    demote: false,
    undemote: false,
    setStrategy: false,
    release: false,
    promoteRevision: false,
  };
  for (const [step, isTaken] of Object.entries(takes)) {
    it(`begins ${isTaken ? 'without' : 'with'} a member that is about to be disrupted, or may have been: ${step}`, () => {
      const intent: Intent = {
        id: 'i',
        holder: 'h',
        step: step as Intent['step'],
        rule: 'ReplicaHealthy',
        revision: 'earlier',
        at: 'then',
        pods: [{ name: member(1), uid: 'uid-1', resourceVersion: '1' }],
      };
      expect(begins([0], {}, { intent })).to.deep.equal(isTaken ? [0] : [0, 1]);
      expect(begins([0], {}, { unresolved: intent })).to.deep.equal(isTaken ? [0] : [0, 1]);
    });
  }

  it('is reset for a member that is unchanged after a step that did not happen', () => {
    for (const result of ['refused', 'conflict'] as const) {
      expect(goesOn(known, of({}), { ended: ended(result) }), result)
        .to.include({ unavailableMembers: undefined })
        .and.to.have.deep.property('waiting', [0, 1, 2]);
    }
  });

  const ownWrites = [{ what: 'eviction', uid: 'u', expected: 'gone', sinceMilliseconds: 0 }] as const;
  const happened: Readonly<
    Record<string, readonly [UnreportedStep['result'], Partial<SeenMember>, (readonly OwnWrite[])?]>
  > = {
    'after a step that has happened': ['done', {}],
    'after a step with an unknown outcome': ['unknown', {}],
    'while it is terminating': ['conflict', { state: 'terminating' }],
    'while it is missing': ['conflict', { state: 'missing' }],
    'once it is updated, and not yet participating': ['conflict', { updated: true, participating: false }],
    'while an own write is not seen yet': ['conflict', {}, ownWrites],
  };
  for (const [when, [result, two, pending = []]] of Object.entries(happened)) {
    it(`is not reset ${when}`, () => {
      expect(goesOn(known, of(two), { ended: ended(result), ownWrites: pending })).to.deep.include(known);
    });
  }
});

describe('members that were updated without a step', () => {
  const at = '2026-01-01T00:00:00Z';
  const rollout = (startedAt: string, updatedOutOfBand: readonly number[]): RolloutProgress => ({
    ...newRollout('r', startedAt),
    updatedOutOfBand,
  });
  for (const [what, before, after, expected] of [
    ['one more', rollout('a', [1]), rollout('a', [1, 2]), [2]],
    ['the same', rollout('a', [1]), rollout('a', [1]), []],
    ['one of a rollout that is over', undefined, null, []],
    ['one of an earlier rollout of the same revision', rollout('b', [1]), rollout('a', [1]), [1]],
    ['one at the first observation of the rollout', undefined, rollout('a', [0]), [0]],
  ] as const) {
    it(`are reported once: ${what}`, () => {
      expect(changesOf(before, after, null, false, at).outOfBand).to.deep.equal(expected);
    });
  }
});
