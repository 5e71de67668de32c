import { rolloutKind } from '../../api/rollout.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { pods, type ResourceKind } from '../../kube/resource.ts';
import { clusterKind } from '../../moco/names.ts';
import { type ArgumentKind, type CliCommand, flagNames, optionsOf } from './command.ts';

/** `-n shop status orders`, as users of kubectl write it, with the command first. */
export function commandFirst(argv: readonly string[], commands: readonly CliCommand[]): readonly string[] {
  const options = commands.flatMap(optionsOf);
  const awaitsValue = (word: string): boolean =>
    options.some(({ flags }) => flags.includes('<') && flagNames(flags).includes(word));
  let place = 0;
  while (argv[place]?.startsWith('-')) place += awaitsValue(argv[place] ?? '') ? 2 : 1;
  const command = argv[place];
  if (place === 0 || !commands.some(({ name }) => name === command)) return argv;
  return [command ?? '', ...argv.slice(0, place), ...argv.slice(place + 1)];
}

const kinds: Readonly<Record<ArgumentKind, readonly ResourceKind[]>> = {
  cluster: [clusterKind, rolloutKind],
  pod: [pods],
  sequence: [sequenceKind],
  rule: [],
};

/** Arguments without the kind in front that kubectl takes, and writes with `-o name`: `mysqlcluster/orders`. */
export function plainNames({ completes, arguments: shape }: CliCommand, names: readonly string[]): readonly string[] {
  const isMany = shape.includes('...');
  return names.map((word, index) => {
    const kind = completes[isMany ? 0 : index];
    const [prefix = '', name, ...others] = word.split('/');
    const isNamed =
      kind !== undefined &&
      others.length === 0 &&
      kinds[kind].some((one) => spellings(one).includes(prefix.toLowerCase()));
    return isNamed && name !== undefined ? name : word;
  });
}

const spellings = ({ kind, plural, group, version }: ResourceKind): readonly string[] =>
  [kind.toLowerCase(), plural].flatMap((name) => [name, `${name}.${group}`, `${name}.${version}.${group}`]);
