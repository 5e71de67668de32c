import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { answer, status } from '../kube/fake-world.ts';
import { Bench, type Process } from './bench.ts';
import { completion } from './whole-rollout.ts';

const eviction = /\/eviction$/;
const rolloutStatus = /mysqlrollouts\/test\/status$/;
const denied = (code: number, reason: string) => () =>
  answer(code, status(code, reason, { message: 'denied by policy no-evictions' }));

/** A cluster that was complete, and whose template has changed since. */
function stale(): Bench {
  const bench = new Bench();
  const conditions = [{ type: 'moco-rollout.io/RolloutComplete', status: 'True', observedGeneration: 1 }];
  const before = bench.server.get(clusterKind, 'test')['status'] as { conditions: object[] };
  bench.changeCluster({ status: { conditions: [...before.conditions, ...conditions] } });
  return bench;
}

/** Passes as often as the work queue would, which comes back after a second where one fails. */
async function pass(bench: Bench, program: Process, seconds: number): Promise<number> {
  const { world } = bench;
  const end = world.monotonic() + seconds * 1000;
  let passes = 0;
  for (; world.monotonic() < end; passes += 1) {
    program.sync();
    const { requeueAfterMilliseconds = 60_000 } = await program
      .pass()
      .catch(() => ({ requeueAfterMilliseconds: 1000 }));
    world.freeze(Math.max(1, Math.min(requeueAfterMilliseconds, end - world.monotonic())));
  }
  return passes;
}

/** What people are told after a while: the condition, the metrics, and the Events. */
async function reported(bench: Bench, { registry, events }: Process) {
  const metric = async (name: string): Promise<string> => (await registry.getSingleMetricAsString(name)).trim();
  return {
    complete: completion(bench)?.status,
    stale: /\} (\d+)$/.exec(await metric('moco_rollout_stale_members'))?.[1],
    rule: /rule="(\w+)"/.exec(await metric('moco_rollout_hold_since_timestamp_seconds'))?.[1],
    events: events.map(({ type, reason }) => `${type} ${reason}`),
  };
}
const told10 = (rule: string, type = 'Warning') => ({
  complete: 'False',
  stale: '3',
  rule,
  events: [`${type} ${rule}`],
});

describe('every pass reports', () => {
  it('that the API server is too slow if each confirmation takes more than two seconds for half an hour', async () => {
    const bench = stale();
    const program = bench.start();
    bench.server.always('GET', /mysqlclusters\/test$/, (_, carryOut) => {
      bench.world.freeze(2100);
      return carryOut();
    });
    const passes = await pass(bench, program, 1800);
    expect(await reported(bench, program)).to.deep.equal(told10('ConfirmationTooSlow', 'Normal'));
    expect(bench.status.hold?.rule).to.equal('ConfirmationTooSlow');
    expect(bench.steps).to.deep.equal([]);
    expect(passes, 'every 30 s, and a few').to.be.below(150);
    bench.server.calm();
    await pass(bench, program, 31);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  for (const [code, reason] of [
    [403, 'Forbidden'],
    [500, 'InternalError'],
  ] as const) {
    it(`that evictions have been refused with ${code} for an hour, and by whom`, async () => {
      const bench = stale();
      const program = bench.start();
      bench.server.always('POST', eviction, denied(code, reason));
      await pass(bench, program, 3600);
      expect(await reported(bench, program)).to.deep.equal(told10('StepRefused'));
      expect(bench.status.hold?.message).to.contain('denied by policy no-evictions');
      expect(bench.status.conditions?.find(({ type }) => type === 'Stalled')?.status).to.equal('True');
      bench.server.calm();
      await pass(bench, program, 31);
      expect(bench.steps.at(-1)).to.equal('evict 2');
    });
  }

  const broken = denied(500, 'InternalError');
  const forbidden = denied(403, 'Forbidden');
  type Refused = Parameters<Bench['server']['always']>;
  const refusals: Readonly<Record<string, readonly Refused[]>> = {
    'that a broken webhook keeps it from settling its own step': [
      ['POST', eviction, broken],
      ['PATCH', /pods/, broken],
    ],
    'that what is to be confirmed may not be read': [['GET', /poddisruptionbudgets/, forbidden]],
  };
  for (const [what, requests] of Object.entries(refusals)) {
    it(what, async () => {
      const bench = stale();
      const program = bench.start();
      for (const request of requests) bench.server.always(...request);
      await pass(bench, program, 60);
      expect(await reported(bench, program)).to.deep.equal(told10('StepRefused'));
      expect(bench.status.hold?.rule).to.equal('StepRefused');
      bench.server.calm();
      await pass(bench, program, 31);
      expect(bench.steps.at(-1)).to.equal('evict 2');
    });
  }

  const unknownField = { message: 'strict decoding error: unknown field "status.hold"' };
  const unwritable: Readonly<Record<string, readonly [rule: string, request: Refused]>> = {
    'the MySQLRollout cannot be written': ['StepRefused', ['PUT', rolloutStatus, forbidden]],
    'the CRD does not know the status': [
      'DefinitionOutdated',
      ['PUT', rolloutStatus, () => answer(400, status(400, 'BadRequest', unknownField))],
    ],
    'no MySQLRollout can be created': ['StepRefused', ['POST', /mysqlrollouts$/, forbidden]],
  };
  for (const [what, [rule, request]] of Object.entries(unwritable)) {
    it(`to the MySQLCluster, metrics and Events if ${what}`, async () => {
      const bench = stale();
      if (request[0] === 'POST') bench.server.remove(rolloutKind, 'test');
      const program = bench.start();
      bench.server.always(...request);
      await pass(bench, program, 60);
      expect(await reported(bench, program)).to.deep.equal(told10(rule));
      expect(bench.steps).to.deep.equal([]);
    });
  }

  it('how long that has been so, whatever is tried in between', async () => {
    const bench = stale();
    const program = bench.start();
    const begun = bench.world.wall();
    bench.server.always('POST', eviction, denied(403, 'Forbidden'));
    await pass(bench, program, 600);
    expect(Date.parse(bench.status.hold?.since ?? '')).to.be.closeTo(begun, 1000);
  });
});
