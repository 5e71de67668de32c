import type { Check } from '../../api/check-settings.ts';
import { type MaintenanceSettings, noMaintenance } from '../../api/maintenance-settings.ts';
import { type RolloutSpec, rolloutSpec } from '../../api/rollout.ts';
import type { PolicyRecord } from '../../api/rollout-policy.ts';
import { problemOf } from '../../api/schema.ts';
import {
  builtInStrategy,
  type CommonSettings,
  commonFields,
  flagOfSetting,
  type Strategy,
} from '../../api/settings.ts';
import type { SettingInForce, SettingsInForce } from '../../api/settings-in-force.ts';
import { isObject, milliseconds, object, omitUndefined, text } from '../../base/json.ts';
import { defaultPolicy, type Override, type Pause, type RolloutPolicy } from '../../core/policy.ts';
import type { Selectable } from '../../moco/records.ts';
import { type Layer, policyLayers } from './policy-layers.ts';

// Resolves the settings of a cluster from all sources, with the source of each.

export interface SettingsSources {
  readonly rollout: RolloutSpec | undefined;
  readonly policies: readonly PolicyRecord[];
  readonly cluster: Selectable;
}

/** The defaults: the values of the flags, and `mode`, which is not a setting. */
export interface DefaultSettings {
  readonly policy: RolloutPolicy;
  readonly strategy: Strategy;
  /** An override has no effect if its end is further in the future than this. */
  readonly maxOverrideSeconds?: number;
}

/** The built-in value of --max-override-duration. */
const builtInMaxOverrideSeconds = 86_400;

/** The settings in force. `sources` maps each setting, by its name in `spec`, to its value and its source. */
export type Settings = {
  readonly policy: RolloutPolicy;
  readonly maintenance: MaintenanceSettings;
  readonly checks: readonly Check[];
} & (
  | {
      readonly strategy: Strategy;
      readonly sources: SettingsInForce;
      readonly problem: null;
      /** Rules with an override that ends too far in the future, and so has no effect yet. */
      readonly overriddenTooLong: readonly string[];
    }
  /**
   * The settings are unknown; `problem` says why. The policy then contains the default values, but no step is allowed,
   * because acting on them could be wrong. A pause that cannot be read counts as a pause.
   */
  | {
      readonly strategy: null;
      readonly sources: Readonly<Record<string, never>>;
      readonly problem: string;
    }
);

const rolloutSource = 'MySQLRollout';
const settingNames = Object.keys(commonFields) as readonly (keyof CommonSettings)[];
const allNames = Object.keys(rolloutSpec.shape) as readonly (keyof RolloutSpec)[];

type PolicyField = keyof CommonSettings & keyof RolloutPolicy;
/** The settings of the policy, in the form of a MySQLRollout's `spec`. */
const policyFields = settingNames.filter((field): field is PolicyField => field in defaultPolicy);

const ascending = (one: number, other: number): number => one - other;

/** How the status shows a value: without the reasons that users wrote, and without long parts. */
const shown: { readonly [Field in keyof RolloutSpec]?: (value: NonNullable<RolloutSpec[Field]>) => unknown } = {
  checks: (all) => all.map(({ name }) => ({ name })),
  pause: ({ by, until }) => omitUndefined({ by, until }),
  pinnedMembers: (all) => all.map(({ ordinal }) => ordinal).toSorted(ascending),
  restore: ({ revision, members }) => ({ revision, members: members.toSorted(ascending) }),
};

/**
 * Resolves each setting separately, in this order: what policies enforce, the MySQLRollout, what policies set, the
 * flags, the built-in defaults. Policies are ordered by priority, then by name. An invalid value is a problem only if
 * it would decide the setting. The schemas of the CRDs check values as well, but an object that was stored before a
 * schema change may contain values that the new schema rejects. `nowMilliseconds` is the wall-clock time, which is
 * compared with the ends of overrides.
 */
export function settingsOf(of: SettingsSources, defaults: DefaultSettings, nowMilliseconds: number): Settings {
  const { sources, values, problems } = resolved(of, defaults, nowMilliseconds);
  const { restartWindows = noMaintenance.restartWindows, ...inPlace } = values.inPlace ?? {};
  const { restore } = sources;
  const policy: RolloutPolicy = {
    ...defaults.policy,
    ...Object.fromEntries(policyFields.flatMap((field) => (sources[field] ? [[field, sources[field].value]] : []))),
    ...pausedBy(sources.paused, values.pause, nowMilliseconds),
    inPlaceUpdates: { ...defaults.policy.inPlaceUpdates, ...inPlace },
    approvedRevision: sources.approvedRevision?.value ?? null,
    pinnedOrdinals: sources.pinnedMembers?.value ?? [],
    restore: restore ? { revision: restore.value.revision, ordinals: restore.value.members } : null,
  };
  const problem = problems.values().next().value ?? contradictionOf(policy, sources);
  if (problem !== null) return settingsUnknown(defaults, problem, problems.has('paused') || policy.paused);
  const { overrides, inForce, tooLong } = overridesOf(values.overrides ?? [], defaults, nowMilliseconds);
  const {
    maintenanceWindows = noMaintenance.maintenanceWindows,
    blackouts = noMaintenance.blackouts,
    expectedMemberSeconds = noMaintenance.expectedMemberSeconds,
    checks = [],
  } = values;
  const { overrides: _, ...others } = sources;
  return {
    policy: { ...policy, overrides },
    maintenance: { maintenanceWindows, blackouts, expectedMemberSeconds, restartWindows },
    checks,
    strategy: sources.strategy?.value ?? defaults.strategy,
    sources: inForce.length === 0 ? others : { ...others, overrides: { value: inForce, source: rolloutSource } },
    problem,
    overriddenTooLong: tooLong,
  };
}

interface Resolved {
  /** The settings as the status shows them, including defaults. */
  readonly sources: SettingsInForce;
  /** The settings as objects store them. */
  readonly values: RolloutSpec;
  /** The problems by field. A setting with a problem has neither source nor value. */
  readonly problems: ReadonlyMap<string, string>;
}

function resolved(of: SettingsSources, defaults: DefaultSettings, nowMilliseconds: number): Resolved {
  const sources: Record<string, SettingInForce> = {};
  const values: Record<string, unknown> = {};
  const problems = new Map<string, string>();
  for (const [field, layer] of decidingLayers(of, nowMilliseconds)) {
    const problem = layer.problem ?? settingProblem(layer, field);
    if (problem !== null) {
      problems.set(field, problem);
      continue;
    }
    values[field] = layer.fields?.[field];
    const shownOf = shown[field] as ((value: unknown) => unknown) | undefined;
    const value = shownOf ? shownOf(values[field]) : values[field];
    sources[field] = { value, source: layer.source, ...(layer.enforced && { enforced: true }) };
  }
  const { policy, strategy } = defaults;
  const byDefault = { ...policy, strategy };
  const builtIn = { ...defaultPolicy, strategy: builtInStrategy };
  for (const field of ['strategy', ...policyFields] as const) {
    if (sources[field] !== undefined || problems.has(field)) continue;
    const flag = byDefault[field] === builtIn[field] ? undefined : flagOfSetting[field];
    sources[field] = { value: byDefault[field], source: flag === undefined ? 'default' : `flag ${flag}` };
  }
  return { sources, values, problems };
}

/** Who paused the cluster and why, for the message, and when the pause ends. */
function pausedBy(
  setting: SettingInForce | undefined,
  { reason, by: author, until }: NonNullable<CommonSettings['pause']> = {},
  nowMilliseconds: number,
): Pick<RolloutPolicy, 'pausedBy' | 'pause'> {
  if (setting?.value !== true) return {};
  const end = milliseconds(until ?? null);
  const pause = omitUndefined<Pause>({
    reason,
    author,
    until,
    remainingSeconds: end === null ? undefined : (end - nowMilliseconds) / 1000,
  });
  const { source, enforced } = setting;
  const layer = source === rolloutSource ? '' : enforced ? 'enforced.' : 'settings.';
  return {
    pausedBy: `spec.${layer}paused of ${source === rolloutSource ? 'the MySQLRollout' : source}`,
    ...(Object.keys(pause).length > 0 && { pause }),
  };
}

/**
 * The names of all policies that decide at least one setting, regardless of the MySQLRollout: at most two for each
 * setting.
 */
export function decidingPolicies({ policies, cluster }: Omit<SettingsSources, 'rollout'>): ReadonlySet<string> {
  const { enforced, settings } = policyLayers(policies, cluster);
  const deciding = settingNames.flatMap((field) => [firstWith(field, enforced), firstWith(field, settings)]);
  return new Set(deciding.flatMap((layer) => (layer === undefined ? [] : [layer.source])));
}

/**
 * Maps each setting that is present in at least one layer to the layer that decides it. Some settings can only be set
 * in the cluster's own MySQLRollout.
 */
export function decidingLayers({ rollout, policies, cluster }: SettingsSources, nowMilliseconds: number) {
  const { enforced, settings } = policyLayers(policies, cluster);
  const own = rolloutLayer(rollout);
  const layers = [...enforced, own, ...settings];
  const pausing = firstWith(
    'paused',
    layers.filter((layer) => !hasEndedPause(layer, nowMilliseconds)),
  );
  return allNames.flatMap((field) => {
    // The details of a pause come from the same source as the pause itself.
    const decides = field === 'pause' ? pausing?.fields?.['pause'] !== undefined : true;
    const layer =
      field === 'paused' || field === 'pause'
        ? decides && pausing
        : firstWith(field, field in commonFields ? layers : [own]);
    return layer ? [[field, layer] as const] : [];
  });
}

/** Whether the layer paused the cluster until a time that is now past. */
function hasEndedPause({ fields }: Layer, nowMilliseconds: number): boolean {
  const pause = fields?.['pause'];
  if (fields?.['paused'] !== true || problemOf(rolloutSpec.shape.pause, pause, 'pause') !== null) return false;
  const end = milliseconds(text(object(pause)['until']));
  return end !== null && end <= nowMilliseconds;
}

const firstWith = (field: string, layers: readonly Layer[]): Layer | undefined =>
  layers.find(({ fields }) => fields === null || fields[field] !== undefined);

function settingProblem({ source, path, fields }: Layer, field: keyof RolloutSpec): string | null {
  const problem = problemOf(rolloutSpec.shape[field], fields?.[field], `${path}.${field}`);
  return problem && source !== rolloutSource ? `${source}: ${problem}` : problem;
}

function rolloutLayer(rollout: unknown = {}): Layer {
  const fields = isObject(rollout) ? rollout : null;
  const problem = fields === null ? problemOf(rolloutSpec, rollout, 'spec') : null;
  return { source: rolloutSource, enforced: false, path: 'spec', fields, problem };
}

/**
 * Returns the overrides for the policy, the rules that are overridden now, and the rules with overrides that end too
 * far in the future.
 */
function overridesOf(
  all: NonNullable<RolloutSpec['overrides']>,
  { maxOverrideSeconds = builtInMaxOverrideSeconds }: DefaultSettings,
  nowMilliseconds: number,
) {
  const leftOf = (until: string): number => ((milliseconds(until) ?? nowMilliseconds) - nowMilliseconds) / 1000;
  const isTooLong = ({ until }: { readonly until: string }): boolean => leftOf(until) > maxOverrideSeconds;
  return {
    overrides: all.map(({ rule, until }): Override => {
      const remainingSeconds = leftOf(until);
      const startsInSeconds = remainingSeconds - maxOverrideSeconds;
      return { rule, remainingSeconds, ...(startsInSeconds > 0 && { startsInSeconds }) };
    }),
    inForce: all
      .filter((one) => leftOf(one.until) > 0 && !isTooLong(one))
      .map(({ rule, until, by }) => ({ rule, until, ...(by !== undefined && { by }) })),
    tooLong: all.filter(isTooLong).map(({ rule }) => rule),
  };
}

/**
 * A progress deadline shorter than minReadySeconds would make every rollout stall. If both values come from flags, they
 * are not checked: an unwise flag must not stop every cluster at once.
 */
function contradictionOf(
  { progressDeadlineSeconds, minReadySeconds }: RolloutPolicy,
  { progressDeadlineSeconds: deadline, minReadySeconds: ready }: Readonly<Record<string, SettingInForce>>,
): string | null {
  if (progressDeadlineSeconds > minReadySeconds) return null;
  const isOfFlags = [deadline, ready].every((setting) => setting && /^(default$|flag )/.test(setting.source));
  return isOfFlags
    ? null
    : `expected progressDeadlineSeconds (${deadline?.source}) to be more than minReadySeconds (${ready?.source}), got ` +
        `${progressDeadlineSeconds} and ${minReadySeconds}`;
}

/** Placeholder until the settings are known. It allows no step, because acting on the defaults could be wrong. */
export const settingsUnknown = ({ policy }: DefaultSettings, problem: string, paused: boolean): Settings => ({
  policy: { ...policy, paused },
  maintenance: noMaintenance,
  checks: [],
  strategy: null,
  sources: {},
  problem,
});
