import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { policyKind, type RolloutPolicySpec } from '../../src/api/policy.ts';
import { rolloutKind } from '../../src/api/rollout.ts';
import { apiVersion, events, pods, type ResourceKind } from '../../src/kube/resource.ts';
import { clusterKind, mysqldContainer } from '../../src/moco/names.ts';
import { controllerRights, grantedRights, rightOf } from '../config/rights.ts';
import type { AuditEvent } from '../support/control-plane/audit-log.ts';
import { askedRight } from '../support/control-plane/audit-rights.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import type { ControllerProcess } from '../support/stage/controller-process.ts';
import { Stage } from '../support/stage/stage.ts';
import { cli } from './cli-program.ts';
import { mayRelease } from './release-rights.ts';
import { RolloutCluster } from './rollout-cluster.ts';
import { History } from './rollout-history.ts';
import { isReady } from './rollout-judge.ts';
import { controllerUser } from './rollout-story.ts';

const startDeadlineMilliseconds = 10 * 60_000;
const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
const limitRanges: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
};

/** Of a cluster that nothing is left to do about. */
const bystander = 'single';
const json = (value: object): string => JSON.stringify(value);
const container = (name: string): object => ({ containers: [{ name, image: 'somebody/elses:1' }] });

/** What the ServiceAccount's rights alone would allow. */
const attempts: Readonly<Record<string, { readonly flags: readonly string[]; readonly refusal: string }>> = {
  'change an image of a pod': {
    flags: ['patch', 'pod', 'moco-x-0', '-p', json({ spec: container(mysqldContainer) })],
    refusal: 'moco-rollout changes nothing in the spec of a pod',
  },
  'change a template': {
    flags: ['patch', 'statefulset', 'moco-x', '-p', json({ spec: { template: { spec: container(mysqldContainer) } } })],
    refusal: 'moco-rollout changes no template and no number of replicas',
  },
  'delete a pod that isn’t MOCO’s': {
    flags: ['delete', 'pod', 'somebody-elses'],
    refusal: 'moco-rollout touches nothing but what MOCO has made',
  },
};

/** Rights that nothing here comes to use, and what for they are there. None: what isn't used isn't granted. */
const exceptions: Readonly<Record<string, string>> = {};

describe('a controller after all its kinds of work', () => {
  let controlPlane: ControlPlane;
  let stage: Stage;
  let history: History;
  let kubeconfig: string;
  let certDir: string;
  let controller: ControllerProcess;
  let metrics: string;

  before(async function doEverything() {
    this.timeout(startDeadlineMilliseconds);
    controlPlane = await startControlPlane();
    stage = await Stage.open(controlPlane);
    await controlPlane.apply(await documentedPolicy());
    history = await History.start(stage.client, stage.world);
    kubeconfig = await controlPlane.kubeconfigFor(serviceAccount);
    certDir = await ownCertificate();
    const metricsPort = await freePort();
    controller = await stage.startController([
      '--min-ready-seconds=0',
      '--leader-elect',
      `--kubeconfig=${kubeconfig}`,
      `--cert-dir=${certDir}`,
      `--metrics-bind-address=127.0.0.1:${metricsPort}`,
    ]);
    const policy: { apiVersion: string; kind: string; metadata: object; spec: RolloutPolicySpec } = {
      apiVersion: apiVersion(policyKind),
      kind: policyKind.kind,
      metadata: { name: 'everybody' },
      spec: { selector: {}, priority: 1, settings: { switchoverTimeoutSeconds: 60 } },
    };
    await stage.client.create(policyKind, {}, policy, { priority: 'disrupt' });
    await Promise.all([rollOutAndRelease(), missAMember(), rollOutOne()]);
    await stage.client.create(
      pods,
      { namespace: bystander },
      { metadata: { name: 'somebody-elses' }, spec: container('x') },
      { priority: 'disrupt' },
    );
    metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  });

  after(async function closeAll() {
    this.timeout(startDeadlineMilliseconds);
    await history?.stop();
    await stage?.close();
    await controlPlane?.stop();
  });

  it('has used every right that it has, and was refused none', async () => {
    const used = await usedRights(() => true);
    const granted = [...(await grantedRights()).values()].flat();
    const ofController = [...(await controllerRights()).values()].flat();
    expect(
      used.filter((right) => !granted.includes(right)),
      'used and not granted',
    ).to.deep.equal([]);
    expect(
      (await usedRights(isController)).filter((right) => !ofController.includes(right)),
      'used by the controller and granted to the release only',
    ).to.deep.equal([]);
    expect(
      granted.filter((right) => !used.includes(right) && !(right in exceptions)),
      'granted and never used',
    ).to.deep.equal([]);
    expect(
      Object.keys(exceptions).filter((right) => used.includes(right) || !granted.includes(right)),
      'exceptions that are none',
    ).to.deep.equal([]);
  });

  for (const [what, attempt] of Object.entries(attempts)) {
    it(`can't ${what}, where the policy of docs/security.md is in force`, async () => {
      const { refusal, flags } = attempt;
      const tried = controlPlane.kubectl('--kubeconfig', kubeconfig, '-n', bystander, ...flags, '--dry-run=server');
      expect(String(await tried.catch((error: unknown) => error))).to.include(refusal);
    });
  }

  it('has disclosed neither its token nor the key of its webhook', async () => {
    const token = /"token": "([^"]+)"/.exec(await readFile(kubeconfig, 'utf8'))?.[1] ?? '';
    const key = await readFile(join(certDir, 'tls.key'), 'utf8');
    const [, , signature = ''] = token.split('.');
    const secrets = [token, signature, ...key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))];
    expect(signature).not.to.equal('');
    const kinds = [events, rolloutKind, clusterKind];
    const objects = await Promise.all(kinds.map((kind) => stage.client.list(kind, {}, { priority: 'read' })));
    const reported = { log: controller.log, metrics, objects: JSON.stringify(objects) };
    for (const [where, text] of Object.entries(reported)) {
      expect(text.length, where).to.be.greaterThan(1000);
      for (const secret of secrets) expect(text.includes(secret), `a secret in the ${where}`).to.equal(false);
    }
  });

  function newCluster(namespace: string): RolloutCluster {
    return new RolloutCluster(stage, history, namespace);
  }

  /** Takes it, replaces a member that is down and those that are not, and gives it back in both ways that there are. */
  async function rollOutAndRelease(): Promise<void> {
    const cluster = newCluster('everything');
    await cluster.create({});
    await cluster.isTaken();
    cluster.breakContainer(1, mysqldContainer, 'dead');
    await cluster.pod(1, 'is down', (pod) => !isReady(pod));
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    // As a Job in the installation's namespace does it.
    await mayRelease(controlPlane);
    for (const command of ['release', 'adopt']) {
      const { status, err } = await cli(kubeconfig, [command, cluster.name, '-n', cluster.namespace], 'image');
      expect(status, err).to.equal(0);
    }
    await cluster.isTaken();
    await cluster.setting({ strategy: 'Partition' });
    await cluster.isByPartitions();
    // What has been told before is told again within minutes: a series.
    await cluster.setting({ strategy: 'OnDelete' });
    await cluster.isTaken();
  }

  /** Kubernetes can't make a member again, and says so in an Event. */
  async function missAMember(): Promise<void> {
    const cluster = newCluster('missing');
    await cluster.create({});
    await cluster.isTaken();
    await cluster.make(limitRanges, {
      metadata: { name: 'least', namespace: cluster.namespace },
      spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] },
    });
    await cluster.setImage('mysql:8.4.9');
    await cluster.event('MemberMissing');
    await cluster.remove(limitRanges, 'least');
    await cluster.completes();
  }

  /** One without a budget, whose backups a CronJob tells of. */
  async function rollOutOne(): Promise<void> {
    const cluster = newCluster(bystander);
    await cluster.create({ replicas: 1 });
    await cluster.isTaken();
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
  }

  /** Its YAML, as it stands there. */
  async function documentedPolicy(): Promise<string> {
    const text = await readFile(new URL('../../docs/security.md', import.meta.url), 'utf8');
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(text) ?? [];
    const file = join(controlPlane.directory, 'policy.yaml');
    await writeFile(file, yaml);
    return file;
  }

  async function ownCertificate(): Promise<string> {
    const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
    const directory = join(controlPlane.directory, 'own-certificate');
    await mkdir(directory);
    await copyFile(certificate, join(directory, 'tls.crt'));
    await copyFile(key, join(directory, 'tls.key'));
    return directory;
  }

  /** By the API server's own record of everything that the ServiceAccount has asked for. */
  async function usedRights(isMeant: (event: AuditEvent) => boolean): Promise<readonly string[]> {
    const asked = (await controlPlane.audit()).filter(
      (event) => event.user.username === controllerUser && isMeant(event),
    );
    const rights = asked.map((event) => askedRight(event)).flatMap((right) => (right === null ? [] : [rightOf(right)]));
    return [...new Set(rights)].toSorted();
  }
});

/** Not the command line, which releases under the same ServiceAccount as a Job of the chart. */
function isController({ userAgent = '' }: AuditEvent): boolean {
  return !userAgent.startsWith('moco-rollout-cli/');
}
