/** The parts of Kubernetes' objects that nodes read, as they stand in JSON. Everything else passes through unread. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly args?: readonly string[];
  readonly resources?: Partial<Resources>;
  readonly resizePolicy?: readonly { readonly resourceName: string; readonly restartPolicy: string }[];
  /** Of an init container: `Always` for a sidecar. */
  readonly restartPolicy?: string;
  readonly lifecycle?: { readonly preStop?: { readonly exec?: { readonly command?: readonly string[] } } };
}

export interface Resources {
  readonly limits: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
}

export interface Terminated {
  readonly exitCode: number;
  readonly reason: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly containerID: string;
  /** The end of what it has printed, after an error alone (terminationMessagePolicy: FallbackToLogsOnError). */
  readonly message?: string;
}

export interface ContainerStateStatus {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: Terminated;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly state: ContainerStateStatus;
  readonly lastState: ContainerStateStatus;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly resources?: Partial<Resources>;
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | null;
  readonly message?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly observedGeneration?: number;
}

export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly startTime?: string;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface Pod {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly nodeName?: string;
    readonly restartPolicy?: string;
    readonly activeDeadlineSeconds?: number;
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms: readonly {
            readonly matchFields?: readonly { readonly key: string; readonly values?: readonly string[] }[];
          }[];
        };
      };
    };
    readonly volumes?: readonly { readonly image?: { readonly reference?: string } }[];
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly readinessGates?: readonly { readonly conditionType: string }[];
  };
  readonly status?: PodStatus;
}

export interface PersistentVolumeClaim {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly volumeName?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: { readonly phase?: string; readonly capacity?: Readonly<Record<string, string>> };
}
