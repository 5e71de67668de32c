import type { HoldRule } from '../../core/decision.ts';
import { overridable } from '../../core/overrides.ts';
import { milliseconds } from '../../moco/timestamp.ts';
import type { RolloutPolicySpec } from '../policy-resource.ts';
import type { CommonWishes, RolloutSpec } from '../rollout-resource.ts';

/** A sentence on what is wrong with a value, or `null`. `path` says which one it is. */
export type Check = (value: unknown, path: string) => string | null;

type Checks<Spec> = Readonly<Record<keyof Spec, Check>>;

/** The lowest and the highest value of every number, as in the schema. */
export const ranges = {
  maxUnavailable: [1, 1000],
  partition: [0, 2 ** 31 - 1],
  minReadySeconds: [0, 3600],
  progressDeadlineSeconds: [1, 86_400],
  switchoverTimeoutSeconds: [1, 3600],
  failoverGraceSeconds: [60, 3600],
  ordinal: [0, 999],
  weight: [-(2 ** 31), 2 ** 31 - 1],
} as const satisfies Readonly<Record<string, readonly [lowest: number, highest: number]>>;

const longestQuotedCharacters = 80;

const expected = (holds: boolean, path: string, what: string, got: unknown): string | null =>
  holds
    ? null
    : `expected ${path} to be ${what}, got ${(JSON.stringify(got) ?? 'nothing').slice(0, longestQuotedCharacters)}`;

const isBoolean: Check = (value, path) => expected(typeof value === 'boolean', path, 'true or false', value);

const longestRevision = 253;
const longestReason = 256;
const longestName = 317;

const isText =
  (longest: number): Check =>
  (value, path) =>
    expected(
      typeof value === 'string' && value !== '' && value.length <= longest,
      path,
      `a text of 1 to ${longest} characters`,
      value,
    );

const isOneOf =
  (...words: readonly string[]): Check =>
  (value, path) =>
    expected(typeof value === 'string' && words.includes(value), path, words.join(' or '), value);

const isWithin = (value: unknown, [lowest, highest]: readonly [number, number]): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= lowest && value <= highest;

const isWhole =
  (range: readonly [number, number]): Check =>
  (value, path) =>
    expected(isWithin(value, range), path, `a whole number from ${range[0]} to ${range[1]}`, value);

const isBudget: Check = (value, path) =>
  expected(
    isWithin(value, ranges.maxUnavailable) || (typeof value === 'string' && /^(100|[1-9][0-9]?)%$/.test(value)),
    path,
    'a whole number from 1 to 1000, or a percentage from "1%" to "100%"',
    value,
  );

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

const isMoment: Check = (value, path) =>
  expected(
    typeof value === 'string' && rfc3339.test(value) && milliseconds(value) !== null,
    path,
    'a moment such as 2026-01-02T03:04:05Z',
    value,
  );

const overridableRules = Object.keys(overridable).filter((rule) => overridable[rule as HoldRule]);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every field in turn; one that isn't named is nobody's wish. */
const isStruct =
  (checks: Readonly<Record<string, Check>>, ...required: readonly string[]): Check =>
  (value, path) => {
    if (!isObject(value)) return expected(false, path, 'an object', value);
    for (const [field, check] of Object.entries(checks)) {
      if (value[field] === undefined && !required.includes(field)) continue;
      const problem = check(value[field], `${path}.${field}`);
      if (problem !== null) return problem;
    }
    return null;
  };

const isList =
  (check: Check): Check =>
  (value, path) => {
    if (!Array.isArray(value)) return expected(false, path, 'a list', value);
    for (const [index, item] of value.entries()) {
      const problem = check(item, `${path}[${index}]`);
      if (problem !== null) return problem;
    }
    return null;
  };

/** A list with at most one entry for each value of a field. */
const isListBy =
  (key: string, check: Check): Check =>
  (value, path) => {
    const problem = isList(check)(value, path);
    if (problem !== null) return problem;
    const keys = (value as readonly Readonly<Record<string, unknown>>[]).map((item) => item[key]);
    const twice = keys.find((item, index) => keys.indexOf(item) !== index);
    return twice === undefined ? null : `expected ${path} to have each ${key} once, got ${JSON.stringify(twice)} twice`;
  };

const isLabels: Check = (value, path) => {
  if (!isObject(value)) return expected(false, path, 'an object', value);
  for (const [key, label] of Object.entries(value)) {
    if (typeof label !== 'string') return expected(false, `${path}["${key}"]`, 'a text', label);
  }
  return null;
};

const isRequirement: Check = (value, path) => {
  const problem = isStruct(
    {
      key: isText(longestName),
      operator: isOneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
      values: isList((item, at) => expected(typeof item === 'string', at, 'a text', item)),
    },
    'key',
    'operator',
  )(value, path);
  if (problem !== null) return problem;
  const { operator, values = [] } = value as { operator: string; values?: readonly string[] };
  return operator === 'In' || operator === 'NotIn'
    ? expected(values.length > 0, `${path}.values`, `at least one value for ${operator}`, values)
    : expected(values.length === 0, `${path}.values`, `left out for ${operator}`, values);
};

const isSelector = isStruct({ matchLabels: isLabels, matchExpressions: isList(isRequirement) });

const commonChecks: Checks<CommonWishes> = {
  strategy: isOneOf('OnDelete', 'Partition'),
  paused: isBoolean,
  repairWhilePaused: isBoolean,
  maxUnavailable: isBudget,
  partition: isWhole(ranges.partition),
  minReadySeconds: isWhole(ranges.minReadySeconds),
  progressDeadlineSeconds: isWhole(ranges.progressDeadlineSeconds),
  switchoverTimeoutSeconds: isWhole(ranges.switchoverTimeoutSeconds),
  failoverGraceSeconds: isWhole(ranges.failoverGraceSeconds),
  primaryUpdatePolicy: isOneOf('Automatic', 'Manual'),
};

const rolloutChecks: Checks<RolloutSpec> = {
  ...commonChecks,
  approvedRevision: isText(longestRevision),
  heldMembers: isListBy(
    'ordinal',
    isStruct({ ordinal: isWhole(ranges.ordinal), reason: isText(longestReason) }, 'ordinal', 'reason'),
  ),
  overrides: isListBy(
    'rule',
    isStruct(
      { rule: isOneOf(...overridableRules), until: isMoment, reason: isText(longestReason) },
      'rule',
      'until',
      'reason',
    ),
  ),
};

const selectionChecks: Checks<Pick<RolloutPolicySpec, 'namespaceSelector' | 'selector' | 'weight'>> = {
  namespaceSelector: isSelector,
  selector: isSelector,
  weight: isWhole(ranges.weight),
};

/** The spec of a MySQLRollout. */
export const checkRollout: Check = isStruct(rolloutChecks);

/** The part of a MySQLRolloutPolicy's spec that says which clusters it is for. */
export const checkSelection: Check = isStruct(selectionChecks);

/** The part of it that says what is wished for them. */
export const checkCommonWishes: Check = isStruct(commonChecks);
