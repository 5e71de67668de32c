import { createServer, type Server, type Socket } from 'node:net';
import type { World } from '../../../src/base/world.ts';
import { pods, type ResourceKind } from '../../../src/kube/resource.ts';
import { Store } from '../../../src/kube/store.ts';
import { clusterKind, clusterNameLabel } from '../../../src/moco/names.ts';
import type { Faults } from '../moco/faults.ts';
import { ordinalOf } from '../moco/names.ts';
import type { KubernetesObject, MySQLCluster, Pod } from '../moco/objects.ts';
import { processOf } from '../moco/pods.ts';
import type { ObjectClient } from '../object-client.ts';
import { type Cached, cached, Watching } from '../watching.ts';
import { MysqlCluster } from './mysql-cluster.ts';
import { serveMysql } from './mysql-protocol.ts';

/** Where MOCO connects to: MySQL's administrative interface. */
export const mysqlAdminPort = 33_062;

const byCluster = 'cluster';

type Listener = (namespace: string, clusterName: string) => void;

/**
 * Listens in place of mysqld on every pod's own loopback address while the pod's container mysqld runs. There are no
 * agents: MOCO needs them only for clones, and no member is empty.
 */
export class MysqlServers {
  readonly #clusters = new Map<string, MysqlCluster>();
  readonly #servers = new Map<string, OneServer>();
  readonly #listeners = new Set<Listener>();
  readonly #pods: Store<Cached<Pod>>;
  readonly #mysqlClusters: Store<Cached<MySQLCluster>>;
  readonly #watching: Watching;

  constructor(client: ObjectClient, world: World) {
    this.#watching = new Watching({ client, world });
    const store = <T extends KubernetesObject>(
      kind: ResourceKind,
      clusterOf: (object: T) => string,
    ): Store<Cached<T>> => {
      const made = new Store<Cached<T>>({ [byCluster]: ({ namespace, object }) => key(namespace, clusterOf(object)) });
      made.subscribe(({ before, after }) => {
        const changed = after ?? before;
        if (changed !== null) this.#look(changed.namespace, clusterOf(changed.object));
      });
      return this.#watching.follow(made, kind, cached<T>);
    };
    this.#pods = store<Pod>(pods, ({ metadata }) => metadata.labels?.[clusterNameLabel] ?? '');
    this.#mysqlClusters = store<MySQLCluster>(clusterKind, ({ metadata }) => metadata.name);
  }

  start(): Promise<void> {
    return this.#watching.start();
  }

  of(namespace: string, clusterName: string): MysqlCluster {
    const name = key(namespace, clusterName);
    const known = this.#clusters.get(name);
    if (known !== undefined) return known;
    const made = new MysqlCluster(() => this.#tell(namespace, clusterName));
    this.#clusters.set(name, made);
    return made;
  }

  setFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void {
    this.of(namespace, clusterName).changeFaults(faults);
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  async stop(): Promise<void> {
    await this.#watching.stop();
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
  }

  #look(namespace: string, clusterName: string): void {
    if (clusterName === '') return;
    const members = this.#pods.by(byCluster, key(namespace, clusterName)).map(({ object }) => object);
    const [cluster] = this.#mysqlClusters.by(byCluster, key(namespace, clusterName));
    this.of(namespace, clusterName).observe(cluster?.object ?? null, members);
    this.#listen(namespace, clusterName, members);
    // A new one of the same name has new databases.
    if (cluster === undefined && members.length === 0) this.#clusters.delete(key(namespace, clusterName));
    this.#tell(namespace, clusterName);
  }

  #listen(namespace: string, clusterName: string, members: readonly Pod[]): void {
    const prefix = `${key(namespace, clusterName)}/`;
    const wanted = new Map<string, Pod>();
    for (const pod of members) {
      const process = processOf(pod);
      if (process !== null && pod.status?.podIP !== undefined) wanted.set(`${prefix}${process}`, pod);
    }
    for (const [name, server] of this.#servers) {
      if (!name.startsWith(prefix) || wanted.has(name)) continue;
      this.#servers.delete(name);
      void server.stop();
    }
    for (const [name, pod] of wanted) {
      if (this.#servers.has(name)) continue;
      const ordinal = ordinalOf(pod.metadata.name);
      const answer = (statement: string) => this.of(namespace, clusterName).answer(ordinal, statement);
      this.#servers.set(name, new OneServer(pod.status?.podIP ?? '', (socket) => serveMysql(socket, answer)));
    }
  }

  #tell(namespace: string, clusterName: string): void {
    for (const listener of this.#listeners) listener(namespace, clusterName);
  }
}

/** One process of mysqld, as the network sees it. */
class OneServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(address: string, serve: (socket: Socket) => void) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      serve(socket);
    });
    this.#server.listen({ host: address, port: mysqlAdminPort });
    this.#server.unref();
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }
}

function key(namespace: string, clusterName: string): string {
  return `${namespace}/${clusterName}`;
}
