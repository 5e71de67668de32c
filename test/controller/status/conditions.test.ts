import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../../src/api/rollout.ts';
import { noFleetLimits } from '../../../src/controller/fleet/fleet-limits.ts';
import { atWork, Bench, begin, type Process } from '../bench.ts';
import { kstatus } from '../kstatus.ts';
import { begunAt, rollOut } from '../whole-rollout.ts';

const read = (bench: Bench): MySQLRollout => bench.server.get(rolloutKind, 'test') as unknown as MySQLRollout;

/** What kstatus makes of it, and the reason that the condition behind it gives. */
function seen(bench: Bench): readonly [string, string | undefined] {
  const rollout = read(bench);
  const status = kstatus(rollout);
  const type = status === 'Failed' ? 'Stalled' : 'Reconciling';
  return [status, rollout.status?.conditions?.find((condition) => condition.type === type)?.reason];
}

type Stage = readonly [
  happens: (bench: Bench, program: Process) => void | Promise<void>,
  status: string,
  reason: string,
  phase: string,
];

const atItsPrimary = (bench: Bench): void => {
  bench.replace(2);
  bench.replace(1);
  bench.setting({ primaryUpdatePolicy: 'Manual' });
};
const atItsFirst = (does: 'ImagePullBackOff' | 'starting') => async (bench: Bench, program: Process) => {
  await program.work();
  bench.replace(2);
  bench.mysqld(2, does);
};

const stages: Readonly<Record<string, Stage>> = {
  'a rollout in progress': [() => {}, 'InProgress', 'Progressing', 'Progressing'],
  'a complete rollout': [rollOut, 'Current', 'UpToDate', 'UpToDate'],
  'a paused one': [(bench) => bench.setting({ paused: true }), 'Current', 'Paused', 'Paused'],
  'one that waits for approval': [atItsPrimary, 'Current', 'AwaitingApproval', 'AwaitingApproval'],
  'a finished canary': [
    (bench) => {
      bench.replace(2);
      bench.setting({ partition: 2 });
    },
    'Current',
    'PartitionReached',
    'PartitionReached',
  ],
  'a short hold': [atItsFirst('starting'), 'InProgress', 'Progressing', 'Progressing'],
  'a revision that fails': [atItsFirst('ImagePullBackOff'), 'Failed', 'UpdateRevisionFailing', 'Failing'],
  'one past its deadline': [
    async (bench, program) => {
      await atItsFirst('starting')(bench, program);
      await program.work();
      bench.world.freeze(600_000);
    },
    'Failed',
    'ProgressDeadlineExceeded',
    'Blocked',
  ],
  'one whose node does not answer': [
    async (bench, program) => {
      await atItsFirst('starting')(bench, program);
      bench.mysqld(2, 'ready');
      bench.changePod(2, { status: { conditions: [{ type: 'Ready', status: 'False' }] } });
      await program.work();
      expect(bench.status.rollout?.awaitsNodes).to.equal(true);
      bench.world.freeze(600_000);
    },
    'Failed',
    'ProgressDeadlineExceeded',
    'Blocked',
  ],
  'settings that contradict each other': [
    (bench) => bench.setting({ minReadySeconds: 60, progressDeadlineSeconds: 30 }),
    'Failed',
    'SettingsInvalid',
    'Blocked',
  ],
};

describe('the kstatus of a rollout', () => {
  for (const [what, [happens, status, reason, phase]] of Object.entries(stages)) {
    it(`${what} is ${status} with the reason ${reason}`, async () => {
      const [bench, program] = begin();
      await happens(bench, program);
      await program.work();
      expect(seen(bench)).to.deep.equal([status, reason]);
      const { conditions = [], phase: shown } = bench.status;
      expect(shown).to.equal(phase);
      expect(conditions.map(({ type }) => type)).to.deep.equal(['Ready', 'Reconciling', 'Stalled', 'PolicyInForce']);
      expect(conditions[0]?.status).to.equal(reason === 'UpToDate' ? 'True' : 'False');
      for (const one of conditions) expect(one.reason).to.match(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
    });
  }

  for (const [rule, limits] of Object.entries({
    AwaitingFleetSlot: { maxConcurrentRollouts: 1, disruptionIntervalSeconds: 0 },
    AwaitingFleetInterval: { maxConcurrentRollouts: 0, disruptionIntervalSeconds: 3600 },
  })) {
    it(`a wait for other clusters of the fleet (${rule}) is InProgress`, async () => {
      const [bench, program] = begin({}, { ...noFleetLimits, ...limits });
      const metadata = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '1' };
      const at = bench.now;
      const rollout = begunAt(at);
      const lastStep = { step: 'evict', rule: 'ReplicaHealthy', pods: ['moco-b-2'], at, result: 'done' } as const;
      program.fleet.note('a/b', { apiVersion: 'v1', kind: 'x', metadata, status: { rollout, lastStep } });
      await program.work();
      expect(seen(bench)).to.deep.equal(['InProgress', rule]);
    });
  }

  it('a rollout that proceeds and waits again gets its full deadline again, also after a restart of the program', async () => {
    const [bench, program] = await atWork();
    bench.replace(2, { ready: false });
    bench.setting({ paused: true });
    await program.work();
    bench.world.freeze(3_600_000);
    bench.setting({ paused: false });
    await program.work();
    bench.world.freeze(500_000);
    const next = await bench.started();
    expect(seen(bench)).to.deep.equal(['InProgress', 'Progressing']);
    await next.workAfter(100_000);
    expect(seen(bench)).to.deep.equal(['Failed', 'ProgressDeadlineExceeded']);
  });

  it('a spec that was not observed yet is InProgress, whatever the conditions are', async () => {
    const bench = new Bench({ stale: false });
    await bench.start().work();
    expect(kstatus(read(bench))).to.equal('Current');
    bench.changeRollout({ metadata: { generation: 7 } });
    expect(kstatus(read(bench))).to.equal('InProgress');
  });

  it('a rollout that was paused for longer than its deadline is InProgress as soon as it resumes', async () => {
    const [bench, program] = begin();
    bench.setting({ paused: true });
    await program.work();
    await program.workAfter(3_600_000);
    bench.setting({ paused: false });
    const said = new Set<string>();
    for (let passes = 0; passes < 5; passes += 1) {
      await program.turn();
      said.add(seen(bench)[0]);
      bench.world.freeze(500);
    }
    expect([...said]).to.deep.equal(['InProgress']);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('a rollout past its deadline stays Failed until it proceeds, also after a restart of the program', async () => {
    const [bench, program] = await atWork();
    bench.replace(2, { ready: false });
    await program.work();
    await program.workAfter(600_000);
    expect(seen(bench)[0]).to.equal('Failed');
    const since = read(bench).status?.conditions?.find(({ type }) => type === 'Stalled')?.lastTransitionTime;
    bench.world.freeze(3_600_000);
    const next = await bench.started();
    expect(seen(bench)).to.deep.equal(['Failed', 'ProgressDeadlineExceeded']);
    expect(read(bench).status?.conditions?.find(({ type }) => type === 'Stalled')?.lastTransitionTime).to.equal(since);
    bench.mysqld(2, 'ready');
    await next.work();
    expect(seen(bench)[0]).to.equal('InProgress');
  });
});
