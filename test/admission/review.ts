/** An AdmissionReview as kube-apiserver 1.35 sends one for the update of a labelled StatefulSet. */
export function reviewOf(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'b55c5b8f-0d4c-4f0c-9f3e-0a1b2c3d4e5f',
      kind: { group: 'apps', version: 'v1', kind: 'StatefulSet' },
      resource: { group: 'apps', version: 'v1', resource: 'statefulsets' },
      requestKind: { group: 'apps', version: 'v1', kind: 'StatefulSet' },
      requestResource: { group: 'apps', version: 'v1', resource: 'statefulsets' },
      name: 'moco-test',
      namespace: 'ns',
      operation: 'UPDATE',
      userInfo: { username: 'system:serviceaccount:moco-system:moco-controller-manager' },
      object: statefulSet,
      oldObject: statefulSet,
      dryRun: false,
      options: { kind: 'PatchOptions', apiVersion: 'meta.k8s.io/v1', force: true, fieldManager: 'moco-controller' },
      ...changes,
    },
  };
}

export const statefulSet = {
  kind: 'StatefulSet',
  apiVersion: 'apps/v1',
  metadata: {
    name: 'moco-test',
    namespace: 'ns',
    labels: { 'app.kubernetes.io/created-by': 'moco', 'moco-rollout.io/strategy': 'OnDelete' },
  },
  spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } },
};
