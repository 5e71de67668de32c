import { policyKind } from '../../api/rollout-policy.ts';
import { type Json, object, objects, text } from '../../base/json.ts';
import { listOrNothing } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, ok, warning } from './finding.ts';

/**
 * Whether users can escape from settings that are enforced on them. An editor can change the labels of a MySQLCluster,
 * and an administrator can change the labels of a namespace.
 */
export async function enforcedPolicies(session: Session): Promise<Found> {
  const enforcing = (await listOrNothing(session, policyKind, null)).filter(
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
    `${names}: a user who may edit a MySQLCluster can escape the policy by changing a label; select by namespaceSelector only`,
  );
}

const selectsByLabels = ({ matchLabels, matchExpressions }: Json): boolean =>
  Object.keys(object(matchLabels)).length + objects(matchExpressions).length > 0;
