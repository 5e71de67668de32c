/** Kinds of cert-manager and of prometheus-operator without their schemas, so that what names them can be installed. */
export const foreignKinds: readonly object[] = [
  definition('cert-manager.io', 'v1', 'Certificate'),
  definition('cert-manager.io', 'v1', 'Issuer'),
  definition('monitoring.coreos.com', 'v1', 'ServiceMonitor'),
  definition('monitoring.coreos.com', 'v1', 'PrometheusRule'),
];

function definition(group: string, version: string, kind: string): object {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, singular, plural },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}
