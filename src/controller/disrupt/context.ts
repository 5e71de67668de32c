import type { Checks } from '../cache/check-answers.ts';
import type { Observation } from '../pass/observe.ts';
import type { Result } from '../pass/result.ts';
import type { DelayReader } from '../reads/delay-reader.ts';
import type { MysqlContext } from '../reads/read-mysql.ts';
import type { RecentNodes } from '../reads/read-node.ts';
import type { ReportContext } from '../status/report-context.ts';
import type { ClusterApi } from './cluster-client.ts';

/** The dependencies that all reconciliations of this process share. */
export interface Context extends ReportContext {
  readonly api: ClusterApi;
  readonly delays: DelayReader;
  readonly mysql: MysqlContext['mysql'];
  /** Nodes and PersistentVolumes have no namespace, so a controller of some namespaces may lack the right to them. */
  readonly mayLackNodes: boolean;
  readonly nodes: RecentNodes;
  readonly mayLackCreate: false;
  readonly checks: Pick<Checks, 'factsFor' | 'ask' | 'forget'>;
  /** The holder identity of this process in intents. Every start has a new one. */
  readonly holder: string;
  /** No write is started once this returns false. */
  readonly isLeading: () => boolean;
}

/** When the work queue should process the key again even if nothing changes. */
export interface Requeue {
  readonly requeueAfterMilliseconds?: number;
}

/** How the action phase of a reconciliation ended. */
export interface Ended {
  readonly requeue: Requeue;
  /**
   * What to report: an observation that was just read, or the cached one. `null` if another reconciliation follows at
   * once, or if the cluster no longer exists.
   */
  readonly report: Observation | 'cached' | null;
  /** What later reconciliations need to know about the result. */
  readonly result: Result | null;
}

export const nothingToReport: Ended = { requeue: {}, report: null, result: null };
export const requeueNow: Requeue = { requeueAfterMilliseconds: 0 };

/** The delay after a fresh read vetoed a step. Usually a watch event arrives earlier. */
const vetoedMilliseconds = 1000;
export const vetoed: Requeue = { requeueAfterMilliseconds: vetoedMilliseconds };
