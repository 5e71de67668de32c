/** What one patch changes of a running pod, so that it is what the update revision would have created. */
export interface InPlaceChange {
  /** `null` removes the label. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The containers that the kubelet restarts, with their new images. */
  readonly containers: readonly ContainerImage[];
  /** Init containers have finished, and do not run again. */
  readonly initContainers: readonly ContainerImage[];
}

export interface ContainerImage {
  readonly name: string;
  readonly image: string;
}

/** How a stale member can reach the update revision. */
export type InPlaceUpdate =
  | { readonly kind: 'possible'; readonly change: InPlaceChange }
  /** It needs another pod. Each reason is a sentence without a full stop. */
  | { readonly kind: 'impossible'; readonly reasons: readonly string[] };

/** Containers of a member that an update in place has restarted, or is about to. */
export interface RestartInPlace {
  /** By name, with the number of restarts that the update makes it have. */
  readonly restarts: Readonly<Record<string, number>>;
  /** Those that are not proven to run with the new image, and to be ready. */
  readonly awaited: readonly string[];
  /** Seconds for which all of them have been. 0 before. */
  readonly doneForSeconds: number;
  /** mysqld restarted with them, which must not happen. */
  readonly mysqldRestarted: boolean;
}

/** A setting of the user, resolved. */
export interface InPlaceSettings {
  readonly mode: 'Never' | 'IfPossible' | 'Only';
  /** Containers whose image may change in a running pod. */
  readonly containers: readonly string[];
  /** Labels and annotations may change in a running pod. */
  readonly metadata: boolean;
  /** `null`: after a switchover if a restarted container answers the probes of mysqld. */
  readonly primary: 'InPlace' | 'AfterSwitchover' | null;
}

export const neverInPlace: InPlaceSettings = {
  mode: 'Never',
  containers: ['agent', 'slow-log', 'mysqld-exporter'],
  metadata: true,
  primary: null,
};
