import { expect } from 'chai';
import type { Pod } from './objects.ts';
import { PodStage } from './pod-stage.ts';
import { printedVersion } from './run-once.ts';
import type { NodesSettings } from './settings.ts';

/** A pod that mounts these images on one node. */
function fetcher(images: readonly string[], node = 'node-b'): Pod {
  const matchFields = [{ key: 'metadata.name', values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return {
    metadata: { namespace: 'ns', name: 'fetcher-abc', uid: 'uid-1', resourceVersion: '1', generation: 1 },
    spec: {
      restartPolicy: 'Never',
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
      containers: [{ name: 'mysqld', image: 'mysql:1' }],
      volumes: images.map((reference) => ({ image: { reference } })),
    },
  };
}

const stageOf = (pod: Pod, settings: Partial<NodesSettings> = {}): PodStage =>
  new PodStage(pod, { fetchMilliseconds: (_, image) => (image === 'mysql:1' ? 0 : 4_000), ...settings });

describe('the nodes stand-in with a pod that runs once', () => {
  it('binds it to the node that its affinity names', () => {
    for (const node of ['node-a', 'node-b']) {
      expect(stageOf(fetcher([], node)).pass(0).existing().spec.nodeName).to.equal(node);
    }
  });

  it('does not bind it where there is no such node', () => {
    const stage = stageOf(fetcher([], 'node-x')).pass(1000);
    expect(stage.existing().spec.nodeName).to.equal(undefined);
    expect(stage.condition('PodScheduled')).to.include({ status: 'False', reason: 'Unschedulable' });
  });

  it('fetches every image that it mounts, and ends by itself', () => {
    const stage = stageOf(fetcher(['mysql:2', 'agent:2'])).pass(7_900);
    expect(stage.status.phase).to.equal('Pending');
    expect(stage.container('mysqld').state).to.deep.equal({ waiting: { reason: 'ContainerCreating' } });
    stage.pass(200);
    expect(stage.status.phase).to.equal('Succeeded');
    expect(stage.container('mysqld').state.terminated).to.include({ exitCode: 0, reason: 'Completed' });
    stage.pass(60_000);
    expect(stage.writes.filter(({ verb }) => verb === 'delete')).to.deep.equal([]);
    expect(stage.status.phase).to.equal('Succeeded');
  });

  it('passes on what a mysqld without a data directory has printed, and fails', () => {
    const pod = fetcher([]);
    const version = { name: 'version', image: 'mysql:1', args: ['--initialize', '--datadir=/dev/null/none'] };
    const stage = stageOf({ ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, version] } }).pass(5_000);
    expect(stage.status.phase).to.equal('Failed');
    expect(stage.container('mysqld').state.terminated?.exitCode).to.equal(0);
    const { exitCode, message } = stage.container('version').state.terminated ?? {};
    expect(exitCode).to.equal(1);
    expect(message).to.contain(`(mysqld ${printedVersion})`);
  });

  it('says in turn why it has no image, until it is available', () => {
    const stage = stageOf(fetcher(['mysql:2-missing']), { imagePullMilliseconds: 1_000 }).pass(4_500);
    expect(stage.container('mysqld').state.waiting?.reason).to.equal('ErrImagePull');
    stage.pass(1_000);
    expect(stage.container('mysqld').state.waiting?.reason).to.equal('ImagePullBackOff');
    stage.settings = { ...stage.settings, imageFault: () => null };
    expect(stage.pass(2_000).status.phase).to.equal('Succeeded');
  });

  it('says nothing while the registry stands still', () => {
    const stage = stageOf(fetcher(['mysql:2-hang'])).pass(600_000);
    expect(stage.container('mysqld').state).to.deep.equal({ waiting: { reason: 'ContainerCreating' } });
  });

  it('runs nothing of what it mounts', () => {
    expect(stageOf(fetcher(['mysql:2-crash'])).pass(10_000).status.phase).to.equal('Succeeded');
  });

  it('ends at once when it is deleted, and does not say then that it has fetched anything', () => {
    const stage = stageOf(fetcher(['mysql:2'])).pass(1_000);
    stage.askDeletion(1).pass(100);
    expect(stage.pod).to.equal(null);
    const phases = stage.writes.flatMap((write) => (write.verb === 'patchStatus' ? [write.status['phase']] : []));
    expect(phases).to.deep.equal(['Pending', 'Failed']);
  });

  it('fails past its deadline', () => {
    const { spec, ...pod } = fetcher(['mysql:2-hang']);
    const stage = stageOf({ ...pod, spec: { ...spec, activeDeadlineSeconds: 90 } }).pass(89_000);
    expect(stage.status.phase).to.equal('Pending');
    expect(stage.pass(2_000).status).to.include({ phase: 'Failed', reason: 'DeadlineExceeded' });
  });

  it('leaves one alone that has failed', () => {
    const stage = stageOf(fetcher(['mysql:2'])).pass(1_000);
    const written = stage.writes.length;
    stage.pod = { ...stage.existing(), status: { ...stage.status, phase: 'Failed' } };
    expect(stage.pass(60_000).status.phase).to.equal('Failed');
    expect(stage.writes).to.have.length(written);
  });
});
