/** The scripted faults of one cluster. Ordinals name its members. */
export interface Faults {
  /** `ignored`: MOCO never begins. `failing`: every attempt drains the primary, aborts and opens it again. */
  readonly switchover: 'working' | 'ignored' | 'failing';
  /** The target of a switchover or failover; `null` for MOCO's choice. */
  readonly nextPrimary: number | null;
  /** Seconds by which replicas lag behind. From `spec.maxDelaySeconds` on they are not ready. */
  readonly lagSeconds: Readonly<Record<number, number>>;
  /** Replicas with transactions that the primary doesn't have. */
  readonly errant: readonly number[];
  /** Members that MOCO and the others can't reach although their mysqld runs, as on a lost node. */
  readonly unreachable: readonly number[];
  /** Added to the time in which MOCO notices a change: its status is that much older than the truth. */
  readonly statusLagMilliseconds: number;
  /** The source of an intermediate primary is unavailable or far ahead: the agent reports that primary as not ready. */
  readonly upstreamUnavailable: boolean;
  /** Cloning at the start never ends: `Initialized` stays False. */
  readonly cloneHangs: boolean;
}

export const noFaults: Faults = {
  switchover: 'working',
  nextPrimary: null,
  lagSeconds: {},
  errant: [],
  unreachable: [],
  statusLagMilliseconds: 0,
  upstreamUnavailable: false,
  cloneHangs: false,
};
