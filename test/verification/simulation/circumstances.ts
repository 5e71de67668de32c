import type { Log } from '../../../src/base/world.ts';
import type { OnDeleteKeeper } from '../../support/api-server/admission.ts';
import type { Json } from '../../support/api-server/stored-object.ts';
import type { ClusteringDurations } from '../../support/moco/settings.ts';
import type { NodesSettings } from '../../support/nodes/settings.ts';
import type { Preflight } from './preflight.ts';

export interface NodeMaintenance {
  readonly nodeMaintenance: 'Ignore' | 'Switchover' | 'Evacuate';
  readonly rolloutsDuringMaintenance: 'Proceed' | 'Wait';
}

/** What a simulated world is like, whatever happens in it. */
export interface Circumstances {
  readonly seed: string;
  readonly replicas: number;
  /**
   * Who disrupts members: this program, by pods or by partitions if MOCO has no webhook; or MOCO's own partition
   * controller, while this program only reports.
   */
  readonly mode: 'OnDelete' | 'Partition' | 'MOCO';
  readonly movesCurrentRevision: boolean;
  readonly onDeleteKeeper: OnDeleteKeeper;
  readonly processes: number;
  /** Without it every process leads. */
  readonly electsLeader: boolean;
  readonly nodes: Partial<NodesSettings>;
  readonly moco: Partial<ClusteringDurations>;
  readonly lagMilliseconds: number;
  readonly longestPage: number;
  /** Whether a watch may begin with a list. */
  readonly streamsLists: boolean;
  /** What the user has set in the MySQLRollout from the beginning; `null` for nothing. */
  readonly maxUnavailable: number | string | null;
  /** The cluster has a backup policy, so that there is a CronJob from which backups begin. */
  readonly backups: boolean;
  /** More of the MySQLCluster's spec. */
  readonly spec: Json;
  /** No two members may be on one node. */
  readonly apart?: true;
  /** The setting `inPlace`, with the feature gate; absent without it. */
  readonly inPlace?: Json;
  /** The setting `preflight`, and the nodes that are asked; absent without it. */
  readonly preflight?: Preflight;
  /** Settings about nodes that are being taken out of service, with the feature gate; absent for none. */
  readonly nodeMaintenance?: NodeMaintenance | 'gate off';
  /** What the controller logs. */
  readonly log?: Log;
}

/** Three members at OnDelete beside one process, as quick as the stand-ins are, and nothing besides. */
export const plainCircumstances: Circumstances = {
  seed: 'plain',
  replicas: 3,
  mode: 'OnDelete',
  movesCurrentRevision: false,
  onDeleteKeeper: 'policy',
  processes: 1,
  electsLeader: false,
  nodes: {},
  moco: {},
  lagMilliseconds: 30,
  longestPage: Number.POSITIVE_INFINITY,
  streamsLists: true,
  maxUnavailable: null,
  backups: false,
  spec: {},
};
