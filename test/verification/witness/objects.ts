/** The parts of objects that the witness reads, as they stand in JSON. */
export interface WitnessedObject {
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
}

export interface WitnessedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | null;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export interface WitnessedCluster extends WitnessedObject {
  readonly spec: {
    readonly replicas: number;
    readonly offline?: boolean;
    readonly replicationSourceSecretName?: string;
    readonly podTemplate: { readonly spec: PodSpec };
  };
  readonly status?: {
    readonly currentPrimaryIndex?: number;
    readonly errantReplicaList?: readonly number[];
    readonly conditions?: readonly WitnessedCondition[];
  };
}

export interface WitnessedStatefulSet extends WitnessedObject {
  readonly spec: {
    readonly replicas?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number } | null;
    };
    readonly template?: { readonly spec: PodSpec };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updateRevision?: string;
    readonly currentRevision?: string;
  };
}

interface PodSpec {
  /** Of a pod that has one. */
  readonly nodeName?: string;
  readonly containers: readonly {
    readonly name: string;
    readonly image?: string;
    readonly resources?: WitnessedResources;
  }[];
}

export interface WitnessedResources {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
}

export interface WitnessedContainer {
  readonly name: string;
  readonly ready?: boolean;
  readonly started?: boolean | null;
  readonly restartCount?: number;
  readonly resources?: WitnessedResources;
  readonly state?: {
    readonly running?: unknown;
    readonly waiting?: { readonly reason?: string };
    readonly terminated?: unknown;
  };
}

export interface WitnessedPod extends WitnessedObject {
  readonly spec: PodSpec;
  readonly status?: {
    readonly reason?: string;
    readonly phase?: string;
    readonly conditions?: readonly WitnessedCondition[];
    readonly containerStatuses?: readonly WitnessedContainer[];
    readonly initContainerStatuses?: readonly WitnessedContainer[];
  };
}

/** What the user asked of one rollout, and what the program tells of it. */
export interface WitnessedSettings extends WitnessedObject {
  readonly status?: {
    readonly rollout?: {
      readonly revision: string;
      readonly failing?: { readonly ordinal: number; readonly message: string };
    };
    readonly intent?: {
      readonly id: string;
      readonly step: string;
      readonly revision: string;
      readonly pods?: readonly { readonly name: string; readonly uid: string }[];
      /** What the program says that the step does. */
      readonly effects?: readonly string[];
    };
  };
  readonly spec?: {
    readonly paused?: boolean;
    readonly repairWhilePaused?: boolean;
    readonly partition?: number;
    readonly maxUnavailable?: number | string;
    readonly switchoverTimeoutSeconds?: number;
    readonly pinnedMembers?: readonly { readonly ordinal: number }[];
    readonly maintenanceWindows?: readonly WitnessedWindow[];
    readonly primaryUpdatePolicy?: string;
    readonly approvedRevision?: string;
    readonly minReadySeconds?: number;
    readonly inPlace?: { readonly primary?: string };
    readonly lostMembers?: string;
    readonly restore?: { readonly revision?: string; readonly ordinals?: readonly number[] };
    readonly overrides?: readonly unknown[];
    readonly nodeMaintenance?: string;
    readonly rolloutsDuringMaintenance?: string;
    readonly checks?: readonly unknown[];
    readonly preflight?: string;
  };
}

export interface WitnessedWindow {
  readonly schedule: string;
  readonly duration: number | string;
}

export interface WitnessedBudget extends WitnessedObject {
  readonly spec: { readonly maxUnavailable?: number | string };
}

export interface WitnessedJob extends WitnessedObject {
  readonly status?: { readonly conditions?: readonly WitnessedCondition[] };
}

export interface WitnessedPolicy extends WitnessedObject {
  readonly spec?: { readonly enforced?: { readonly paused?: boolean } };
}

export interface WitnessedNode extends WitnessedObject {
  readonly spec?: { readonly unschedulable?: boolean };
}

/** The kinds that the witness looks at; of every other kind it knows nothing. */
export interface WitnessedKinds {
  readonly MySQLCluster: WitnessedCluster;
  readonly StatefulSet: WitnessedStatefulSet;
  readonly Pod: WitnessedPod;
  readonly MySQLRollout: WitnessedSettings;
  readonly PodDisruptionBudget: WitnessedBudget;
  readonly PersistentVolumeClaim: WitnessedObject;
  readonly Job: WitnessedJob;
  readonly MySQLRolloutPolicy: WitnessedPolicy;
  readonly Node: WitnessedNode;
}

export type WitnessedKind = keyof WitnessedKinds;
