/**
 * The writes of the stand-in, as data: a driver performs a list in order and stops at the first failure. A driver never
 * retries a write by itself; the next run requests again what is missing.
 */
export type WrittenKind =
  | 'MySQLCluster'
  | 'StatefulSet'
  | 'Pod'
  | 'Service'
  | 'ServiceAccount'
  | 'PodDisruptionBudget'
  | 'CronJob'
  | 'PersistentVolumeClaim';

export type Body = Readonly<Record<string, unknown>>;

interface Target {
  readonly kind: WrittenKind;
  readonly namespace: string;
  readonly name: string;
}

/** Server-side apply with force, by manager `moco-controller`. Creates the object if it doesn't exist. */
export interface Apply extends Target {
  readonly verb: 'apply';
  readonly body: Body;
}

/** A merge patch. With a uid it is meant for that incarnation alone: the driver adds it to the body's metadata. */
export interface Patch extends Target {
  readonly verb: 'patch';
  readonly uid: string | null;
  readonly body: Body;
}

/** PUT of the whole object on `/status`, with the resourceVersion of the read: a conflict means retry. */
export interface ReplaceStatus extends Target {
  readonly verb: 'replaceStatus';
  readonly body: Body;
}

/** Deletes the object; `orphan` leaves what it owns. */
export interface Delete extends Target {
  readonly verb: 'delete';
  readonly orphan: boolean;
}

export type Write = Apply | Patch | ReplaceStatus | Delete;
