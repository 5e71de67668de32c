import { pluginManager } from '../../api/rollout.ts';

/** Where a user can change the values of a field manager, as the end of a sentence. */
export function whereToChange(manager: string, kind: string, name: string, namespace: string, program: string): string {
  const own = manager.startsWith(pluginManager('')) && manager.slice(pluginManager('').length);
  if (own) return `it is \`${program} ${own}\``;
  if (/^(kustomize|helm)-controller$/.test(manager)) return 'change it in the repository that Flux applies';
  if (manager.startsWith('argocd')) return 'change it in the repository that Argo CD applies';
  if (manager === 'helm') return 'change it in the values of the Helm release';
  if (manager.startsWith('kubectl'))
    return `change it with: kubectl edit ${kind.toLowerCase()} ${name} -n ${namespace}`;
  return 'change it there';
}
