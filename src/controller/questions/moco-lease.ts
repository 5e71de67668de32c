import { shortened } from '../../base/text.ts';
import type { World } from '../../base/world.ts';
import type { MocoLease } from '../../core/on-demand-facts.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { Lease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import { type LeasePlace, usualLease } from '../../moco/lease-place.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';

/** The Lease as last read. Times are on the monotonic clock. */
export interface SeenLease extends Pick<MocoLease, 'lease' | 'state' | 'holder' | 'durationSeconds'> {
  readonly atMilliseconds: number;
  /** The time of the last reading before the latest known renewal. `null` if no renewal is known. */
  readonly renewedAtMilliseconds: number | null;
}

/**
 * How many characters of the holder and of the renewal time are kept. If only later characters differ, that does not
 * count as a renewal.
 */
const mostLeaseCharacters = 253;
/** controller-runtime's default; used if the Lease has no duration. */
const usualDurationSeconds = 15;
/** Clusters that are reconciled within this time share a reading. */
const sharedMilliseconds = 1000;

/** Rejects with `ApiError`. */
export interface MocoReader {
  read(api: ClusterReader): Promise<SeenLease>;
}

/**
 * Reads the Lease of moco-controller, for all clusters. If two readings differ, the Lease was renewed between them, and
 * the time of the earlier reading counts. The clock of moco-controller is not used.
 */
export class MocoLeases implements MocoReader {
  readonly #world: Pick<World, 'monotonic'>;
  readonly #place: LeasePlace;
  #seen: SeenLease | null = null;
  #renewal = '';

  constructor(world: Pick<World, 'monotonic'>, place: LeasePlace = usualLease) {
    this.#world = world;
    this.#place = place;
  }

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

  async #read(
    api: ClusterReader,
  ): Promise<Omit<SeenLease, 'atMilliseconds' | 'renewedAtMilliseconds'> & { readonly renewal: string }> {
    const { namespace, name } = this.#place;
    const lease = `${namespace}/${name}`;
    const none = { lease, holder: '', durationSeconds: usualDurationSeconds, renewal: '' };
    try {
      const found = (await api.read(leases, this.#place)) as Lease | null;
      if (found === null) return { ...none, state: 'missing' };
      const { holderIdentity, renewTime, leaseDurationSeconds, leaseTransitions } = found.spec ?? {};
      const holder = shortened(holderIdentity ?? '', mostLeaseCharacters);
      const durationSeconds = leaseDurationSeconds ?? usualDurationSeconds;
      const renewal = JSON.stringify([holder, shortened(renewTime ?? '', mostLeaseCharacters), leaseTransitions]);
      return { lease, state: holder === '' ? 'free' : 'held', holder, durationSeconds, renewal };
    } catch (error) {
      if (isForbidden(error)) return { ...none, state: 'forbidden' };
      throw error;
    }
  }
}
