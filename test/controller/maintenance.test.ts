import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { dailyWindow } from '../support/daily-window.ts';
import { Bench, begin, member, type Process } from './bench.ts';

const hour = 3_600_000;

/** Opens every day at that moment of the bench's clock. */
const windowAt = (bench: Bench, fromNow: number) => dailyWindow(bench.world.wall() + fromNow, '1h');

const read = (bench: Bench): MySQLRollout | undefined =>
  bench.server.all(rolloutKind).map((raw) => raw as unknown as MySQLRollout)[0];

const evicted = (bench: Bench): readonly string[] =>
  bench.server.writes.flatMap(({ path }) => /pods\/([^/]+)\/eviction$/.exec(path)?.[1] ?? []);

async function metrics({ registry }: Process): Promise<string> {
  return await registry.metrics();
}

describe('a cluster with maintenance windows', () => {
  it('waits for the window, says when it opens, and continues by itself at that time', async () => {
    const [bench, program] = begin();
    bench.setting({ maintenanceWindows: [windowAt(bench, 2 * hour)] });
    await program.reportAll();
    const { hold, conditions } = read(bench)?.status ?? {};
    const opensAt = Date.parse(hold?.opensAt ?? '');
    expect(hold?.rule).to.equal('OutsideMaintenanceWindow');
    expect(opensAt - bench.world.wall()).to.be.within(hour, 2 * hour);
    expect(hold?.message).to.contain(hold?.opensAt);
    expect(conditions?.find(({ type }) => type === 'Stalled')?.status).to.equal('False');
    const series = 'moco_rollout_maintenance_opens_timestamp_seconds{namespace="default",name="test"}';
    expect(await metrics(program)).to.contain(`${series} ${opensAt / 1000}`);
    expect(program.events.map(({ reason, note }) => [reason, note])).to.deep.include([hold?.rule, hold?.message]);
    while (bench.world.wall() < opensAt) {
      const { requeueAfterMilliseconds = Number.NaN } = await program.turn();
      expect(evicted(bench)).to.deep.equal([]);
      expect(bench.world.wall() + requeueAfterMilliseconds).to.be.at.most(opensAt + 1);
      bench.world.freeze(requeueAfterMilliseconds);
    }
    await program.work();
    expect(evicted(bench)).to.deep.equal([member(2)]);
    expect(await metrics(program)).to.not.contain(series);
  });

  it('is reported if no window of the next 30 days is long enough, also while no member is stale', async () => {
    const bench = new Bench({ stale: false });
    const program = bench.start();
    bench.setting({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: '5m' }] });
    await program.work();
    const series = 'moco_rollout_no_maintenance_window{namespace="default",name="test"} 1';
    expect(await metrics(program)).to.contain(series);
    bench.setting({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: '1h' }] });
    await program.work();
    expect(await metrics(program)).to.not.contain(series);
  });
});
