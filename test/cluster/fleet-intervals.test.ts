import { expect } from 'chai';
import type { MySQLRollout } from '../../src/controller/rollout-resource.ts';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { milliseconds } from '../../src/moco/timestamp.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, scenarioDeadlineMilliseconds, useRollouts } from './rollout-fixture.ts';

const clusters = 3;
const intervalSeconds = { '--disruption-interval': 2, '--partition-update-interval': 4 } as const;
type Interval = keyof typeof intervalSeconds;

describe('the least time between two steps in a fleet', () => {
  const flags = Object.entries(intervalSeconds).map(([flag, seconds]) => `${flag}=${seconds}s`);
  const { stage, newCluster } = useRollouts(
    ownScene({ partitionDriver: 'own' }, ['--default-strategy=Partition', ...flags], (cluster) =>
      cluster.isByPartitions(),
    ),
  );

  /** What all clusters take of it, each by one step, when they have something to roll out at once. */
  async function rollOut(fleet: readonly RolloutCluster[], kind: string): Promise<readonly number[]> {
    await Promise.all(fleet.map((cluster) => cluster.setImage('mysql:8.4.9')));
    await Promise.all(fleet.map((cluster) => cluster.completes()));
    const audit = await stage().controlPlane.audit();
    const intents = new Map<string, number>();
    for (const { objectRef, requestObject, responseStatus } of audit) {
      if (objectRef?.resource !== 'mysqlrollouts' || responseStatus?.code !== 200) continue;
      if (!fleet.some(({ namespace }) => namespace === objectRef.namespace)) continue;
      const intent = (requestObject as MySQLRollout | undefined)?.status?.intent;
      if (intent?.step === kind) intents.set(intent.id, milliseconds(intent.at) ?? Number.NaN);
    }
    return [...intents.values()].toSorted((one, other) => one - other);
  }

  function expectApart(moments: readonly number[], flag: Interval, fleet: readonly RolloutCluster[]): void {
    expect(moments).to.have.length(clusters);
    const gaps = moments.slice(1).map((moment, index) => moment - (moments[index] ?? Number.NaN));
    expect(Math.min(...gaps)).to.be.at.least(intervalSeconds[flag] * 1000);
    const held = fleet.flatMap((cluster) => cluster.versions(rolloutKind)).map(([, object]) => holdOf(object));
    expect(held.some((hold) => hold?.rule === 'AwaitingFleetInterval' && hold.message.includes(flag))).to.equal(true);
  }

  for (const [flag, strategy, kind] of [
    ['--partition-update-interval', 'Partition', 'setPartition'],
    ['--disruption-interval', 'OnDelete', 'evict'],
  ] as const) {
    it(`is kept by ${kind}, as ${flag} says`, async function apart() {
      this.timeout(scenarioDeadlineMilliseconds);
      const fleet = Array.from({ length: clusters }, newCluster);
      await Promise.all(
        fleet.map(async (cluster) => {
          await cluster.create({ replicas: 1 });
          await cluster.isByPartitions();
          await cluster.wish({ strategy });
          if (strategy === 'OnDelete') await cluster.isTaken();
          await cluster.begin();
        }),
      );
      expectApart(await rollOut(fleet, kind), flag, fleet);
    });
  }
});

function holdOf(object: unknown): { readonly rule: string; readonly message: string } | undefined {
  return (object as MySQLRollout).status?.hold;
}
