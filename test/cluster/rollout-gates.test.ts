import { expect } from 'chai';
import { podDisruptionBudgets, type ResourceKind } from '../../src/kube/resource.ts';
import { annotationOn, forceRollingUpdateAnnotation, strategyLabel } from '../../src/moco/names.ts';
import { dailyWindow } from '../support/daily-window.ts';
import { clusterLabels } from '../support/moco/names.ts';
import { cli } from './cli-program.ts';
import { useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-members.ts';

const limitRanges: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
};
const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];

describe('a rollout that is held', () => {
  const { scenario, stage } = useRollouts();

  scenario('waits while a backup runs', { spec: { backupPolicyName: 'daily' } }, async (cluster) => {
    await cluster.startBackup();
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('BackupRunning');
    await cluster.event('BackupRunning');
    const argv = ['override', 'x', 'BackupRunning', '--for=30m', '--reason=it hangs', '-n', cluster.namespace];
    const refused = await cli(stage().controlPlane.adminKubeconfig, argv);
    expect([refused.status, refused.out]).to.deep.equal([1, '']);
    expect(refused.err).to.match(
      /^error: overriding BackupRunning would have no effect on x: PodDisruptionBudget moco-x allows no disruption/,
    );
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await cluster.setting({ overrides: [{ rule: 'BackupRunning', until, reason: 'it hangs' }] });
    await cluster.holds('BlockedByPDB');
    expect(cluster.now.rollout?.status?.hold?.message).to.contain('overriding BackupRunning does not change that');
    expect(await cluster.steps()).to.deep.equal([]);
    await cluster.endBackup();
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario(
    'waits while a backup runs that a person has begun',
    { spec: { backupPolicyName: 'daily' } },
    async (cluster) => {
      await cluster.backUpByHand('emergency-backup');
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('BackupRunning');
      expect(cluster.now.rollout?.status?.hold?.message).to.match(
        /^backup Job emergency-backup, which started at .*, has not ended$/,
      );
      expect(cluster.now.budgets.map(({ spec }) => spec.maxUnavailable)).to.deep.equal([1]);
      expect(await cluster.steps()).to.deep.equal([]);
      await cluster.completeBackup('emergency-backup');
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(wholeRollout);
    },
  );

  scenario('waits while a second budget selects its pods, which no eviction can pass', {}, async (cluster) => {
    const second = {
      metadata: { name: 'second', namespace: cluster.namespace },
      spec: { minAvailable: 0, selector: { matchLabels: clusterLabels(cluster.name) } },
    };
    await cluster.make(podDisruptionBudgets, second);
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('BlockedByPDB');
    expect(await cluster.steps()).to.deep.equal([]);
    await cluster.remove(podDisruptionBudgets, 'second');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('says why Kubernetes can not make a member again', {}, async (cluster) => {
    const range = {
      metadata: { name: 'least', namespace: cluster.namespace },
      spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] },
    };
    cluster.slowNodes({ stopMilliseconds: 5_000 });
    await cluster.setImage('mysql:8.4.9');
    // Before that a dry run would have shown it, and no member would go.
    await cluster.pod(2, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await cluster.make(limitRanges, range);
    await cluster.until('the sentence is seen', ({ rollout }) => {
      const { rule, message = '' } = rollout?.status?.hold ?? {};
      return rule === 'MemberMissing' && message.includes('minimum cpu usage per Container is 1');
    });
    await cluster.event('MemberMissing');
    await cluster.remove(limitRanges, 'least');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario(
    'rests between two members when its maintenance window ends, until the next one opens',
    {},
    async (cluster) => {
      const { maintenanceWindows, opensAt } = windowsFrom(Date.now());
      await cluster.setting({ maintenanceWindows, expectedMemberSeconds: 1, switchoverTimeoutSeconds });
      await cluster.setImage('mysql:8.4.9');
      // The switchover does not fit any more. Replicas do.
      await cluster.holds('OutsideMaintenanceWindow');
      await cluster.event('OutsideMaintenanceWindow');
      const { hold, members } = cluster.now.rollout?.status ?? {};
      expect(Date.parse(hold?.opensAt ?? '')).to.equal(opensAt);
      expect(members?.map(({ state }) => state)).to.deep.equal(['participating', 'participating', 'participating']);
      const rested = await cluster.steps();
      expect(wholeRollout.slice(0, Math.min(2, rested.length))).to.deep.equal(rested);
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(wholeRollout);
      const demotion = (await cluster.story()).find(({ text }) => text === 'demote 0');
      expect(Date.parse(demotion?.at ?? '')).to.be.at.least(opensAt);
    },
  );

  scenario('steps aside while a rolling update is forced, in the middle, and comes back', {}, async (cluster) => {
    await cluster.setting({ partition: 2 });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('PartitionReached');
    await cluster.annotate(forceRollingUpdateAnnotation, annotationOn);
    await cluster.holds('ForcedRollingUpdate');
    await cluster.event('ForcedRollingUpdate');
    for (const ordinal of [1, 0]) {
      await cluster.pod(ordinal, 'was taken by Kubernetes itself', (pod) => {
        return isReady(pod) && imageOf(pod) === 'mysql:8.4.9';
      });
    }
    await cluster.completes();
    const { statefulSet, rollout } = cluster.now;
    expect(statefulSet?.spec.updateStrategy).to.deep.equal({ type: 'RollingUpdate' });
    expect(statefulSet?.metadata.labels).to.have.property(strategyLabel);
    expect(rollout?.status?.phase).to.equal('Off');
    expect(await cluster.steps()).to.deep.equal(['evict 2']);

    await cluster.annotate(forceRollingUpdateAnnotation, null);
    await cluster.isTaken();
    await cluster.begin();
    await cluster.setting({ partition: null });
    await cluster.setImage('mysql:8.4.10');
    await cluster.completes();
    const steps = await cluster.steps();
    expect(steps.filter((step) => step.startsWith('evict'))).to.have.length(3);
    expect(steps.filter((step) => step.startsWith('demote'))).to.have.length(1);
  });
});

const switchoverTimeoutSeconds = 120;
const minute = 60_000;
/** Replicas are updated in less, also where many tests run. */
const leastOpen = 30_000;

/** A window that is open, but not for as long as a switchover may take, and one that opens a second after it closes. */
function windowsFrom(now: number) {
  const opened = now - (now % minute);
  const minutes = now - opened <= minute - leastOpen ? 1 : 2;
  const opensAt = opened + minutes * minute;
  return { maintenanceWindows: [dailyWindow(opened, minutes * 60 - 1), dailyWindow(opensAt, '1h')], opensAt };
}
