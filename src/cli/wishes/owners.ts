import type { Json } from '../../moco/json.ts';
import { object, objects, text } from '../../moco/json.ts';

/** Somebody whom the API server knows as the owner of a field. */
interface Manager {
  readonly name: string;
  readonly fields: Json;
}

/** Field managers of an object's spec, in the API server's order. */
function managersOf(raw: unknown): readonly Manager[] {
  return objects(object(object(raw)['metadata'])['managedFields'])
    .filter((entry) => entry['subresource'] === undefined || entry['subresource'] === '')
    .map((entry) => ({ name: text(entry['manager']) ?? '', fields: object(object(entry['fieldsV1'])['f:spec']) }));
}

/** Who owns a field of the spec, or one entry of a list by its key. */
export function ownersOf(raw: unknown, field: string, key?: object): readonly string[] {
  return managersOf(raw)
    .filter(({ fields }) => {
      const own = fields[`f:${field}`];
      return key === undefined ? own !== undefined : object(own)[`k:${JSON.stringify(key)}`] !== undefined;
    })
    .map(({ name }) => name);
}

/** Where a manager's word is changed, in the middle of a sentence. */
export function whereToChange(manager: string, kind: string, name: string, namespace: string, program: string): string {
  const own = /^moco-rollout-cli-(.+)$/.exec(manager)?.[1];
  if (own !== undefined) return `which is \`${program} ${own}\``;
  if (/^(kustomize|helm)-controller$/.test(manager))
    return 'which is Flux: change it in the repository that Flux applies';
  if (manager.startsWith('argocd')) return 'which is Argo CD: change it in the repository that Argo CD applies';
  if (manager === 'helm') return 'which is Helm: change it in the values of the release';
  if (manager.startsWith('kubectl'))
    return `which is kubectl: kubectl edit ${kind.toLowerCase()} ${name} -n ${namespace}`;
  return 'change it there';
}
