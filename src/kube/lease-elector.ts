import { delay } from '../base/delay.ts';
import type { Log, World } from '../base/world.ts';
import type { ApiClient } from './api-client.ts';
import { isAlreadyExists, isConflict, isNotFound } from './api-error.ts';
import { heldBy, heldByNobody, holderOf, type Lease, parseLease } from './lease.ts';
import { apiVersion, leases, path } from './resource.ts';
import { keyOf } from './store.ts';

// Leader election. This process reads the clock to decide whether it is still the leader, and does not rely on a timer.

/**
 * A candidate waits for a random time between one and this many retry periods, so that not all candidates send requests
 * at once.
 */
const jitter = 1.2;

export interface LeaseElectorOptions {
  readonly client: ApiClient;
  readonly world: World;
  readonly namespace: string;
  readonly name: string;
  /** The name of this process. It is unique, even across restarts. */
  readonly identity: string;
  /** How long other candidates wait for the leader to renew the lease. */
  readonly leaseDurationMilliseconds: number;
  /**
   * How long the leader stays leader without a renewal. It must be shorter than the lease duration, by more than the
   * drift between the clocks of two machines.
   */
  readonly renewDeadlineMilliseconds: number;
  /** The time between two attempts. It must be several times shorter than the renew deadline. */
  readonly retryPeriodMilliseconds: number;
  /**
   * Annotations that this process writes to the lease when it acquires or renews the lease. They stay until another
   * process changes them.
   */
  readonly annotations?: Readonly<Record<string, string>> | null;
  readonly log: Log;
  readonly onStartedLeading: () => void;
  /** Called once after `onStartedLeading`, when leading ends: the lease was lost or released, or `run` was aborted. */
  readonly onStoppedLeading: () => void;
}

/**
 * The last version of the lease that this process has seen, and the local time when it saw this version first. The
 * local clock is never compared with timestamps of other machines.
 */
interface ObservedLease {
  readonly lease: Lease;
  readonly atMilliseconds: number;
}

/**
 * One of several candidates for a coordination.k8s.io Lease, following client-go's rules. A candidate leads at most
 * once: when it loses the lease, `run` ends, and the process should exit.
 */
export class LeaseElector {
  readonly #options: LeaseElectorOptions;
  readonly #stop = new AbortController();
  #observed: ObservedLease | null = null;
  #leading = false;
  /** When the last successful renewal started. This process has held the lease since then. */
  #renewedAtMilliseconds = Number.NEGATIVE_INFINITY;
  #signal: AbortSignal | null = null;
  #running: Promise<void> | null = null;

  constructor(options: LeaseElectorOptions) {
    this.#options = options;
  }

  /**
   * Whether a write may start now, according to the clock at the time of the call. `false` once the renew deadline has
   * passed, even if the timer is late because the process was suspended or the event loop was blocked. Also `false` as
   * soon as the run is aborted or the lease is released.
   */
  isLeader(): boolean {
    return this.#leading && !this.#ending && this.#leftMilliseconds() > 0;
  }

  /** Waits for the lease, then renews it until it is lost or released, or until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    this.#signal ??= AbortSignal.any([signal, this.#stop.signal]);
    this.#running ??= this.#run(this.#signal);
    return this.#running;
  }

  /** Ends `run` and releases the lease if it is still held. Never rejects. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const { log } = this.#options;
    try {
      if (await this.#release()) log.info(this.#fields(), 'Released the lease');
    } catch (error) {
      log.warn({ ...this.#fields(), error }, 'Failed to release the lease; it will expire');
    }
  }

  /**
   * Resolves to whether this process still held the lease. An aborted renewal may have changed the lease without a
   * response.
   */
  async #release(): Promise<boolean> {
    for (let conflicts = 0; ; conflicts += 1) {
      const lease = this.#observed?.lease;
      if (lease === undefined || holderOf(lease) !== this.#options.identity) return false;
      try {
        this.#observe(await this.#write('PUT', heldByNobody(lease, this.#options.world.wall())));
        return true;
      } catch (error) {
        if (!isConflict(error) || conflicts > 0) throw error;
        await this.#read();
      }
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { log, onStartedLeading, onStoppedLeading } = this.#options;
    if (!(await this.#acquire(signal))) return;
    log.info(this.#fields(), 'Became leader');
    this.#leading = true;
    try {
      onStartedLeading();
      await this.#keep(signal);
      if (!signal.aborted) log.error(this.#fields(), 'Lost the lease');
    } catch (error) {
      log.error({ ...this.#fields(), error }, 'Failed to start leading');
    }
    this.#leading = false;
    onStoppedLeading();
  }

  /** Resolves to whether the lease was acquired; `false` if aborted. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { world, retryPeriodMilliseconds } = this.#options;
    while (!signal.aborted) {
      if (await this.#try(signal)) return true;
      await delay(world, retryPeriodMilliseconds * (1 + world.random() * (jitter - 1)), signal);
    }
    return false;
  }

  /** Renews the lease until another candidate holds it, or until the renew deadline has passed. */
  async #keep(signal: AbortSignal): Promise<void> {
    const { world, retryPeriodMilliseconds, identity } = this.#options;
    const deadline = new AbortController();
    const both = AbortSignal.any([signal, deadline.signal]);
    while (!both.aborted) {
      const waitMilliseconds = Math.min(retryPeriodMilliseconds, this.#leftMilliseconds());
      await delay(world, waitMilliseconds, both);
      if (both.aborted || this.#leftMilliseconds() <= 0) return;
      const cancel = world.timer(this.#leftMilliseconds(), () => deadline.abort());
      await this.#try(both);
      cancel();
      if (this.#observed && holderOf(this.#observed.lease) !== identity) return;
    }
  }

  get #ending(): boolean {
    return this.#signal?.aborted ?? false;
  }

  #leftMilliseconds(): number {
    const { world, renewDeadlineMilliseconds } = this.#options;
    return this.#renewedAtMilliseconds + renewDeadlineMilliseconds - world.monotonic();
  }

  /**
   * Acquires the lease if it is free, and renews it if this process holds it. Resolves to whether this process now
   * holds the lease.
   */
  async #try(signal: AbortSignal): Promise<boolean> {
    const { world, identity, leaseDurationMilliseconds, annotations = null, log } = this.#options;
    const startMilliseconds = world.monotonic();
    try {
      const mine = this.#observed && holderOf(this.#observed.lease) === identity;
      if (!mine) await this.#read(signal);
      const before = this.#observed?.lease ?? this.#blank();
      if (!this.#mayHave(before)) return false;
      const lease = heldBy(identity, before, leaseDurationMilliseconds, world.wall(), annotations);
      this.#observe(await this.#write(this.#observed ? 'PUT' : 'POST', lease, signal));
      this.#renewedAtMilliseconds = startMilliseconds;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (isConflict(error) || isNotFound(error) || isAlreadyExists(error)) {
        log.debug({ ...this.#fields(), error }, 'Another process wrote the lease');
        // Reads the lease again, because otherwise the next attempt would fail for the same reason.
        await this.#read(signal).catch((again: unknown) => {
          if (!signal.aborted) log.warn({ ...this.#fields(), error: again }, 'Failed to read the lease');
        });
      } else {
        log.warn({ ...this.#fields(), error }, 'Failed to acquire or renew the lease');
      }
      return false;
    }
  }

  async #read(signal?: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    try {
      const answer = await client.call<unknown>({
        method: 'GET',
        path: path(leases, { namespace, name }),
        priority: 'lease',
        retries: 0,
        timeoutMilliseconds: this.#callTimeoutMilliseconds,
        ...(signal && { signal }),
      });
      this.#observe(parseLease(answer));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#observed = null;
    }
  }

  /** Records this version of the lease. The age of a version counts from the moment when this process first saw it. */
  #observe(lease: Lease): void {
    if (this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#observed = { lease, atMilliseconds: this.#options.world.monotonic() };
  }

  #mayHave(lease: Lease): boolean {
    const { world, identity, leaseDurationMilliseconds } = this.#options;
    const holder = holderOf(lease);
    if (holder === '' || holder === identity || this.#observed === null) return true;
    const seconds = lease.spec?.leaseDurationSeconds;
    const validMilliseconds = typeof seconds === 'number' ? seconds * 1000 : leaseDurationMilliseconds;
    return world.monotonic() >= this.#observed.atMilliseconds + validMilliseconds;
  }

  async #write(method: 'PUT' | 'POST', lease: Lease, signal?: AbortSignal): Promise<Lease> {
    const { client, namespace, name } = this.#options;
    const answer = await client.call<unknown>({
      method,
      path: path(leases, method === 'PUT' ? { namespace, name } : { namespace }),
      body: lease,
      priority: 'lease',
      retries: 0,
      timeoutMilliseconds: this.#callTimeoutMilliseconds,
      // A process that was suspended before the request was sent must not renew an expired lease when it resumes.
      isStillWanted: () => !this.#leading || this.#leftMilliseconds() > 0,
      ...(signal && { signal }),
    });
    return parseLease(answer);
  }

  /** Half of the deadline leaves time for a second attempt. */
  get #callTimeoutMilliseconds(): number {
    return this.#options.renewDeadlineMilliseconds / 2;
  }

  #blank(): Lease {
    const { namespace, name } = this.#options;
    return { apiVersion: apiVersion(leases), kind: leases.kind, metadata: { namespace, name } };
  }

  #fields(): { readonly lease: string; readonly identity: string } {
    const { namespace, name, identity } = this.#options;
    return { lease: keyOf(namespace, name), identity };
  }
}
