import { type Json, object, objects, text } from './json.ts';

/**
 * The names of the PersistentVolumeClaims that a pod mounts and that may outlive it. A claim of an ephemeral volume
 * belongs to the pod, and goes with it in any case.
 */
export function claimsOf(pod: Json): readonly string[] {
  return objects(object(pod['spec'])['volumes'])
    .map((volume) => text(object(volume['persistentVolumeClaim'])['claimName']))
    .filter((name) => name !== null);
}

/** Its deletion has been requested. */
export const isTerminating = (raw: Json): boolean => text(object(raw['metadata'])['deletionTimestamp']) !== null;
