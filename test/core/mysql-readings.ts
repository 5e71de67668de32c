import type {
  MemberReading,
  MemberSaid,
  MysqlReading,
  OpenWrite,
  ReplicaSaid,
} from '../../src/core/on-demand-facts.ts';
import type { MemberFacts } from '../../src/core/snapshot.ts';

const works = { runs: true, error: 0 } as const;
export const caughtUp: ReplicaSaid = {
  kind: 'replica',
  missing: 0,
  unapplied: 0,
  semiSync: true,
  receiver: works,
  applier: works,
};

/** A session that has changed rows and whose client does nothing. */
export const openWrite: OpenWrite = {
  session: 42,
  user: 'app',
  host: '10.0.0.7:51234',
  ageSeconds: 30,
  since: '2026-07-01T12:00:00Z',
  waitsFor: 'client',
};

/** The same as a hold shows it. */
export const { ageSeconds: _, ...shownWrite } = openWrite;

/**
 * Changes of a reading: what members say, by ordinal, for how long they have not answered, and what those had said
 * before.
 */
export type MysqlDraft = Partial<Omit<MysqlReading, 'members'>> & {
  readonly says?: Readonly<Record<number, MemberSaid>>;
  readonly unknownForSeconds?: number;
  readonly last?: Readonly<Record<number, MemberReading['last']>>;
};

/** Every member was queried at this moment, and none is behind, unless the draft says otherwise. */
export function mysqlReading(
  members: readonly Pick<MemberFacts, 'uid' | 'ordinal'>[],
  primary: number,
  { says = {}, unknownForSeconds = 0, last = {}, ...more }: MysqlDraft = {},
): MysqlReading {
  const others = members.length - 1;
  const usual = (ordinal: number): MemberSaid =>
    ordinal === primary ? { kind: 'primary', needed: Math.ceil(others / 2), acknowledging: others } : caughtUp;
  return {
    ageSeconds: 0,
    problem: null,
    members: members.map(({ uid, ordinal }) => {
      const said = says[ordinal] ?? usual(ordinal);
      const isSilent = said.kind === 'unknown';
      return {
        uid,
        said,
        unknownForSeconds: isSilent ? unknownForSeconds : 0,
        last: last[ordinal] ?? (isSilent ? null : said),
      };
    }),
    writes: [],
    waitedForWritesSeconds: 0,
    replicaClusters: [],
    ...more,
  };
}
