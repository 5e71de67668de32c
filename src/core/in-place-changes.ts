// The types of an update in place: what changes in a running pod, why a pod cannot be changed, and the settings.

/**
 * What an update in place changes in a running pod, first by a resize and then by a patch. Afterwards the pod is as the
 * update revision would have created it.
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
  /** Init containers with their new images. They have already finished, so the kubelet does not run them again. */
  readonly initContainers: readonly ContainerImage[];
}

export interface ContainerImage {
  readonly name: string;
  readonly image: string;
}

/** The changed resources of one container, by name (`cpu` or `memory`), as quantities of Kubernetes. */
export interface ContainerResources {
  readonly name: string;
  readonly limits: Quantities;
  readonly requests: Quantities;
  /** The kubelet restarts the container for this change, because its `resizePolicy` demands that. */
  readonly restarts: boolean;
}

export type Quantities = Readonly<Record<string, string>>;

/** A resize. It begins when the pod's spec changes, and is done when the pod's containers have the new resources. */
export interface Resize {
  /**
   * Containers that do not have their new resources yet, as the kubelet reports them. Empty once the resize is done.
   */
  readonly awaited: readonly string[];
  /** The kubelet's message if it defers the resize, or `null`. */
  readonly deferred: string | null;
  /** Seconds since the resize was requested. If the resize is done: seconds since it was done. */
  readonly forSeconds: number;
  /** mysqld has restarted since the resize was requested, which must not happen. */
  readonly mysqldRestarted: boolean;
}

/** How a stale member can reach the update revision. */
export type InPlaceUpdate =
  | {
      readonly kind: 'possible';
      readonly change: InPlaceChange;
      /**
       * `null` if this program has not resized the pod. Also `null` if the kubelet refuses a resize for a different
       * revision.
       */
      readonly resize: Resize | null;
    }
  /** The member needs a new pod. Each reason is a sentence without a full stop. */
  | { readonly kind: 'impossible'; readonly reasons: readonly string[] };

/** The containers of a member that an update in place has restarted or is about to restart. */
export interface RestartInPlace {
  /** The restart count that each container will have after the update. */
  readonly restarts: Readonly<Record<string, number>>;
  /** Containers that are not yet known to be ready with the new image. */
  readonly awaited: readonly string[];
  /** Seconds for which all these containers have been ready with the new image. 0 while one of them is not. */
  readonly doneForSeconds: number;
  /** mysqld has restarted together with these containers, which must not happen. */
  readonly mysqldRestarted: boolean;
}

/** The user's settings for updates in place, fully resolved. */
export interface InPlaceSettings {
  readonly mode: 'Never' | 'IfPossible' | 'Only';
  readonly containers: readonly string[];
  readonly resources: boolean;
  /** Labels and annotations that may change in a running pod, by key. A trailing `*` matches any ending. */
  readonly metadata: readonly string[];
  /**
   * What happens to a primary whose containers have to restart. While a container restarts, the primary's pod is not
   * ready.
   */
  readonly primary: 'InPlace' | 'AfterSwitchover';
}

/**
 * The default allows keys that only describe the pod for people, or that programs read from the running pod whenever
 * they need them. No program reads these keys only when the pod is created.
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
