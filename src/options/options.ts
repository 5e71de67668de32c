import { Command, CommanderError, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { UsageError } from '../failure.ts';
import { showBindAddress } from '../telemetry/http-server.ts';
import { type Flag, read } from './flag.ts';
import { flags, type Options } from './flags.ts';

// Reads the command line of the controller, and rejects flags that contradict each other before anything is started.

export type OptionsParsed =
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version'; readonly text: string }
  /** `message` is one sentence for standard error. The program then exits with status 2. */
  | { readonly kind: 'usage-error'; readonly message: string };

const helpWidthColumns = 100;

/** client-go's JitterFactor. A lease has to last longer than one retry with jitter. */
const retryJitterFactor = 1.2;

/**
 * Reads the arguments after the program's name. Accepts `--flag=value` and `--flag value`. If a flag is given twice,
 * the last value counts, except that the values of `--feature-gates` are merged. Prints nothing and never exits.
 */
export function parseOptions(argv: readonly string[]): OptionsParsed {
  const command = makeCommand();
  try {
    command.parse(argv, { from: 'user' });
    return { kind: 'options', options: readOptions(command.opts<Record<string, string | true>>()) };
  } catch (error) {
    if (error instanceof UsageError) return usageError(error.message.replace(/^expected/, 'Expected'));
    if (!(error instanceof CommanderError)) throw error;
    return usageProblem(error, command);
  }
}

function makeCommand(): Command {
  const command = new Command('moco-rollout')
    .description('Rolls out new revisions of MySQL clusters run by MOCO, one small step at a time.')
    .usage('[flags]')
    .version(manifest.version, '--version', 'show the version and exit')
    .helpOption('-h, --help', 'show this help and exit')
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, getOutHelpWidth: () => helpWidthColumns })
    .configureHelp({
      optionDescription: (option) => option.description,
      styleTitle: (title) => title.replace('Options', 'Flags'),
    });
  for (const { name, placeholder, defaultText, description } of Object.values<Flag<unknown>>(flags)) {
    const shown = defaultText === '' ? description : `${description} (default ${defaultText.replaceAll(',', ', ')})`;
    const option = new Option(`--${name} ${placeholder}`, shown);
    const addUp = (text: string, before: string | undefined) => (before === undefined ? text : `${before},${text}`);
    command.addOption(name === 'feature-gates' ? option.argParser(addUp) : option);
  }
  return command;
}

function readOptions(texts: Readonly<Record<string, string | true>>): Options {
  const values = Object.entries<Flag<unknown>>(flags).map(([field, flag]) => {
    const given = texts[new Option(`--${flag.name}`).attributeName()];
    return [field, read(flag, given === true ? 'true' : (given ?? flag.defaultText))];
  });
  const options = Object.fromEntries(values) as Options;
  for (const contradiction of contradictions(options)) throw new UsageError(contradiction);
  return options;
}

function* contradictions(options: Options): Iterable<string> {
  const { prometheusUrl } = options;
  // A credential is never sent without TLS.
  for (const field of ['prometheusTokenFile', 'prometheusBasicAuthFile', 'prometheusCaFile'] as const) {
    if (options[field] === null || prometheusUrl?.startsWith('https:')) continue;
    yield `Expected --prometheus-url to be an https address with --${flags[field].name}, got ${prometheusUrl ?? 'none'}.`;
  }
  for (const field of ['prometheusHeadersFile', 'prometheusProxyUrl'] as const) {
    if (options[field] !== null && prometheusUrl === null) {
      yield `Expected a --prometheus-url with --${flags[field].name}, got none.`;
    }
  }
  if (options.prometheusTokenFile !== null && options.prometheusBasicAuthFile !== null) {
    yield 'Expected either --prometheus-token-file or --prometheus-basic-auth-file, got both.';
  }
  if (options.leaseDurationMilliseconds <= options.renewDeadlineMilliseconds) {
    yield `Expected --lease-duration to be longer than --renew-deadline, got ${options.leaseDurationMilliseconds} ms and ${options.renewDeadlineMilliseconds} ms.`;
  }
  if (options.renewDeadlineMilliseconds <= options.retryPeriodMilliseconds * retryJitterFactor) {
    yield `Expected --renew-deadline to be longer than ${retryJitterFactor} times --retry-period, got ${options.renewDeadlineMilliseconds} ms and ${options.retryPeriodMilliseconds} ms.`;
  }
  if (options.leaderElect && options.kubeconfigPath !== null && options.leaderElectionNamespace === null) {
    yield 'Expected --leader-election-namespace with --leader-elect and --kubeconfig, got none; only a pod has a namespace to use instead.';
  }
  if (options.featureGates.EvictionRequests && !options.featureGates.NodeMaintenance) {
    yield 'Expected the feature gate NodeMaintenance with EvictionRequests: it moves members that have to leave. Write --feature-gates=NodeMaintenance=true,EvictionRequests=true.';
  }
  if (options.webhookBindAddress !== null && options.certDir === '') {
    yield 'Expected --cert-dir to be a directory, got nothing; to run without the webhook pass --webhook-bind-address=0.';
  }
  if (options.webhookBindAddress === null && options.clientCaFile !== null) {
    yield `Expected a webhook with --client-ca-file, got --webhook-bind-address=0 and ${options.clientCaFile}.`;
  }
  const taken = new Map<string, string>();
  for (const [flag, address] of [
    ['--webhook-bind-address', options.webhookBindAddress],
    ['--metrics-bind-address', options.metricsBindAddress],
    ['--health-probe-bind-address', options.healthProbeBindAddress],
  ] as const) {
    if (address === null || address.port === 0) continue;
    const shown = showBindAddress(address);
    const other = taken.get(shown);
    if (other !== undefined) yield `Expected ${other} and ${flag} to differ, got ${shown} for both.`;
    taken.set(shown, flag);
  }
}

function usageProblem(error: CommanderError, command: Command): OptionsParsed {
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.helpDisplayed':
      return { kind: 'help', text: command.helpInformation() };
    case 'commander.version':
      return { kind: 'version', text: `moco-rollout ${manifest.version}` };
    case 'commander.unknownOption': {
      const [flag = '', ...withValue] = quoted.split('=');
      if (withValue.length > 0) return parseOptions([flag]);
      const nearest = /Did you mean (?:one of )?(.*)\?\)/.exec(error.message)?.[1];
      const hint = nearest === undefined ? '`--help` lists them' : `did you mean ${nearest}?`;
      return usageError(`Expected one of the known flags, got \`${quoted}\`; ${hint}`);
    }
    case 'commander.optionMissingArgument':
      return usageError(`Expected a value after \`${quoted.split(' ')[0]}\`, got nothing`);
    case 'commander.excessArguments':
      return usageError(`Expected flags only, got \`${command.args.join(' ')}\`; every flag starts with two dashes`);
    default:
      return usageError(error.message.replace(/^error: /, ''));
  }
}

const usageError = (message: string): OptionsParsed => ({
  kind: 'usage-error',
  message: /[.?]$/.test(message) ? message : `${message}.`,
});
