import { type Json, text } from '../json.ts';
import { appNameLabel, clusterNameLabel, createdByLabel } from '../names.ts';

/** Services, PodDisruptionBudgets and the StatefulSet itself select pods by them. */
const selectorLabels: readonly string[] = [appNameLabel, clusterNameLabel, createdByLabel];

/** The labels that Kubernetes recommends for people and tools. No part of Kubernetes acts on them. */
const recommended = 'app.kubernetes.io';

/**
 * Domains of keys that somebody acts on when a pod is created: Kubernetes itself, MOCO and this program, network
 * plugins, and webhooks that inject containers. A change of such a key needs another pod.
 */
const actedOn: readonly string[] = [
  'kubernetes.io',
  'k8s.io',
  'moco.cybozu.com',
  'moco-rollout.io',
  'cncf.io',
  'projectcalico.org',
  'cilium.io',
  'ovn.org',
  'gke.io',
  'cloud.google.com',
  'amazonaws.com',
  'azure.workload.identity',
  'istio.io',
  'linkerd.io',
  'kuma.io',
  'dapr.io',
  'hashicorp.com',
  'opentelemetry.io',
  'datadoghq.com',
  'dynatrace.com',
];

/** Keys that people and tools change to have pods restarted. */
const requestsRestart = /^checksum\/|restarted-?at$|^reloader\.stakater\.com\//i;

/** Why the value of a label or an annotation may not change in a running pod, or `null`. */
export function whyKept(kind: 'labels' | 'annotations', key: string, template: Json): string | null {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  if (selectorLabels.includes(key)) return 'selects the pod';
  if (requestsRestart.test(key)) return 'requests a restart';
  if (domain !== recommended && actedOn.some((name) => domain === name || domain.endsWith(`.${name}`))) {
    return 'has an effect only when the pod is created';
  }
  const read = fieldPaths(template['spec']);
  const isRead = read.has(`metadata.${kind}`) || read.has(`metadata.${kind}['${key}']`);
  return isRead ? 'is read by a container' : null;
}

/** What environment variables and volumes read of the pod. */
function fieldPaths(value: unknown): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const own = text((value as Json)['fieldPath']);
  const within = Object.values(value).flatMap((field) => [...fieldPaths(field)]);
  return new Set(own === null ? within : [own, ...within]);
}
