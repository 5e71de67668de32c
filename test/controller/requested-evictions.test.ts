import { expect } from 'chai';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { Standing } from '../../src/evictions/respond.ts';
import { pods } from '../../src/kube/resource.ts';
import { keyOf, nameOf } from '../../src/kube/store.ts';
import { activeEviction } from '../evictions/objects.ts';
import { Bench, member, type Process } from './bench.ts';

const clusterKey = keyOf('default', 'test');

/** Each member on a node of its own, none of which is being taken out of service. */
async function started(settings: Partial<RolloutPolicy>): Promise<readonly [Bench, Process]> {
  const bench = new Bench({ stale: false });
  bench.spread();
  return [bench, await bench.started(settings)];
}

const uidOf = (bench: Bench, ordinal: number): string => bench.server.find(pods, member(ordinal))?.metadata.uid ?? '';

/** Somebody requests the eviction of a member; Kubernetes has made this program active, or another state. */
function request(
  bench: Bench,
  program: Process,
  ordinal: number,
  more: Parameters<typeof activeEviction>[0] = {},
): void {
  const pod = { name: member(ordinal), uid: uidOf(bench, ordinal) };
  program.cache.evictions.put(activeEviction({ namespace: 'default', name: `pod-1-${pod.name}`, pod, ...more }));
}

const standing = (bench: Bench, program: Process, ordinal: number): Standing | undefined =>
  program.standings.of(clusterKey, keyOf('default', uidOf(bench, ordinal)));

describe('a member whose eviction was requested', () => {
  it('is moved if it is the primary, by the same step as off a node that is being taken out of service', async () => {
    const [bench, program] = await started({ nodeMaintenance: 'Switchover' });
    request(bench, program, 0);
    await program.work();
    expect(bench.steps).to.deep.equal(['demote 0']);
    expect(bench.status.lastStep ?? bench.status.intent).to.include({ step: 'demote', rule: 'NodeLeaving' });
    expect(bench.status.members?.[0]?.leaving).to.equal(
      'node n-0 is to be left: drain.example.com/node has requested the eviction of moco-test-0',
    );
    expect(standing(bench, program, 0)).to.deep.include({
      kind: 'waits',
      message: 'moco-test-0 is the primary: MOCO moves it to another member',
    });
  });

  it('is not moved before it is this program’s turn', async () => {
    const [bench, program] = await started({ nodeMaintenance: 'Switchover' });
    request(bench, program, 0, { state: 'Inactive' });
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect(standing(bench, program, 0)).to.equal(undefined);
  });

  it('is evicted here with Evacuate, and may go once it terminates', async () => {
    const [bench, program] = await started({ nodeMaintenance: 'Evacuate' });
    request(bench, program, 2);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    const { kind, message } = standing(bench, program, 2) ?? {};
    expect([kind, message]).to.deep.equal(['mayGo', 'moco-test-2 is terminating']);
  });

  it('is one that has this pod: another pod under its name has nothing to do with it', async () => {
    const [bench, program] = await started({ nodeMaintenance: 'Switchover' });
    request(bench, program, 0, { pod: { name: member(0), uid: 'another' } });
    await program.work();
    expect(bench.steps).to.deep.equal([]);
  });

  it('is forgotten with its cluster', async () => {
    const [bench, program] = await started({ nodeMaintenance: 'Switchover' });
    request(bench, program, 2);
    await program.work();
    const [known] = program.cache.clusters.values();
    program.cache.clusters.remove('default', 'test');
    await program.pass(known === undefined ? '' : nameOf(known));
    expect(standing(bench, program, 2)).to.equal(undefined);
  });
});
