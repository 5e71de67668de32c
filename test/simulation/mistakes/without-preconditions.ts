import { ClusterApi as Right } from '../../../src/controller/cluster-api.ts';

type Target = Parameters<Right['deletePod']>[1];

/** Names the pod, and means whichever has that name. */
const anyOf = (target: Target): Target => ({
  ...target,
  ...({ uid: undefined, resourceVersion: undefined } as object),
});

/** Writes to pods without uid and resourceVersion. */
export class ClusterApi extends Right {
  override deletePod(...[namespace, target, signal]: Parameters<Right['deletePod']>): ReturnType<Right['deletePod']> {
    return super.deletePod(namespace, anyOf(target), signal);
  }

  override evictPod(...[namespace, target, signal]: Parameters<Right['evictPod']>): ReturnType<Right['evictPod']> {
    return super.evictPod(namespace, anyOf(target), signal);
  }
}
