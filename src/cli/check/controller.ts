import { object, text, whole } from '../../moco/json.ts';
import { controllerSelector } from '../../moco/names.ts';
import { controllerNote } from '../cluster/controller-lease.ts';
import { type Check, failed, ok } from './finding.ts';
import { controllerDeployment, imagesOf } from './versions.ts';

export const controller: Check = {
  about: 'controller',
  find: async (session) => {
    const deployment = await controllerDeployment(session);
    if (deployment === null) return failed(`no Deployment has the label ${controllerSelector}: install it`);
    const { namespace, name } = object(deployment['metadata']);
    const available = whole(object(deployment['status'])['availableReplicas'], 0);
    const place = `deployment/${text(name)} in namespace ${text(namespace)}`;
    if (available === 0) return failed(`${place} has no available replica: read its log`);
    const silent = await controllerNote(session);
    if (silent !== null) return failed(silent);
    return ok(`${place} has ${available} available, of ${imagesOf(deployment)}`);
  },
};
