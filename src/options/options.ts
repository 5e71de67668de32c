import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { PartitionDriver } from '../controller/observe/mode.ts';
import type { PrometheusOptions } from '../kube/prometheus-http.ts';
import { type BindAddress, showBindAddress } from '../telemetry/listen.ts';
import { type FeatureGates, parseFeatureGates } from './feature-gates.ts';
import type { Flag } from './flag.ts';
import { type FlagName, flagNames, flags, type logFormats, type logLevels, type strategies } from './flags.ts';

/** What the command line says, read and checked: durations in milliseconds, `null` for "not wanted" or "not given". */
export interface Options {
  /** `null`: the ServiceAccount of the pod this runs in. */
  readonly kubeconfigPath: string | null;
  readonly featureGates: FeatureGates;
  /** Empty: all of them. */
  readonly namespaces: readonly string[];
  readonly webhookBindAddress: BindAddress | null;
  readonly certDir: string;
  /** `null`: the webhook asks nobody for a certificate. */
  readonly clientCaFile: string | null;
  readonly metricsBindAddress: BindAddress | null;
  readonly healthProbeBindAddress: BindAddress | null;
  readonly leaderElect: boolean;
  /** `null`: the namespace of the pod this runs in. */
  readonly leaderElectionNamespace: string | null;
  readonly leaseDurationMilliseconds: number;
  readonly renewDeadlineMilliseconds: number;
  readonly retryPeriodMilliseconds: number;
  readonly maxConcurrentReconciles: number;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly defaultStrategy: (typeof strategies)[number];
  readonly partitionDriver: PartitionDriver;
  /** 0: as many as there are. */
  readonly maxConcurrentRollouts: number;
  readonly releaseStalledSlots: boolean;
  /** 0: any number. */
  readonly maxFailingRollouts: number;
  /** 0: none. */
  readonly disruptionIntervalMilliseconds: number;
  readonly partitionUpdateIntervalMilliseconds: number;
  readonly minReadySeconds: number;
  readonly replicaDelayGraceSeconds: number;
  /** `null`: checks have no answer. */
  readonly prometheus: PrometheusOptions | null;
  readonly logLevel: (typeof logLevels)[number];
  readonly logFormat: (typeof logFormats)[number];
}

export type OptionsParsed =
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version'; readonly text: string }
  /** One sentence for standard error; the exit status is 2. */
  | { readonly kind: 'usage-error'; readonly message: string };

class UsageError extends Error {}

const helpWidthColumns = 100;

/** client-go's JitterFactor: a lease has to outlive one jittered retry. */
const retryJitterFactor = 1.2;

/**
 * Reads the arguments after the program's name. Takes `--flag=value` and `--flag value`; where a flag is given twice
 * the last one holds, except for `--feature-gates`, which adds up. Prints nothing and never exits.
 */
export function parseOptions(argv: readonly string[]): OptionsParsed {
  const command = makeCommand();
  try {
    command.parse(argv, { from: 'user' });
    return { kind: 'options', options: readOptions(command.opts<Record<string, string | true>>()) };
  } catch (error) {
    if (error instanceof UsageError) return { kind: 'usage-error', message: error.message };
    if (!(error instanceof CommanderError)) throw error;
    return explain(error, command);
  }
}

function makeCommand(): Command {
  const command = new Command('moco-rollout')
    .description('Rolls out new revisions of MySQL clusters run by MOCO, one small step at a time.')
    .usage('[flags]')
    .version(manifest.version, '--version', 'show the version and exit')
    .helpOption('-h, --help', 'show this and exit')
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, getOutHelpWidth: () => helpWidthColumns })
    .configureHelp({
      optionDescription: (option) => option.description,
      styleTitle: (title) => title.replace('Options', 'Flags'),
    });
  for (const name of flagNames) {
    const { placeholder, defaultText, description }: Flag<unknown> = flags[name];
    const option = command.createOption(
      `--${name} ${placeholder}`,
      defaultText === '' ? description : `${description} (default ${defaultText})`,
    );
    command.addOption(name === 'feature-gates' ? option.argParser(addUp) : option);
  }
  return command;
}

function addUp(text: string, before: string | undefined): string {
  return before === undefined ? text : `${before},${text}`;
}

function readOptions(texts: Readonly<Record<string, string | true>>): Options {
  const gates = parseFeatureGates(textOf('feature-gates', texts) ?? '');
  if (gates.kind === 'problem') throw new UsageError(gates.message);
  const kubeconfigPath = read('kubeconfig', flags.kubeconfig, texts);
  const clientCaFile = read('client-ca-file', flags['client-ca-file'], texts);
  const prometheusUrl = read('prometheus-url', flags['prometheus-url'], texts);
  const caFile = read('prometheus-ca-file', flags['prometheus-ca-file'], texts) || null;
  const tokenFile = read('prometheus-token-file', flags['prometheus-token-file'], texts) || null;
  checkPrometheus(prometheusUrl, caFile, tokenFile);
  const options: Options = {
    kubeconfigPath: kubeconfigPath === '' ? null : kubeconfigPath,
    featureGates: gates.gates,
    namespaces: read('namespaces', flags.namespaces, texts),
    webhookBindAddress: read('webhook-bind-address', flags['webhook-bind-address'], texts),
    certDir: read('cert-dir', flags['cert-dir'], texts),
    clientCaFile: clientCaFile === '' ? null : clientCaFile,
    metricsBindAddress: read('metrics-bind-address', flags['metrics-bind-address'], texts),
    healthProbeBindAddress: read('health-probe-bind-address', flags['health-probe-bind-address'], texts),
    leaderElect: read('leader-elect', flags['leader-elect'], texts),
    leaderElectionNamespace: read('leader-election-namespace', flags['leader-election-namespace'], texts),
    leaseDurationMilliseconds: read('lease-duration', flags['lease-duration'], texts),
    renewDeadlineMilliseconds: read('renew-deadline', flags['renew-deadline'], texts),
    retryPeriodMilliseconds: read('retry-period', flags['retry-period'], texts),
    maxConcurrentReconciles: read('max-concurrent-reconciles', flags['max-concurrent-reconciles'], texts),
    kubeApiQps: read('kube-api-qps', flags['kube-api-qps'], texts),
    kubeApiBurst: read('kube-api-burst', flags['kube-api-burst'], texts),
    partitionDriver: read('partition-driver', flags['partition-driver'], texts),
    maxConcurrentRollouts: read('max-concurrent-rollouts', flags['max-concurrent-rollouts'], texts),
    releaseStalledSlots: read('release-stalled-slots', flags['release-stalled-slots'], texts),
    maxFailingRollouts: read('max-failing-rollouts', flags['max-failing-rollouts'], texts),
    disruptionIntervalMilliseconds: read('disruption-interval', flags['disruption-interval'], texts),
    partitionUpdateIntervalMilliseconds: read('partition-update-interval', flags['partition-update-interval'], texts),
    defaultStrategy: read('default-strategy', flags['default-strategy'], texts),
    minReadySeconds: read('min-ready-seconds', flags['min-ready-seconds'], texts),
    replicaDelayGraceSeconds: read('replica-delay-grace-seconds', flags['replica-delay-grace-seconds'], texts),
    prometheus: prometheusUrl === null ? null : { url: prometheusUrl, caFile, tokenFile },
    logLevel: read('log-level', flags['log-level'], texts),
    logFormat: read('log-format', flags['log-format'], texts),
  };
  for (const contradiction of contradictions(options)) throw new UsageError(contradiction);
  return options;
}

/** A token is never sent without TLS. */
function checkPrometheus(url: string | null, caFile: string | null, tokenFile: string | null): void {
  if (url?.startsWith('https:')) return;
  const flag = tokenFile !== null ? '--prometheus-token-file' : caFile !== null ? '--prometheus-ca-file' : null;
  if (flag === null) return;
  throw new UsageError(`Expected --prometheus-url to be an https address with ${flag}, got ${url ?? 'none'}.`);
}

/** Flags that contradict each other although each is valid. */
function* contradictions(options: Options): Iterable<string> {
  if (options.leaseDurationMilliseconds <= options.renewDeadlineMilliseconds) {
    yield `Expected --lease-duration to be longer than --renew-deadline, got ${options.leaseDurationMilliseconds} ms and ${options.renewDeadlineMilliseconds} ms.`;
  }
  if (options.renewDeadlineMilliseconds <= options.retryPeriodMilliseconds * retryJitterFactor) {
    yield `Expected --renew-deadline to be longer than ${retryJitterFactor} times --retry-period, got ${options.renewDeadlineMilliseconds} ms and ${options.retryPeriodMilliseconds} ms.`;
  }
  if (options.leaderElect && options.kubeconfigPath !== null && options.leaderElectionNamespace === null) {
    yield 'Expected --leader-election-namespace with --leader-elect and --kubeconfig, got none; only inside a pod is there a namespace to take instead.';
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

function textOf(name: FlagName, texts: Readonly<Record<string, string | true>>): string | undefined {
  const text = texts[name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
  return text === true ? 'true' : text;
}

function read<T>(name: FlagName, flag: Flag<T>, texts: Readonly<Record<string, string | true>>): T {
  const text = textOf(name, texts) ?? flag.defaultText;
  const parsed = flag.parse(text);
  if (parsed.kind === 'value') return parsed.value;
  throw new UsageError(`Expected --${name} to be ${parsed.expected}, got \`${parsed.got ?? text}\`.`);
}

function explain(error: CommanderError, command: Command): OptionsParsed {
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

function usageError(message: string): OptionsParsed {
  return { kind: 'usage-error', message: /[.?]$/.test(message) ? message : `${message}.` };
}
