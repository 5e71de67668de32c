import { delay } from '../base/delay.ts';
import type { Log, World } from '../base/world.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ApiError } from '../kube/api-error.ts';
import { leases, path } from '../kube/resource.ts';

// Whether a ValidatingAdmissionPolicy that is in force limits this program's own token.

/** The policies of config/rbac. The first policy checks every write, and the others add restrictions. */
export const controllerPolicies = [
  'controller.moco-rollout.io',
  'controller-evictions.moco-rollout.io',
  'controller-deletions.moco-rollout.io',
  'controller-pods.moco-rollout.io',
] as const;
const [everyWrite] = controllerPolicies;

const againMilliseconds = 600_000;
/** A policy that was installed a moment ago takes effect within this time. */
const settlesMilliseconds = 60_000;

/**
 * Attempts a dry run that this program's role allows and the policy must refuse: creating a second lease. Resolves to
 * whether the policy refused it, or to `null` if something else refused it.
 */
export async function isPolicyInForce(
  client: ApiClient,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean | null> {
  try {
    await client.call({
      method: 'POST',
      path: path(leases, { namespace }),
      query: { dryRun: 'All' },
      body: { metadata: { namespace, name: 'moco-rollout-policy-probe' }, spec: {} },
      priority: 'lease',
      signal,
    });
    return false;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message.includes(everyWrite) ? true : null;
  }
}

export interface PolicyWatch {
  readonly client: ApiClient;
  readonly world: World;
  readonly log: Log;
  /** The namespace of the lease. */
  readonly namespace: string;
  readonly show: (inForce: boolean) => void;
}

/**
 * Checks immediately and then every ten minutes until the signal is aborted. If no policy is in force, this is logged
 * only after a second check, one minute later, has confirmed it. Never rejects because of an API server's response.
 */
export async function watchPolicy(
  { client, world, log, namespace, show }: PolicyWatch,
  signal: AbortSignal,
): Promise<void> {
  /** How many checks in a row have found no policy in force. */
  let absences = 0;
  do {
    const inForce = await isPolicyInForce(client, namespace, signal);
    if (inForce === null) continue;
    show(inForce);
    if (inForce && absences > 1) log.info({}, 'A ValidatingAdmissionPolicy confines the ServiceAccount');
    absences = inForce ? 0 : absences + 1;
    if (absences === 2) {
      log.error(
        {},
        'No ValidatingAdmissionPolicy confines the ServiceAccount: the policy is missing, not bound, or does not deny requests. Run kubectl moco-rollout check',
      );
    }
  } while (await delay(world, absences === 1 ? settlesMilliseconds : againMilliseconds, signal));
}
