import { type Json, object, objects, strings, text } from '../../base/json.ts';
import { validatingAdmissionPolicies, validatingAdmissionPolicyBindings } from '../../kube/resource.ts';
import { controllerPolicies } from '../../objects/controller-policy.ts';
import { listAll } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';
import { asController } from './installation.ts';

/** Whether each policy that restricts the controller's ServiceAccount exists, applies to that account, and denies. */
export const controllerPolicy = (session: Session): Promise<Found> =>
  asController(session, async (user) => {
    const [policies, bindings] = await Promise.all(
      [validatingAdmissionPolicies, validatingAdmissionPolicyBindings].map((kind) => listAll(session, kind, null)),
    );
    const problems = controllerPolicies.flatMap((name) => problemOf(name, user, policies ?? [], bindings ?? []) ?? []);
    return problems.length === 0
      ? ok(`ValidatingAdmissionPolicies let ${user} write what the controller writes, and nothing else`)
      : failed(
          `${user} can write more than the controller does: ${problems.join('; ')}: apply config/rbac of this version`,
        );
  });

function problemOf(name: string, user: string, policies: readonly Json[], bindings: readonly Json[]): string | null {
  const policy = policies.find(({ metadata }) => object(metadata)['name'] === name);
  if (policy === undefined) return `there is no ValidatingAdmissionPolicy ${name}`;
  const { matchConditions, failurePolicy } = object(policy['spec']);
  const isForUser = objects(matchConditions).some(({ expression }) => text(expression)?.includes(`'${user}'`) === true);
  if (!isForUser) return `${name} applies to a different ServiceAccount`;
  // Only the first policy must fail closed. The others take objects of the namespace as parameters, so failing closed
  // would block every write in a namespace without such objects.
  if (name === controllerPolicies[0] && failurePolicy === 'Ignore')
    return `${name} lets writes pass if it cannot evaluate them`;
  const own = bindings.filter(({ spec }) => object(spec)['policyName'] === name);
  if (own.length === 0) return `nothing binds ${name}`;
  return own.some(({ spec }) => strings(object(spec)['validationActions']).includes('Deny'))
    ? null
    : `${name} does not deny`;
}
