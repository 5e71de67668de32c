import { mysqldContainer } from '../../../src/moco/names.ts';
import { dataVolume, mocoApiVersion } from './names.ts';

export interface SampleOptions {
  readonly name: string;
  readonly namespace: string;
  readonly replicas?: number;
  readonly image?: string;
  readonly volumeSize?: string;
  /** Default: that of the cluster. */
  readonly storageClassName?: string;
  /** Merged into the spec unchanged. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A MySQLCluster as a person would write it: three members of `mysql:8.4.8` with a volume of 1Gi each. */
export function sampleCluster(options: SampleOptions): Readonly<Record<string, unknown>> {
  const {
    name,
    namespace,
    replicas = 3,
    image = 'mysql:8.4.8',
    volumeSize = '1Gi',
    storageClassName,
    spec,
    annotations,
    labels,
  } = options;
  return {
    apiVersion: mocoApiVersion,
    kind: 'MySQLCluster',
    metadata: { name, namespace, ...(annotations && { annotations }), ...(labels && { labels }) },
    spec: {
      replicas,
      podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } },
      volumeClaimTemplates: [
        {
          metadata: { name: dataVolume },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: volumeSize } },
            ...(storageClassName !== undefined && { storageClassName }),
          },
        },
      ],
      ...spec,
    },
  };
}
