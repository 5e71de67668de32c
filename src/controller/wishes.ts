import { defaultPolicy, type Override, type RolloutPolicy } from '../core/policy.ts';
import { milliseconds } from '../moco/timestamp.ts';
import type { PolicyRecord } from './policy-resource.ts';
import type { CommonWishes, EffectiveWish, RolloutSpec, Strategy } from './rollout-resource.ts';
import { checkRollout } from './wishes/checks.ts';
import { matchingPolicy, type Selectable } from './wishes/matching-policy.ts';

/** Everything that people have said about one cluster, as it came. */
export interface Said {
  /** `spec` of its MySQLRollout, if there is one. */
  readonly rollout: RolloutSpec | undefined;
  /** All that there are. */
  readonly policies: readonly PolicyRecord[];
  readonly cluster: Selectable;
}

/** What holds where nobody says anything else: the flags' values, and `mode`, which nobody can wish for. */
export interface DefaultWishes {
  readonly policy: RolloutPolicy;
  readonly strategy: Strategy;
}

/** The wishes in force, with the value and the source of each by its name in `spec`. */
export type Wishes =
  | {
      readonly policy: RolloutPolicy;
      readonly strategy: Strategy;
      readonly sources: Readonly<Record<string, EffectiveWish>>;
      readonly problem: null;
    }
  /** A sentence why they can't be known: nothing may be done on the defaults then, least of all another strategy. */
  | {
      readonly policy: RolloutPolicy;
      readonly strategy: null;
      readonly sources: Readonly<Record<string, never>>;
      readonly problem: string;
    };

/** Without flags. */
export const builtInStrategy: Strategy = 'OnDelete';

const rolloutSource = 'MySQLRollout';
const flags: Readonly<Partial<Record<keyof CommonWishes, string>>> = {
  strategy: '--default-strategy',
  minReadySeconds: '--min-ready-seconds',
};

interface Layer {
  readonly source: string;
  readonly wishes: CommonWishes;
}

/**
 * Takes every wish from where it has precedence: the MySQLRollout, the policy of the highest weight that selects the
 * cluster, the flags. The CRDs' schemas refuse what is checked here; an object from before a change of the schema is
 * not trusted to follow it. `nowMilliseconds` is the wall clock, against which overrides are written.
 */
export function wishesOf(
  { rollout = {}, policies, cluster }: Said,
  defaults: DefaultWishes,
  nowMilliseconds: number,
): Wishes {
  const unreadable = checkRollout(rollout, 'spec');
  if (unreadable !== null) return wishesUnknown(defaults, unreadable);
  const matching = matchingPolicy(policies, cluster);
  if (matching.kind === 'problem') return wishesUnknown(defaults, matching.problem);
  const layers: readonly Layer[] = [
    { source: rolloutSource, wishes: rollout },
    ...(matching.kind === 'policy' ? [matching] : []),
  ];
  const sources: Record<string, EffectiveWish> = {};
  const take = <Field extends keyof CommonWishes>(
    field: Field,
    otherwise: NonNullable<CommonWishes[Field]>,
    builtIn: NonNullable<CommonWishes[Field]>,
  ): NonNullable<CommonWishes[Field]> => {
    const layer = layers.find(({ wishes }) => wishes[field] !== undefined);
    const value = layer?.wishes[field] ?? otherwise;
    const flag = otherwise === builtIn ? undefined : flags[field];
    sources[field] = {
      value: shown(value),
      source: layer?.source ?? (flag === undefined ? 'default' : `flag ${flag}`),
    };
    return value;
  };
  const takeFor = <Field extends keyof CommonWishes & keyof RolloutPolicy>(field: Field) =>
    take<Field>(field, defaults.policy[field], defaultPolicy[field]);
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
    primaryUpdatePolicy: takeFor('primaryUpdatePolicy'),
    ...ofThisClusterAlone(rollout, defaults.policy, nowMilliseconds, sources),
  };
  const contradiction = contradictionOf(policy, sources, layers);
  if (contradiction !== null) return wishesUnknown(defaults, contradiction);
  return { policy, strategy, sources, problem: null };
}

/** What only the cluster's own MySQLRollout can say; shown where it does. */
function ofThisClusterAlone(
  { approvedRevision, heldMembers, overrides }: RolloutSpec,
  defaults: RolloutPolicy,
  nowMilliseconds: number,
  sources: Record<string, EffectiveWish>,
): Pick<RolloutPolicy, 'approvedRevision' | 'heldOrdinals' | 'overrides'> {
  const show = (field: keyof RolloutSpec, value: unknown): void => {
    if (value !== undefined) sources[field] = { value: shown(value), source: rolloutSource };
  };
  const heldOrdinals = heldMembers?.map(({ ordinal }) => ordinal).toSorted((one, other) => one - other);
  show('approvedRevision', approvedRevision);
  show('heldMembers', heldOrdinals);
  show(
    'overrides',
    overrides?.map(({ rule, until }) => ({ rule, until })),
  );
  return {
    approvedRevision: approvedRevision ?? defaults.approvedRevision,
    heldOrdinals: heldOrdinals ?? defaults.heldOrdinals,
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
 * A rollout that stalls before a member may count as ready stalls always. Flags alone are the operator's, who would
 * stop every cluster at once by a value that is only unwise.
 */
function contradictionOf(
  { progressDeadlineSeconds, minReadySeconds }: RolloutPolicy,
  { progressDeadlineSeconds: deadline, minReadySeconds: ready }: Readonly<Record<string, EffectiveWish>>,
  layers: readonly Layer[],
): string | null {
  if (progressDeadlineSeconds > minReadySeconds) return null;
  const said = layers.some(
    ({ wishes }) => wishes.progressDeadlineSeconds !== undefined || wishes.minReadySeconds !== undefined,
  );
  return said
    ? `expected progressDeadlineSeconds (${deadline?.source}) to be more than minReadySeconds (${ready?.source}), got ` +
        `${progressDeadlineSeconds} and ${minReadySeconds}`
    : null;
}

/** Nothing may be done on the defaults then. */
export const wishesUnknown = ({ policy }: DefaultWishes, problem: string): Wishes => ({
  policy,
  strategy: null,
  sources: {},
  problem,
});

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
