import * as models from '@kubernetes/client-node';

// Every field that a pod template can have, with the types of Kubernetes' own OpenAPI: client-node's models are generated
// from that of 1.36, and `newIn137` has what 1.37 adds.

export type FieldType =
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, FieldType>> }
  | { readonly kind: 'list' | 'map'; readonly of: FieldType }
  | { readonly kind: 'text' | 'number' | 'boolean' };

/** Fields of `k8s.io/api/core/v1` 0.37.1 (generated.proto) that 0.36.3 has not, by type. */
export const newIn137: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  V1ClusterTrustBundleProjection: { user: 'number' },
  V1ConfigMapVolumeSource: { defaultUser: 'number' },
  V1DownwardAPIVolumeFile: { user: 'number' },
  V1DownwardAPIVolumeSource: { defaultUser: 'number' },
  V1EmptyDirVolumeSource: { mode: 'number' },
  V1EvictionResponder: { name: 'string', priority: 'number' },
  V1GRPCAction: { mode: 'string' },
  V1HTTPGetAction: { protocol: 'string' },
  V1KeyToPath: { user: 'number' },
  V1PodCertificateProjection: { user: 'number' },
  V1PodSpec: { evictionResponders: 'Array<V1EvictionResponder>' },
  V1ProjectedVolumeSource: { defaultUser: 'number' },
  V1SecretVolumeSource: { defaultUser: 'number' },
  V1ServiceAccountTokenProjection: { user: 'number' },
};

interface Model {
  readonly getAttributeTypeMap?: () => readonly { readonly baseName: string; readonly type: string }[];
}

/** The names and types of the fields of a type, as client-node has them. */
export function fieldsOf(type: string): Readonly<Record<string, string>> {
  const attributes = (models as unknown as Readonly<Record<string, Model>>)[type]?.getAttributeTypeMap?.() ?? [];
  return Object.fromEntries(attributes.map(({ baseName, type: of }) => [baseName, of]));
}

/** Throws for a type that is none of OpenAPI's. */
function typeOf(type: string): FieldType {
  const [, item] = /^Array<(.+)>$/.exec(type) ?? [];
  if (item !== undefined) return { kind: 'list', of: typeOf(item) };
  const [, value] = /^\{ \[key: string\]: (.+); \}$/.exec(type) ?? [];
  if (value !== undefined) return { kind: 'map', of: typeOf(value) };
  switch (type) {
    case 'string':
    case 'Date':
    case 'IntOrString':
      return { kind: 'text' };
    case 'number':
    case 'boolean':
      return { kind: type };
    default: {
      const fields = Object.entries({ ...fieldsOf(type), ...newIn137[type] });
      if (fields.length === 0 && type !== 'any') throw new Error(`Expected fields of ${type}, found none`);
      return { kind: 'object', fields: Object.fromEntries(fields.map(([name, one]) => [name, typeOf(one)])) };
    }
  }
}

export const podTemplate: FieldType = typeOf('V1PodTemplateSpec');

/** One field: the names on the way to it, and 0 for an item of a list. */
export interface Field {
  readonly path: Path;
  readonly type: FieldType;
}

export type Path = readonly (string | number)[];

/** Every field within, itself included, those that contain others before these. */
export function fieldsWithin(type: FieldType, path: Path = []): readonly Field[] {
  const within = (): readonly Field[] => {
    if (type.kind === 'list') return fieldsWithin(type.of, [...path, 0]);
    if (type.kind === 'map') return fieldsWithin(type.of, [...path, 'one']);
    if (type.kind !== 'object') return [];
    return Object.entries(type.fields).flatMap(([name, field]) => fieldsWithin(field, [...path, name]));
  };
  return [{ path, type }, ...within()];
}
