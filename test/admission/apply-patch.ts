import type { AdmittedStatefulSet, PatchOperation } from '../../src/admission/mutations.ts';

/** What the API server makes of a StatefulSet and a patch to fields of objects (RFC 6902 and 6901). */
export function applyPatch(statefulSet: AdmittedStatefulSet, patch: readonly PatchOperation[]): AdmittedStatefulSet {
  const made = structuredClone(statefulSet) as unknown as Record<string, unknown>;
  for (const operation of patch) {
    const names = operation.path
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    let parent = made;
    for (const name of names) {
      const next = parent[name];
      if (typeof next !== 'object' || next === null || Array.isArray(next))
        throw new Error(`expected an object at ${name} of ${operation.path}`);
      parent = next as Record<string, unknown>;
    }
    if (operation.op === 'add') parent[last] = operation.value;
    else if (last in parent) delete parent[last];
    else throw new Error(`expected something to remove at ${operation.path}, got nothing`);
  }
  return made as unknown as AdmittedStatefulSet;
}
