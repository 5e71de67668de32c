import { expect } from 'chai';
import { rolloutKind as rollout } from '../../../src/api/rollout.ts';
import { answer, status } from '../../kube/fake-world.ts';
import { Bench } from '../bench.ts';

const wholeRollout = ['evict 2'];
const refusalMilliseconds = 30_000;

const recordedIntent = {
  id: 'before-1',
  holder: 'before',
  step: 'evict',
  rule: 'ReplicaHealthy',
  revision: 'moco-test-7966559688',
  at: '2026-07-01T11:59:59.000Z',
};

/** The API server with an older CRD, as Kubernetes 1.36 answers under strict validation. */
function refuse(bench: Bench, field: string): void {
  const sentence = `strict decoding error: unknown field "status.${field}"`;
  bench.server.always('PUT', /mysqlrollouts\/test\/status$/, ({ body = '' }, carryOut) => {
    const sent = JSON.parse(body) as { status: object };
    return field in sent.status ? answer(400, status(400, 'BadRequest', { message: sentence })) : carryOut();
  });
}

describe('a status that the CRD does not know', () => {
  for (const field of ['intent', 'rollout']) {
    it(`because of status.${field} has no step done, and is tried again after 30 s`, async () => {
      const bench = new Bench();
      refuse(bench, field);
      const program = await bench.started();
      await program.reportAll();
      expect(bench.steps).to.deep.equal([]);
      bench.server.calm();
      await program.workAfter(refusalMilliseconds);
      expect(bench.steps).to.deep.equal(wholeRollout);
    });
  }

  it('shows the hold in the MySQLRollout if the rest of the status is known', async () => {
    const bench = new Bench();
    refuse(bench, 'intent');
    await bench.start().work();
    expect(bench.status.hold?.rule).to.equal('DefinitionOutdated');
    expect(bench.status.hold?.message).to.contain('unknown field "status.intent"');
  });

  it('is written once in 30 s', async () => {
    const bench = new Bench();
    refuse(bench, 'phase');
    const program = await bench.started();
    const writes = (): number => bench.server.writes.filter(({ path }) => path.endsWith('/test/status')).length;
    const before = writes();
    for (const _ of [1, 2, 3]) await program.work();
    expect(writes()).to.equal(before);
    await program.workAfter(refusalMilliseconds);
    expect(writes()).to.be.greaterThan(before);
  });
});

describe('a recorded intent with too few fields', () => {
  it('is settled: its author has not sent the step', async () => {
    const bench = new Bench();
    bench.server.change(rollout, 'test', { status: { intent: recordedIntent } });
    await bench.start().reportAll();
    expect(bench.steps).to.deep.equal(wholeRollout);
    expect(bench.status.lastStep?.step).to.equal('evict');
  });
});
