import type { Check } from '../../api/check-settings.ts';
import { type MaintenanceSettings, noMaintenance } from '../../api/maintenance-settings.ts';
import { type RolloutSpec, rolloutSpec } from '../../api/rollout.ts';
import type { PolicyRecord } from '../../api/rollout-policy.ts';
import type { SettingInForce, SettingsInForce } from '../../api/rollout-status.ts';
import { problemOf } from '../../api/schema.ts';
import {
  builtInStrategy,
  type CommonSettings,
  commonFields,
  flagOfSetting,
  type Strategy,
} from '../../api/settings.ts';
import { isObject, milliseconds } from '../../base/json.ts';
import { defaultPolicy, type Override, type RolloutPolicy } from '../../core/policy.ts';
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
  /** An override has no effect if its end is further away than this. */
  readonly maxOverrideSeconds?: number;
}

/** The built-in value of --max-override-duration. */
const builtInMaxOverrideSeconds = 86_400;

/** The settings in force. `sources` has the value and the source of each by its name in `spec`. */
export type Settings = {
  readonly policy: RolloutPolicy;
  readonly maintenance: MaintenanceSettings;
  readonly checks: readonly Check[];
} & (
  | {
      readonly strategy: Strategy;
      readonly sources: SettingsInForce;
      readonly problem: null;
      /** Rules that have an override whose end is too far in the future, so that it has no effect yet. */
      readonly overriddenTooLong: readonly string[];
    }
  /**
   * Why the settings are unknown, or `null`. With the defaults nothing may be done, least of all a change of the
   * strategy. The policy has the default values, except that an unreadable pause counts as a pause.
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
/** The settings that the policy contains unchanged. */
const policyFields = settingNames.filter((field): field is PolicyField => field in defaultPolicy);

const ascending = (one: number, other: number): number => one - other;

/** What the status shows of a value: no reasons that users wrote, and nothing that is too long. */
const shown: { readonly [Field in keyof RolloutSpec]?: (value: NonNullable<RolloutSpec[Field]>) => unknown } = {
  checks: (all) => all.map(({ name }) => ({ name })),
  pinnedMembers: (all) => all.map(({ ordinal }) => ordinal).toSorted(ascending),
  restore: ({ revision, members }) => ({ revision, members: members.toSorted(ascending) }),
};

/**
 * Resolves each setting by itself, in this order: what policies enforce, the MySQLRollout, what policies set, the
 * flags, the built-in defaults. Policies are ordered by priority, then by name. An invalid value is a problem only if
 * it would decide the setting. The schemas of the CRDs check the same, but objects that were stored before a schema
 * change may violate them. The ends of overrides are compared with `nowMilliseconds`, the wall clock.
 */
export function settingsOf(of: SettingsSources, defaults: DefaultSettings, nowMilliseconds: number): Settings {
  const { sources, values, problems } = resolved(of, defaults);
  const { restartWindows = noMaintenance.restartWindows, ...inPlace } = values.inPlace ?? {};
  const { restore } = sources;
  const policy: RolloutPolicy = {
    ...defaults.policy,
    ...Object.fromEntries(policyFields.flatMap((field) => (sources[field] ? [[field, sources[field].value]] : []))),
    ...pausedBy(sources.paused),
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
  /** As the status shows them, with the defaults. */
  readonly sources: SettingsInForce;
  /** In the form in which objects store them. */
  readonly values: RolloutSpec;
  /** By field. A setting with a problem has neither source nor value. */
  readonly problems: ReadonlyMap<string, string>;
}

function resolved(of: SettingsSources, defaults: DefaultSettings): Resolved {
  const sources: Record<string, SettingInForce> = {};
  const values: Record<string, unknown> = {};
  const problems = new Map<string, string>();
  for (const [field, layer] of decidingLayers(of)) {
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

/** For the message of the pause. */
function pausedBy(setting: SettingInForce | undefined): Pick<RolloutPolicy, 'pausedBy'> {
  if (setting?.value !== true) return {};
  const { source, enforced } = setting;
  const layer = source === rolloutSource ? '' : enforced ? 'enforced.' : 'settings.';
  return { pausedBy: `spec.${layer}paused of ${source === rolloutSource ? 'the MySQLRollout' : source}` };
}

/** The names of the policies that decide any field, whatever the MySQLRollout sets: at most two for each field. */
export function decidingPolicies({ policies, cluster }: Omit<SettingsSources, 'rollout'>): ReadonlySet<string> {
  const { enforced, settings } = policyLayers(policies, cluster);
  const deciding = settingNames.flatMap((field) => [firstWith(field, enforced), firstWith(field, settings)]);
  return new Set(deciding.flatMap((layer) => (layer === undefined ? [] : [layer.source])));
}

/**
 * Maps each setting that at least one layer has to the layer that decides it. Some settings can only be set in the
 * cluster's own MySQLRollout.
 */
export function decidingLayers({ rollout, policies, cluster }: SettingsSources) {
  const { enforced, settings } = policyLayers(policies, cluster);
  const own = rolloutLayer(rollout);
  const layers = [...enforced, own, ...settings];
  return allNames.flatMap((field) => {
    const layer = firstWith(field, field in commonFields ? layers : [own]);
    return layer === undefined ? [] : [[field, layer] as const];
  });
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

/** The overrides for the policy, the names of those in force now, and the rules whose overrides end too late. */
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
 * A deadline shorter than minReadySeconds would make every rollout stall. Flags alone are not checked: an unwise value
 * must not stop every cluster at once.
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

/** Nothing may be done with the defaults then. */
export const settingsUnknown = ({ policy }: DefaultSettings, problem: string, paused: boolean): Settings => ({
  policy: { ...policy, paused },
  maintenance: noMaintenance,
  checks: [],
  strategy: null,
  sources: {},
  problem,
});
