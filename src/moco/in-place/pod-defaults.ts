import { type Json, object, objects, text } from '../../base/json.ts';

// Fills in the defaults of Kubernetes, so that two pod templates can be compared by value.

/**
 * A pod template with the defaults of a pod (SetDefaults_Pod and SetDefaults_PodSpec of Kubernetes 1.36) and without
 * empty fields. Two templates that create the same pod are equal after this. A newer Kubernetes writes different empty
 * fields into a template, and so gives the template a new revision (kubernetes/kubernetes#134773). A default that is
 * missing here only costs a restart.
 */
export function withPodDefaults(template: Json): Json {
  const { metadata, spec, ...unknown } = withoutNulls(template) as { readonly metadata?: Json; readonly spec?: Json };
  return {
    ...unknown,
    metadata: { ...metadata, labels: object(metadata?.['labels']), annotations: object(metadata?.['annotations']) },
    spec: podSpec(object(spec)),
  };
}

/** `null`, as in `creationTimestamp: null`, means the same as an absent field. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

function podSpec(spec: Json): Json {
  const serviceAccountName = spec['serviceAccountName'] ?? spec['serviceAccount'];
  return {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
    securityContext: {},
    ...spec,
    // This is the deprecated name of the same field.
    ...(serviceAccountName !== undefined && { serviceAccountName, serviceAccount: serviceAccountName }),
    containers: objects(spec['containers']).map(container),
    initContainers: objects(spec['initContainers']).map(container),
    volumes: objects(spec['volumes']).map(volume),
  };
}

function container(one: Json): Json {
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isLatest(text(one['image']) ?? '') ? 'Always' : 'IfNotPresent',
    ...one,
    ports: objects(one['ports']).map((port) => ({ protocol: 'TCP', ...port })),
    env: objects(one['env']).map((variable) => in_(variable, 'valueFrom', (from) => in_(from, 'fieldRef', fieldRef))),
    resources: resources(object(one['resources'])),
    ...inEach(one, ['livenessProbe', 'readinessProbe', 'startupProbe'], probe),
    ...inEach(one, ['lifecycle'], (lifecycle) => ({
      ...lifecycle,
      ...inEach(lifecycle, ['postStart', 'preStop'], handler),
    })),
  };
}

/**
 * Whether the image has the tag `latest`. If `imagePullPolicy` is not set, the kubelet asks the registry for such an
 * image at each start.
 */
export const isLatest = (image: string): boolean => /:latest(@|$)/.test(image) || isUntagged(image);

/** Whether the image has neither a tag nor a digest. A colon before the last slash belongs to the host's port. */
export const isUntagged = (image: string): boolean => !/[:@]/.test(image.slice(image.lastIndexOf('/') + 1));

const fieldRef = (reference: Json): Json => ({ apiVersion: 'v1', ...reference });

/** If a limit has no request, the request equals the limit. */
function resources(given: Json): Json {
  const limits = object(given['limits']);
  return { ...given, limits, requests: { ...limits, ...object(given['requests']) } };
}

const probe = (given: Json): Json => ({
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  ...handler(given),
});

const handler = (given: Json): Json => ({
  ...given,
  ...inEach(given, ['httpGet'], (get) => ({ path: '/', scheme: 'HTTP', ...get })),
  ...inEach(given, ['grpc'], (grpc) => ({ service: '', ...grpc })),
});

const withMode = (source: Json): Json => ({ defaultMode: 0o644, ...source, ...itemsOf(source) });

function volume(given: Json): Json {
  return {
    ...given,
    ...inEach(given, ['configMap', 'secret', 'downwardAPI'], withMode),
    ...inEach(given, ['hostPath'], (path) => ({ type: '', ...path })),
    ...inEach(given, ['projected'], (projected) => ({
      defaultMode: 0o644,
      ...projected,
      sources: objects(projected['sources']).map((source) => ({
        ...source,
        ...inEach(source, ['downwardAPI'], (downward) => ({ ...downward, ...itemsOf(downward) })),
        ...inEach(source, ['serviceAccountToken'], (token) => ({ expirationSeconds: 3600, ...token })),
      })),
    })),
  };
}

/** Only the files of a downward API volume have defaults. */
const itemsOf = (source: Json): Json =>
  source['items'] === undefined
    ? {}
    : { items: objects(source['items']).map((item) => in_(item, 'fieldRef', fieldRef)) };

const in_ = (given: Json, field: string, defaults: (value: Json) => Json): Json => ({
  ...given,
  ...inEach(given, [field], defaults),
});

/** The given fields, if they are present, each with its defaults. */
function inEach(given: Json, fields: readonly string[], defaults: (value: Json) => Json): Json {
  const present = fields.filter((field) => given[field] !== undefined);
  return Object.fromEntries(present.map((field) => [field, defaults(object(given[field]))]));
}
