import type { Json } from '../../moco/json.ts';
import { object, objects, text } from '../../moco/json.ts';

/** A field manager of an object, with the fields of the spec that it owns. */
interface Manager {
  readonly name: string;
  readonly fields: Json;
}

/** The field managers of an object's spec, in the API server's order. */
function managersOf(raw: unknown): readonly Manager[] {
  return objects(object(object(raw)['metadata'])['managedFields'])
    .filter((entry) => entry['subresource'] === undefined || entry['subresource'] === '')
    .map((entry) => ({ name: text(entry['manager']) ?? '', fields: object(object(entry['fieldsV1'])['f:spec']) }));
}

/** The owners of a field of the spec, or of one entry of a list by its key. */
export function ownersOf(raw: unknown, field: string, key?: object): readonly string[] {
  return managersOf(raw)
    .filter(({ fields }) => {
      const own = fields[`f:${field}`];
      return key === undefined ? own !== undefined : object(own)[`k:${JSON.stringify(key)}`] !== undefined;
    })
    .map(({ name }) => name);
}

/** Where a user can change the values of a field manager, as the end of a sentence. */
export function whereToChange(manager: string, kind: string, name: string, namespace: string, program: string): string {
  const own = /^moco-rollout-cli-(.+)$/.exec(manager)?.[1];
  if (own !== undefined) return `it is \`${program} ${own}\``;
  if (/^(kustomize|helm)-controller$/.test(manager)) return 'change it in the repository that Flux applies';
  if (manager.startsWith('argocd')) return 'change it in the repository that Argo CD applies';
  if (manager === 'helm') return 'change it in the values of the Helm release';
  if (manager.startsWith('kubectl'))
    return `change it with: kubectl edit ${kind.toLowerCase()} ${name} -n ${namespace}`;
  return 'change it there';
}
