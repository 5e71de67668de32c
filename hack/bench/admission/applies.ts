import { copyFile, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { connect } from '../../../src/kube/connection.ts';
import { delay } from '../../../src/kube/delay.ts';
import { mutatingWebhookConfigurations, path, statefulSets } from '../../../src/kube/resource.ts';
import { realWorld, type World } from '../../../src/kube/world.ts';
import {
  annotationOn,
  clusterKind,
  reconciliationStoppedAnnotation,
  strategyLabel,
  strategyOnDelete,
} from '../../../src/moco/names.ts';
import { type ControlPlane, startControlPlane } from '../../../test/support/control-plane/control-plane.ts';
import { freePort } from '../../../test/support/control-plane/free-port.ts';
import { Guard } from '../../../test/support/control-plane/guard.ts';
import type { MySQLCluster, StatefulSet } from '../../../test/support/moco/objects.ts';
import { perform } from '../../../test/support/moco/perform.ts';
import { sampleCluster } from '../../../test/support/moco/sample.ts';
import { defaultSettings } from '../../../test/support/moco/settings.ts';
import { statefulSetBody } from '../../../test/support/moco/stateful-set.ts';
import { ObjectClient } from '../../../test/support/object-client.ts';
import { type RealMoco, startRealMoco } from '../../../test/support/real-moco/driver.ts';
import { installAdmissionPolicy, removeAdmissionPolicy } from '../../../test/support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../../../test/support/stage/kept-on-delete.ts';
import { registerWebhooks, webhookManifest } from '../../../test/support/stage/webhook-registration.ts';
import { atOnce } from '../fleet/at-once.ts';
import { bundleCopy } from '../fleet/bundle-copy.ts';
import { processorTime } from '../fleet/processor-time.ts';
import { percentile } from '../record/spread.ts';
import { theImage } from '../runtime/image.ts';
import { MeasuredProcess } from '../runtime/measured-process.ts';
import type { Answers } from './figures.ts';
import type { WayName } from './ways.ts';

const configuration = fileURLToPath(new URL('../../../config/', import.meta.url));
const systemNamespace = 'moco-rollout-system';
const namespace = 'default';
const clusters = 20;
/** As many as moco-controller has workers by default. */
const atATime = 8;
const appliesOfRound = 2000;
const pollMilliseconds = 100;

/** StatefulSets that are applied again and again as MOCO applies them, beside moco-controller's own webhooks. */
export class Applies {
  readonly #client: ObjectClient;
  readonly #world: World;
  readonly #controlPlane: ControlPlane;
  readonly #moco: RealMoco;
  readonly #webhook: MeasuredProcess;
  readonly #webhookPort: number;
  readonly #clusters: readonly MySQLCluster[];
  readonly #closers: readonly (() => Promise<unknown>)[];

  private constructor(parts: {
    readonly client: ObjectClient;
    readonly world: World;
    readonly controlPlane: ControlPlane;
    readonly moco: RealMoco;
    readonly webhook: MeasuredProcess;
    readonly webhookPort: number;
    readonly clusters: readonly MySQLCluster[];
    readonly closers: readonly (() => Promise<unknown>)[];
  }) {
    this.#client = parts.client;
    this.#world = parts.world;
    this.#controlPlane = parts.controlPlane;
    this.#moco = parts.moco;
    this.#webhook = parts.webhook;
    this.#webhookPort = parts.webhookPort;
    this.#clusters = parts.clusters;
    this.#closers = parts.closers;
  }

  static async open(): Promise<Applies> {
    const guard = new Guard();
    const closers: (() => Promise<unknown>)[] = [() => guard.close()];
    try {
      const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-admission-'));
      guard.remove(directory);
      const controlPlane = await startControlPlane({
        audit: false,
        manifests: ['crd', 'default/namespace.yaml', 'rbac'].map((name) => join(configuration, name)),
      });
      closers.push(() => controlPlane.stop());
      const connection = connect({ kubeconfigPath: controlPlane.adminKubeconfig });
      closers.push(() => connection.close());
      const world = realWorld(connection.exchange);
      const client = new ObjectClient({ world, qps: 100_000, burst: 100_000 });
      const moco = await startRealMoco({ controlPlane, client, world, directory, guard, user: 'moco-controller' });
      closers.push(() => moco.stop());
      // There are no pods to look after, and nobody else is to write a StatefulSet.
      await controlPlane.killControllerManager();
      const webhookPort = await freePort();
      const webhook = await startWebhook(controlPlane, directory, webhookPort, guard);
      closers.push(() => webhook.stop());
      const made: MySQLCluster[] = [];
      for (let index = 0; index < clusters; index += 1) made.push(await create(client, index));
      return new Applies({ client, world, controlPlane, moco, webhook, webhookPort, clusters: made, closers });
    } catch (error) {
      for (const close of closers.toReversed()) await close();
      throw error;
    }
  }

  /** Resolves once nothing keeps StatefulSets at OnDelete any more. */
  async measure(way: WayName): Promise<Answers> {
    const remove = await this.#install(way);
    await this.#until(way !== 'neither');
    const type = way === 'neither' ? 'RollingUpdate' : strategyOnDelete;
    const metadata = { labels: { [strategyLabel]: type === strategyOnDelete ? type : null } };
    const updateStrategy = { type, rollingUpdate: null };
    for (const cluster of this.#clusters) {
      await patch(this.#client, `moco-${cluster.metadata.name}`, { metadata, spec: { updateStrategy } });
    }
    const answers = await this.#answers(type);
    await remove();
    await this.#until(false);
    return answers;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.toReversed()) await close();
  }

  async #answers(expected: string): Promise<Answers> {
    const { apiServer = 0 } = this.#controlPlane.pids;
    const pids = { 'API server': apiServer, 'moco-controller': this.#moco.pid, 'moco-rollout': this.#webhook.pid };
    const applyAll = (times: number, onAnswer: (milliseconds: number) => void): Promise<void> =>
      atOnce([...Array(times).keys()], atATime, async (index) => {
        const start = performance.now();
        const { spec } = await apply(this.#client, this.#clusters[index % clusters] as MySQLCluster);
        onAnswer(performance.now() - start);
        const type = spec.updateStrategy?.type;
        if (type !== expected) throw new Error(`Expected a StatefulSet at ${expected}, got ${type}`);
      });
    await applyAll(clusters * atATime, () => undefined);
    const milliseconds: number[] = [];
    const before = processorTime(pids);
    await applyAll(appliesOfRound, (one) => milliseconds.push(one));
    const after = processorTime(pids);
    const cpu = (of: keyof typeof pids): number =>
      (((after.seconds[of] ?? 0) - (before.seconds[of] ?? 0)) * 1000) / appliesOfRound;
    return {
      perSecond: (appliesOfRound * 1000) / (after.atMilliseconds - before.atMilliseconds),
      p50Milliseconds: percentile(milliseconds, 0.5),
      p99Milliseconds: percentile(milliseconds, 0.99),
      cpuMilliseconds: {
        'API server': cpu('API server'),
        'moco-controller': cpu('moco-controller'),
        'moco-rollout': cpu('moco-rollout'),
      },
    };
  }

  /** Resolves to what removes it again. */
  async #install(way: WayName): Promise<() => Promise<unknown>> {
    const client = this.#client;
    switch (way) {
      case 'neither':
        return () => Promise.resolve();
      case 'policy':
        await installAdmissionPolicy(client);
        return () => removeAdmissionPolicy(client);
      case 'webhook': {
        const { caBundle } = this.#controlPlane;
        await registerWebhooks(client, webhookManifest, { port: this.#webhookPort, caBundle });
        const { metadata } = parse(await readFile(webhookManifest, 'utf8')) as { metadata: { name: string } };
        const target = path(mutatingWebhookConfigurations, metadata);
        return () => client.call({ method: 'DELETE', path: target, priority: 'disrupt' });
      }
    }
  }

  async #until(kept: boolean): Promise<void> {
    while ((await isKeptOnDelete(this.#client)) !== kept) await delay(this.#world, pollMilliseconds);
  }
}

/** The program as the image runs it, which serves its webhook and works in a namespace without clusters. */
async function startWebhook(
  controlPlane: ControlPlane,
  directory: string,
  port: number,
  guard: Guard,
): Promise<MeasuredProcess> {
  const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
  await copyFile(certificate, join(directory, 'tls.crt'));
  await copyFile(key, join(directory, 'tls.key'));
  const account = { namespace: systemNamespace, name: 'moco-rollout' };
  const words = [
    ...theImage.nodeFlags,
    await bundleCopy(guard),
    `--kubeconfig=${await controlPlane.kubeconfigFor(account)}`,
    '--feature-gates=UpdateStrategyOnDelete=true',
    `--namespaces=${systemNamespace}`,
    `--webhook-bind-address=127.0.0.1:${port}`,
    `--cert-dir=${directory}`,
    '--metrics-bind-address=0',
    '--health-probe-bind-address=0',
  ];
  const program = new MeasuredProcess(words, guard, theImage.environment);
  await program.logged('the cache is in sync');
  return program;
}

/** A MySQLCluster that moco-controller leaves alone, and its StatefulSet. */
async function create(client: ObjectClient, index: number): Promise<MySQLCluster> {
  const annotations = { [reconciliationStoppedAnnotation]: annotationOn };
  const sample = sampleCluster({ name: `applied-${index}`, namespace, annotations });
  const cluster = await client.create<MySQLCluster>(clusterKind, { namespace }, sample, { priority: 'disrupt' });
  await apply(client, cluster);
  return cluster;
}

async function apply(client: ObjectClient, cluster: MySQLCluster): Promise<StatefulSet> {
  const name = `moco-${cluster.metadata.name}`;
  const body = statefulSetBody(cluster, defaultSettings);
  return (await perform(client, { verb: 'apply', kind: 'StatefulSet', namespace, name, body })) as StatefulSet;
}

async function patch(client: ObjectClient, name: string, body: object): Promise<void> {
  await client.call({
    method: 'PATCH',
    path: path(statefulSets, { namespace, name }),
    contentType: 'application/merge-patch+json',
    body,
    priority: 'disrupt',
  });
}
