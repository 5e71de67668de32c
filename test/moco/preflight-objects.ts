import type { PreflightOf } from '../../src/moco/preflight-pod.ts';

// What the pod of a preflight is made of.

export const mysqld = (image: string): object => ({
  name: 'mysqld',
  image,
  args: ['--defaults-file=/etc/mysql/my.cnf'],
  env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'moco-test', key: 'a' } } }],
  securityContext: { runAsUser: 10_000 },
  resources: { requests: { memory: '64Gi' } },
  volumeMounts: [
    { name: 'mysql-conf', mountPath: '/etc/mysql' },
    { name: 'mysql-conf-d', mountPath: '/etc/mysql-conf.d' },
    { name: 'my-cnf-secret', mountPath: '/mysql-credentials', readOnly: true },
    { name: 'mysql-data', mountPath: '/var/lib/mysql' },
  ],
});
export const template = (image: string): object => ({
  metadata: { labels: { 'app.kubernetes.io/created-by': 'moco', 'app.kubernetes.io/instance': 'test' } },
  spec: {
    serviceAccountName: 'moco-test',
    imagePullSecrets: [{ name: 'registry' }],
    tolerations: [{ key: 'databases', operator: 'Exists' }],
    securityContext: { fsGroup: 10_000 },
    nodeSelector: { disk: 'ssd' },
    priorityClassName: 'databases',
    initContainers: [
      { name: 'copy-moco-init', image: 'agent:1' },
      { name: 'moco-init', image },
    ],
    containers: [
      mysqld(image),
      { name: 'agent', image: 'agent:1' },
      { name: 'own', image: 'own', imagePullPolicy: 'Never' },
    ],
    volumes: [
      { name: 'mysql-conf', configMap: { name: 'moco-test.abc' } },
      { name: 'mysql-conf-d', emptyDir: {} },
      { name: 'my-cnf-secret', secret: { secretName: 'moco-my-cnf-test' } },
      { name: 'files', image: { reference: 'files:2' } },
    ],
  },
});
export const of = (more: Partial<PreflightOf> = {}): PreflightOf => ({
  namespace: 'default',
  clusterName: 'test',
  rollout: { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', name: 'test', uid: 'uid-1' },
  node: 'n-1',
  revision: 'moco-test-2',
  template: template('mysql:2') as PreflightOf['template'],
  templateBefore: template('mysql:1') as PreflightOf['template'],
  about: 'images',
  asksVersion: false,
  timeoutSeconds: 300,
  ...more,
});
