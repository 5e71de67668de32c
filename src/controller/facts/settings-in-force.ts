import type { Check } from '../../api/checks.ts';
import { type MaintenanceSettings, noMaintenance } from '../../api/maintenance.ts';
import type { PolicyRecord } from '../../api/policy.ts';
import { type RolloutSpec, rolloutSpec } from '../../api/rollout.ts';
import type { SettingInForce, SettingsInForce } from '../../api/rollout-status.ts';
import { problemOf } from '../../api/schema.ts';
import { builtInStrategy, type CommonSettings, commonFields, type Strategy } from '../../api/settings.ts';
import { defaultPolicy, type Override, type RolloutPolicy } from '../../core/policy.ts';
import { isObject } from '../../moco/json.ts';
import { milliseconds } from '../../moco/timestamp.ts';
import { type Layer, policyLayers, type Selectable } from './policy-layers.ts';

/** The settings of one cluster as stored, not validated yet. */
export interface SettingsSources {
  /** `spec` of its MySQLRollout, if one exists. */
  readonly rollout: RolloutSpec | undefined;
  /** All policies. */
  readonly policies: readonly PolicyRecord[];
  readonly cluster: Selectable;
}

/** The defaults: the values of the flags, and `mode`, which is not a setting. */
export interface DefaultSettings {
  readonly policy: RolloutPolicy;
  readonly strategy: Strategy;
}

/** The settings in force. `sources` has the value and the source of each by its name in `spec`. */
export type Settings =
  | {
      readonly policy: RolloutPolicy;
      readonly maintenance: MaintenanceSettings;
      readonly checks: readonly Check[];
      readonly strategy: Strategy;
      readonly sources: SettingsInForce;
      readonly problem: null;
    }
  /**
   * Why the settings are unknown, or `null`. Nothing may be done with the defaults then, least of all change the
   * strategy. The policy has the default values, except that an unreadable pause counts as a pause.
   */
  | {
      readonly policy: RolloutPolicy;
      readonly maintenance: MaintenanceSettings;
      readonly checks: readonly Check[];
      readonly strategy: null;
      readonly sources: Readonly<Record<string, never>>;
      readonly problem: string;
    };

const rolloutSource = 'MySQLRollout';
const flags: Readonly<Partial<Record<keyof CommonSettings, string>>> = {
  strategy: '--default-strategy',
  minReadySeconds: '--min-ready-seconds',
  replicaDelayGraceSeconds: '--replica-delay-grace-seconds',
};
const settingNames = Object.keys(commonFields) as readonly (keyof CommonSettings)[];

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
  const take = <Field extends keyof CommonSettings>(
    field: Field,
    otherwise: NonNullable<CommonSettings[Field]>,
    builtIn: NonNullable<CommonSettings[Field]>,
  ) => resolution.take(field, otherwise, builtIn);
  const takeFor = <Field extends keyof CommonSettings & keyof RolloutPolicy>(field: Field) =>
    take<Field>(field, defaults.policy[field], defaultPolicy[field]);
  const { restartWindows = noMaintenance.restartWindows, ...inPlace } = resolution.takeIfSet('inPlace') ?? {};
  const strategy = take('strategy', defaults.strategy, builtInStrategy);
  const policy: RolloutPolicy = {
    ...defaults.policy,
    paused: takeFor('paused'),
    repairWhilePaused: takeFor('repairWhilePaused'),
    maxUnavailable: takeFor('maxUnavailable'),
    partition: takeFor('partition'),
    minReadySeconds: takeFor('minReadySeconds'),
    progressDeadlineSeconds: takeFor('progressDeadlineSeconds'),
    switchoverTimeoutSeconds: takeFor('switchoverTimeoutSeconds'),
    failoverGraceSeconds: takeFor('failoverGraceSeconds'),
    maxReplicaDelaySeconds: takeFor('maxReplicaDelaySeconds'),
    replicaDelayGraceSeconds: takeFor('replicaDelayGraceSeconds'),
    longWriteGraceSeconds: takeFor('longWriteGraceSeconds'),
    longWritePolicy: takeFor('longWritePolicy'),
    primaryUpdatePolicy: takeFor('primaryUpdatePolicy'),
    lostMembers: takeFor('lostMembers'),
    inPlaceUpdates: { ...defaults.policy.inPlaceUpdates, ...inPlace },
    ...ofThisClusterAlone(own, defaults.policy, nowMilliseconds, resolution),
  };
  const maintenance: MaintenanceSettings = {
    maintenanceWindows: resolution.takeIfSet('maintenanceWindows') ?? noMaintenance.maintenanceWindows,
    blackouts: resolution.takeIfSet('blackouts') ?? noMaintenance.blackouts,
    expectedMemberSeconds: resolution.takeIfSet('expectedMemberSeconds') ?? noMaintenance.expectedMemberSeconds,
    restartWindows,
  };
  const checks = resolution.takeIfSet('checks') ?? [];
  resolution.showNamesOnly('checks', checks);
  const problem = resolution.problems.values().next().value ?? contradictionOf(policy, resolution.sources);
  if (problem === null) return { policy, maintenance, checks, strategy, sources: resolution.sources, problem };
  return settingsUnknown(defaults, problem, resolution.problems.has('paused') || policy.paused);
}

/** The names of the policies that decide any field, whatever the MySQLRollout sets: at most two for each field. */
export function decidingPolicies({ policies, cluster }: Omit<SettingsSources, 'rollout'>): ReadonlySet<string> {
  const { enforced, settings } = policyLayers(policies, cluster);
  const deciding = settingNames.flatMap((field) => [firstWith(field, enforced), firstWith(field, settings)]);
  return new Set(deciding.flatMap((layer) => (layer === undefined ? [] : [layer.source])));
}

const firstWith = (field: string, layers: readonly Layer[]): Layer | undefined =>
  layers.find(({ fields }) => fields === null || fields[field] !== undefined);

/** The intermediate result. */
class Resolution {
  readonly sources: Record<string, SettingInForce> = {};
  /** By field. */
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
    const flag = otherwise === builtIn ? undefined : flags[field];
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
    const problem = layer.problem ?? unreadable(layer, field);
    if (problem !== null) {
      this.problems.set(field, problem);
      return undefined;
    }
    this.sources[field] = { value, source: layer.source, ...(layer.enforced && { enforced: true }) };
    return value as NonNullable<CommonSettings[Field]>;
  }

  /** The rest of the value is too long for the status. */
  showNamesOnly(field: keyof CommonSettings, value: readonly { readonly name: string }[]): void {
    const shown = this.sources[field];
    if (shown) this.sources[field] = { ...shown, value: value.map(({ name }) => ({ name })) };
  }
}

function unreadable({ source, path, fields }: Layer, field: keyof RolloutSpec): string | null {
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
  nowMilliseconds: number,
  { sources, problems }: Resolution,
): Pick<RolloutPolicy, 'approvedRevision' | 'pinnedOrdinals' | 'restore' | 'overrides'> {
  const read = <Field extends 'approvedRevision' | 'pinnedMembers' | 'restore' | 'overrides'>(
    field: Field,
  ): RolloutSpec[Field] | undefined => {
    if (layer.fields?.[field] === undefined) return undefined;
    const problem = unreadable(layer, field);
    if (problem !== null) problems.set(field, problem);
    return problem === null ? (layer.fields[field] as RolloutSpec[Field]) : undefined;
  };
  const show = (field: keyof RolloutSpec, value: unknown): void => {
    if (value !== undefined) sources[field] = { value, source: rolloutSource };
  };
  const approvedRevision = read('approvedRevision');
  const pinnedOrdinals = read('pinnedMembers')
    ?.map(({ ordinal }) => ordinal)
    .toSorted(ascending);
  const restore = read('restore');
  const ordinals = restore?.members.toSorted(ascending);
  const overrides = read('overrides');
  show('approvedRevision', approvedRevision);
  show('pinnedMembers', pinnedOrdinals);
  show('restore', restore && { revision: restore.revision, members: ordinals });
  show(
    'overrides',
    overrides?.map(({ rule, until }) => ({ rule, until })),
  );
  return {
    approvedRevision: approvedRevision ?? defaults.approvedRevision,
    pinnedOrdinals: pinnedOrdinals ?? defaults.pinnedOrdinals,
    restore: restore && ordinals ? { revision: restore.revision, ordinals } : defaults.restore,
    overrides:
      overrides?.map(
        ({ rule, until }): Override => ({
          rule,
          remainingSeconds: ((milliseconds(until) ?? nowMilliseconds) - nowMilliseconds) / 1000,
        }),
      ) ?? defaults.overrides,
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
