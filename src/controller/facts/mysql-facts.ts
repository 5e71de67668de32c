import type { MemberSaid, MysqlReading } from '../../core/mysql-reading.ts';

/** What MySQL itself last said, on the monotonic clock. */
export interface KnownMysql extends Pick<MysqlReading, 'problem' | 'writes'> {
  /**
   * By the uid of the pod, with the time of the first of the unknown answers in a row; `null` if the last one is not
   * unknown.
   */
  readonly members: ReadonlyMap<
    string,
    { readonly said: MemberSaid; readonly unknownSinceMilliseconds: number | null }
  >;
  /** Since when a switchover waits for writes, or `null`. */
  readonly waitingSinceMilliseconds: number | null;
  readonly atMilliseconds: number;
}

/** What was read, as facts. */
export function mysqlFacts(known: KnownMysql | null, nowMilliseconds: number): MysqlReading {
  if (known === null) return { ageSeconds: null, problem: null, members: [], writes: null, waitedForWritesSeconds: 0 };
  const ageOf = (atMilliseconds: number | null): number =>
    atMilliseconds === null ? 0 : (nowMilliseconds - atMilliseconds) / 1000;
  const { problem, members, writes, waitingSinceMilliseconds, atMilliseconds } = known;
  return {
    ageSeconds: ageOf(atMilliseconds),
    problem,
    members: [...members].map(([uid, { said, unknownSinceMilliseconds }]) => ({
      uid,
      said,
      unknownForSeconds: ageOf(unknownSinceMilliseconds),
    })),
    writes,
    waitedForWritesSeconds: ageOf(waitingSinceMilliseconds),
  };
}
