/**
 * The parts of Kubernetes' objects that the stand-in reads, as they stand in JSON. Everything else in them passes
 * through unread.
 */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly deletionTimestamp?: string;
  readonly managedFields?: readonly ManagedFields[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: unknown;
}

export interface KubernetesObject {
  readonly metadata: ObjectMeta;
}

/** One entry of a `status.conditions` in the common form. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface ClaimTemplate {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: ClaimSpec;
}

export interface ClaimSpec {
  readonly storageClassName?: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
}

export interface PersistentVolumeClaim extends KubernetesObject {
  readonly spec: ClaimSpec;
  readonly status?: { readonly phase?: string; readonly capacity?: Readonly<Record<string, string>> };
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly [field: string]: unknown;
}

export interface PodTemplateSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly unknown[];
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly affinity?: unknown;
  readonly [field: string]: unknown;
}

export interface MySQLCluster extends KubernetesObject {
  readonly spec: {
    readonly replicas: number;
    readonly offline?: boolean;
    readonly podTemplate: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: PodTemplateSpec;
    };
    readonly volumeClaimTemplates: readonly ClaimTemplate[];
    readonly serverIDBase?: number;
    readonly startupWaitSeconds?: number;
    readonly maxDelaySeconds?: number;
    readonly maxDelaySecondsForPodDeletion?: number;
    readonly initializeTimezoneData?: boolean;
    readonly disableSlowQueryLogContainer?: boolean;
    readonly collectors?: readonly string[];
    readonly backupPolicyName?: string;
    readonly replicationSourceSecretName?: string;
    readonly restore?: unknown;
  };
  readonly status?: MySQLClusterStatus;
}

export interface MySQLClusterStatus {
  readonly conditions?: readonly Condition[];
  readonly currentPrimaryIndex?: number;
  readonly syncedReplicas?: number;
  readonly errantReplicas?: number;
  readonly errantReplicaList?: readonly number[];
  readonly backup?: unknown;
  readonly restoredTime?: string;
  readonly cloned?: boolean;
  readonly reconcileInfo?: { readonly generation?: number; readonly reconcileVersion?: number };
}

export interface StatefulSet extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number } | null;
    };
    readonly volumeClaimTemplates?: readonly ClaimTemplate[];
    readonly [field: string]: unknown;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly availableReplicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly started?: boolean | null;
  readonly restartCount?: number;
  readonly state?: { readonly running?: unknown; readonly waiting?: unknown; readonly terminated?: unknown };
}

export interface Pod extends KubernetesObject {
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string | null;
    }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface CronJob extends KubernetesObject {
  readonly spec: {
    readonly jobTemplate: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: object;
    };
  };
  readonly status?: { readonly active?: readonly unknown[] };
}

export interface StorageClass {
  readonly metadata: { readonly name: string };
  readonly allowVolumeExpansion?: boolean;
}
