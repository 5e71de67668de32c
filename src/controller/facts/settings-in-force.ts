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
import { defaultPolicy, type Override, type RolloutPolicy } from '../../core/policy.ts';
import { isObject, milliseconds, omitUndefined } from '../../moco/json.ts';
import type { Selectable } from '../../moco/records.ts';
import { type Layer, policyLayers } from './policy-layers.ts';

export interface SettingsSources {
  readonly rollout: RolloutSpec | undefined;
  readonly policies: readonly PolicyRecord[];
  readonly cluster: Selectable;
}

/** The defaults: the values of the flags, and `mode`, which is not a setting. */
export interface DefaultSettings {
  readonly policy: RolloutPolicy;
  readonly strategy: Strategy;
  /** An override has no effect before so long until its end. */
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
      /** The rules whose overrides end too late to have an effect yet. */
      readonly overriddenTooLong: readonly string[];
    }
  /**
   * Why the settings are unknown, or `null`. Nothing may be done with the defaults then, least of all change the
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

type PolicyField = keyof CommonSettings & keyof RolloutPolicy;
/** The settings that are in the policy as they are. */
const policyFields = settingNames.filter((field): field is PolicyField => field in defaultPolicy);

/**
 * Resolves each setting by itself, in this order: what policies enforce, the MySQLRollout, what policies set, the
 * flags, the built-in defaults. Policies are ordered by priority, then by name. An invalid value is a problem only if
 * it would decide the setting. The schemas of the CRDs check the same, but objects from before a schema change may
 * violate them. `nowMilliseconds` is the wall clock, which the ends of overrides refer to.
 */
export function settingsOf(
  { rollout, policies, cluster }: SettingsSources,
  defaults: DefaultSettings,
  nowMilliseconds: number,
): Settings {
  const { enforced, settings } = policyLayers(policies, cluster);
  const own = rolloutLayer(rollout);
  const resolution = new Resolution([...enforced, own, ...settings]);
  const takeFor = <Field extends PolicyField>(field: Field) =>
    resolution.take<Field>(field, defaults.policy[field], defaultPolicy[field]);
  const { restartWindows = noMaintenance.restartWindows, ...inPlace } = resolution.takeIfSet('inPlace') ?? {};
  const strategy = resolution.take('strategy', defaults.strategy, builtInStrategy);
  const policy: RolloutPolicy = {
    ...defaults.policy,
    ...(Object.fromEntries(policyFields.map((field) => [field, takeFor(field)])) as Pick<RolloutPolicy, PolicyField>),
    ...pausedBy(resolution.sources['paused']),
    inPlaceUpdates: { ...defaults.policy.inPlaceUpdates, ...inPlace },
    ...ofThisClusterAlone(own, defaults.policy, resolution),
  };
  const { overrides, tooLong } = overridesOf(own, defaults, nowMilliseconds, resolution);
  const maintenance: MaintenanceSettings = {
    maintenanceWindows: resolution.takeIfSet('maintenanceWindows') ?? noMaintenance.maintenanceWindows,
    blackouts: resolution.takeIfSet('blackouts') ?? noMaintenance.blackouts,
    expectedMemberSeconds: resolution.takeIfSet('expectedMemberSeconds') ?? noMaintenance.expectedMemberSeconds,
    restartWindows,
  };
  const checks = resolution.takeIfSet('checks') ?? [];
  resolution.showNamesOnly('checks', checks);
  const { problems, sources } = resolution;
  const problem = problems.values().next().value ?? contradictionOf(policy, sources);
  if (problem !== null) return settingsUnknown(defaults, problem, problems.has('paused') || policy.paused);
  const inForce = { ...policy, overrides };
  return { policy: inForce, maintenance, checks, strategy, sources, problem, overriddenTooLong: tooLong };
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

/** The layer that decides each setting, for those that any layer has. */
export function decidingLayers({ rollout, policies, cluster }: SettingsSources): ReadonlyMap<string, Layer> {
  const { enforced, settings } = policyLayers(policies, cluster);
  const layers = [...enforced, rolloutLayer(rollout), ...settings];
  const deciding = settingNames.map((field) => [field, firstWith(field, layers)] as const);
  return new Map(deciding.filter((one): one is readonly [keyof CommonSettings, Layer] => one[1] !== undefined));
}

const firstWith = (field: string, layers: readonly Layer[]): Layer | undefined =>
  layers.find(({ fields }) => fields === null || fields[field] !== undefined);

class Resolution {
  readonly sources: Record<string, SettingInForce> = {};
  readonly problems = new Map<string, string>();
  readonly #layers: readonly Layer[];

  constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  take<Field extends keyof CommonSettings>(
    field: Field,
    otherwise: NonNullable<CommonSettings[Field]>,
    builtIn: NonNullable<CommonSettings[Field]>,
  ): NonNullable<CommonSettings[Field]> {
    const value = this.takeIfSet(field);
    if (value !== undefined) return value;
    const flag = otherwise === builtIn ? undefined : flagOfSetting[field];
    if (!this.problems.has(field)) {
      this.sources[field] = { value: otherwise, source: flag === undefined ? 'default' : `flag ${flag}` };
    }
    return otherwise;
  }

  /** `undefined` if no layer has the field, or if the value is invalid. It is shown only if it is set. */
  takeIfSet<Field extends keyof CommonSettings>(field: Field): NonNullable<CommonSettings[Field]> | undefined {
    const layer = firstWith(field, this.#layers);
    if (layer === undefined) return undefined;
    const value = layer.fields?.[field];
    const problem = layer.problem ?? settingProblem(layer, field);
    if (problem !== null) {
      this.problems.set(field, problem);
      return undefined;
    }
    this.sources[field] = { value, source: layer.source, ...(layer.enforced && { enforced: true }) };
    return value as NonNullable<CommonSettings[Field]>;
  }

  /**
   * A field that only the cluster's own MySQLRollout can set. `undefined` if it has not, or if the value is invalid.
   */
  takeOwn<Field extends 'approvedRevision' | 'pinnedMembers' | 'restore' | 'overrides'>(
    layer: Layer,
    field: Field,
  ): RolloutSpec[Field] | undefined {
    if (layer.fields?.[field] === undefined) return undefined;
    const problem = settingProblem(layer, field);
    if (problem !== null) this.problems.set(field, problem);
    return problem === null ? (layer.fields[field] as RolloutSpec[Field]) : undefined;
  }

  show(field: keyof RolloutSpec, value: unknown): void {
    if (value !== undefined) this.sources[field] = { value, source: rolloutSource };
  }

  /** The rest of the value is too long for the status. */
  showNamesOnly(field: keyof CommonSettings, value: readonly { readonly name: string }[]): void {
    const shown = this.sources[field];
    if (shown) this.sources[field] = { ...shown, value: value.map(({ name }) => ({ name })) };
  }
}

function settingProblem({ source, path, fields }: Layer, field: keyof RolloutSpec): string | null {
  const problem = problemOf(rolloutSpec.shape[field], fields?.[field], `${path}.${field}`);
  return problem && source !== rolloutSource ? `${source}: ${problem}` : problem;
}

function rolloutLayer(rollout: unknown = {}): Layer {
  const fields = isObject(rollout) ? rollout : null;
  const problem = fields === null ? problemOf(rolloutSpec, rollout, 'spec') : null;
  return { source: rolloutSource, enforced: false, path: 'spec', fields, problem };
}

const ascending = (one: number, other: number): number => one - other;

/** Fields that only the cluster's own MySQLRollout can set. They are shown if they are set there. */
function ofThisClusterAlone(
  layer: Layer,
  defaults: RolloutPolicy,
  resolution: Resolution,
): Pick<RolloutPolicy, 'approvedRevision' | 'pinnedOrdinals' | 'restore'> {
  const approvedRevision = resolution.takeOwn(layer, 'approvedRevision');
  const pinnedOrdinals = resolution
    .takeOwn(layer, 'pinnedMembers')
    ?.map(({ ordinal }) => ordinal)
    .toSorted(ascending);
  const restore = resolution.takeOwn(layer, 'restore');
  const ordinals = restore?.members.toSorted(ascending);
  resolution.show('approvedRevision', approvedRevision);
  resolution.show('pinnedMembers', pinnedOrdinals);
  resolution.show('restore', restore && { revision: restore.revision, members: ordinals });
  return {
    approvedRevision: approvedRevision ?? defaults.approvedRevision,
    pinnedOrdinals: pinnedOrdinals ?? defaults.pinnedOrdinals,
    restore: restore && ordinals ? { revision: restore.revision, ordinals } : defaults.restore,
  };
}

/** Only overrides that have begun and not ended are shown. */
function overridesOf(
  layer: Layer,
  { policy, maxOverrideSeconds = builtInMaxOverrideSeconds }: DefaultSettings,
  nowMilliseconds: number,
  resolution: Resolution,
): { readonly overrides: readonly Override[]; readonly tooLong: readonly string[] } {
  const all = resolution.takeOwn(layer, 'overrides');
  if (all === undefined) return { overrides: policy.overrides, tooLong: [] };
  const leftOf = (until: string): number => ((milliseconds(until) ?? nowMilliseconds) - nowMilliseconds) / 1000;
  const isTooLong = ({ until }: { readonly until: string }): boolean => leftOf(until) > maxOverrideSeconds;
  const shown = all
    .filter((one) => leftOf(one.until) > 0 && !isTooLong(one))
    .map(({ rule, until, by }) => omitUndefined({ rule, until, by }));
  if (shown.length > 0) resolution.show('overrides', shown);
  return {
    overrides: all.map(({ rule, until }) => {
      const remainingSeconds = leftOf(until);
      const startsInSeconds = remainingSeconds - maxOverrideSeconds;
      return { rule, remainingSeconds, ...(startsInSeconds > 0 && { startsInSeconds }) };
    }),
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
