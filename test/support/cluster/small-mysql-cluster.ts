/** A MySQLCluster `test` of three members in `default`, without time for MOCO's preStop. `more` is of its spec. */
export const smallMySQLCluster = (image: string, more: object = {}): object => ({
  apiVersion: 'moco.cybozu.com/v1beta2',
  kind: 'MySQLCluster',
  metadata: { name: 'test', namespace: 'default' },
  spec: {
    replicas: 3,
    podTemplate: {
      spec: { containers: [{ name: 'mysqld', image, env: [{ name: 'LONGEST_SLEEP_SECONDS', value: '2' }] }] },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'mysql-data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
    ...more,
  },
});
