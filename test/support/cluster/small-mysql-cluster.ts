/** mysqld of a MySQLCluster whose members restart in less time: MOCO's preStop and probes wait for seconds. */
export const quickMysqld = (image: string) => ({
  name: 'mysqld',
  image,
  env: [{ name: 'LONGEST_SLEEP_SECONDS', value: '2' }],
  startupProbe: { periodSeconds: 1 },
  readinessProbe: { periodSeconds: 1 },
});

/** A MySQLCluster `test` of three {@link quickMysqld} in `default`. `more` is of its spec. */
export const smallMySQLCluster = (image: string, more: object = {}): object => ({
  apiVersion: 'moco.cybozu.com/v1beta2',
  kind: 'MySQLCluster',
  metadata: { name: 'test', namespace: 'default' },
  spec: {
    replicas: 3,
    podTemplate: { spec: { containers: [quickMysqld(image)] } },
    volumeClaimTemplates: [
      {
        metadata: { name: 'mysql-data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
    ...more,
  },
});
