import type { RolloutSpec } from '../../controller/rollout-resource.ts';
import { checkRollout } from '../../controller/wishes/checks.ts';
import { UsageError } from '../../failure.ts';
import { didYouMean } from '../nearest.ts';

/** Wishes that can be tried out in one word each. */
export const assumable = [
  'strategy',
  'paused',
  'repairWhilePaused',
  'maxUnavailable',
  'partition',
  'minReadySeconds',
  'progressDeadlineSeconds',
  'switchoverTimeoutSeconds',
  'failoverGraceSeconds',
  'primaryUpdatePolicy',
  'approvedRevision',
  'heldMembers',
] as const satisfies readonly (keyof RolloutSpec)[];

/** Reads `paused=false,maxUnavailable=2`; the members in `heldMembers=1+2` by ordinal. Throws `UsageError`. */
export function parseAssumed(text: string): RolloutSpec {
  const spec: Record<string, unknown> = {};
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', value = ''] = pair.trim().split('=', 2);
    const field = assumable.find((known) => known === name);
    if (field === undefined) {
      throw new UsageError(
        `expected --assume to name a wish such as paused=false, got \`${name}\`${didYouMean(name, assumable)}`,
      );
    }
    spec[field] = field === 'heldMembers' ? held(value) : field === 'approvedRevision' ? value : word(value);
  }
  const problem = checkRollout(spec, '--assume');
  if (problem !== null) throw new UsageError(problem);
  return spec;
}

function word(value: string): unknown {
  if (value === 'true' || value === 'false') return value === 'true';
  return /^-?\d+$/.test(value) ? Number(value) : value;
}

const held = (value: string): unknown =>
  value
    .split('+')
    .filter((ordinal) => ordinal !== '')
    .map((ordinal) => ({ ordinal: word(ordinal), reason: 'assumed' }));
