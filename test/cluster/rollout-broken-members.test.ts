import { expect } from 'chai';
import { mysqldContainer } from '../../src/moco/names.ts';
import type { Pod } from '../support/moco/objects.ts';
import { useRollouts } from './rollout-fixture.ts';
import { isReady } from './rollout-members.ts';

const waits =
  (container: string, reason: string) =>
  ({ status }: Pod): boolean =>
    status?.containerStatuses?.some(
      ({ name, state }) => name === container && (state?.waiting as { reason?: string } | undefined)?.reason === reason,
    ) ?? false;

describe('a rollout with broken members', () => {
  const { scenario } = useRollouts();

  scenario('takes a stale member that is down first, by delete', {}, async (cluster) => {
    cluster.breakContainer(1, mysqldContainer, 'dead');
    await cluster.pod(1, 'is down', waits(mysqldContainer, 'CrashLoopBackOff'));
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['delete 1', 'evict 2', 'demote 0', 'evict 0', 'promoteRevision']);
  });

  scenario('replaces all of them when all are down, without a deadlock', {}, async (cluster) => {
    // The primary last: MOCO has nobody to fail over to.
    for (const ordinal of [2, 1, 0]) {
      cluster.breakContainer(ordinal, mysqldContainer, 'dead');
      await cluster.pod(ordinal, 'is down', waits(mysqldContainer, 'CrashLoopBackOff'));
    }
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    const steps = await cluster.steps();
    expect(steps.slice(0, 3)).to.have.members(['delete 2', 'delete 1', 'delete 0']);
    // MOCO fails over where a replica is back before the primary.
    expect(steps.slice(3)).to.deep.equal(['promoteRevision']);
  });

  scenario('deletes one replica on a lost node, and nothing more until the node returns', {}, async (cluster) => {
    cluster.loseNode(2);
    await cluster.pod(2, 'is unreachable', (pod) => !isReady(pod));
    await cluster.setImage('mysql:8.4.9');
    await cluster.until(
      'the controller sees it leave',
      ({ rollout }) => rollout?.status?.members?.[2]?.state === 'terminating',
    );
    expect(await cluster.steps()).to.deep.equal(['delete 2']);
    cluster.returnNode(2);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['delete 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision']);
  });

  scenario('halts at a bad image with one member down, and goes on when it is corrected', {}, async (cluster) => {
    await cluster.setImage('mysql:8.4.9-missing');
    await cluster.holds('UpdateRevisionFailing');
    expect((await cluster.event('UpdateRevisionFailing')).type).to.equal('Warning');
    expect(cluster.now.pods.filter(isReady)).to.have.length(2);
    expect(await cluster.steps()).to.deep.equal(['evict 2']);
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal([
      'evict 2',
      'delete 2',
      'evict 1',
      'demote 0',
      'evict 0',
      'promoteRevision',
    ]);
  });
});
