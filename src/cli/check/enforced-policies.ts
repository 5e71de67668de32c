import { policyKind } from '../../api/rollout-policy.ts';
import { type Json, object, objects, text } from '../../base/json.ts';
import { listAll } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, ok, warning } from './finding.ts';

/**
 * Whether users can escape settings that are enforced for them: an editor can change the labels of a MySQLCluster, and
 * an administrator those of a namespace.
 */
export async function enforcedPolicies(session: Session): Promise<Found> {
  const enforcing = (await listAll(session, policyKind, null)).filter(
    ({ spec }) => object(spec)['enforced'] !== undefined,
  );
  const loose = enforcing.filter(({ spec }) => selectsByLabels(object(object(spec)['selector'])));
  if (loose.length === 0) {
    return ok(
      enforcing.length === 0 ? 'no policy enforces settings' : 'no label of a MySQLCluster ends enforced settings',
    );
  }
  const names = loose.map(({ metadata }) => text(object(metadata)['name']) ?? '').join(', ');
  return warning(
    `${names}: whoever may edit a MySQLCluster can leave the policy by changing a label of it; select by namespaceSelector alone`,
  );
}

const selectsByLabels = ({ matchLabels, matchExpressions }: Json): boolean =>
  Object.keys(object(matchLabels)).length + objects(matchExpressions).length > 0;
