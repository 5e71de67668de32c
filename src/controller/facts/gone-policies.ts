import { isDeepStrictEqual } from 'node:util';
import { isPolicySource } from '../../api/rollout-policy.ts';
import type { SettingInForce, SettingsInForce } from '../../api/settings-in-force.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';

/** A policy that decided settings of the cluster and no longer exists. */
interface GonePolicy {
  /** The name of the policy as the status shows it: `MySQLRolloutPolicy/NAME`. */
  readonly policy: string;
  /** The values that it decided, by setting, in the form that the status shows. */
  readonly decided: Readonly<Record<string, unknown>>;
  /** When the policy disappeared, on the monotonic clock. */
  readonly atMilliseconds: number;
}

/** What is remembered to detect that a policy has disappeared. A process that starts later uses the status instead. */
export interface KnownPolicies {
  /** The settings that were last in force. `null` before the first observation. */
  readonly inForce: SettingsInForce | null;
  readonly gone: readonly GonePolicy[];
}

export const noPoliciesKnown: KnownPolicies = { inForce: null, gone: [] };

/**
 * A policy that disappeared is forgotten after this time. The core holds a cluster because of it for less than that.
 */
const forgottenMilliseconds = 60_000;

/** Settings that the status shows only in part. */
const shownInPart: ReadonlySet<string> = new Set(['checks']);

/**
 * @param present the sources of the policies that exist
 * @param inForce the settings that are in force now; `null` while they are unknown
 */
export function policiesAfter(
  { inForce: known, gone }: KnownPolicies,
  ofStatus: SettingsInForce | undefined,
  present: ReadonlySet<string>,
  inForce: SettingsInForce | null,
  nowMilliseconds: number,
): KnownPolicies {
  const before = Object.entries(known ?? ofStatus ?? {});
  const sources = new Set(before.map(([, { source }]) => source));
  const left = [...sources].filter((source) => isPolicySource(source) && !present.has(source));
  const stillGone = gone.filter(
    ({ policy, atMilliseconds }) =>
      !present.has(policy) && !left.includes(policy) && nowMilliseconds - atMilliseconds < forgottenMilliseconds,
  );
  const decidedBy = (policy: string) =>
    Object.fromEntries(before.flatMap(([name, { source, value }]) => (source === policy ? [[name, value]] : [])));
  const newlyGone = left.map((policy) => ({
    policy,
    decided: decidedBy(policy),
    atMilliseconds: gone.find((one) => one.policy === policy)?.atMilliseconds ?? nowMilliseconds,
  }));
  return inForce === null ? { inForce: known, gone } : { inForce, gone: [...stillGone, ...newlyGone] };
}

/** The last policy that disappeared, if its values are no longer in force. */
export function policyGone(
  { gone }: KnownPolicies,
  inForce: SettingsInForce,
  nowMilliseconds: number,
): ClusterSnapshot['policyGone'] {
  const values = inForce as Readonly<Record<string, SettingInForce | undefined>>;
  const last = gone
    .filter(({ decided }) =>
      Object.entries(decided).some(
        ([name, value]) => shownInPart.has(name) || !isDeepStrictEqual(values[name]?.value, value),
      ),
    )
    .toSorted((one, other) => other.atMilliseconds - one.atMilliseconds)[0];
  return last === undefined
    ? null
    : { policy: last.policy, sinceSeconds: (nowMilliseconds - last.atMilliseconds) / 1000 };
}
