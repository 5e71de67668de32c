import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { jobs, pods, type ResourceKind, statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { member } from '../../controller/bench.ts';
import { emergencyBackup } from '../../controller/moco-objects.ts';
import type { ObjectServer, Patch } from '../../controller/object-server.ts';
import { answer } from '../../kube/fake-world.ts';
import { type FakeCluster, forbidden, useFakeCluster } from '../fake-cluster.ts';

/** In every place where an object may hold one. */
const secret = 'hunter2-do-not-tell';

const container = {
  name: 'mysqld',
  image: 'mysql:8.4.8',
  env: [{ name: 'PASSWORD', value: secret }],
  args: [`--password=${secret}`],
  command: ['sh', '-c', secret],
  livenessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: secret }] } },
  lifecycle: { preStop: { exec: { command: [secret] } } },
};

const podSpec = {
  containers: [container],
  initContainers: [{ ...container, name: 'init' }],
  volumes: [{ name: 'data', csi: { driver: 'x', volumeAttributes: { token: secret } } }],
};

function plant(server: ObjectServer, kind: ResourceKind, name: string, more: Patch): void {
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': secret,
    'moco-rollout.io/shown': 'yes',
  };
  server.change(kind, name, { metadata: { annotations, managedFields: [{ manager: secret }] }, ...more });
}

describe('diagnose', () => {
  let cluster: FakeCluster;
  let directory: string;

  useFakeCluster(async (fresh) => {
    cluster = fresh;
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-diagnose-'));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  const event = (reportingController: string, name: string): object => ({
    metadata: { name: `${name}.1`, namespace: 'default' },
    regarding: { kind: 'Pod', name },
    reason: 'Evicted',
    note: reportingController === 'kubelet' ? `command "${secret}" failed` : 'evicting it',
    reportingController,
  });

  function plantEverywhere(): void {
    const { server } = cluster;
    plant(server, clusterKind, 'test', {
      spec: { replicas: 3, podTemplate: { spec: podSpec }, hidden: secret },
    });
    plant(server, statefulSets, 'moco-test', {
      spec: { replicas: 3, template: { metadata: { annotations: { other: secret } }, spec: podSpec } },
    });
    plant(server, pods, member(0), {
      spec: podSpec,
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'mysqld', restartCount: 7, lastState: { terminated: { exitCode: 1, message: secret } } },
        ],
      },
    });
    const { name } = server.create(jobs, emergencyBackup).metadata;
    plant(server, jobs, name, { spec: { suspend: false, template: { spec: podSpec } } });
    const said = { name: 'node-1', since: '2026-07-01T11:58:02Z', at: '2026-07-01T11:58:02Z', message: secret };
    plant(server, rolloutKind, 'test', {
      status: {
        hold: { rule: 'ConfigurationRefused', message: secret },
        conditions: [{ type: 'Stalled', status: 'True', reason: 'ConfigurationRefused', message: secret }],
        preflight: { revision: '7966559688', nodes: [said], configuration: said },
      },
    });
    const answers: Readonly<Record<string, readonly object[]>> = {
      '/apis/events.k8s.io/v1/namespaces/default/events': [
        event('moco-rollout', member(0)),
        event('kubelet', member(0)),
        event('moco-rollout', 'of-another'),
        { ...event('moco-rollout', 'test'), reason: 'LongWrite', note: `a write of app@${secret}` },
      ],
      '/apis/apps/v1/deployments': [
        {
          metadata: { name: 'moco-rollout-controller' },
          spec: { template: { spec: { containers: [{ ...container, args: ['--leader-elect'] }] } } },
        },
      ],
    };
    cluster.fault = (request) => {
      const [path = ''] = request.path.split('?');
      if (path === '/version') return answer(200, { gitVersion: 'v1.36.3' });
      const items = answers[path];
      return items === undefined ? null : answer(200, { items });
    };
  }

  async function written(): Promise<string> {
    const files = await readdir(join(directory, 'bundle'));
    return (await Promise.all(files.map((file) => readFile(join(directory, 'bundle', file), 'utf8')))).join('\n');
  }

  it('writes what a report needs, and nothing that may be secret', async () => {
    plantEverywhere();
    const { status, out, err } = await cluster.run('diagnose', 'test', '--directory', join(directory, 'bundle'));
    expect([status, err]).to.deep.equal([0, '']);
    const text = await written();
    expect(text).not.to.contain(secret);
    for (const needed of [
      'mysql:8.4.8',
      '"restartCount": 7',
      '"exitCode": 1',
      'v1.36.3',
      '--leader-elect',
      'evicting it',
      'emergency-backup',
      '"suspend": false',
      '"rule": "ConfigurationRefused"',
      '"name": "node-1"',
    ]) {
      expect(text).to.contain(needed);
    }
    expect(text).to.contain('"kubectl.kubernetes.io/last-applied-configuration": "removed"');
    expect(text).to.contain('"moco-rollout.io/shown": "yes"');
    expect(text).not.to.contain('of-another');
    for (const file of await readdir(join(directory, 'bundle'))) expect(out).to.contain(`${file}: `);
  });

  it('says in its help what it leaves out, and whose messages it contains', async () => {
    const { out } = await cluster.run('diagnose', '--help');
    const help = out.replaceAll(/\s+/g, ' ');
    expect(help).to.contain(
      'Messages of Prometheus, webhooks, agents and mysqld are removed from the status and the Events of moco-rollout',
    );
    expect(help).to.contain(
      'Conditions of pods, Jobs and the MySQLCluster contain messages of Kubernetes, webhooks and MOCO',
    );
  });

  it('never asks for Secrets and ConfigMaps', async () => {
    plantEverywhere();
    await cluster.run('diagnose', 'test', '--directory', join(directory, 'bundle'));
    const asked = cluster.requests.map(({ method, path }) => `${method} ${path}`);
    expect(asked.length).to.be.greaterThan(10);
    expect(asked.filter((one) => /secrets|configmaps|\/log/.test(one) || !one.startsWith('GET '))).to.deep.equal([]);
  });

  it('says what the user may not read, and writes the rest', async () => {
    plantEverywhere();
    const before = cluster.fault;
    cluster.fault = (request) => (request.path.includes('/deployments') ? forbidden(request) : before(request));
    const { status, out } = await cluster.run('diagnose', 'test', '--directory', join(directory, 'bundle'));
    expect(status).to.equal(0);
    expect(out).to.match(/^left out {2}controller\.json: user "me" cannot get \/apis\/apps\/v1\/deployments$/m);
    expect(await readdir(join(directory, 'bundle')))
      .to.include('pods.json')
      .and.not.to.include('controller.json');
  });

  it('overwrites nothing', async () => {
    plantEverywhere();
    const { status, err } = await cluster.run('diagnose', 'test', '--directory', directory);
    expect(status).to.equal(1);
    expect(err).to.match(/cannot create .* \(EEXIST\): choose a different one with --directory/);
  });
});
