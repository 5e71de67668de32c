import type { MemberAnswer } from '../../core/on-demand-facts.ts';
import { freshSeconds } from '../../core/replicas-behind.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { type Answered, answered, answerFacts } from './answers.ts';
import type { Asking, Row } from './asking.ts';

// The question `members`: a step relies on certain members, and their agents are asked whether mysqld serves.

/** The answer of each member, by the uid of its pod. An entry ends with its pod. */
type KnownAnswers = ReadonlyMap<string, Answered<MemberAnswer>>;

export const members: Row<'members', KnownAnswers, Pick<ClusterSnapshot, 'memberAnswers'>> = {
  asks: 'the agents of the members that the step relies on: whether mysqld serves (one GET of at most 1 s each)',
  lasts: `${freshSeconds} s`,
  silence: 'the step waits for `silentMemberGraceSeconds`, then relies on the conditions of the pod',
  initial: new Map(),
  ask: ({ members: ordinals }, asking, before) => readAnswers(ordinals, asking, before),
  facts: (known, { nowMilliseconds }) => ({
    memberAnswers: [...known].map(([uid, one]) => ({ uid, ...answerFacts(one, nowMilliseconds) })),
  }),
  confirm: {
    order: 'beforeClock',
    plan: ({ members: ordinals }, asking, before) => ({
      requests: 0,
      ask: () => readAnswers(ordinals, asking, before),
    }),
  },
  status: { whileOutstanding: 'the previous hold' },
};

/** Asks in parallel. Never rejects. */
async function readAnswers(
  ordinals: readonly number[],
  { key, observed, sources, world, log, signal }: Omit<Asking, 'api'>,
  before: KnownAnswers,
): Promise<KnownAnswers> {
  const { pods } = observed.objects;
  const asked = pods.filter(
    ({ ordinal, deletionTimestamp }) => ordinals.includes(ordinal) && deletionTimestamp === null,
  );
  const atMilliseconds = world.monotonic();
  const answers = await Promise.all(asked.map((pod) => sources.members.answerOf(pod, signal)));
  const present = new Set(pods.map(({ uid }) => uid));
  const found = new Map([...before].filter(([uid]) => present.has(uid)));
  for (const [index, { uid, name }] of asked.entries()) {
    const answer = answers[index] as MemberAnswer;
    const after = answered(answer, before.get(uid), atMilliseconds);
    found.set(uid, after);
    if (answer.kind === 'unknown' && after.unknownSinceMilliseconds === atMilliseconds) {
      log.warn({ cluster: key, member: name, reason: answer.message }, 'Failed to query the agent of a member');
    }
  }
  return found;
}
