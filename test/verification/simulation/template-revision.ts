import { createHash } from 'node:crypto';

const names = new WeakMap<object, string>();

/**
 * The name of a ControllerRevision: of the same template the same, as long as two that differ never collide. Kubernetes
 * hashes other bytes with another function, so the letters differ; nothing reads them.
 */
export function revisionNameOf(statefulSet: string, template: unknown): string {
  const key = typeof template === 'object' && template !== null ? template : {};
  const known = names.get(key);
  if (known !== undefined) return known;
  const name = `${statefulSet}-${createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10)}`;
  names.set(key, name);
  return name;
}
