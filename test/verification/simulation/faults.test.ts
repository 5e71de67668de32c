import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { mistakes } from '../mistakes/catalogue.ts';
import { draw, type Scenario } from './draw.ts';
import { faults } from './faults.ts';
import type { Planned } from './happening.ts';
import { run } from './run.ts';
import { isFailure } from './shrink.ts';
import { Tally } from './tally.ts';
import { type Mishap, mishapSentences, type RequestKind, requestVerbs } from './trouble.ts';

const readme = new URL('./README.md', import.meta.url);

/** The cells of the table whose head begins with these words, without its last columns. */
async function cellsOf(head: string, columns: number): Promise<readonly (readonly string[])[]> {
  const lines = (await readFile(readme, 'utf8')).split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) => line.slice(2).split(' | ').slice(0, columns));
}

const mishapsToPlay: readonly Mishap[] = [
  { kind: 'error', code: 503, retryAfterSeconds: null },
  { kind: 'lost' },
  { kind: 'reset' },
  { kind: 'refused' },
  { kind: 'silent' },
  { kind: 'slow', thereMilliseconds: 4_000, backMilliseconds: 1_000 },
];
const requestsToPlay: readonly RequestKind[] = ['read', 'confirm', 'pod', 'status', 'ownLease', 'mocoLease'];
/** Writes to pods are few, and of four kinds. Creations of a MySQLRollout are as few. */
const rareRequests: readonly RequestKind[] = ['pod', 'pod', 'pod', 'status'];
const mostRounds = 8;

/** A rollout of three, one of which is dead, in which half of such requests meet with that until it is nearly over. */
function troubled(mishap: Mishap, requests: RequestKind, number: number): Scenario {
  // Its members take long: there is time for lists.
  const { circumstances } = draw('calm');
  const trouble = { kind: 'mishaps', mishap, requests, probability: 0.5, process: null } as const;
  const plan: readonly Planned[] = [
    { atMilliseconds: 0, what: { kind: 'rollOut', image: 'mysql:8.4.1' } },
    { atMilliseconds: 0, what: { kind: 'kill', ordinal: 2, container: 'mysqld', forMilliseconds: 60_000 } },
    { atMilliseconds: 1, what: { ...trouble, watches: 'break', forMilliseconds: 300_000 } },
    { atMilliseconds: 20_000, what: { ...trouble, watches: 'expire', forMilliseconds: 1_000 } },
    { atMilliseconds: 25_000, what: { kind: 'removeRollout' } },
  ];
  const seed = `${mishap.kind} ${requests} ${number}`;
  return {
    circumstances: { ...circumstances, seed, electsLeader: true },
    plan,
  };
}

describe("the simulation's faults", () => {
  it('are those in the tables of the README', async () => {
    expect(await cellsOf('fault', 2)).to.deep.equal(Object.entries(faults));
    expect(await cellsOf('requests', 1)).to.deep.equal(
      Object.entries(mishapSentences).map(([mishap, sentence]) => [`${mishap}: ${sentence}`]),
    );
  });

  it('find the mistakes in the table of the README', async () => {
    const expected = Object.keys(mistakes).filter((name) => mistakes[name]?.simulation !== undefined);
    expect(await cellsOf('mistake', 1)).to.deep.equal(expected.map((name) => [name]));
  });

  it('affect every kind of request in every way, and every rollout ends without a violation', async () => {
    const tally = new Tally();
    const failed: unknown[] = [];
    for (const mishap of mishapsToPlay) {
      const isMissing = (): boolean => requestVerbs.some((verb) => !tally.strikes[`${mishap.kind} ${verb}`]);
      for (let round = 0; round === 0 || (isMissing() && round < mostRounds); round++) {
        for (const [number, requests] of (round === 0 ? requestsToPlay : rareRequests).entries()) {
          const outcome = await run(troubled(mishap, requests, 10 * round + number));
          tally.add(outcome);
          if (isFailure(outcome)) failed.push([mishap.kind, requests, outcome.violations, outcome.stuck]);
        }
      }
    }
    expect(failed).to.deep.equal([]);
    const all = mishapsToPlay.flatMap(({ kind }) => requestVerbs.map((verb) => `${kind} ${verb}` as const));
    expect(all.filter((strike) => (tally.strikes[strike] ?? 0) === 0)).to.deep.equal([]);
  });
});
