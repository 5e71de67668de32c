import { type RolloutSpec, rolloutSpec } from '../../api/rollout.ts';
import { problemOf } from '../../api/schema.ts';
import { UsageError } from '../../failure.ts';
import { type Flag, type Parsed, value } from '../../options/flag.ts';
import { flags } from '../../options/flags.ts';
import { didYouMean } from '../command-error.ts';
import { anyText, oneOf, optionKind, toggle } from '../option.ts';
import { outputFlags, outputOption } from '../terminal/output.ts';
import { fleetSelectionOptions } from './command.ts';

// The options of the command `plan`.

const { maxConcurrentRollouts, disruptionIntervalMilliseconds } = flags;

const flagOfController = <Value>(flag: Flag<Value>) =>
  optionKind((text) => flag.parse(text))(
    `--${flag.name} ${flag.placeholder}`,
    "with --fleet, assume this value of the controller's flag",
  );

export const fleetOptions = {
  fleet: toggle('--fleet', 'show when each cluster of the fleet would begin and end'),
  ...fleetSelectionOptions,
  maxConcurrentRollouts: flagOfController(maxConcurrentRollouts),
  disruptionIntervalMilliseconds: flagOfController(disruptionIntervalMilliseconds),
};

export const planOptions = {
  /** In `pinnedMembers=1+2`, the numbers are the ordinals of members. */
  assume: optionKind(parseAssumed)(
    '--assume <settings>',
    'simulate with other settings, such as paused=false,maxUnavailable=2 or pinnedMembers=1+2',
  ),
  filename: anyText(
    '-f, --filename <file>',
    'plan as if the MySQLClusters in this file of manifests were applied; - for standard input',
  ),
  assumeStale: toggle(
    '--assume-stale',
    'plan as if the template of the cluster (with --fleet, of the selected clusters) had just changed',
  ),
  node: anyText(
    '--node <node>',
    'plan as if this node were taken out of service now: which members leave it, and in which order',
  ),
  ...fleetOptions,
  output: oneOf('json', 'yaml', 'wide')(outputFlags, `${outputOption.description}; with --fleet also wide`),
};

/** The output format of a plan without --fleet. Throws `UsageError` for `wide`. */
export function formatOfPlan(output: 'json' | 'yaml' | 'wide' | undefined): 'json' | 'yaml' | undefined {
  if (output === 'wide') throw new UsageError('expected --output to be json or yaml without --fleet, got `wide`');
  return output;
}

/**
 * Settings that can be assumed with a single value: settings without fields or items of their own, and the pinned
 * members.
 */
const assumable = Object.entries(rolloutSpec.shape).flatMap(([name, schema]) =>
  name === 'pinnedMembers' || !['array', 'object'].includes(schema.unwrap().type) ? [name] : [],
);

/** Parses `paused=false,maxUnavailable=2`. Each setting may occur only once. */
function parseAssumed(text: string): Parsed<RolloutSpec> {
  const problem = (message: string) => ({ kind: 'problem', message }) as const;
  const spec: Record<string, unknown> = {};
  const pairs = text.split(',').filter((part) => part.trim() !== '');
  for (const pair of pairs.length === 0 ? [text] : pairs) {
    const [, name = '', given = ''] = /^([^=]*)=?(.*)$/s.exec(pair.trim()) ?? [];
    const field = assumable.find((known) => known === name);
    if (field === undefined) {
      return problem(
        `expected --assume to name a setting such as paused=false, got \`${name}\`${didYouMean(name, assumable)}`,
      );
    }
    if (field in spec) return problem(`expected --assume to contain each setting once, got ${field} twice`);
    spec[field] = field === 'pinnedMembers' ? held(given) : field === 'approvedRevision' ? given : word(given);
  }
  const wrong = problemOf(rolloutSpec, spec, '--assume');
  return wrong === null ? value(spec) : problem(wrong);
}

function word(given: string): unknown {
  if (given === 'true' || given === 'false') return given === 'true';
  return /^-?\d+$/.test(given) ? Number(given) : given;
}

const held = (given: string): unknown =>
  given
    .split('+')
    .filter((ordinal) => ordinal !== '')
    .map((ordinal) => ({ ordinal: word(ordinal), reason: 'assumed' }));
