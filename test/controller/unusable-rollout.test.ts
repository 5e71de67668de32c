import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { atWork, Bench, begin, type Process } from './bench.ts';
import { appliedBy, revisionAfter } from './moco-objects.ts';
import { completion } from './whole-rollout.ts';

const copied = { ownerReferences: [{ kind: clusterKind.kind, name: 'other', uid: 'uid-of-other', controller: true }] };
const kept = { deletionTimestamp: '2026-07-01T12:00:00Z', finalizers: ['example.com/keep'] };

/** What makes a MySQLRollout unusable, and what is said of it. */
const problems = {
  RolloutNotOwned: [
    copied,
    'the MySQLRollout belongs to a different MySQLCluster, other (uid uid-of-other): remove its ownerReferences to keep its spec, or delete it',
  ],
  RolloutTerminating: [
    kept,
    'the MySQLRollout is being deleted; these finalizers are blocking its removal: example.com/keep',
  ],
} as const;

/** A cluster whose rollout is complete, and then gets another revision. */
async function staleAfterCompletion(): Promise<[Bench, Process]> {
  const bench = new Bench({ stale: false });
  const program = await bench.started();
  expect(completion(bench)).to.include({ status: 'True' });
  return [bench, program];
}

function mocoApplies(bench: Bench): void {
  bench.changeCluster({ metadata: { generation: 2 } });
  bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
  const { status } = bench.server.get(clusterKind, 'test') as unknown as { status: object };
  bench.changeCluster({ status: appliedBy(status as never, 2) });
}

async function seen(program: Process): Promise<void> {
  await program.turn();
}

for (const [rule, [metadata, message]] of Object.entries(problems)) {
  describe(`a cluster whose MySQLRollout is unusable (${rule})`, () => {
    it('is reported after ten seconds in status, condition, Event and metrics, and loses no member', async () => {
      const [bench, program] = await staleAfterCompletion();
      bench.changeRollout({ metadata });
      mocoApplies(bench);
      await program.work();
      await program.workAfter(10_000);
      expect(bench.status.hold).to.deep.include({ rule, message });
      const stalled = bench.status.conditions?.find(({ type }) => type === 'Stalled');
      expect(stalled).to.include({ status: 'True', reason: rule });
      expect(completion(bench)).to.include({ status: 'False', reason: rule });
      expect(program.events.at(-1)).to.deep.include({ type: 'Warning', reason: rule, note: message });
      const metrics = await program.registry.metrics();
      expect(metrics).to.match(new RegExp(`moco_rollout_hold_since_timestamp_seconds\\{[^}]*rule="${rule}"`));
      expect(metrics).to.match(/moco_rollout_stale_members\{[^}]*\} 3/);
      expect(bench.steps).to.deep.equal([]);
    });

    it('is not reported within the ten seconds that an ordinary deletion takes', async () => {
      const [bench, program] = await staleAfterCompletion();
      bench.changeRollout({ metadata });
      mocoApplies(bench);
      const writes = bench.server.writes.length;
      await seen(program);
      bench.world.freeze(9000);
      await seen(program);
      expect(bench.server.writes.length).to.equal(writes);
      expect(program.events).to.deep.equal([]);
    });

    it('keeps what its status records', async () => {
      const [bench, program] = await atWork();
      const { hold: _hold, conditions: _conditions, phase: _phase, ...before } = bench.status;
      expect(before.rollout?.revision).to.equal(revisionAfter);
      bench.changeRollout({ metadata });
      await seen(program);
      bench.world.freeze(10_000);
      await seen(program);
      expect(bench.status.hold?.rule).to.equal(rule);
      const { hold: _now, conditions: _said, phase: _is, ...after } = bench.status;
      expect(after).to.deep.equal(before);
    });

    it('loses no member if only the confirmation detects that', async () => {
      const [bench, program] = begin();
      program.sync();
      bench.changeRollout({ metadata });
      await program.pass();
      expect([bench.steps, bench.status.intent]).to.deep.equal([[], undefined]);
    });

    it('gets one status write', async () => {
      const [bench, program] = begin();
      bench.changeRollout({ metadata });
      await program.work();
      await program.workAfter(10_000);
      expect(bench.status.hold?.rule).to.equal(rule);
      const writes = bench.server.writes.length;
      for (const _ of [1, 2, 3]) {
        bench.world.freeze(60_000);
        await seen(program);
      }
      expect(bench.server.writes.length).to.equal(writes);
    });

    it('continues when that is over', async () => {
      const [bench, program] = begin();
      bench.changeRollout({ metadata });
      await program.work();
      await program.workAfter(10_000);
      if (rule === 'RolloutTerminating') bench.server.remove(rolloutKind, 'test');
      else bench.changeRollout({ metadata: { ownerReferences: [] } });
      await program.work();
      expect(bench.steps).to.deep.equal(['evict 2']);
      expect(bench.status.hold?.rule).to.not.equal(rule);
    });
  });
}
