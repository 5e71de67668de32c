import { expect } from 'chai';
import { statefulSets } from '../../../src/kube/resource.ts';
import { newPodsLabel, revisionHashLabel } from '../../../src/moco/names.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { mocoManager, prefixedName } from '../../support/moco/names.ts';
import { setImage } from './acts-of-people.ts';
import { plainCircumstances } from './circumstances.ts';
import { clusterName, Simulation, soleNamespace } from './simulation.ts';

const minuteMilliseconds = 60_000;

const setOf = ({ server }: Simulation): StoredObject | null =>
  server.store.get(statefulSets, soleNamespace, prefixedName(clusterName));
const revisions = ({ members }: Simulation): readonly unknown[] =>
  members.map(({ metadata }) => metadata.labels?.[revisionHashLabel]);

/** A paused rollout in which no member was updated. */
async function paused(): Promise<Simulation> {
  const simulation = new Simulation(plainCircumstances);
  await simulation.start();
  simulation.setting({ paused: true });
  setImage(simulation, 'mysql:8.4.1');
  await simulation.clock.runUntil(() => false, 5_000);
  return simulation;
}

function end({ processes }: Simulation): void {
  for (const process of processes) process.end();
}

describe('a paused rollout in the simulation', () => {
  it('stays unchanged while new pods start at the current revision, whatever MOCO’s partition controller requests every 10 s', async () => {
    const simulation = await paused();
    const { clock, server } = simulation;
    const before = revisions(simulation);
    let patches = 0;
    server.onRequest(({ actor, method, path }) => {
      if (actor === mocoManager && method === 'PATCH' && path.endsWith(`statefulsets/${prefixedName(clusterName)}`)) {
        patches += 1;
      }
    });
    await clock.runUntil(() => false, minuteMilliseconds);
    expect(patches).to.be.within(5, 8);
    const set = setOf(simulation);
    expect(set?.metadata.labels?.[newPodsLabel]).to.equal('CurrentRevision');
    expect(record(set?.['spec'])['updateStrategy']).to.deep.equal({
      type: 'RollingUpdate',
      rollingUpdate: { partition: 3 },
    });
    expect(revisions(simulation)).to.deep.equal(before);
    end(simulation);
  });
});
