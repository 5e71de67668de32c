import { mostWrites, type OpenWrite } from '../on-demand-facts.ts';
import { freshSeconds, isPastAsking } from '../replicas-behind.ts';
import { type Asked, after, rule } from './rule.ts';

/**
 * Writes that have been open for less than this end before MOCO cuts them off. Every switchover waits for them anyway.
 */
export const longWriteSeconds = 1;

interface LongWrite {
  readonly member: number;
  /** The oldest open write. `null` while the primary has not answered recently. */
  readonly write: Omit<OpenWrite, 'ageSeconds'> | null;
  readonly others: number;
  /** How long a switchover waits for open writes. `null` if it waits until they end. */
  readonly graceSeconds: number | null;
}

/** The rule about writes that a switchover would cut off: MOCO makes the primary read-only and ends its connections. */
export const longWrite = {
  LongWrite: rule<LongWrite>({
    holds: (asked) => longWriteOf(asked),
    asks: ({ write }) => (write === null ? [{ kind: 'mysql', for: 'switchover' }] : []),
    sentence: ({ member, write, others, graceSeconds }, name) => {
      if (write === null) return `waiting for the primary ${name(member)} to report whether it has open writes`;
      const { session, user, host, since, waitsFor } = write;
      const limit = graceSeconds === null ? '' : `, for at most ${graceSeconds} s,`;
      const least = others === mostWrites - 1 ? 'at least ' : '';
      return (
        `the switchover away from ${name(member)} is waiting${limit} for ${others === 0 ? 'an open write' : `${least}${others + 1} open writes`}; ` +
        `session ${session} of ${user}@${host} began ${others === 0 ? 'it' : 'the oldest'} at ${since}` +
        (waitsFor === null ? '' : ` and is waiting for ${waits[waitsFor]}`)
      );
    },
    meaning: 'A switchover would cut off a write of the primary that has been open for a second or longer.',
    details:
      'MOCO makes the primary read-only and ends its connections: a transaction that is still open is rolled back. For up to 0.4 s the controller looks for a moment without open writes, but another write may begin right after. The controller never ends a write itself. The rule exists only with the feature gate ReplicationFacts.',
    endedBy: ['the members', 'time', 'a person'],
    ends: 'When the write ends, or after longWriteGraceSeconds with `longWritePolicy: Proceed`, which is the default. The message names the session: `SHOW PROCESSLIST` on the primary shows what it is doing. A session that is waiting for its client has an open transaction and is running no statement.',
    overridable: true,
    assumed: after('moment', (snapshot) => snapshot),
  }),
};

const waits: Readonly<Record<NonNullable<OpenWrite['waitsFor']>, string>> = {
  rowLock: 'a row lock',
  metadataLock: 'a metadata lock',
  acknowledgement: 'an acknowledgement from a replica',
  client: 'its client',
};

function longWriteOf({ situation, members: [primary] }: Asked): LongWrite | null {
  const { snapshot, policy, deadlines } = situation;
  const { mysql } = snapshot;
  if (primary === undefined || mysql === null || isPastAsking(situation, freshSeconds)) return null;
  const graceSeconds = policy.longWritePolicy === 'Hold' ? null : policy.longWriteGraceSeconds;
  if (graceSeconds !== null && deadlines.reached(mysql.waitedForWritesSeconds, graceSeconds)) return null;
  const held = { member: primary.ordinal, graceSeconds } as const;
  const unknown = { ...held, write: null, others: 0 };
  if (mysql.ageSeconds === null || deadlines.reached(mysql.ageSeconds, freshSeconds)) return unknown;
  const [oldest, ...others] = (mysql.writes ?? []).filter(({ ageSeconds }) => ageSeconds >= longWriteSeconds);
  if (oldest !== undefined) {
    const { ageSeconds: _, ...write } = oldest;
    return { ...held, write, others: others.length };
  }
  const source = mysql.members.find(({ uid }) => uid === primary.facts.uid);
  if (source?.said.kind !== 'unknown') return mysql.writes === null ? unknown : null;
  return deadlines.reached(source.unknownForSeconds, policy.replicaDelayGraceSeconds) ? null : unknown;
}
