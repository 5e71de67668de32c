import { mysqldContainer, preflightLabel, revisionHashLabel } from '../../../src/moco/names.ts';
import type { Json } from '../../support/api-server/stored-object.ts';
import { defaultSettings } from '../../support/moco/settings.ts';

/** What the user wants of the cluster, and the agent of MOCO. */
export interface Wanted {
  image: string;
  replicas: number;
  agent: string;
  /** What can change in a running pod, where the user has it. */
  label?: string;
  sidecar?: string;
  cpu?: string;
  /** Of each member, the one of pods that fetch images for the cluster. */
  preflightLabel?: string;
  /** No two members are on one node. */
  apart?: boolean;
}

export const firstAgent = defaultSettings.agentImage;
export const sidecarContainer = 'user-sidecar';
export const userLabel = 'team';
/** Of a cluster whose pods are changed while they run. */
export const firstInPlace = { label: 'a', sidecar: 'example/sidecar:1', cpu: '1' } as const;

/** `spec.podTemplate` of the MySQLCluster. */
const affinity = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchExpressions: [{ key: revisionHashLabel, operator: 'Exists' }] },
      },
    ],
  },
};

export function podTemplateOf(wanted: Wanted): Json {
  const { image, label, sidecar, cpu, preflightLabel: like, apart } = wanted;
  const resources = { limits: { cpu, memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } };
  const mysqld = { name: mysqldContainer, image, ...(cpu !== undefined && { resources }) };
  const labels = {
    ...(label !== undefined && { [userLabel]: label }),
    ...(like !== undefined && { [preflightLabel]: like }),
  };
  const others = sidecar === undefined ? [] : [{ name: sidecarContainer, image: sidecar }];
  return {
    ...(Object.keys(labels).length > 0 && { metadata: { labels } }),
    spec: { containers: [mysqld, ...others], ...(apart && { affinity }) },
  };
}
