/** A moment on both clocks: durations are measured on the first, timestamps in objects belong to the second. */
export interface Moment {
  readonly monotonicMilliseconds: number;
  readonly wallMilliseconds: number;
}

/** As Kubernetes writes it (`metav1.Time`): UTC, whole seconds. */
export function timestamp(wallMilliseconds: number): string {
  return new Date(wallMilliseconds).toISOString().replace(/\.\d+/, '');
}
