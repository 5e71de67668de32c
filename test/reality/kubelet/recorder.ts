import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, connect } from '../../../src/kube/connection.ts';
import { path, pods } from '../../../src/kube/resource.ts';
import { realWorld } from '../../../src/kube/world.ts';
import type { Cluster } from '../../support/cluster/cluster.ts';
import type { ClusterNode } from '../../support/cluster/node.ts';
import type { Registry } from '../../support/cluster/registry.ts';
import { until } from '../../support/control-plane/until.ts';
import type { Container } from '../../support/nodes/objects.ts';
import { ends, PodHistory } from '../../support/nodes/recorded/history.ts';
import type { ShownPod } from '../../support/nodes/recorded/pod-words.ts';
import { type Act, nameOf, type Story, type StoryContainer } from '../../support/nodes/recorded/stories.ts';
import { ObjectClient } from '../../support/object-client.ts';

const firstPort = 8001;
/** How long the agent may be away. */
const livenessSeconds = 10;
const deadlineMilliseconds = 180_000;
/** For what follows from an act when its end has been seen. */
const settleMilliseconds = 3_000;
const namespace = 'default';

/** Plays one story on a cluster, and keeps every version of its pod. */
export class Recorder {
  readonly history = new PodHistory();
  readonly #cluster: Cluster;
  readonly #registry: Registry;
  readonly #story: Story;
  readonly #name: string;
  readonly #connection: Connection;
  readonly #stopping = new AbortController();
  #pod: ShownPod | null = null;

  private constructor(cluster: Cluster, registry: Registry, story: Story, name: string) {
    this.#cluster = cluster;
    this.#registry = registry;
    this.#story = story;
    this.#name = name;
    this.#connection = connect({ kubeconfigPath: cluster.kubeconfig });
  }

  static async open(cluster: Cluster, registry: Registry, story: Story, name: string): Promise<Recorder> {
    const recorder = new Recorder(cluster, registry, story, name);
    await recorder.#watch();
    if (story.neighbour !== undefined) await recorder.#createNeighbour(story.neighbour);
    return recorder;
  }

  async play(act: Act): Promise<void> {
    const wanted = act.until;
    this.history.act(act);
    await this.#perform(act);
    if (typeof wanted === 'object' && 'staysForSeconds' in wanted) {
      await delay(Number(wanted.staysForSeconds) * 1000);
      return;
    }
    await until(`${nameOf(act)} leads to ${JSON.stringify(wanted)}`, () => ends(act, this.history.last), {
      milliseconds: deadlineMilliseconds,
      got: () => JSON.stringify(this.history.last),
    });
    await delay(settleMilliseconds);
  }

  async close(): Promise<void> {
    if (this.#story.acts.some((act) => act.do === 'registry')) this.#registry.pace(null);
    const all = [this.#name, `${this.#name}-neighbour`];
    await this.#kubectl('delete', 'pod', '--ignore-not-found', '--grace-period=1', ...all);
    this.#stopping.abort();
    await this.#connection.close();
  }

  get #node(): ClusterNode {
    return this.#cluster.node(this.#story.node);
  }

  async #watch(): Promise<void> {
    const world = realWorld(this.#connection.exchange);
    const client = new ObjectClient({ world, qps: 1000, burst: 1000 });
    const target = path(pods, { namespace });
    const { metadata } = await client.list<{ metadata: { resourceVersion: string } }>(
      pods,
      { namespace },
      { priority: 'read' },
    );
    const follow = async (): Promise<void> => {
      const query = {
        watch: true,
        resourceVersion: metadata.resourceVersion,
        fieldSelector: `metadata.name=${this.#name}`,
      };
      for await (const line of client.stream(target, query, this.#stopping.signal)) {
        const { type, object } = JSON.parse(line) as { type: string; object: ShownPod };
        this.#pod = type === 'DELETED' ? null : object;
        this.history.show(this.#pod);
      }
    };
    void follow().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) throw error;
    });
  }

  async #perform(act: Act): Promise<void> {
    switch (act.do) {
      case 'create':
        return this.#apply(this.#name, this.#manifest());
      case 'delete':
        await this.#kubectl('delete', 'pod', this.#name, '--wait=false');
        return;
      case 'evict':
        return this.#evict();
      case 'image': {
        const containers = [{ name: act.container, image: act.image }];
        await this.#kubectl('patch', 'pod', this.#name, `--patch=${JSON.stringify({ spec: { containers } })}`);
        return;
      }
      case 'resize':
        return this.#resize(act.container, act.resources);
      case 'answer':
        return this.#tell('agent', `ready?answer=${act.ready ? 200 : 503}`);
      case 'exit':
        return this.#tell(act.container, 'exit?code=1');
      case 'eat':
        return this.#tell(act.container, `eat?megabytes=${act.megabytes ?? 0}`);
      case 'registry':
        this.#registry.pace(act.answers ? null : 0);
        return;
      case 'kubelet':
        if (act.on) this.#node.startKubelet();
        else await this.#node.stopKubelet();
        return;
      case 'power':
        return act.on ? this.#node.start() : this.#node.powerOff();
    }
  }

  #kubectl(...flags: readonly string[]): Promise<string> {
    return this.#cluster.kubectl(...flags);
  }

  /** The API server refuses what it knows its node not to have: for a moment the node says that it has more. */
  async #resize(name: string, resources: NonNullable<Container['resources']>): Promise<void> {
    const cpu = Number(resources.requests?.['cpu']);
    const isTooMuch = cpu > availableParallelism();
    if (isTooMuch) {
      await this.#node.stopKubelet();
      await this.#sayCpu(cpu);
    }
    const patch = JSON.stringify({ spec: { containers: [{ name, resources }] } });
    await this.#kubectl('patch', 'pod', this.#name, '--subresource=resize', `--patch=${patch}`);
    if (isTooMuch) {
      await this.#sayCpu(availableParallelism());
      this.#node.startKubelet();
    }
  }

  async #sayCpu(cpu: number): Promise<void> {
    const has = { cpu: String(cpu) };
    const patch = JSON.stringify({ status: { capacity: has, allocatable: has } });
    await this.#kubectl('patch', 'node', this.#node.name, '--subresource=status', `--patch=${patch}`);
  }

  async #evict(): Promise<void> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: this.#name, namespace } };
    const client = new ObjectClient({ world: realWorld(this.#connection.exchange), qps: 1000, burst: 1000 });
    await client.create(pods, { namespace, name: this.#name, subresource: 'eviction' }, body, { priority: 'disrupt' });
  }

  async #tell(container: string, what: string): Promise<void> {
    const address = this.#pod?.status?.podIP ?? '';
    const port = await this.#cluster.forward(address, portOf(this.#story, container));
    await fetch(`http://127.0.0.1:${port}/${what}`, { method: 'POST' });
  }

  async #apply(name: string, manifest: object): Promise<void> {
    const file = join(this.#cluster.directory, `${name}.json`);
    await writeFile(file, JSON.stringify(manifest));
    await this.#kubectl('create', '--filename', file);
  }

  #createNeighbour(requests: NonNullable<Story['neighbour']>): Promise<void> {
    const containers = [
      { name: 'neighbour', image: 'subject:1', env: environment(firstPort, 0), resources: { requests } },
    ];
    const name = `${this.#name}-neighbour`;
    return this.#apply(name, pod(name, { nodeName: this.#node.name, containers }));
  }

  #manifest(): object {
    const { bound, init = [], containers, tolerationSeconds } = this.#story;
    const place = bound
      ? { nodeName: this.#node.name }
      : { nodeSelector: { 'kubernetes.io/hostname': this.#node.name } };
    const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
    return pod(this.#name, {
      ...place,
      ...(tolerationSeconds === undefined
        ? {}
        : { tolerations: taints.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds })) }),
      initContainers: init.map((name) => ({ name, image: 'subject:1', args: ['once'] })),
      containers: containers.map((container) => containerSpec(this.#story, container)),
    });
  }
}

function pod(name: string, spec: object): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec };
}

function portOf({ containers }: Story, container: string): number {
  return firstPort + containers.findIndex(({ name }) => name === container);
}

function environment(port: number, stopSeconds: number): readonly object[] {
  return [
    { name: 'PORT', value: String(port) },
    { name: 'STOP_SECONDS', value: String(stopSeconds) },
  ];
}

function containerSpec(story: Story, container: StoryContainer): object {
  const { name, image, resources, stopSeconds = 0 } = container;
  const probe = (path: string, more: object): object => ({
    httpGet: { path, port: portOf(story, 'agent') },
    periodSeconds: 1,
    ...more,
  });
  const probes = {
    readinessProbe: probe('/ready', {}),
    livenessProbe: probe('/live', { failureThreshold: livenessSeconds }),
  };
  const hasAgent = story.containers.some((one) => one.name === 'agent');
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    env: environment(portOf(story, name), stopSeconds),
    ...(name === 'mysqld' && hasAgent ? probes : {}),
    ...(resources === undefined ? {} : { resources }),
  };
}
