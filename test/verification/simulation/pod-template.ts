import { mysqldContainer } from '../../../src/moco/names.ts';
import { defaultSettings } from '../../support/moco/settings.ts';
import type { Json } from './stored-object.ts';

/** What the user wants of the cluster, and the agent of MOCO. */
export interface Wanted {
  image: string;
  replicas: number;
  agent: string;
  /** What can change in a running pod, where the user has it. */
  label?: string;
  sidecar?: string;
  cpu?: string;
}

export const firstAgent = defaultSettings.agentImage;
export const sidecarContainer = 'user-sidecar';
export const userLabel = 'team';
/** Of a cluster whose pods are changed while they run. */
export const firstInPlace = { label: 'a', sidecar: 'example/sidecar:1', cpu: '1' } as const;

/** `spec.podTemplate` of the MySQLCluster. */
export function podTemplateOf({ image, label, sidecar, cpu }: Wanted): Json {
  const resources = { limits: { cpu, memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } };
  const mysqld = { name: mysqldContainer, image, ...(cpu !== undefined && { resources }) };
  const others = sidecar === undefined ? [] : [{ name: sidecarContainer, image: sidecar }];
  return {
    ...(label !== undefined && { metadata: { labels: { [userLabel]: label } } }),
    spec: { containers: [mysqld, ...others] },
  };
}
