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
  /** Replicas whose applier has a transaction in hand that takes long, such as a DDL: they have received more than applied. */
  readonly backlog: readonly number[];
  /** Replicas that have not received the newest transactions: their delay is 0 and they are ready, but acknowledge none. */
  readonly unreceived: readonly number[];
  /** By uid, the pods of replicas that do not replicate, and at which MOCO's configuration fails. */
  readonly unconfigurable: readonly string[];
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
  backlog: [],
  unreceived: [],
  unconfigurable: [],
  unreachable: [],
  statusLagMilliseconds: 0,
  upstreamUnavailable: false,
  cloneHangs: false,
};
