import type { Cluster } from '../support/cluster/cluster.ts';
import { until } from '../support/control-plane/until.ts';
import type { Containers } from './containers.ts';

/** Of a Deployment in a cluster. */
export interface ControllerPlace {
  readonly namespace: string;
  readonly deployment: string;
  /** Of its pods. */
  readonly selector: string;
  /** How many it has. */
  readonly replicas: number;
}

const metricsPort = 8080;
const endMilliseconds = 120_000;

/** A controller that is installed as a Deployment: moco-controller, or this program. */
export class Controller {
  readonly #cluster: Cluster;
  readonly #containers: Containers;
  readonly #place: ControllerPlace;
  /** Of pods that are gone. */
  readonly #logs: string[] = [];

  constructor(cluster: Cluster, containers: Containers, place: ControllerPlace) {
    this.#cluster = cluster;
    this.#containers = containers;
    this.#place = place;
  }

  /** SIGKILL to every replica. None comes back before {@link start}. */
  async kill(): Promise<void> {
    await this.#scale(0);
    await this.#kill();
  }

  /** Resolves once every replica is ready. */
  async start(): Promise<void> {
    await this.#scale(this.#place.replicas);
    await this.ready();
  }

  /** SIGKILL to every replica. Resolves once those that come instead are ready. */
  async killAndStart(): Promise<void> {
    await this.#kill();
    await this.ready();
  }

  /** Resolves once every replica is ready, and those before them are gone: a Service may still lead to them. */
  async ready(): Promise<void> {
    const { deployment, replicas } = this.#place;
    await this.#kubectl('rollout', 'status', `deployment/${deployment}`, '--timeout=180s');
    await until(
      `there are ${replicas} pods of ${deployment} and no others`,
      async () => (await this.#podNames()).length === replicas,
      { milliseconds: endMilliseconds },
    );
  }

  /** Replaces the flags of its container, and waits until every replica runs with them. */
  async setFlags(flags: readonly string[]): Promise<void> {
    const { deployment } = this.#place;
    const patch = [{ op: 'add', path: '/spec/template/spec/containers/0/args', value: flags }];
    await this.#kubectl('patch', 'deployment', deployment, '--type=json', `--patch=${JSON.stringify(patch)}`);
    await this.ready();
  }

  /** What every process has logged so far, the oldest first. */
  async logs(): Promise<string> {
    return [...this.#logs, await this.#log()].join('--- killed and started again ---\n');
  }

  /** What the replicas expose to Prometheus; empty while none runs. */
  async metrics(): Promise<string> {
    const { namespace } = this.#place;
    const texts = (await this.#podNames().catch(() => []))
      .map((name) => `/api/v1/namespaces/${namespace}/${name.replace('pod/', 'pods/')}:${metricsPort}/proxy/metrics`)
      .map((path) => this.#cluster.kubectl('get', '--raw', path).catch(() => ''));
    return (await Promise.all(texts)).join('');
  }

  /** Such as `pod/moco-controller-0`. */
  async #podNames(): Promise<readonly string[]> {
    const names = await this.#kubectl('get', 'pods', `--selector=${this.#place.selector}`, '--output=name');
    return names.split('\n').filter((name) => name !== '');
  }

  async #kill(): Promise<void> {
    this.#logs.push(await this.#log());
    const { namespace, selector } = this.#place;
    await this.#containers.killPods(namespace, selector);
  }

  async #scale(replicas: number): Promise<void> {
    await this.#kubectl('scale', 'deployment', this.#place.deployment, `--replicas=${replicas}`);
  }

  #log(): Promise<string> {
    const { selector } = this.#place;
    return this.#kubectl('logs', `--selector=${selector}`, '--tail=-1', '--prefix').catch((error) => `${error}\n`);
  }

  #kubectl(...flags: readonly string[]): Promise<string> {
    return this.#cluster.kubectl('--namespace', this.#place.namespace, ...flags);
  }
}
