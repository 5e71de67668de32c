import { type RolloutSpec, rolloutSpec } from '../../api/rollout.ts';
import { problemOf } from '../../api/schema.ts';
import { UsageError } from '../../failure.ts';
import { didYouMean } from '../command-error.ts';

/** Settings that can be assumed with a single word each: those that have no parts, and the pinned members. */
const assumable = Object.entries(rolloutSpec.shape).flatMap(([name, schema]) =>
  name === 'pinnedMembers' || !['array', 'object'].includes(schema.unwrap().type) ? [name] : [],
);

/** Parses `paused=false,maxUnavailable=2`. `pinnedMembers=1+2` has the ordinals of members. Throws `UsageError`. */
export function parseAssumed(text: string): RolloutSpec {
  const spec: Record<string, unknown> = {};
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', value = ''] = pair.trim().split('=', 2);
    const field = assumable.find((known) => known === name);
    if (field === undefined) {
      throw new UsageError(
        `expected --assume to name a setting such as paused=false, got \`${name}\`${didYouMean(name, assumable)}`,
      );
    }
    spec[field] = field === 'pinnedMembers' ? held(value) : field === 'approvedRevision' ? value : word(value);
  }
  const problem = problemOf(rolloutSpec, spec, '--assume');
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
