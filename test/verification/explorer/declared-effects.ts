import type { Decision } from '../../../src/core/decision.ts';
import type { Effect, EffectKind } from './observed-effects.ts';

const seen: ReadonlySet<string> = new Set<EffectKind>([
  'stops',
  'leavesService',
  'losesRelayLog',
  'movesPrimary',
  'brings',
]);
const isSeen = (kind: string): kind is EffectKind => seen.has(kind);

/** What the decision says that its step does. The explorer looks whether the step does anything else. */
export type Declare = (decision: Decision) => readonly Effect[];

export const declared: Declare = ({ effects }) =>
  effects.flatMap(({ kind, member }) => (member !== null && isSeen(kind) ? [{ kind, member: member.ordinal }] : []));
