// The types of an update in place: what changes in a running pod, why a pod cannot be changed, and the settings.

/**
 * What a resize and the following patch change in a running pod, so that it becomes what the update revision would have
 * created.
 */
export interface InPlaceChange {
  /** What the resize still has to change. The patch follows once the kubelet has made the change. */
  readonly resources: readonly ContainerResources[];
  /** Containers that a resize has already given the resources of the update revision. */
  readonly resized: readonly string[];
  /** `null` removes the label. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The containers that the kubelet restarts, with their new images. */
  readonly containers: readonly ContainerImage[];
  /** Init containers have already finished, so the kubelet does not run them again. */
  readonly initContainers: readonly ContainerImage[];
}

export interface ContainerImage {
  readonly name: string;
  readonly image: string;
}

/** The resources of one container that change, as Kubernetes' quantities by `cpu` and `memory`. */
export interface ContainerResources {
  readonly name: string;
  readonly limits: Quantities;
  readonly requests: Quantities;
  /** Its `resizePolicy` makes the kubelet restart it. */
  readonly restarts: boolean;
}

export type Quantities = Readonly<Record<string, string>>;

/** A resize that is in progress, from the spec of the pod to its containers. */
export interface Resize {
  /**
   * Containers that do not have their new resources yet, as the kubelet reports them. Empty once the resize is done.
   */
  readonly awaited: readonly string[];
  /** Why the kubelet defers the resize, in its words, or `null`. */
  readonly deferred: string | null;
  /** Seconds since the resize was requested, or since it was done. */
  readonly forSeconds: number;
  /** mysqld restarted since, which must not happen. */
  readonly mysqldRestarted: boolean;
}

/** How a stale member can reach the update revision. */
export type InPlaceUpdate =
  | {
      readonly kind: 'possible';
      readonly change: InPlaceChange;
      /**
       * `null` if this program has not resized the pod, or if the kubelet refuses a resize that was for another
       * revision.
       */
      readonly resize: Resize | null;
    }
  /** It needs another pod. Each reason is a sentence without a full stop. */
  | { readonly kind: 'impossible'; readonly reasons: readonly string[] };

/** Containers of a member that an update in place has restarted, or is about to. */
export interface RestartInPlace {
  /** By name, with the restart count that the update leads to. */
  readonly restarts: Readonly<Record<string, number>>;
  /** Containers that are not yet known to run the new image and to be ready. */
  readonly awaited: readonly string[];
  /** Seconds for which all of them have been ready with the new image. 0 before that. */
  readonly doneForSeconds: number;
  /** mysqld restarted with them, which must not happen. */
  readonly mysqldRestarted: boolean;
}

/** A setting of the user, resolved. */
export interface InPlaceSettings {
  readonly mode: 'Never' | 'IfPossible' | 'Only';
  readonly containers: readonly string[];
  readonly resources: boolean;
  /** Labels and annotations that may change in a running pod, by key. A trailing `*` matches any ending. */
  readonly metadata: readonly string[];
  /** What happens to a primary whose containers have to restart. While one restarts, its pod is not ready. */
  readonly primary: 'InPlace' | 'AfterSwitchover';
}

/**
 * Keys that only describe the pod for people, or that are read from the running pod whenever they are needed. Nothing
 * reads them only when a pod is created.
 */
export const neverInPlace: InPlaceSettings = {
  mode: 'Never',
  containers: ['agent', 'slow-log', 'mysqld-exporter'],
  resources: true,
  metadata: [
    'app.kubernetes.io/component',
    'app.kubernetes.io/managed-by',
    'app.kubernetes.io/part-of',
    'app.kubernetes.io/version',
    'helm.sh/chart',
    'cluster-autoscaler.kubernetes.io/safe-to-evict',
    'karpenter.sh/do-not-disrupt',
    'kubectl.kubernetes.io/default-container',
  ],
  primary: 'AfterSwitchover',
};
