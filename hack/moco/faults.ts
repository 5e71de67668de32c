/** What a script lets go wrong. Ordinals name members of the one cluster that these faults belong to. */
export interface Faults {
  /** `ignored`: MOCO never begins. `failing`: every try drains the primary, gives up and opens it again. */
  readonly switchover: 'working' | 'ignored' | 'failing';
  /** The member that a switchover or failover goes to instead of the one MOCO would choose; `null` for its choice. */
  readonly nextPrimary: number | null;
  /** Seconds by which replicas lag behind. From `spec.maxDelaySeconds` on they are not ready. */
  readonly lagSeconds: Readonly<Record<number, number>>;
  /** Replicas with transactions that the primary doesn't have. */
  readonly errant: readonly number[];
  /** Members that MOCO and the others can't reach although their mysqld runs, as on a lost node. */
  readonly unreachable: readonly number[];
  /** Added to the time in which MOCO notices a change: its status is that much older than the truth. */
  readonly statusLagMilliseconds: number;
  /** What an intermediate primary replicates from is away or far ahead: the agent calls that primary not ready. */
  readonly upstreamAway: boolean;
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
  upstreamAway: false,
  cloneHangs: false,
};
