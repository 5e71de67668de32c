import { isObject } from '../base/json.ts';
import type { FleetLimits } from '../controller/fleet/fleet-limits.ts';
import { type Flag, read } from './flag.ts';
import { flags, type Options } from './flags.ts';

/** The annotation on the controller's lease that contains those flags of the leader that affect decisions. */
export const flagsAnnotation = 'moco-rollout.io/flags';

const published = [
  'featureGates',
  'defaultStrategy',
  'minReadySeconds',
  'replicaDelayGraceSeconds',
  'silentMemberGraceSeconds',
  'partitionDriver',
  'maxConcurrentRollouts',
  'maxNamespaceShare',
  'verifyFirstCluster',
  'releaseStalledSlots',
  'maxFailingRollouts',
  'disruptionIntervalMilliseconds',
  'partitionUpdateIntervalMilliseconds',
  'maxOverrideMilliseconds',
  'mysqlSecretName',
  'mocoLeaseNamespace',
  'mocoLeaseName',
] as const satisfies readonly (keyof Options)[];

export type PublishedOptions = Pick<Options, (typeof published)[number]>;

export const fleetLimitsOf = (options: PublishedOptions): FleetLimits => ({
  maxConcurrentRollouts: options.maxConcurrentRollouts,
  maxNamespaceShare: options.maxNamespaceShare,
  verifyFirstCluster: options.verifyFirstCluster,
  releaseStalledSlots: options.releaseStalledSlots,
  maxFailingRollouts: options.maxFailingRollouts,
  disruptionIntervalSeconds: options.disruptionIntervalMilliseconds / 1000,
  partitionUpdateIntervalSeconds: options.partitionUpdateIntervalMilliseconds / 1000,
});

/** The value of the annotation: a JSON object with the values of the flags. The keys are the fields of `Options`. */
export const publish = (options: Options): string =>
  JSON.stringify(Object.fromEntries(published.map((field) => [field, options[field]])));

/** Reads the annotation. If this version cannot read the value of a flag, the built-in default applies. */
export function readPublished(annotation: string | undefined): PublishedOptions {
  const given = parse(annotation);
  const values = published.map((field) => {
    const builtIn = read(flags[field] as Flag<unknown>, flags[field].defaultText);
    return [field, typeof given[field] === typeof builtIn ? given[field] : builtIn];
  });
  return Object.fromEntries(values) as PublishedOptions;
}

function parse(annotation = '{}'): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(annotation);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
