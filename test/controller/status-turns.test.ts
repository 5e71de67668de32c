import { expect } from 'chai';
import { revisionHashLabel } from '../../src/moco/names.ts';
import { Bench, member, type Process } from './bench.ts';
import { revisionAfter, revisionBefore } from './moco-objects.ts';
import { rollOut, switchOver } from './whole-rollout.ts';

const told = ({ events }: Process): readonly (string | undefined)[] =>
  events.filter(({ reason }) => reason === 'UpdatedOutOfTurn').map(({ related }) => related?.name);

const counted = async ({ registry }: Process): Promise<number> => {
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
    await program.work();
    expect(await counted(program)).to.equal(1);
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
