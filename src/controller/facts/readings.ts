import type { TemplateChange } from '../../api/rollout-status.ts';
import type { Contention } from '../../core/snapshot.ts';
import type { ComebackReadings } from './comeback-facts.ts';
import { type InPlaceReadings, nothingReadInPlace } from './in-place-updates.ts';
import type { KnownMysql } from './mysql-facts.ts';
import type { KnownDelay } from './replication-delays.ts';

/** What no watch delivers, as it was last read. Times are on the monotonic clock. */
export interface Readings extends ComebackReadings {
  /**
   * What replicas said when they were last asked how far they are behind, by the uid of the pod. All are asked at once.
   */
  readonly replicationDelays: ReadonlyMap<string, KnownDelay>;
  /** What MySQL itself last said. `null` before anybody was asked. All are asked at once. */
  readonly mysql: KnownMysql | null;
  /** What updates in place depend on, the answers to dry runs included. Ends when no member could be updated so. */
  readonly inPlace: InPlaceReadings;
  /** The newest FailedCreate message of the StatefulSet. Ends when no member is missing. */
  readonly createFailure: { readonly message: string | null; readonly atMilliseconds: number } | null;
  /** What the newest rollout changes in the pod template. `changes` is `null` if it could not be read. */
  readonly template: {
    readonly from: string;
    readonly to: string;
    readonly changes: readonly TemplateChange[] | null;
    readonly atMilliseconds: number;
  } | null;
  /**
   * Why MOCO applies the StatefulSet again and again, for a generation of the MySQLCluster. Ends with the contention.
   */
  readonly altered: {
    readonly generation: number;
    readonly fields: Contention['fields'];
    readonly atMilliseconds: number;
  } | null;
}

export const nothingRead: Readings = {
  comebacks: new Map(),
  leavingNodes: new Map(),
  replicationDelays: new Map(),
  mysql: null,
  inPlace: nothingReadInPlace,
  createFailure: null,
  template: null,
  altered: null,
};
