import type { Pod } from '../../support/nodes/objects.ts';
import type { Content, ObjectsOfPods } from './objects-of-pods.ts';
import type { EnvironmentVariable, RealContainer } from './pod-spec.ts';

/** The environment of a container by its spec: `envFrom` first, `env` over it. */
export async function environmentOf(
  container: RealContainer,
  pod: Pod,
  address: string,
  objects: ObjectsOfPods,
): Promise<Readonly<Record<string, string>>> {
  const { namespace } = pod.metadata;
  const variables: Record<string, string> = {};
  for (const { secretRef, configMapRef } of container.envFrom ?? []) {
    if (secretRef !== undefined) {
      Object.assign(variables, asText(await objects.secret(namespace, secretRef.name, secretRef.optional)));
    }
    if (configMapRef !== undefined) {
      Object.assign(variables, asText(await objects.configMap(namespace, configMapRef.name, configMapRef.optional)));
    }
  }
  for (const variable of container.env ?? []) {
    const value = await valueOf(variable, pod, address, objects);
    if (value !== undefined) variables[variable.name] = value;
  }
  return variables;
}

function asText(content: Content): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(content).map(([key, value]) => [key, value.toString()]));
}

async function valueOf(
  { value = '', valueFrom }: EnvironmentVariable,
  pod: Pod,
  address: string,
  objects: ObjectsOfPods,
): Promise<string | undefined> {
  const { namespace } = pod.metadata;
  if (valueFrom === undefined) return value;
  const { fieldRef, secretKeyRef, configMapKeyRef } = valueFrom;
  if (fieldRef !== undefined) return fieldOf(pod, address, fieldRef.fieldPath);
  if (secretKeyRef !== undefined) {
    const { name, key, optional } = secretKeyRef;
    return (await objects.secret(namespace, name, optional))[key]?.toString();
  }
  if (configMapKeyRef !== undefined) {
    const { name, key, optional } = configMapKeyRef;
    return (await objects.configMap(namespace, name, optional))[key]?.toString();
  }
  throw new Error(`Expected a field, a Secret or a ConfigMap behind a variable, got ${JSON.stringify(valueFrom)}`);
}

function fieldOf(pod: Pod, address: string, path: string): string {
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace;
    case 'metadata.uid':
      return pod.metadata.uid;
    case 'spec.nodeName':
      return pod.spec.nodeName ?? '';
    case 'status.podIP':
      return address;
    default:
      throw new Error(`Expected a field of the pod that containers may be given, got ${path}`);
  }
}
