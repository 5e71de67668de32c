import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../hack/control-plane/control-plane.ts';
import { freePort } from '../../hack/control-plane/free-port.ts';
import { Guard } from '../../hack/control-plane/guard.ts';
import { clusterDefinitionFile } from '../../hack/moco/install.ts';
import type { StatefulSet } from '../../hack/moco/objects.ts';
import { ControllerProcess } from '../../hack/stage/controller-process.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { realWorld } from '../../src/kube/real-world.ts';
import { mutatingWebhookConfigurations, type ResourceKind, statefulSets } from '../../src/kube/resource.ts';
import type { World } from '../../src/kube/world.ts';
import { createdByLabel, createdByMoco, strategyLabel, strategyOnDelete } from '../../src/moco/names.ts';
import { type CertificateTimes, defaultTimes } from '../../src/webhook/self-made/next-step.ts';
import { OwnCertificate } from '../../src/webhook/self-made/own-certificate.ts';
import {
  ownConfigurations,
  putBundle,
  readConfigurations,
} from '../../src/webhook/self-made/webhook-configurations.ts';
import { type RunningWebhook, startWebhook } from '../../src/webhook/server.ts';
import { configDirectory, type Manifest } from '../config/manifests.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { Balancer } from './balancer.ts';
import { startDeadlineMilliseconds, testDeadlineMilliseconds, until } from './moco-fixture.ts';
import { controllerUser } from './rollout-story.ts';
import { outcome } from './webhook-clusters.ts';

const account = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
const secretName = 'moco-rollout-webhook-certificate';
/** By the test of the policy. */
const refusedSecret = 'other';
const serviceName = 'moco-rollout-webhook';
const [configurationName] = ownConfigurations;
const anyLane = { lane: 'read' } as const;
const secrets: ResourceKind = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
const day = 86_400_000;
/** What a connection says that the test has ended before its time. */
const cutOff = /EOF|connection reset|broken pipe|closed/;

describe('an installation without cert-manager', function () {
  this.timeout(testDeadlineMilliseconds);
  let controlPlane: ControlPlane;
  let connections: readonly Connection[] = [];
  let guard: Guard;
  let balancer: Balancer;
  /** Of the controller's ServiceAccount, and everybody's rights. */
  let client: ApiClient;
  let admin: ApiClient;
  let world: World;
  let kubeconfig: string;
  let manifests: readonly Manifest[];
  /** Of them, the bindings of the rights that a certificate of one's own takes. */
  let bindings: readonly Manifest[];
  const closers: (() => Promise<unknown>)[] = [];

  before(async function install() {
    this.timeout(startDeadlineMilliseconds);
    controlPlane = await startControlPlane({ manifests: [clusterDefinitionFile] });
    guard = new Guard();
    balancer = await Balancer.start();
    const built = parseAllDocuments(await controlPlane.kubectl('kustomize', join(configDirectory, 'own-certificate')));
    manifests = 'empty' in built ? [] : built.map((document) => toLoopback(document.toJS() as Manifest));
    bindings = manifests.filter(
      ({ kind, metadata }) => kind.endsWith('Binding') && metadata.name.endsWith('own-certificate'),
    );
    await apply(manifests.filter((manifest) => !bindings.includes(manifest)));
    kubeconfig = await controlPlane.kubeconfigFor(account);
    connections = [kubeconfig, controlPlane.adminKubeconfig].map((path) => connect({ kubeconfigPath: path }));
    const worlds = connections.map(({ exchange }) => realWorld(exchange));
    world = worlds[0] as World;
    const clients = worlds.map((own) => new ApiClient({ world: own, qps: 1000, burst: 1000 }));
    [client, admin] = clients as [ApiClient, ApiClient];
    await apply([labelledStatefulSet]);
  });

  after(async function stop() {
    this.timeout(startDeadlineMilliseconds);
    for (const close of closers.toReversed()) await close();
    for (const connection of connections) await connection.close();
    await balancer?.close();
    await guard?.close();
    await controlPlane?.stop();
  });

  it('says which right a controller lacks, isn’t ready, and ends when it is asked to', async () => {
    const { controller, ready } = await startController();
    await until('it says so', async () =>
      (await ready()).includes('takes the right to get, create and update the Secret'),
    );
    expect(await ready()).to.contain('[-]certificate failed: --webhook-certificate=self-made takes the right');
    expect(await controller.stop()).to.equal(0);
  });

  describe('with its rights', () => {
    before(() => apply(bindings));

    it('has two replicas that serve one certificate by names of their Service, and the API server trusts it', async () => {
      expect(await write()).to.match(/failed calling webhook/);
      const pair = await Promise.all([startController(), startController()]);
      for (const { ready } of pair) await until('it is ready', async () => (await ready()) === 'ok');
      balancer.leadTo(pair.map(({ port }) => port));
      await until('the API server trusts it', async () => (await write()) === 'OnDelete');
      for (const _ of pair) {
        balancer.endConnections();
        await until('the other one is asked', async () => (await write()) === 'OnDelete');
      }
      const keys = ['-o', 'go-template={{.type}}{{range $key, $_ := .data}} {{$key}}{{end}}'];
      const secret = await controlPlane.kubectl('get', 'secret', secretName, '-n', account.namespace, ...keys);
      expect(secret).to.equal('kubernetes.io/tls ca.crt ca.key tls.crt tls.key');
      const before = await configuration();
      await apply(manifests);
      expect((await configuration())['webhooks'], 'after one more kubectl apply').to.deep.equal(before['webhooks']);
      for (const { controller } of pair) {
        expect(controller.log).not.to.contain('PRIVATE KEY');
        expect(await controller.stop()).to.equal(0);
      }
    });

    it('never writes over a configuration that somebody has changed since it was read', async () => {
      const signal = new AbortController().signal;
      const [read] = await readConfigurations(client, signal);
      if (read === undefined) throw new Error('expected a configuration, got none');
      await controlPlane.kubectl('annotate', 'mutatingwebhookconfiguration', configurationName, 'somebody=else');
      const before = await configuration();
      expect(await putBundle(client, read, 'another', signal)).to.equal(false);
      expect(await configuration()).to.deep.equal(before);
    });

    it('can do nothing else by these rights: the policy beside them sees to that', async () => {
      const refused = 'moco-rollout changes nothing but caBundle in a webhook configuration';
      await until('the policy is in force', async () => (await outcome(patched(wrong[0]))).includes(refused));
      for (const operations of wrong) {
        expect(await outcome(patched(operations)), JSON.stringify(operations)).to.include(refused);
      }
      const other = { metadata: { name: refusedSecret } };
      const created = client.create(secrets, { namespace: account.namespace }, other, anyLane);
      expect(await outcome(created)).to.include('moco-rollout creates no Secret but that of its certificate');
    });

    it('gets another certificate and another authority while StatefulSets are written, and no write is refused', async () => {
      await deleteSecret();
      // At first the clock is so far behind that everything is due once it is right. All of it is good all the time.
      let behindMilliseconds = 81 * day;
      const times = { ...defaultTimes, authorityLifeMilliseconds: 120 * day, settleMilliseconds: 1000 };
      const own: World = { ...world, wall: () => world.wall() - behindMilliseconds };
      const logs = [new FakeLog(), new FakeLog()];
      const webhooks = await Promise.all(logs.map((log) => startReplica(own, log, times)));
      balancer.leadTo(webhooks.map(({ address }) => address.port));
      await until('the API server trusts it', async () => (await write()) === 'OnDelete');

      let isOver = false;
      const writing = writeUntil(() => isOver);
      const bundle = async (): Promise<number> => (await caBundle()).split('BEGIN CERTIFICATE').length - 1;
      const replaced = async (times: number): Promise<void> => {
        const isReplaced = (log: FakeLog): boolean =>
          log.of('info').filter((line) => line === 'the webhook has a new certificate').length === times;
        await until(`both replicas have had ${times} new certificates`, async () => logs.every(isReplaced));
      };
      try {
        behindMilliseconds = 0;
        await replaced(2);
        await until('the new authority is alone', async () => (await bundle()) === 1);
        await deleteSecret();
        await until('an authority is made beside it', async () => (await bundle()) === 2);
        await replaced(3);
        await until('the newest authority is alone', async () => (await bundle()) === 1);
        const spoiled = JSON.stringify([{ op: 'remove', path: '/webhooks/1/clientConfig/caBundle' }]);
        await controlPlane.kubectl(
          'patch',
          'mutatingwebhookconfiguration',
          configurationName,
          '--type=json',
          '-p',
          spoiled,
        );
        await until('the bundle is put back', async () => (await caBundle(1)) === (await caBundle()));
      } finally {
        isOver = true;
      }
      const { passed, refusals, connections: made } = await writing;
      expect(refusals).to.deep.equal([]);
      expect(passed).to.be.greaterThan(20);
      expect(made).to.be.greaterThan(20);
      expect(new Set(webhooks.map((webhook) => webhook.certificate())).size).to.equal(1);
    });

    it('has asked for nothing of Secrets but that one, and has used each right to it', async () => {
      const asked = (await controlPlane.audit()).filter(
        ({ user, objectRef }) =>
          user.username === controllerUser && objectRef?.resource === 'secrets' && objectRef.name !== refusedSecret,
      );
      // The name of what is created stands in its body.
      const places = asked.map(({ verb, objectRef: ref }) => `${verb} ${ref?.namespace}/${ref?.name ?? secretName}`);
      const place = `${account.namespace}/${secretName}`;
      expect([...new Set(places)]).to.have.members(['get', 'create', 'update'].map((verb) => `${verb} ${place}`));
    });
  });

  /** By the controller's rights, as somebody with its token would. */
  function patched(operations: readonly object[]): Promise<unknown> {
    const place = { name: configurationName };
    return client.patch(mutatingWebhookConfigurations, place, 'application/json-patch+json', operations, anyLane);
  }

  /** The rest of a test: as many writes as there is time for, each by connections of its own. */
  async function writeUntil(isOver: () => boolean) {
    const outcomes: string[] = [];
    const before = balancer.accepted;
    while (!isOver()) {
      balancer.endConnections();
      outcomes.push(await write());
    }
    return {
      passed: outcomes.filter((outcome) => outcome === 'OnDelete').length,
      refusals: outcomes.filter((outcome) => outcome !== 'OnDelete' && !cutOff.test(outcome)),
      connections: balancer.accepted - before,
    };
  }

  /** What the API server makes of a write, `OnDelete` where the webhook was asked, or its refusal. */
  async function write(): Promise<string> {
    const rolling = { spec: { updateStrategy: { type: 'RollingUpdate' } } };
    const place = { namespace: 'default', name: 'moco-test' };
    const patched = admin.patch<StatefulSet>(statefulSets, place, 'application/merge-patch+json', rolling, anyLane);
    return patched.then(
      ({ spec }) => spec.updateStrategy?.type ?? 'nothing',
      (error: Error) => error.message,
    );
  }

  async function caBundle(place = 0): Promise<string> {
    const { webhooks } = (await configuration()) as unknown as { webhooks: { clientConfig: { caBundle?: string } }[] };
    return Buffer.from(webhooks[place]?.clientConfig.caBundle ?? '', 'base64').toString();
  }

  function configuration(): Promise<Manifest> {
    return admin.get(mutatingWebhookConfigurations, { name: configurationName }, anyLane);
  }

  async function deleteSecret(): Promise<void> {
    await controlPlane.kubectl('delete', 'secret', secretName, '-n', account.namespace, '--ignore-not-found');
  }

  async function apply(manifests: readonly object[]): Promise<void> {
    const file = join(await mkdtemp(join(controlPlane.directory, 'manifests-')), 'all.yaml');
    await writeFile(file, manifests.map((manifest) => stringify(manifest)).join('---\n'));
    await controlPlane.apply(file);
  }

  /** There is no network of pods: the Service leads to this machine, and the port is the balancer's. */
  function toLoopback(manifest: Manifest): Manifest {
    if (manifest.kind === 'Service' && manifest.metadata.name === serviceName) {
      return { ...manifest, spec: { type: 'ExternalName', externalName: 'localhost' } };
    }
    if (manifest.kind !== 'MutatingWebhookConfiguration') return manifest;
    const webhooks = manifest['webhooks'] as readonly { clientConfig: { service: object } }[];
    const led = webhooks.map(({ clientConfig, ...webhook }) => {
      return { ...webhook, clientConfig: { service: { ...clientConfig.service, port: balancer.port } } };
    });
    return { ...manifest, webhooks: led };
  }

  /** A process as a pod has it, and what `/readyz` says. */
  async function startController() {
    const [port, healthPort] = [await freePort(), await freePort()];
    const directory = await mkdtemp(join(controlPlane.directory, 'controller-'));
    const logFile = join(directory, 'log');
    const flags = [
      `--kubeconfig=${kubeconfig}`,
      '--webhook-certificate=self-made',
      `--webhook-namespace=${account.namespace}`,
      `--webhook-bind-address=127.0.0.1:${port}`,
      `--health-probe-bind-address=127.0.0.1:${healthPort}`,
      '--metrics-bind-address=0',
      '--leader-elect',
      `--leader-election-namespace=${account.namespace}`,
    ];
    const controller = new ControllerProcess(flags, logFile, guard);
    closers.push(() => controller.stop('SIGKILL'));
    const ready = async (): Promise<string> => {
      if (!controller.running) throw new Error(`the controller ended at its start:\n${controller.log}`);
      const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => null);
      return ((await answer?.text()) ?? '').trim();
    };
    return { controller, port, ready };
  }

  /** The certificate and the webhook of a controller, without all the rest of it. */
  async function startReplica(own: World, log: FakeLog, times: CertificateTimes): Promise<RunningWebhook> {
    const holder = new OwnCertificate({
      client: new ApiClient({ world: own, qps: 1000, burst: 1000 }),
      world: own,
      log,
      namespace: account.namespace,
      secretName,
      serviceName,
      pollMilliseconds: 100,
      times,
    });
    const stop = new AbortController();
    const renewing = holder.run(stop.signal);
    const webhook = await startWebhook({ address: { host: '127.0.0.1', port: 0 }, certDir: '', holder, log });
    closers.push(async () => {
      stop.abort();
      await renewing;
      await webhook.close(0);
    });
    return webhook;
  }
});

/** What would have other objects sent, or to somebody else. */
const wrong = [
  [{ op: 'replace', path: '/webhooks/0/rules/0/resources', value: ['pods'] }],
  [{ op: 'replace', path: '/webhooks/0/objectSelector', value: {} }],
  [{ op: 'replace', path: '/webhooks/0/clientConfig', value: { url: 'https://127.0.0.1/' } }],
  [{ op: 'replace', path: '/webhooks/0/clientConfig/service/namespace', value: 'default' }],
  [{ op: 'add', path: '/webhooks/0/matchConditions', value: [{ name: 'all', expression: 'true' }] }],
  [{ op: 'remove', path: '/webhooks/0' }],
] as const;

const labelledStatefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: {
    name: 'moco-test',
    namespace: 'default',
    labels: { [createdByLabel]: createdByMoco, [strategyLabel]: strategyOnDelete },
  },
  spec: {
    replicas: 0,
    serviceName: 'none',
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } },
  },
};
