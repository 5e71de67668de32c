import { object, text } from '../../base/json.ts';
import { leases } from '../../kube/resource.ts';
import { find, ifAllowed } from '../cluster/clusters.ts';
import { publishedFlags } from '../cluster/controller-lease.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';
import { asController } from './installation.ts';
import { deniedTo } from './rights.ts';

const group = 'coordination.k8s.io';

/**
 * Whether the controller can see that moco-controller is running: the controller may read the Lease by which
 * moco-controller elects its leader, and this Lease exists.
 */
export const mocoLease = (session: Session): Promise<Found> =>
  asController(session, async (user) => {
    const { options } = await publishedFlags(session);
    const { mocoLeaseNamespace: namespace, mocoLeaseName: name } = options;
    const lease = `the Lease ${namespace}/${name}`;
    const denied = await deniedTo({ ...session, namespace }, [[group, leases.plural, ['get']]], user, name);
    if (denied.length > 0) {
      return failed(
        `${user} may not read ${lease}, so members are stopped while moco-controller is away, and stay down until it is back: apply the roles of this version, or a Role in namespace ${namespace}`,
      );
    }
    const found = await ifAllowed(find(session, leases, namespace, name).then((there) => ({ there })));
    if (found === null) return ok(`${user} may read ${lease}; you may not`);
    if (found.there === null) {
      return failed(
        `there is no Lease ${namespace}/${name}, so no working member is stopped: specify the Lease of moco-controller with --moco-lease-namespace and --moco-lease-name`,
      );
    }
    const holder = text(object(found.there['spec'])['holderIdentity']) ?? '';
    return holder === ''
      ? failed(`no process holds ${lease}, so no working member is stopped: look at the pods of moco-controller`)
      : ok(`${user} may read ${lease}, which ${holder} holds`);
  });
