import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { prefixedName } from '../../support/moco/names.ts';
import { setImage } from './acts-of-people.ts';
import { type Circumstances, plainCircumstances } from './circumstances.ts';
import { clusterName, Simulation, soleNamespace } from './simulation.ts';

/** Twice that is a window in which the program counts writes. */
const whileMilliseconds = 12_000;
const rolloutMilliseconds = 1_800_000;
/** Two dry runs and a write, in virtual time. */
const adoptionMilliseconds = 10_000;

const setOf = ({ server }: Simulation): StoredObject | null =>
  server.store.get(statefulSets, soleNamespace, prefixedName(clusterName));
const generationOf = (simulation: Simulation): number => setOf(simulation)?.metadata.generation ?? 0;
const strategyOf = (simulation: Simulation): unknown =>
  record(record(setOf(simulation)?.['spec'])['updateStrategy'])['type'];

function messageOf({ server }: Simulation): unknown {
  const rollout = server.store.get(rolloutKind, soleNamespace, clusterName);
  return record(record(rollout?.['status'])['hold'])['message'];
}

/** MOCO applies a `fieldRef` without `apiVersion`, which the API server adds. */
function contended(given: Partial<Circumstances>): Simulation {
  const simulation = new Simulation({ ...plainCircumstances, ...given });
  simulation.wanted.fieldRef = true;
  return simulation;
}

async function passes(simulation: Simulation, milliseconds: number): Promise<void> {
  await simulation.clock.runUntil(() => false, milliseconds);
}

function end({ processes }: Simulation): void {
  for (const process of processes) process.end();
}

describe('a StatefulSet that MOCO writes without end in the simulation', () => {
  it('is written several times a second while members follow partitions, and the status says so', async () => {
    const simulation = contended({ mode: 'MOCO' });
    await simulation.start();
    const before = generationOf(simulation);
    await passes(simulation, 2 * whileMilliseconds);
    expect(generationOf(simulation) - before).to.be.greaterThan(20);
    expect(messageOf(simulation)).to.match(/keeps writing the StatefulSet \(at least/);
    end(simulation);
  });

  it('is adopted at once, left alone from then on, and rolled out', async () => {
    const simulation = contended({ mode: 'OnDelete' });
    const { clock } = simulation;
    await simulation.start();
    simulation.setting({ strategy: 'Partition' });
    await clock.runUntil(() => strategyOf(simulation) === 'RollingUpdate', whileMilliseconds);
    const before = generationOf(simulation);
    await passes(simulation, whileMilliseconds);
    expect(generationOf(simulation) - before).to.be.greaterThan(20);

    simulation.setting({ strategy: 'OnDelete' });
    expect(await clock.runUntil(() => strategyOf(simulation) === 'OnDelete', adoptionMilliseconds)).to.equal(true);
    await passes(simulation, whileMilliseconds);
    const adopted = generationOf(simulation);
    await passes(simulation, whileMilliseconds);
    expect(generationOf(simulation)).to.equal(adopted);

    setImage(simulation, 'mysql:8.4.1');
    expect(await clock.runUntil(() => simulation.isComplete('mysql:8.4.1'), rolloutMilliseconds)).to.equal(true);
    expect(simulation.witness.findings).to.deep.equal([]);
    end(simulation);
  });

  it('has no partition lowered again and again, which would restart one member forever', async () => {
    const simulation = contended({ mode: 'Partition' });
    await simulation.start();
    const uids = new Set<string>();
    simulation.server.store.subscribe(({ kind, object: { metadata } }) => {
      if (kind.plural === pods.plural) uids.add(metadata.uid);
    });
    setImage(simulation, 'mysql:8.4.1');
    await passes(simulation, 600_000);
    expect(uids.size).to.be.at.most(4);
    expect(messageOf(simulation)).to.match(/resets the partition each time it is lowered because the API server adds/);
    end(simulation);
  });
});
