import { rolloutKind } from '../../api/rollout.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { UsageError } from '../../failure.ts';
import { pods, type ResourceKind } from '../../kube/resource.ts';
import { clusterKind } from '../../moco/names.ts';
import type { Right } from '../check/rights.ts';
import { connectionOptions } from '../cluster/connection-flags.ts';
import type { Session } from '../cluster/session.ts';
import type { Host } from '../host.ts';
import { anyText, type CommandOptions, optionOf, toggle, type Values } from '../option.ts';

// The type of the plugin's commands, and the options that several commands share.

/** The placeholders for arguments in usage texts, with the kind of object that each one names. */
const argumentWords = {
  NAME: { names: 'cluster', kinds: [clusterKind, rolloutKind] },
  MEMBER: { names: 'pod', kinds: [pods] },
  SEQUENCE: { names: 'sequence', kinds: [sequenceKind] },
  RULE: { names: 'rule', kinds: [] },
} as const satisfies Readonly<Record<string, { readonly names: string; readonly kinds: readonly ResourceKind[] }>>;
type Argument = (typeof argumentWords)[keyof typeof argumentWords];
export type Named = Argument['names'];

/** What the argument at this position names; `undefined` if the command takes no argument there. */
export function argumentAt({ arguments: usage }: CliCommand, place: number): Argument | undefined {
  const words = usage.match(/[A-Z]+/g) ?? [];
  return argumentWords[words[usage.includes('...') ? 0 : place] as keyof typeof argumentWords];
}

interface Described<Options extends CommandOptions> {
  readonly name: string;
  /** In commander's syntax, such as `[NAME...]`. The placeholder determines the kind of object. */
  readonly arguments: string;
  /** One sentence in the imperative, without a full stop. */
  readonly summary: string;
  /** Shown below the summary in the command's own help. */
  readonly help?: string;
  /** Each example has a description and a command line. The command line does not include the program's name. */
  readonly examples?: readonly (readonly [purpose: string, line: string])[];
  readonly options?: Options;
  /**
   * Rights without which the command fails. `check` tests them, and test/cluster/rbac-users.test.ts compares them with
   * the requests of the command.
   */
  readonly rights?: readonly Right[];
  /** Rights that the command needs in all namespaces. */
  readonly rightsEverywhere?: readonly Right[];
}

/** A command that sends requests to the API server. Resolves to the exit status. */
export interface ClusterCommand<Options extends CommandOptions = CommandOptions> extends Described<Options> {
  readonly connects?: true;
  run(session: Session, names: readonly string[], given: Values<Options & typeof connectionOptions>): Promise<number>;
}

/** A command that needs no API server. */
interface LocalCommand<Options extends CommandOptions = CommandOptions> extends Described<Options> {
  readonly connects: false;
  run(host: Host, names: readonly string[], given: Values<Options>): number;
}

export type CliCommand = ClusterCommand | LocalCommand;

/** Creates a command whose `run` receives the values of its options. */
export const clusterCommand = <Options extends CommandOptions>(
  command: ClusterCommand<Options>,
): ClusterCommand<Options> => command;

export const localCommand = <Options extends CommandOptions>(
  command: Omit<LocalCommand<Options>, 'connects'>,
): LocalCommand<Options> => ({ ...command, connects: false });

const selector = '-l, --selector <labels>';
const allNamespaces = '-A, --all-namespaces';

export const selectorOption = anyText(
  selector,
  'select MySQLClusters by their labels, such as env=production,tier!=canary',
);

export const allNamespacesOption = toggle(allNamespaces, 'work in all namespaces');

/**
 * Options of commands that change several clusters or wait for them. Without names, such a command must not silently
 * act on all clusters.
 */
export const selectionOptions = {
  selector: selectorOption,
  all: toggle('--all', 'select all MySQLClusters in the namespace'),
  allNamespaces: toggle(allNamespaces, 'work in all namespaces; needs --selector or --all'),
};

/** Options of commands about one cluster or a fleet. */
export const fleetSelectionOptions = {
  selector: anyText(selector, 'with --fleet, only MySQLClusters with these labels, such as env=production'),
  allNamespaces: toggle(allNamespaces, 'with --fleet, all namespaces (the default without --namespace)'),
};

/**
 * Whether a command is about the fleet. `options` are the options that require `--fleet`. Throws `UsageError` if both a
 * name and `--fleet` are given, if neither is given, or if one of these options is given without `--fleet`.
 */
export function isAboutFleet(
  given: { readonly fleet: boolean },
  names: readonly string[],
  options: CommandOptions,
): boolean {
  const { fleet } = given;
  if (fleet && names.length > 0) throw new UsageError('expected either a NAME or --fleet, got both');
  if (!fleet && names.length === 0) throw new UsageError('expected a NAME or --fleet, got neither');
  const values: Readonly<Record<string, unknown>> = given;
  const lonely = Object.entries(options).find(([field]) => values[field] !== undefined && values[field] !== false);
  if (!fleet && lonely !== undefined) {
    throw new UsageError(`expected --fleet with ${optionOf(lonely[1]).long}, got a NAME`);
  }
  return fleet;
}

/** All options of a command or, if `command` is `null`, the options that may come before any command. */
export const optionsOf = (command: CliCommand | null): CommandOptions => ({
  ...command?.options,
  ...(command?.connects === false ? {} : connectionOptions),
});

/** Reorders the arguments so that the command comes first: users of kubectl may write `-n shop status orders`. */
export function commandFirst(argv: readonly string[], commands: readonly CliCommand[]): readonly string[] {
  const options = commands.flatMap((one) => Object.values(optionsOf(one))).map(optionOf);
  const awaitsValue = (word: string): boolean =>
    options.some((one) => one.required && [one.short, one.long].includes(word));
  let place = 0;
  while (argv[place]?.startsWith('-')) place += awaitsValue(argv[place] ?? '') ? 2 : 1;
  const command = argv[place];
  if (place === 0 || !commands.some(({ name }) => name === command)) return argv;
  return [command ?? '', ...argv.slice(0, place), ...argv.slice(place + 1)];
}

/**
 * Removes the kind in front of a name, as in `mysqlcluster/orders`. kubectl accepts such names, and `-o name` writes
 * them.
 */
export function plainNames(command: CliCommand, names: readonly string[]): readonly string[] {
  return names.map((word, index) => {
    const kinds: readonly ResourceKind[] = argumentAt(command, index)?.kinds ?? [];
    const [prefix = '', name, ...others] = word.split('/');
    const spelled = kinds.flatMap(({ kind, plural, group, version }) =>
      [kind.toLowerCase(), plural].flatMap((short) => [short, `${short}.${group}`, `${short}.${version}.${group}`]),
    );
    return name !== undefined && others.length === 0 && spelled.includes(prefix.toLowerCase()) ? name : word;
  });
}
