import type { Container, Pod } from '../../support/nodes/objects.ts';
import type { Probe } from './probe.ts';

/** What a node needs to know of a pod's spec beyond what the stand-in reads. */
export interface RealContainer extends Container {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly envFrom?: readonly { readonly secretRef?: NameReference; readonly configMapRef?: NameReference }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface NameReference {
  readonly name: string;
  readonly optional?: boolean;
}

interface KeyReference extends NameReference {
  readonly key: string;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: KeyReference;
    readonly configMapKeyRef?: KeyReference;
  };
}

interface KeyToPath {
  readonly key: string;
  readonly path: string;
}

/** A Secret or a ConfigMap as files. */
export interface FileSource {
  readonly name?: string;
  readonly secretName?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly configMap?: FileSource;
  readonly secret?: FileSource;
  readonly projected?: {
    readonly sources?: readonly { readonly secret?: FileSource; readonly configMap?: FileSource }[];
  };
}

interface RealSpec {
  readonly containers: readonly RealContainer[];
  readonly initContainers?: readonly RealContainer[];
  readonly volumes?: readonly Volume[];
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly terminationGracePeriodSeconds?: number;
}

/** The stand-in passes through what it does not read. */
export function specOf(pod: Pod): RealSpec {
  return pod.spec;
}

export function containerOf(pod: Pod, name: string): RealContainer | null {
  const { containers, initContainers = [] } = specOf(pod);
  return [...initContainers, ...containers].find((container) => container.name === name) ?? null;
}
