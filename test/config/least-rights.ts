import { type AskedRight, isOurAccount } from '../support/control-plane/audit-rights.ts';
import { rightOf } from './rights.ts';

/** What a ValidatingAdmissionPolicy asks RBAC for. Nobody asks the API server to do it, since no such resource exists. */
const askedByPolicies: ReadonlySet<string> = new Set(['create mysqlrollouts/preflight in moco-rollout.io']);

/**
 * A sentence for each right that the ServiceAccount was refused and no role grants, and each that is granted and was never
 * used. What one grants and was refused all the same was not bound: tests do without a right on purpose. Where several roles
 * grant a right, the API server names any of them, so that its use counts for all.
 *
 * @param granted by role, as `grantedRights` gives them; what other roles allow is left alone
 */
export function differences(
  asked: readonly AskedRight[],
  granted: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const known = new Set([...granted.values()].flat());
  const refused = asked.filter(({ user, role }) => role === null && isOurAccount(user)).map(rightOf);
  const used = new Set(asked.filter(({ role }) => role !== null && granted.has(role)).map(rightOf));
  const unused = [...granted].flatMap(([name, rights]) =>
    rights
      .filter((right) => !used.has(right) && !askedByPolicies.has(right))
      .map((right) => `${name} grants \`${right}\`, and no request in the whole run has used it`),
  );
  const asking = [...new Set(refused)]
    .filter((right) => !known.has(right))
    .map((right) => `the ServiceAccount asked for \`${right}\`, which no role grants`);
  return [...asking, ...unused];
}
