import { texts } from '../../base/json.ts';

// Finds out what manages an object: an object of a GitOps tool, or a Helm release. Uses the labels and annotations that
// these tools write.

/** What manages an object. The texts have no full stop. */
export interface GitOpsOwner {
  /** For example `Kustomization flux-system/databases (Flux)`. */
  readonly name: string;
  /** What to do in addition to a patch, as a phrase that completes a sentence and contains a command. */
  readonly advice: string;
}

/**
 * Accepts only names that are valid for Kubernetes objects or Helm releases, so that a label or an annotation cannot
 * add words to a suggested command.
 */
const isName = (text: string | undefined): text is string =>
  text !== undefined && text.length <= 253 && /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(text);

/**
 * `null` if no label and no annotation names an owner. Flux labels the objects that a Kustomization or a HelmRelease
 * applies. Argo CD annotates the objects that an Application applies (`argocd.argoproj.io/tracking-id`). Helm annotates
 * the objects of a release.
 */
export function gitOpsOwner(metadata: {
  readonly labels?: unknown;
  readonly annotations?: unknown;
}): GitOpsOwner | null {
  const [labels, annotations] = [texts(metadata.labels), texts(metadata.annotations)];
  for (const [kind, prefix, command] of flux) {
    const [name, namespace] = [labels[`${prefix}/name`], labels[`${prefix}/namespace`]];
    if (!isName(name) || !isName(namespace)) continue;
    return {
      name: `${kind} ${namespace}/${name} (Flux)`,
      advice: `${untilThen} \`flux suspend ${command} ${name} -n ${namespace}\``,
    };
  }
  const [application] = (annotations['argocd.argoproj.io/tracking-id'] ?? '').split(':', 1);
  // If Argo CD allows Applications in any namespace, the tracking id begins with NAMESPACE_NAME.
  const [last, namespace] = (application ?? '').split('_').toReversed();
  if (isName(last) && (namespace === undefined || isName(namespace))) {
    const name = namespace === undefined ? last : `${namespace}/${last}`;
    return {
      name: `Application ${name} (Argo CD)`,
      advice: `${untilThen} \`argocd app set ${name} --sync-policy none\``,
    };
  }
  const release = annotations['meta.helm.sh/release-name'];
  const ofRelease = annotations['meta.helm.sh/release-namespace'];
  if (!isName(release) || !isName(ofRelease)) return null;
  return {
    name: `Helm release ${ofRelease}/${release}`,
    advice: `the next upgrade would bring it back; instead of the patch: \`helm rollback ${release} -n ${ofRelease}\``,
  };
}

const untilThen = 'revert the change in its repository, and keep it from reverting the patch until then:';

const flux = [
  ['HelmRelease', 'helm.toolkit.fluxcd.io', 'helmrelease'],
  ['Kustomization', 'kustomize.toolkit.fluxcd.io', 'kustomization'],
] as const;
