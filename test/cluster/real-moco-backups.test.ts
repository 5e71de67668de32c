import { expect } from 'chai';
import { createBackupPolicy } from '../support/real-moco/backup-policy.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import { useRollouts } from './rollout-fixture.ts';
import { wholeRollout } from './rollout-story.ts';

const job = 'emergency-backup';

describe('a backup that a person begins, with moco-controller 0.36', () => {
  const { scenario, stage } = useRollouts(realMocoScene);

  scenario('keeps every member until its Job is Complete', {}, async (cluster) => {
    cluster.slowNodes({ stopMilliseconds: 1_000 });
    const cronJob = `cronjob/moco-backup-${cluster.name}`;
    await createBackupPolicy(stage().client, cluster.namespace, 'daily');
    await cluster.patch({ spec: { backupPolicyName: 'daily' } });
    await cluster.kubectl('wait', '--for=create', cronJob, '--timeout=120s');

    // MOCO's documentation, "Taking an emergency backup".
    await cluster.kubectl('create', 'job', `--from=${cronJob}`, job);
    await cluster.kubectl('wait', `job/${job}`, '--for=jsonpath={.status.active}=1', '--timeout=120s');
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('BackupRunning');
    expect(cluster.now.rollout?.status?.hold?.message).to.contain(`backup Job ${job}`);
    expect(await cluster.kubectl('get', cronJob, '-o', 'jsonpath={.status.active}'), 'MOCO does not know').to.equal('');
    expect(cluster.now.budgets.map(({ spec }) => spec.maxUnavailable)).to.deep.equal([1]);
    expect(await cluster.steps()).to.deep.equal([]);

    const isDone = '{"status":{"phase":"Succeeded"}}';
    const [pod = ''] = (await cluster.kubectl('get', 'pods', '-l', `job-name=${job}`, '-o', 'name')).trim().split('\n');
    await cluster.kubectl('patch', pod, '--subresource=status', '--type=merge', '-p', isDone);
    await cluster.kubectl('wait', `job/${job}`, '--for=condition=Complete', '--timeout=120s');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });
});
