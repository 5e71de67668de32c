import { expect } from 'chai';
import { type MaintenanceSettings, noMaintenance } from '../../../src/api/maintenance-settings.ts';
import { type HistoryEntry, newRollout } from '../../../src/api/rollout-progress.ts';
import { type RolloutStatus } from '../../../src/api/rollout-status.ts';
import {
  type MeasuredMembers,
  maintenanceFacts,
  measuredMembers,
} from '../../../src/controller/facts/maintenance-facts.ts';

const day = 86_400_000;
const now = Date.parse('2026-01-02T03:00:00Z');
const nightly = { schedule: '0 1 * * *', duration: '4h' };

const factsAt = (settings: Partial<MaintenanceSettings>, at = now, status: RolloutStatus = {}) =>
  maintenanceFacts({ ...noMaintenance, ...settings }, status, at);

const windowsAt = (windows: MaintenanceSettings['maintenanceWindows'], at = now) =>
  factsAt({ maintenanceWindows: windows }, at)?.windows?.map(({ from, until }) => [from.at, until.at]) ?? null;

describe('the maintenance windows of a cluster', () => {
  it('are none unless some are set', () => {
    expect(factsAt({})).to.equal(null);
    expect(factsAt({ expectedMemberSeconds: 60 })).to.equal(null);
  });

  it('begin with the one that is open', () => {
    const windows = factsAt({ maintenanceWindows: [nightly] })?.windows ?? [];
    expect(windows[0]).to.deep.equal({
      from: { inSeconds: -7200, at: '2026-01-02T01:00:00Z' },
      until: { inSeconds: 7200, at: '2026-01-02T05:00:00Z' },
    });
    expect(windows[1]?.from).to.deep.equal({ inSeconds: 79_200, at: '2026-01-03T01:00:00Z' });
  });

  it('are not the windows for restarts, which are read alike', () => {
    const facts = factsAt({ restartWindows: [nightly] });
    expect(facts?.windows).to.equal(null);
    expect(facts?.restartWindows?.[0]).to.deep.equal({
      from: { inSeconds: -7200, at: '2026-01-02T01:00:00Z' },
      until: { inSeconds: 7200, at: '2026-01-02T05:00:00Z' },
    });
    expect(factsAt({ maintenanceWindows: [nightly] })?.restartWindows).to.equal(null);
  });

  it('include the one that began on another day', () => {
    const saturday = { schedule: '0 22 * * SAT', duration: '6h', timeZone: 'Asia/Tokyo' };
    expect(windowsAt([saturday], Date.parse('2026-01-03T18:00:00Z'))?.[0]).to.deep.equal([
      '2026-01-03T13:00:00Z',
      '2026-01-03T19:00:00Z',
    ]);
  });

  it('leave out those that are over', () => {
    const at = Date.parse('2026-01-02T05:00:00Z');
    expect(windowsAt([nightly], at - 1)?.[0]?.[0]).to.equal('2026-01-02T01:00:00Z');
    expect(windowsAt([nightly], at)?.[0]?.[0]).to.equal('2026-01-03T01:00:00Z');
  });

  it('are as long on the days on which the clocks change', () => {
    const berlin = { ...nightly, timeZone: 'Europe/Berlin' };
    expect(windowsAt([berlin], Date.parse('2026-03-29T00:00:00Z'))?.[0]).to.deep.equal([
      '2026-03-29T00:00:00Z',
      '2026-03-29T04:00:00Z',
    ]);
    expect(windowsAt([berlin], Date.parse('2026-10-25T00:00:00Z'))?.[0]).to.deep.equal([
      '2026-10-24T23:00:00Z',
      '2026-10-25T03:00:00Z',
    ]);
  });

  it('are one where they meet or overlap', () => {
    const windows = [nightly, { schedule: '0 5 * * *', duration: '1h' }, { schedule: '30 2 * * *', duration: '30m' }];
    expect(windowsAt(windows)?.[0]).to.deep.equal(['2026-01-02T01:00:00Z', '2026-01-02T06:00:00Z']);
    expect(windowsAt(windows)?.[1]?.[0]).to.equal('2026-01-03T01:00:00Z');
  });

  it('are known for 30 days at any time', () => {
    for (const at of [now, now + day - 1, now + 9 * day, now - 9 * day]) {
      const last = windowsAt([nightly], at)?.at(-1)?.[0] ?? '';
      expect(Date.parse(last) - at, new Date(at).toISOString()).to.be.above(29 * day);
    }
  });

  it('may be none for 30 days', () => {
    expect(windowsAt([{ schedule: '0 1 1 7 *', duration: '4h' }])).to.deep.equal([]);
  });
});

describe('a set of maintenance windows that takes the longest to compute', () => {
  const heavy = (minute: number) =>
    Array.from({ length: 8 }, (_, index) => ({
      schedule: `${(minute + 6 * index) % 60} 0,4,8,12,16,20 * * *`,
      duration: '5m',
    }));

  it('is known for 400 openings and no more, from the current one on', () => {
    const windows = windowsAt(heavy(3)) ?? [];
    expect(windows).to.have.lengthOf(400);
    expect(windows[0]).to.deep.equal(['2026-01-02T04:03:00Z', '2026-01-02T04:08:00Z']);
    expect(Date.parse(windows.at(-1)?.[0] ?? '')).to.be.greaterThan(now + 7 * day);
  });

  it('is known for a month where it opens that often by few windows', () => {
    const windows = windowsAt(heavy(4).slice(0, 2)) ?? [];
    expect(Date.parse(windows.at(-1)?.[0] ?? '')).to.be.greaterThan(now + 30 * day);
  });
});

describe('the blackouts of a cluster', () => {
  const blackout = { from: '2026-01-01T00:00:00+09:00', until: '2026-01-02T12:00:00+09:00', reason: 'New Year' };

  it('are those that are not over', () => {
    expect(factsAt({ blackouts: [blackout] }, now - 1)?.blackouts).to.deep.equal([
      {
        from: { inSeconds: -129_599.999, at: '2025-12-31T15:00:00Z' },
        until: { inSeconds: 0.001, at: '2026-01-02T03:00:00Z' },
        reason: 'New Year',
      },
    ]);
    expect(factsAt({ blackouts: [blackout] })).to.equal(null);
  });

  it('need no windows', () => {
    expect(factsAt({ blackouts: [blackout] }, now - 1)?.windows).to.equal(null);
  });
});

describe('the expected time of a member', () => {
  const each = (...seconds: readonly number[]) => ({
    memberDurations: seconds.map((one, ordinal) => ({ ordinal, seconds: one })),
  });
  const past = (outcome: string, more: object): HistoryEntry => ({
    revision: 'a',
    startedAt: '',
    finishedAt: '',
    disruptions: 3,
    switchovers: 1,
    outcome,
    ...more,
  });
  const rollout = { ...newRollout('b', ''), ...each(900, 10) };
  const cases: Readonly<Record<string, readonly [RolloutStatus, MeasuredMembers | null]>> = {
    'is a setting before the first rollout': [{}, null],
    'is a setting after a rollout that measured nothing': [{ history: [past('Complete', {})] }, null],
    'is a setting after one that did not complete': [{ history: [past('Superseded', each(5))] }, null],
    'is a setting while none is measured': [{ rollout: newRollout('b', '') }, null],
    'is the median of the last complete rollout': [
      {
        history: [past('Complete', each(1, 1, 1)), past('Complete', each(40, 18_000, 50)), past('Superseded', each(1))],
      },
      { seconds: 50, members: 3 },
    ],
    'is the median of the last complete rollout and of this one': [
      { history: [past('Complete', each(20, 30, 40))], rollout },
      { seconds: 30, members: 5 },
    ],
    'is not lost by rollouts that update every member in place': [
      { history: [past('Complete', each(20)), past('Complete', {}), past('Complete', { updatedInPlace: [0, 1, 2] })] },
      { seconds: 20, members: 1 },
    ],
  };
  for (const [sentence, [status, measured]] of Object.entries(cases)) {
    it(sentence, () => {
      expect(measuredMembers(status)).to.deep.equal(measured);
      const facts = factsAt({ maintenanceWindows: [nightly], expectedMemberSeconds: 77 }, now, status);
      expect(facts?.memberSeconds).to.equal(measured?.seconds ?? 77);
    });
  }
});
