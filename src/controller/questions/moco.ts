import type { World } from '../../base/world.ts';
import type { MocoLease } from '../../core/on-demand-facts.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { Lease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { Row } from './asking.ts';

/** The Lease as it was last read, on the monotonic clock. */
interface SeenLease extends Pick<MocoLease, 'state' | 'holder' | 'durationSeconds'> {
  readonly atMilliseconds: number;
  /** The latest renewal that this process knows of was made after this. `null` if it knows of none. */
  readonly renewedAtMilliseconds: number | null;
}

/** Where moco-controller elects its leader. */
export interface LeasePlace {
  readonly namespace: string;
  readonly name: string;
}

/**
 * MOCO 0.36: `--leader-election-id` is `moco` by default, and the namespace is that of its pod, `moco-system` in its
 * manifests (cmd/moco-controller/cmd/root.go, run.go).
 */
export const usualLease: LeasePlace = { namespace: 'moco-system', name: 'moco' };

/** controller-runtime's own duration, where the Lease has none. */
const usualDurationSeconds = 15;
/** Clusters that are looked at together share a reading. */
const sharedMilliseconds = 1000;

/**
 * Reads the Lease of moco-controller, for all clusters. A renewal is a change from one reading to the next, and is dated
 * from the earlier one: the clock of moco-controller plays no part.
 */
export class MocoLeases {
  readonly #world: Pick<World, 'monotonic'>;
  readonly #place: LeasePlace;
  #seen: SeenLease | null = null;
  #renewal = '';

  constructor(world: Pick<World, 'monotonic'>, place: LeasePlace = usualLease) {
    this.#world = world;
    this.#place = place;
  }

  get lease(): string {
    return `${this.#place.namespace}/${this.#place.name}`;
  }

  /** Rejects with `ApiError`. */
  async read(api: ClusterReader): Promise<SeenLease> {
    const atMilliseconds = this.#world.monotonic();
    const before = this.#seen;
    if (before !== null && atMilliseconds - before.atMilliseconds < sharedMilliseconds) return before;
    const { renewal, ...read } = await this.#read(api);
    const isRenewed = before?.state === 'held' && read.state === 'held' && renewal !== this.#renewal;
    const renewedAtMilliseconds = isRenewed ? before.atMilliseconds : (before?.renewedAtMilliseconds ?? null);
    this.#renewal = renewal;
    this.#seen = { ...read, atMilliseconds, renewedAtMilliseconds };
    return this.#seen;
  }

  async #read(api: ClusterReader): Promise<Omit<SeenLease, 'atMilliseconds' | 'renewedAtMilliseconds'> & { readonly renewal: string }> {
    const none = { holder: '', durationSeconds: usualDurationSeconds, renewal: '' };
    try {
      const lease = (await api.read(leases, this.#place)) as Lease | null;
      if (lease === null) return { ...none, state: 'missing' };
      const { holderIdentity, renewTime, leaseDurationSeconds, leaseTransitions } = lease.spec ?? {};
      const holder = holderIdentity ?? '';
      const durationSeconds = leaseDurationSeconds ?? usualDurationSeconds;
      const renewal = JSON.stringify([holder, renewTime, leaseTransitions]);
      return { state: holder === '' ? 'free' : 'held', holder, durationSeconds, renewal };
    } catch (error) {
      if (isForbidden(error)) return { ...none, state: 'forbidden' };
      throw error;
    }
  }
}

export const moco: Row<'moco', SeenLease | null, Pick<ClusterSnapshot, 'moco'>> = {
  asks: 'the API server: the Lease by which moco-controller elects its leader',
  lasts: '10 s',
  silence: 'no step in this pass; without the right nothing is held',
  initial: null,
  ask: (_, { api, sources }) => sources.moco.read(api),
  facts: (seen, { nowMilliseconds, sources }) => {
    const { lease } = sources.moco;
    if (seen === null) return { moco: { ...unread, lease } };
    const { atMilliseconds, renewedAtMilliseconds, ...read } = seen;
    const renewedForSeconds = renewedAtMilliseconds === null ? null : (nowMilliseconds - renewedAtMilliseconds) / 1000;
    return { moco: { ...read, lease, ageSeconds: (nowMilliseconds - atMilliseconds) / 1000, renewedForSeconds } };
  },
  confirm: {
    order: 'withObjects',
    plan: (_, { sources }) => ({ requests: 1, ask: (api) => sources.moco.read(api) }),
  },
  status: { whileOutstanding: 'the hold before' },
};

const unread = { state: 'missing', holder: '', durationSeconds: 0, ageSeconds: null, renewedForSeconds: null } as const;
