import { clusterKind, mysqldContainer } from '../../src/moco/names.ts';
import { sampleCluster } from '../../test/support/moco/sample.ts';
import type { Interruption } from '../program/interruption.ts';
import { progressing, type Say } from '../program/progress.ts';
import { type DemoStage, withDemoStage } from './demo-stage.ts';
import { complete, place, showRollout, stepsSince } from './live-view.ts';
import { Outage } from './outage.ts';

const oldImage = 'mysql:8.4.8';
const newImage = 'mysql:8.4.9';

export interface StandInsOptions {
  readonly members: number;
  readonly restartMilliseconds: number;
}

/** Rolls out a new image with stand-ins for MOCO and for nodes. */
export async function rollOutStandIns(
  { members, restartMilliseconds }: StandInsOptions,
  say: Say,
  interruption: Interruption,
): Promise<void> {
  await withDemoStage({ restartMilliseconds, say, interruption }, async (demo) => {
    const { stage, controlPlane } = demo;
    const title = `Creating MySQLCluster ${place.namespace}/${place.name}, ${members} x ${oldImage}`;
    await progressing(say, title, async () => {
      await stage.createNamespace(place.namespace);
      const body = sampleCluster({ ...place, replicas: members, image: oldImage });
      await stage.client.create(clusterKind, { namespace: place.namespace }, body);
      await demo.race(complete(controlPlane.adminKubeconfig));
    });
    say(`Changing its image to ${newImage}\n`);
    say(`\n${await demo.race(rollOut(demo))}`);
  });
}

/** Resolves to a one-line summary of what happened. */
async function rollOut({ controlPlane, stage }: DemoStage): Promise<string> {
  const { world, client, moco } = stage;
  let since = 0;
  const outage = new Outage(moco, place.namespace, place.name, () => world.monotonic());
  await showRollout(controlPlane.adminKubeconfig, async () => {
    since = world.wall();
    const body = { spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image: newImage }] } } } };
    await client.merge(clusterKind, place, body);
  });
  const seconds = ((world.wall() - since) / 1_000).toFixed(1);
  const gap = (outage.end().milliseconds / 1_000).toFixed(1);
  return `Rolled out in ${seconds} s: ${stepsSince(await controlPlane.audit(), since)}. No commit was answered for ${gap} s.`;
}
