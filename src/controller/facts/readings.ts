import type { Json } from '../../base/json.ts';
import type {
  DelayReading,
  EndingClaim,
  MemberReading,
  MemberSaid,
  MysqlReading,
  TiedToNode,
} from '../../core/on-demand-facts.ts';
import type { Contention } from '../../core/snapshot.ts';
import type { RecreatableFacts } from '../../moco/cluster-facts.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { TemplateChange } from '../../moco/template-changes.ts';
import { type InPlaceReadings, nothingReadInPlace } from './in-place-updates.ts';
import type { KnownPreflight } from './preflight-facts.ts';

/** What no watch delivers, as it was last read. Times are on the monotonic clock. */
export interface Readings extends RecreatableReadings {
  /**
   * What replicas said when they were last asked how far they are behind, by the uid of the pod. All are asked at once,
   * and replaced together.
   */
  readonly replicationDelays: ReadonlyMap<string, Answered<DelayReading>>;
  /** What MySQL itself last said. `null` before anybody was asked. Replaced by the next time. */
  readonly mysql: KnownMysql | null;
  /** What nodes have found out about a revision. `null` before this process asked any. Replaced by the next look. */
  readonly preflight: KnownPreflight | null;
  /** What updates in place depend on, the answers to dry runs included. Ends when no member could be updated so. */
  readonly inPlace: InPlaceReadings;
  /** The newest FailedCreate message of the StatefulSet. Ends with the hold MemberMissing. */
  readonly createFailure: { readonly message: string | null; readonly atMilliseconds: number } | null;
  /** What a rollout changes in the template; `changes` is `null` if it could not be read. Replaced by the next one. */
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
  recreatable: new Map(),
  leavingNodes: new Map(),
  replicationDelays: new Map(),
  mysql: null,
  preflight: null,
  inPlace: nothingReadInPlace,
  createFailure: null,
  template: null,
  altered: null,
};

/** After a longer pause a reading belongs to another step. */
export const seriesMilliseconds = 60_000;

/** The last answer to a question that is asked again and again, on the monotonic clock. */
export interface Answered<Reading extends { readonly kind: string }> {
  readonly reading: Reading;
  readonly atMilliseconds: number;
  /** The first of the unknown readings in a row; `null` if the last one is not unknown. */
  readonly unknownSinceMilliseconds: number | null;
}

export function answered<Reading extends { readonly kind: string }>(
  reading: Reading,
  before: Answered<Reading> | undefined,
  atMilliseconds: number,
): Answered<Reading> {
  const isSeries = before !== undefined && atMilliseconds - before.atMilliseconds < seriesMilliseconds;
  const since = (isSeries ? before.unknownSinceMilliseconds : null) ?? atMilliseconds;
  return { reading, atMilliseconds, unknownSinceMilliseconds: reading.kind === 'unknown' ? since : null };
}

export const answerFacts = <Reading extends { readonly kind: string }>(
  { reading, atMilliseconds, unknownSinceMilliseconds }: Answered<Reading>,
  nowMilliseconds: number,
) => ({
  reading,
  ageSeconds: (nowMilliseconds - atMilliseconds) / 1000,
  unknownForSeconds: unknownSinceMilliseconds === null ? 0 : (nowMilliseconds - unknownSinceMilliseconds) / 1000,
});

/** What MySQL itself last said, on the monotonic clock. */
export interface KnownMysql extends Pick<MysqlReading, 'writes'> {
  /** Why no member can be asked, since the first answer in a row of which that is so. */
  readonly problem: { readonly message: string; readonly sinceMilliseconds: number } | null;
  readonly members: ReadonlyMap<string, Answered<MemberSaid> & Pick<MemberReading, 'last'>>;
  /** Since when a switchover waits for writes, or `null`. */
  readonly waitingSinceMilliseconds: number | null;
  readonly atMilliseconds: number;
}

export function mysqlFacts(known: KnownMysql | null, nowMilliseconds: number): MysqlReading {
  if (known === null) return { ageSeconds: null, problem: null, members: [], writes: null, waitedForWritesSeconds: 0 };
  const { problem, members, writes, waitingSinceMilliseconds: waitingSince, atMilliseconds } = known;
  return {
    ageSeconds: (nowMilliseconds - atMilliseconds) / 1000,
    problem: problem && {
      message: problem.message,
      forSeconds: (nowMilliseconds - problem.sinceMilliseconds) / 1000,
    },
    members: [...members].map(([uid, one]) => {
      const { reading: said, unknownForSeconds } = answerFacts(one, nowMilliseconds);
      return { uid, said, unknownForSeconds, last: one.last };
    }),
    writes,
    waitedForWritesSeconds: waitingSince === null ? 0 : (nowMilliseconds - waitingSince) / 1000,
  };
}

/** What was last read about whether a member can come back, on the monotonic clock. */
export interface KnownRecreatable {
  /** The claims that the pod mounts. */
  readonly claimNames: readonly string[];
  /** Those of the pod, as the API server has them. */
  readonly tolerations: readonly Json[];
  /** Those of them that are about to go, or have gone. */
  readonly claims: readonly EndingClaim[];
  readonly tied: TiedToNode | null;
  readonly refusal: string | null;
  /** The update revision that it was read for. */
  readonly revision: string;
  readonly atMilliseconds: number;
}

/** By the uid of the pod. Each ends with its pod. */
export interface RecreatableReadings {
  readonly recreatable: ReadonlyMap<string, KnownRecreatable>;
  /** Whether the node of a pod was to be emptied when that was last read. */
  readonly leavingNodes: ReadonlyMap<string, boolean>;
}

export function recreatableFacts(
  { uid }: Pick<PodRecord, 'uid'>,
  { recreatable, leavingNodes }: RecreatableReadings,
  revision: string,
  nowMilliseconds: number,
): RecreatableFacts {
  const known = recreatable.get(uid);
  const nodeLeaves = leavingNodes.get(uid) === true;
  if (known?.revision !== revision) return { recreatable: null, nodeLeaves };
  const { claims, tied, refusal, atMilliseconds } = known;
  return { recreatable: { ageSeconds: (nowMilliseconds - atMilliseconds) / 1000, claims, tied, refusal }, nodeLeaves };
}
