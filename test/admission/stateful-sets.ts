import type { AdmittedStatefulSet } from '../../src/admission/mutations.ts';

const owner = {
  apiVersion: 'moco.cybozu.com/v1beta2',
  kind: 'MySQLCluster',
  name: 'test',
  uid: 'b7a44ad5-1d9c-4b6a-9f3e-0a1b2c3d4e5f',
  controller: true,
  blockOwnerDeletion: true,
};

const container = { name: 'mysqld', image: 'mysql:8.4.8' };

interface Changes {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** One of three replicas as MOCO makes them, at partition 3; whole fields of `metadata` and `spec` can be others. */
export function mocoStatefulSet({ metadata, spec }: Changes = {}): AdmittedStatefulSet {
  return {
    metadata: {
      name: 'moco-test',
      namespace: 'ns',
      labels: { 'app.kubernetes.io/created-by': 'moco' },
      ownerReferences: [owner],
      ...metadata,
    },
    spec: {
      replicas: 3,
      template: { spec: { containers: [container] } },
      updateStrategy: atPartition(3),
      ...spec,
    },
  };
}

export const ownedBy = (...owners: readonly object[]): Changes => ({
  metadata: { ownerReferences: owners.map((changes) => ({ ...owner, ...changes })) },
});

export const annotated = (annotations: Readonly<Record<string, string>>): Changes => ({ metadata: { annotations } });

export const atPartition = (partition: unknown): object => ({ type: 'RollingUpdate', rollingUpdate: { partition } });

export const newTemplate = { template: { spec: { containers: [{ ...container, image: 'mysql:8.4.9' }] } } };
