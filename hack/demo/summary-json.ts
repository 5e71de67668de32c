import type { RolloutSettings } from './arguments.ts';
import { longestReactions, ratioLimit, type Summary } from './summary.ts';

/** For programs: durations in seconds, reactions in milliseconds, all to the millisecond. */
export function jsonOf(summary: Summary, { members, restartMilliseconds }: RolloutSettings) {
  const { rolloutMilliseconds, partsMilliseconds, ratio } = summary;
  const { sinceGateMilliseconds, sinceReadyMilliseconds } = longestReactions(summary);
  const whole = (milliseconds: number | null): number | null => milliseconds && Math.round(milliseconds);
  return {
    members,
    restartSeconds: restartMilliseconds / 1000,
    rolloutSeconds: seconds(rolloutMilliseconds),
    partsSeconds: seconds(partsMilliseconds),
    ratio: Math.round(ratio * 1000) / 1000,
    ratioLimit,
    longestReactionMilliseconds: whole(sinceGateMilliseconds),
    longestReactionSinceReadyMilliseconds: whole(sinceReadyMilliseconds),
    steps: summary.steps.map(({ verb, member, milliseconds, sinceGate, sinceReady }) => ({
      verb,
      member,
      seconds: seconds(milliseconds),
      reactionMilliseconds: whole(sinceGate?.milliseconds ?? null),
      gate: sinceGate?.gate ?? null,
      sinceReadyMilliseconds: whole(sinceReady?.milliseconds ?? null),
    })),
    switchovers: summary.switchovers.map(({ from, to, milliseconds }) => ({
      from,
      to,
      seconds: seconds(milliseconds),
    })),
  };
}

const seconds = (milliseconds: number): number => Math.round(milliseconds) / 1000;
