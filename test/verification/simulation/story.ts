import type { Scenario } from './draw.ts';
import { told } from './happening.ts';
import type { Outcome } from './run.ts';

/** The line that plays the same again. */
export function replayLine(seed: string, kept: readonly number[]): string {
  return `SEED=${seed} REPLAY=${kept.length === 0 ? '-' : kept.join(',')} make simulate`;
}

/** What happened, in words, and what was wrong with it. */
export function storyOf({ circumstances, plan }: Scenario, { violations, stuck, measures }: Outcome): string {
  const { replicas, mode, processes, electsLeader, movesCurrentRevision, maxUnavailable } = circumstances;
  const leader = processes === 1 ? '' : electsLeader ? ' that elect a leader' : ' that both lead';
  const unavailable = maxUnavailable === null ? '' : `, ${maxUnavailable} of them may be away at once`;
  const kubernetes = movesCurrentRevision ? 'from 1.37 on' : 'before 1.37';
  return [
    `  ${replicas} members${unavailable}, mode ${mode}, ${processes} process${processes === 1 ? '' : 'es'}${leader}, Kubernetes ${kubernetes}`,
    ...plan.map((planned) => `  ${told(planned)}`),
    ...violations.map(
      ({ law, text, atMilliseconds }) => `  → ${(atMilliseconds / 1000).toFixed(3)} s: ${law}: ${text}`,
    ),
    ...(stuck === null ? [] : [`  → never ended: ${stuck}`]),
    `  ${measures.disruptions} disruptions (${measures.needless} needless), ${measures.switchovers} switchovers, at most ${measures.mostUnavailable} away, ${measures.secondsWithoutWritablePrimary.toFixed(1)} s without a primary that takes writes`,
  ].join('\n');
}
