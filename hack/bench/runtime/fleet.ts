import { roleLabel, rolePrimary, roleReplica, strategyLabel, strategyOnDelete } from '../../../src/moco/names.ts';
import { recorded } from '../../../test/controller/moco-objects.ts';

// The objects of an idle fleet, derived from recorded ones.

/** An object in the form in which it is sent to the API server. */
export interface FleetObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** One healthy, adopted cluster of three members. Nothing is due. */
export interface FleetCluster {
  readonly cluster: FleetObject;
  readonly statefulSet: FleetObject;
  readonly budget: FleetObject;
  readonly pods: readonly FleetObject[];
}

const members = 3;
const nameOfRecording = 'test';
const namespaceOfRecording = 'default';

export const fleetNamespace = (index: number): string => `fleet-${index}`;

/** Objects like those recorded from a real API server (a pod of 7 KB), with different names. */
export function fleetCluster(index: number, namespaces: number): FleetCluster {
  const name = `db-${index}`;
  const namespace = fleetNamespace(index % namespaces);
  const made = (object: object): FleetObject => renamed(object, name, namespace);
  const { metadata, spec, status } = recorded.statefulSet;
  const statefulSet = {
    ...recorded.statefulSet,
    metadata: { ...metadata, generation: 1, labels: { ...metadata.labels, [strategyLabel]: strategyOnDelete } },
    spec: { ...spec, updateStrategy: { type: 'OnDelete' } },
    status: { ...status, observedGeneration: 1 },
  };
  return {
    cluster: made(recorded.mysqlCluster),
    statefulSet: made(statefulSet),
    budget: made(recorded.podDisruptionBudget),
    pods: Array.from({ length: members }, (_, ordinal) => made(memberOf(ordinal))),
  };
}

/** The object with the uid of its owner, which garbage collection requires. */
export function ownedBy(object: FleetObject, uid: string): FleetObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, ownerReferences: (metadata.ownerReferences ?? []).map((owner) => ({ ...owner, uid })) },
  };
}

/** A member that is a copy of the recorded pod, which is a primary. */
function memberOf(ordinal: number): object {
  const { metadata } = recorded.pod;
  const name = `moco-${nameOfRecording}-${ordinal}`;
  return {
    ...recorded.pod,
    metadata: {
      ...metadata,
      name,
      labels: {
        ...metadata.labels,
        'apps.kubernetes.io/pod-index': String(ordinal),
        'statefulset.kubernetes.io/pod-name': name,
        [roleLabel]: ordinal === 0 ? rolePrimary : roleReplica,
      },
    },
  };
}

function renamed(object: object, name: string, namespace: string): FleetObject {
  const text = JSON.stringify(object)
    .replaceAll(`moco-${nameOfRecording}`, `moco-${name}`)
    .replaceAll(`"${nameOfRecording}"`, `"${name}"`)
    .replaceAll(`"namespace":"${namespaceOfRecording}"`, `"namespace":"${namespace}"`);
  return JSON.parse(text) as FleetObject;
}
