import { rolloutKind } from '../../api/rollout.ts';
import { object, text } from '../../moco/json.ts';
import { listEach } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';
import { controllerDeployment, noAccount } from './installation.ts';
import { deniedTo, userOfController } from './rights.ts';

/** Whether the controller may have images fetched wherever a setting asks for it. Without the right it just goes on. */
export async function prepull(session: Session): Promise<Found> {
  const namespaces = await listEach(session, rolloutKind, session.namespace, {}, ({ metadata, status }) => {
    const { prepull: setting } = object(object(status)['settings']);
    return (object(setting)['value'] ?? 'Never') === 'Never' ? null : text(object(metadata)['namespace']);
  });
  const wanting = [...new Set(namespaces.filter((one) => one !== null))].toSorted();
  if (wanting.length === 0) return ok('no cluster asks for it: nodes pull images once a member is taken');
  const deployment = await controllerDeployment(session);
  if (deployment === null) return noAccount;
  const user = userOfController(deployment);
  const needed = [[rolloutKind.group, `${rolloutKind.plural}/preflight`, ['create']]] as const;
  const denied = await Promise.all(
    wanting.map(async (namespace) => (await deniedTo({ ...session, namespace }, needed, user)).length > 0),
  );
  const without = wanting.filter((_, index) => denied[index]);
  return without.length === 0
    ? ok(`${user} may have images fetched in ${wanting.join(', ')}`)
    : failed(
        `${user} may not create ${rolloutKind.plural}/preflight in ${without.join(', ')}: apply config/prepull there, or set prepull to Never`,
      );
}
