import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { persistentVolumeClaims, pods } from '../../../src/kube/resource.ts';
import { record } from '../../support/api-server/stored-object.ts';
import { dataVolume, prefixedName } from '../../support/moco/names.ts';
import { deleteClaim, forceDelete, setImage } from './acts-of-people.ts';
import { plainCircumstances } from './circumstances.ts';
import { clusterName, Simulation, soleNamespace } from './simulation.ts';

const minuteMilliseconds = 60_000;

const claimUid = ({ server }: Simulation, ordinal: number): string | undefined => {
  const name = `${dataVolume}-${prefixedName(clusterName)}-${ordinal}`;
  return server.store.get(persistentVolumeClaims, soleNamespace, name)?.metadata.uid;
};
const podUid = ({ server }: Simulation, ordinal: number): string | undefined =>
  server.store.get(pods, soleNamespace, `${prefixedName(clusterName)}-${ordinal}`)?.metadata.uid;

describe('a claim that is deleted in the simulation', () => {
  async function begun(): Promise<Simulation> {
    const simulation = new Simulation(plainCircumstances);
    await simulation.start();
    return simulation;
  }

  it('is not freed by a rollout, which waits, and continues once another client has ended the pod', async () => {
    const simulation = await begun();
    const before = claimUid(simulation, 2);
    expect(before).not.to.equal(undefined);
    expect(deleteClaim(simulation, 2)).to.equal(true);
    const pod = podUid(simulation, 2);
    setImage(simulation, 'mysql:8.4.1');
    await simulation.clock.runUntil(() => false, 10 * minuteMilliseconds);
    expect(podUid(simulation, 2), 'no step has replaced the member').to.equal(pod);
    expect(claimUid(simulation, 2)).to.equal(before);
    const rollout = simulation.server.store.get(rolloutKind, soleNamespace, clusterName);
    expect(record(record(rollout?.['status'])['hold'])['rule']).to.equal('ClaimTerminating');
    forceDelete(simulation, 2);
    await simulation.clock.runUntil(() => simulation.isComplete('mysql:8.4.1'), 30 * minuteMilliseconds);
    expect(simulation.isComplete('mysql:8.4.1')).to.equal(true);
    expect(claimUid(simulation, 2), 'the member has other data').not.to.equal(before);
    for (const process of simulation.processes) process.end();
  });
});
