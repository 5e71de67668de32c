// The kinds of objects that the program reads and writes, and their paths in the API server.

/** A kind of object as the API server serves it. */
export interface ResourceKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface ResourcePlace {
  /** The namespace. For a list or a watch, an unset namespace stands for all namespaces. */
  readonly namespace?: string | undefined;
  readonly name?: string;
  readonly subresource?: string;
}

/** The path to the list of a kind, to one object, or to a subresource of one object. */
export function path(
  { group, version, plural, kind, namespaced }: ResourceKind,
  { namespace, name, subresource }: ResourcePlace = {},
): string {
  if (namespace !== undefined && !namespaced)
    throw new TypeError(`expected no namespace for a ${kind}, got ${namespace}`);
  if (name === '') throw new TypeError(`expected a name for the ${kind}, got an empty one`);
  if (name !== undefined && namespaced && namespace === undefined) {
    throw new TypeError(`expected a namespace for the ${kind} ${name}, got none`);
  }
  if (subresource !== undefined && name === undefined) {
    throw new TypeError(`expected the name of a ${kind} for its ${subresource}, got none`);
  }
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** The `apiVersion` of a kind's objects. */
export function apiVersion({ group, version }: ResourceKind): string {
  return group === '' ? version : `${group}/${version}`;
}

export const namespaces: ResourceKind = kind('', 'v1', 'namespaces', 'Namespace', false);
export const nodes: ResourceKind = kind('', 'v1', 'nodes', 'Node', false);
export const pods: ResourceKind = kind('', 'v1', 'pods', 'Pod');
export const services: ResourceKind = kind('', 'v1', 'services', 'Service');
export const serviceAccounts: ResourceKind = kind('', 'v1', 'serviceaccounts', 'ServiceAccount');
export const persistentVolumeClaims: ResourceKind = kind('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim');
export const persistentVolumes: ResourceKind = kind('', 'v1', 'persistentvolumes', 'PersistentVolume', false);
export const statefulSets: ResourceKind = kind('apps', 'v1', 'statefulsets', 'StatefulSet');
export const deployments: ResourceKind = kind('apps', 'v1', 'deployments', 'Deployment');
export const controllerRevisions: ResourceKind = kind('apps', 'v1', 'controllerrevisions', 'ControllerRevision');
export const podDisruptionBudgets: ResourceKind = kind('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget');
export const leases: ResourceKind = kind('coordination.k8s.io', 'v1', 'leases', 'Lease');
export const events: ResourceKind = kind('events.k8s.io', 'v1', 'events', 'Event');
export const cronJobs: ResourceKind = kind('batch', 'v1', 'cronjobs', 'CronJob');
export const secrets: ResourceKind = kind('', 'v1', 'secrets', 'Secret');
export const jobs: ResourceKind = kind('batch', 'v1', 'jobs', 'Job');
const admission = (plural: string, kindName: string): ResourceKind =>
  kind('admissionregistration.k8s.io', 'v1', plural, kindName, false);
export const mutatingWebhookConfigurations = admission('mutatingwebhookconfigurations', 'MutatingWebhookConfiguration');
export const mutatingAdmissionPolicies = admission('mutatingadmissionpolicies', 'MutatingAdmissionPolicy');
export const mutatingAdmissionPolicyBindings = admission(
  'mutatingadmissionpolicybindings',
  'MutatingAdmissionPolicyBinding',
);
export const validatingAdmissionPolicies = admission('validatingadmissionpolicies', 'ValidatingAdmissionPolicy');
export const validatingAdmissionPolicyBindings = admission(
  'validatingadmissionpolicybindings',
  'ValidatingAdmissionPolicyBinding',
);
export const customResourceDefinitions: ResourceKind = kind(
  'apiextensions.k8s.io',
  'v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  false,
);

function kind(group: string, version: string, plural: string, kind: string, namespaced = true): ResourceKind {
  return { group, version, plural, kind, namespaced };
}
