import { expect } from 'chai';
import { events } from '../../../src/kube/resource.ts';
import { Bench } from '../bench.ts';

const failedCreate = (name: string, note: string, deprecatedLastTimestamp: string): object => ({
  metadata: { name },
  reason: 'FailedCreate',
  note,
  deprecatedLastTimestamp,
});

/** One member is missing, and has been for long enough that people should know. */
async function missing(program: ReturnType<Bench['start']>): Promise<void> {
  await program.work();
  await program.workAfter(10_000);
}

describe('a pod that the StatefulSet controller cannot create', () => {
  it('is shown with the newest Event of the StatefulSet about it', async () => {
    const bench = new Bench();
    bench.removePod(2);
    bench.server.create(events, failedCreate('a', 'exceeded quota', '2026-07-01T11:00:00Z'));
    bench.server.create(events, failedCreate('b', 'denied by a policy', '2026-07-01T11:00:05Z'));
    const program = bench.start();
    await missing(program);
    expect(bench.status.hold).to.deep.include({
      rule: 'MemberMissing',
      message: 'moco-test-2 does not exist: denied by a policy',
    });
    bench.server.create(events, failedCreate('c', 'exceeded quota again', '2026-07-01T12:00:00Z'));
    await program.workAfter(5000);
    expect(bench.status.hold?.message).to.contain('denied by a policy');
    bench.world.freeze(30_000);
    await program.reportAll();
    expect(bench.status.hold?.message).to.contain('exceeded quota again');
  });

  it('is shown without an Event if there is none or Events cannot be read', async () => {
    const bench = new Bench();
    bench.removePod(2);
    bench.server.refuse('GET', /events/, 403, 'Forbidden');
    await missing(bench.start());
    expect(bench.status.hold).to.deep.include({ rule: 'MemberMissing', message: 'moco-test-2 does not exist' });
  });

  it('costs no request while it is likely to pass by itself', async () => {
    const bench = new Bench();
    bench.removePod(2);
    await bench.started();
    expect(bench.server.reads.filter((path) => path.includes('events'))).to.deep.equal([]);
  });
});
