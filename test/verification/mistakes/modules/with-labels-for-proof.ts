import { type Json, objects } from '../../../../src/base/json.ts';
import { path, pods } from '../../../../src/kube/resource.ts';
import { preflightLabel } from '../../../../src/moco/names.ts';
import { ClusterApi as Right } from '../../../../src/objects/cluster-client.ts';

/** Takes whatever has the label of a preflight for a pod that this program has made. */
export class ClusterApi extends Right {
  override async listPreflightPods(namespace: string, clusterName: string): Promise<readonly Json[]> {
    const query = { labelSelector: `${preflightLabel}=${clusterName}` };
    const list = await this.call<Json>({ method: 'GET', path: path(pods, { namespace }), query, priority: 'read' });
    return objects(list['items']);
  }
}
