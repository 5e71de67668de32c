import { Option } from 'commander';
import { rolloutKind } from '../../api/rollout.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { UsageError } from '../../failure.ts';
import { pods, type ResourceKind } from '../../kube/resource.ts';
import { clusterKind } from '../../moco/names.ts';
import type { Given, Session } from '../cluster/session.ts';
import type { Host } from '../host.ts';

/** An option of a command in commander's syntax: `--for <duration>`. */
export interface CommandOption {
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  /** The possible values, for completion. */
  readonly values?: readonly string[];
}

/** The kinds of arguments, by their words in the usage. */
const argumentKinds = { NAME: 'cluster', MEMBER: 'pod', SEQUENCE: 'sequence', RULE: 'rule' } as const;
export type ArgumentKind = (typeof argumentKinds)[keyof typeof argumentKinds];

/** The kind of the argument at a place of the command line; `undefined` if none belongs there. */
export function kindOfArgument({ arguments: usage }: CliCommand, place: number): ArgumentKind | undefined {
  const words = usage.match(/[A-Z]+/g) ?? [];
  return argumentKinds[words[usage.includes('...') ? 0 : place] as keyof typeof argumentKinds];
}

interface Described {
  readonly name: string;
  /** In commander's syntax: `[NAME...]`. The words say of which kind they are. */
  readonly arguments: string;
  /** In the imperative, without a full stop. */
  readonly summary: string;
  /** Shown below the summary in the command's own help. */
  readonly help?: string;
  /** Descriptions and command lines, without the program's name. */
  readonly examples?: readonly (readonly [purpose: string, line: string])[];
  readonly options?: readonly CommandOption[];
}

/** Sends requests to the API server. Resolves to the exit status. */
export interface ClusterCommand extends Described {
  readonly connects?: true;
  readonly run: (session: Session, names: readonly string[]) => Promise<number>;
}

/** Needs no API server. */
export interface LocalCommand extends Described {
  readonly connects: false;
  readonly run: (host: Host, names: readonly string[], given: Given) => number | Promise<number>;
}

export type CliCommand = ClusterCommand | LocalCommand;

export const selectorOption: CommandOption = {
  flags: '-l, --selector <labels>',
  description: 'select MySQLClusters by their labels, such as env=production,tier!=canary',
};

export const allNamespacesOption = { flags: '-A, --all-namespaces', description: 'work in all namespaces' };

/** For commands that change or wait for several clusters: leaving out the names must never select all of them. */
export const selectionOptions: readonly CommandOption[] = [
  selectorOption,
  { flags: '--all', description: 'select all MySQLClusters in the namespace' },
  { ...allNamespacesOption, description: 'work in all namespaces; needs --selector or --all' },
];

/** Of commands about one cluster or a fleet. */
export const fleetSelectionOptions: readonly CommandOption[] = [
  { ...selectorOption, description: 'with --fleet, only MySQLClusters with these labels, such as env=production' },
  { ...allNamespacesOption, description: 'with --fleet, MySQLClusters of all namespaces, as without --namespace' },
];

/** As commander reads it. */
export const optionOf = ({ flags, description, default: value }: CommandOption): Option =>
  new Option(flags, description).default(value);

/**
 * Whether a command is about the fleet, which `options` are for. Throws `UsageError` unless either a name or `--fleet`
 * is given, and for an option that is given without `--fleet`.
 */
export function isAboutFleet({ given }: Session, names: readonly string[], options: readonly CommandOption[]): boolean {
  const isFleet = given['fleet'] === true;
  if (isFleet && names.length > 0) throw new UsageError('expected either a NAME or --fleet, got both');
  if (!isFleet && names.length === 0) throw new UsageError('expected a NAME or --fleet, got neither');
  const lonely = isFleet ? undefined : options.map(optionOf).find((one) => given[one.attributeName()] !== undefined);
  if (lonely !== undefined) throw new UsageError(`expected --fleet with ${lonely.long}, got a NAME`);
  return isFleet;
}

/** The options of every command that connects to the API server. */
export const connectionOptions: readonly CommandOption[] = [
  { flags: '-n, --namespace <namespace>', description: 'namespace to work in (default: the namespace of the context)' },
  { flags: '--context <context>', description: 'context of the kubeconfig' },
  {
    flags: '--kubeconfig <file>',
    description: 'kubeconfig file (default: KUBECONFIG, ~/.kube/config, or the ServiceAccount of the pod)',
  },
  {
    flags: '--request-timeout <duration>',
    description: 'how long to wait for one answer of the API server, such as 5s',
    default: '10s',
  },
];

/** All options of a command; without one, those that may stand before it. */
export const optionsOf = (command: CliCommand | null): readonly CommandOption[] => [
  ...(command?.options ?? []),
  ...(command?.connects === false ? [] : connectionOptions),
];

/** `-n shop status orders`, as users of kubectl write it, with the command first. */
export function commandFirst(argv: readonly string[], commands: readonly CliCommand[]): readonly string[] {
  const options = commands.flatMap(optionsOf).map(optionOf);
  const awaitsValue = (word: string): boolean =>
    options.some((one) => one.required && [one.short, one.long].includes(word));
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
export function plainNames(command: CliCommand, names: readonly string[]): readonly string[] {
  return names.map((word, index) => {
    const kind = kindOfArgument(command, index);
    const [prefix = '', name, ...others] = word.split('/');
    const spelled = (kind === undefined ? [] : kinds[kind]).flatMap((one) =>
      [one.kind.toLowerCase(), one.plural].flatMap((short) => [
        short,
        `${short}.${one.group}`,
        `${short}.${one.version}.${one.group}`,
      ]),
    );
    return name !== undefined && others.length === 0 && spelled.includes(prefix.toLowerCase()) ? name : word;
  });
}
