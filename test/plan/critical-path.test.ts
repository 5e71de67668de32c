import { expect } from 'chai';
import { criticalPath, type PlannedCluster, type Span } from '../../src/plan/fleet-plan.ts';

/** A cluster that does these things from 0 on, each for so many seconds. */
function cluster(name: string, ...does: readonly (readonly [Span['what'], number])[]): PlannedCluster {
  let at = 0;
  const spans = does.map(([what, seconds]): Span => {
    at += seconds;
    return { what, from: at - seconds, until: at };
  });
  const beginsAt = spans.find(({ what }) => what === 'Updating')?.from ?? null;
  const place = { namespace: 'db', sequence: null, stage: null, mode: 'OnDelete' as const };
  return { ...place, name, beginsAt, endsAt: at, spans, stop: null, memberSeconds: 1, measured: true };
}

const causes = (...clusters: readonly PlannedCluster[]) =>
  criticalPath({ from: 0, clusters, recovering: [] }).map((one) => [one.what, one.seconds, one.clusters]);

describe('what makes a plan long', () => {
  it('is what the last cluster does and waits for', () => {
    const short = cluster('a', ['Updating', 10]);
    const long = cluster('b', ['OutsideMaintenanceWindow', 100], ['Updating', 20], ['Blackout', 5], ['Updating', 20]);
    expect(causes(short, long)).to.deep.equal([
      ['OutsideMaintenanceWindow', 100, 1],
      ['Updating', 40, 1],
      ['Blackout', 5, 1],
    ]);
  });

  it('goes over to the cluster that another one waits for', () => {
    const first = cluster('a', ['AwaitingSettle', 30], ['Updating', 70]);
    const second = cluster('b', ['AwaitingStageSlot', 100], ['Updating', 50]);
    const third = cluster('c', ['AwaitingEarlierStage', 150], ['AwaitingSoak', 600], ['Updating', 40]);
    expect(causes(third, second, first)).to.deep.equal([
      ['AwaitingSoak', 600, 1],
      ['Updating', 160, 3],
      ['AwaitingSettle', 30, 1],
    ]);
  });

  it('is a wait itself if no cluster ended that it was for', () => {
    expect(causes(cluster('a', ['AwaitingFleetSlot', 40], ['Updating', 10]))).to.deep.equal([
      ['AwaitingFleetSlot', 40, 1],
      ['Updating', 10, 1],
    ]);
  });

  it('counts the time after the end that a cluster waited for', () => {
    const first = cluster('a', ['Updating', 70]);
    const second = cluster('b', ['AwaitingFleetSlot', 100], ['Updating', 10]);
    expect(causes(first, second)).to.deep.equal([
      ['Updating', 80, 2],
      ['AwaitingFleetSlot', 30, 1],
    ]);
  });

  it('names the cluster that accounts for most of it', () => {
    const first = cluster('a', ['Updating', 70]);
    const second = cluster('b', ['AwaitingFleetSlot', 100], ['Updating', 10]);
    const longest = criticalPath({ from: 0, clusters: [first, second], recovering: [] }).map((cause) => cause.longest);
    expect(longest).to.deep.equal(['db/a', 'db/b']);
  });

  it('is nothing where nothing ends', () => {
    expect(causes()).to.deep.equal([]);
    expect(causes({ ...cluster('a', ['Updating', 1]), endsAt: null })).to.deep.equal([]);
  });
});
