import type { MemberSaid, MysqlReading, OpenWrite, ReplicaSaid } from '../../src/core/on-demand-facts.ts';
import type { MemberFacts } from '../../src/core/snapshot.ts';

const works = { runs: true, error: 0 } as const;
export const caughtUp: ReplicaSaid = { kind: 'replica', missing: 0, unapplied: 0, receiver: works, applier: works };

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

/** Changes of a reading: what members say, by ordinal, and for how long they have not answered. */
export type MysqlDraft = Partial<Omit<MysqlReading, 'members'>> & {
  readonly says?: Readonly<Record<number, MemberSaid>>;
  readonly unknownForSeconds?: number;
};

/** Everybody has been asked at this moment, and nobody is behind, unless the draft says otherwise. */
export function mysqlReading(
  members: readonly Pick<MemberFacts, 'uid' | 'ordinal'>[],
  primary: number,
  { says = {}, unknownForSeconds = 0, ...more }: MysqlDraft = {},
): MysqlReading {
  const usual = (ordinal: number): MemberSaid =>
    ordinal === primary ? { kind: 'primary', acknowledging: members.length - 1, waiting: 0 } : caughtUp;
  return {
    ageSeconds: 0,
    problem: null,
    members: members.map(({ uid, ordinal }) => {
      const said = says[ordinal] ?? usual(ordinal);
      return { uid, said, unknownForSeconds: said.kind === 'unknown' ? unknownForSeconds : 0 };
    }),
    writes: [],
    waitedForWritesSeconds: 0,
    ...more,
  };
}
