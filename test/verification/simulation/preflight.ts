import type { Chance } from './chance.ts';
import type { Circumstances } from './circumstances.ts';
import { anyMember, type Draw, drawn, oneOf, seconds } from './drawn.ts';
import type { Planned } from './happening.ts';
import type { Reports } from './node-images.ts';

/** The setting `preflight`, and what nodes are like there. */
export interface Preflight {
  readonly setting: { readonly preflight: 'Nodes'; readonly preflightTimeoutSeconds?: number };
  readonly reports: Reports;
  /** Of each image. */
  readonly pullMilliseconds: number;
  /** The installation lets the program create pods. */
  readonly isAllowed: boolean;
  /** The user gives every member the label of a preflight. */
  readonly isLabelled: boolean;
}

/** A world with the setting `preflight`, and what goes wrong with it. */
interface Drawn {
  readonly circumstances: NonNullable<Circumstances['preflight']>;
  readonly plan: readonly Planned[];
}

const lasts = (from: number, to: number) => ({ forMilliseconds: seconds(from, to) });

const fails = drawn('failFetch', {
  how: oneOf('imagePull', 'imagePull', 'hangs', 'neverScheduled', 'evicted', 'deleted'),
  ...lasts(30, 240),
});

/** Each with its probability. */
const troubles: readonly (readonly [probability: number, draw: Draw])[] = [
  [0.6, fails],
  [0.25, fails],
  [0.3, drawn('labelMember', { ordinal: anyMember, ...lasts(30, 300) })],
  [0.25, drawn('foreignFetchers', lasts(30, 300))],
  [0.3, drawn('overridePreflight', { rule: oneOf('ImageUnavailable', 'PreflightRunning'), ...lasts(5, 240) })],
  [0.15, drawn('stopPreflight', lasts(5, 240))],
];

/** `null` for a world without. The given theme `preflight` always has one. */
export function drawPreflight(chance: Chance, replicas: number, given: readonly string[]): Drawn | null {
  if (given.length > 0 ? !given.includes('preflight') : !chance.happens(0.3)) return null;
  const isShort = chance.happens(0.5);
  const preflightTimeoutSeconds = chance.whole(5, 30);
  return {
    circumstances: {
      setting: { preflight: 'Nodes', ...(isShort && { preflightTimeoutSeconds }) },
      reports: chance.pick(['every image', 'every image', 'fifty others'] as const),
      pullMilliseconds: chance.span(0, 40),
      isAllowed: chance.happens(0.9),
      isLabelled: chance.happens(0.15),
    },
    plan: troubles.flatMap(([probability, draw]) => {
      // Most begin with the first rollout, before any node is asked.
      const atMilliseconds = chance.happens(0.7) ? 0 : chance.span(0, 120);
      return chance.happens(probability) ? [{ atMilliseconds, what: draw(chance, replicas) }] : [];
    }),
  };
}
