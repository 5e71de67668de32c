import { expect } from 'chai';
import { mysqldContainer, preventDeleteAnnotation } from '../../src/moco/names.ts';
import type { Pod } from '../support/moco/objects.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import { useRollouts } from './rollout-fixture.ts';
import { isReady, isUpdated } from './rollout-members.ts';

const newImage = 'mysql:8.4.9';

describe('rollouts with moco-controller 0.36', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario(
    'leave a protected replica, which was primary, until MOCO removes the annotation',
    { spec: { maxDelaySecondsForPodDeletion: 10 } },
    async (cluster) => {
      cluster.moco({ lagSeconds: { 2: 30 } });
      await cluster.pod(0, 'is protected as the primary', isProtected);
      cluster.breakContainer(0, mysqldContainer, 'dead');
      await cluster.until('MOCO fails over', ({ cluster: now }) => now?.status?.currentPrimaryIndex === 1);
      cluster.heal(0);
      await cluster.pod(0, 'is a protected replica', (pod) => isReady(pod) && isProtected(pod));
      // A new process of it would have no lag for a moment, and MOCO would take the annotation off.
      await cluster.setting({ pinnedMembers: [{ ordinal: 2, reason: 'it is to stay behind' }] });
      await cluster.begin();
      await cluster.setImage(newImage);
      await cluster.holds('MemberProtected');
      expect(await cluster.steps()).to.deep.equal([]);
      cluster.moco({ lagSeconds: {} });
      await cluster.pod(0, 'is updated and works', (pod) => isUpdated(cluster, pod) && isReady(pod));
      await cluster.setting({ pinnedMembers: null });
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['evict 0', 'evict 2', 'demote 1', 'evict 1', 'promoteRevision']);
    },
  );
});

const isProtected = ({ metadata }: Pod): boolean => metadata.annotations?.[preventDeleteAnnotation] === 'true';
