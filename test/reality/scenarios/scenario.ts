import type { ClusterLoad } from '../load/cluster-load.ts';
import type { Expectations } from './expectations.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { onDelete, type Way } from './way.ts';

/** A rollout under certain circumstances, and what has to come of it. */
export interface Scenario {
  readonly slug: string;
  readonly title: string;
  readonly members: number;
  readonly way: Way;
  /** Clients that write all the time, half of them on a new connection for every row; 0: an idle cluster. */
  readonly writers: number;
  /** Of the MySQLCluster, beside what every one has. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly expectations: Expectations;
  /** Done to a cluster that does not serve yet. */
  readonly created: (cluster: RealityCluster) => Promise<void>;
  /** Done before anything counts. */
  readonly before: Action;
  /** What is timed, from its beginning. */
  readonly change: Action;
  /** Goes on beside the rollout, which is not over before it. */
  readonly meanwhile: Action;
  /** Nothing changes the template of the pods: the rollout is over once every member serves. */
  readonly keepsRevision: boolean;
  /** It touches what all clusters share: nothing else goes on beside it. */
  readonly isAlone: boolean;
}

/** Something that is done to a cluster and those who look after it, or to those who write. */
export type Action = (cluster: RealityCluster, load: ClusterLoad) => Promise<void>;

/** Of a switchover (seen: 2.7 s, with many others on the machine 4.9 s). A failover takes longer. */
export const longestSwitchoverMilliseconds = 6000;

/** What most scenarios have: nothing goes wrong by itself. */
export const usual: Omit<Scenario, 'slug' | 'title'> = {
  members: 3,
  way: onDelete,
  writers: 4,
  spec: {},
  expectations: {
    order: [2, 1, 0],
    gaps: { most: 1, longestMilliseconds: longestSwitchoverMilliseconds },
    mayTakePrimary: false,
    isQuiet: true,
    mostRatio: null,
  },
  created: nothing,
  before: nothing,
  change: (cluster) => cluster.setImage(cluster.bed.images.second),
  meanwhile: nothing,
  keepsRevision: false,
  isAlone: false,
};

/** Something fails in the middle: a person may be called, and writes wait for a failover. */
export const failing = { ...usual.expectations, isQuiet: false };

/** As many as there are, however long. */
export const anyGaps = { most: Number.POSITIVE_INFINITY, longestMilliseconds: Number.POSITIVE_INFINITY };

/** Failovers, and members that come back late. */
export const gapsOfTrouble = { most: 6, longestMilliseconds: 120_000 };

async function nothing(): Promise<void> {}
