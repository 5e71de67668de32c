import { type ActKind, acts } from './happening.ts';
import { type Mishap, mishapSentences, type RequestVerb, requestVerbs } from './trouble.ts';

/** Acts that are known by what they do, or by what comes of them. */
const others = ['rollOut', 'mishaps', 'switchover', 'crashAtWrite'] as const satisfies readonly ActKind[];

/** What follows from an act, or from how several are put together. */
const following = {
  change: 'the user asks for another image in the middle of a rollout',
  revert: 'the user goes back to the image before in the middle of a rollout',
  switchoverIgnored: 'a switchover is asked for that never comes',
  switchoverFailing: 'a switchover is asked for that fails, try after try',
  crashBeforeWrite: 'a process is killed between two writes, right before the second',
  crashOnItsWay: 'a process is killed while its write is on the way, which arrives all the same',
  crashAfterWrite: 'a process is killed between two writes, right after the first',
  atWrite: 'one of the things above happens at a write of a process: right before it, on its way, or right after it',
  twoLeaders: 'two processes that are alive both write within a few seconds',
  leaderChange: 'another process becomes leader in the middle of a rollout',
  lateRequest: 'a request arrives after its author has given it up',
  conflict: 'a request is refused with 409, since another client was quicker',
  reordered: 'a watch tells of something older than what a watch of another kind has told',
} as const;

/** What strikes while a rollout is under way. */
export type Fault = Exclude<ActKind, (typeof others)[number]> | keyof typeof following;

const isOther = (kind: string): boolean => others.some((one) => one === kind);

/** Every fault, and what it does. A test holds the README's table against this, and wants each to strike. */
export const faults = Object.fromEntries([
  ...Object.entries(acts).flatMap(([kind, { sentence }]) => (isOther(kind) ? [] : [[kind, sentence]])),
  ...Object.entries(following),
]) as Readonly<Record<Fault, string>>;

export type Strike = Fault | `${Mishap['kind']} ${RequestVerb}`;
export type Strikes = Readonly<Partial<Record<Strike, number>>>;

/** Every strike that there can be. */
export function allStrikes(): readonly Strike[] {
  const mishaps = Object.keys(mishapSentences) as Mishap['kind'][];
  return [
    ...(Object.keys(faults) as Fault[]),
    ...mishaps.flatMap((mishap) => requestVerbs.map((verb) => `${mishap} ${verb}` as const)),
  ];
}

/** Two tables in Markdown: how often each fault has struck. */
export function faultTables(strikes: Strikes): string {
  const count = (strike: Strike): string => String(strikes[strike] ?? 0);
  const mishaps = Object.entries(mishapSentences) as [Mishap['kind'], string][];
  return [
    '| fault | what it does | struck |\n| --- | --- | --- |',
    ...Object.entries(faults).map(([fault, sentence]) => `| ${fault} | ${sentence} | ${count(fault as Fault)} |`),
    '',
    `| requests | ${requestVerbs.join(' | ')} |\n| --- |${' --- |'.repeat(requestVerbs.length)}`,
    ...mishaps.map(
      ([mishap, sentence]) =>
        `| ${mishap}: ${sentence} | ${requestVerbs.map((verb) => count(`${mishap} ${verb}`)).join(' | ')} |`,
    ),
  ].join('\n');
}
