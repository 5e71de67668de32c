import type { World } from '../../../src/base/world.ts';
import { leases, namespaces, path } from '../../../src/kube/resource.ts';
import { usualLease } from '../../../src/moco/lease-place.ts';
import type { ObjectClient } from '../object-client.ts';

/** controller-runtime's own retry period. */
const renewMilliseconds = 2000;

/** Renews the Lease of moco-controller's leader, as long as that runs. */
export class Renewals {
  readonly #client: ObjectClient;
  readonly #world: World;
  #cancel: (() => void) | null = null;
  #renewing: Promise<void> = Promise.resolve();

  constructor(client: ObjectClient, world: World) {
    this.#client = client;
    this.#world = world;
  }

  start(): void {
    this.#cancel = () => undefined;
    this.#renewing = this.#renew();
  }

  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    await this.#renewing;
  }

  /** Whatever fails is tried again. */
  async #renew(): Promise<void> {
    try {
      await this.#write();
    } catch {
      // Another stand-in has renewed it, or the API server is away.
    }
    if (this.#cancel === null) return;
    this.#cancel = this.#world.timer(renewMilliseconds, () => {
      this.#renewing = this.#renew();
    });
  }

  async #write(): Promise<void> {
    const { namespace, name } = usualLease;
    const spec = {
      holderIdentity: 'moco-controller-stand-in',
      leaseDurationSeconds: 15,
      renewTime: new Date(this.#world.wall()).toISOString().replace('Z', '000Z'),
    };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec };
    const patch = { contentType: 'application/merge-patch+json', priority: 'status', retries: 0 } as const;
    try {
      await this.#client.call({ ...patch, method: 'PATCH', path: path(leases, { namespace, name }), body: { spec } });
    } catch {
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      const create = { method: 'POST', priority: 'status', retries: 0 } as const;
      await this.#client.call({ ...create, path: path(namespaces, {}), body }).catch(() => undefined);
      await this.#client.call({ ...create, path: path(leases, { namespace }), body: lease });
    }
  }
}
