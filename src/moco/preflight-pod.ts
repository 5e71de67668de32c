import { createHash } from 'node:crypto';
import { type Json, named, object, objects, strings, text } from '../base/json.ts';
import { isLatest } from './in-place/pod-defaults.ts';
import { mysqldContainer, preflightLabel } from './names.ts';

// The short-lived pod of a preflight, and how it is built from a member's pod.

/** The pull policies, from the weakest to the strongest. */
const pullPolicies = ['Never', 'IfNotPresent', 'Always'] as const;

/** An image of a pod template, and when its node asks the registry for it. */
export interface TemplateImage {
  readonly image: string;
  readonly pullPolicy: (typeof pullPolicies)[number];
}

/** What a preflight on one node needs to know. */
export interface PreflightOf {
  readonly namespace: string;
  readonly clusterName: string;
  readonly rollout: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
  readonly node: string;
  /** The template of the update revision. */
  readonly revision: string;
  readonly template: Json;
  /** The template of a member's pod on this node. The node has the images of this template. */
  readonly templateBefore: Json;
  /**
   * What the preflight checks: whether the images are available, or whether the new mysqld accepts its configuration.
   */
  readonly about: 'images' | 'configuration';
  /** Whether the version of the new mysqld is not known. If so, the pod runs it once the images are on the node. */
  readonly asksVersion: boolean;
  readonly timeoutSeconds: number;
}

/**
 * Every image that a pod of this template needs, without duplicates. An image with the pull policy `Never` has to be on
 * the node already. The kubelet checks this for the images of volumes as well.
 */
export function imagesOf(template: Json): readonly TemplateImage[] {
  const spec = object(template['spec']);
  const containers = [...objects(spec['initContainers']), ...objects(spec['containers'])];
  const asked = [
    ...containers.map(({ image, imagePullPolicy }) => [image, imagePullPolicy]),
    ...objects(spec['volumes']).map(({ image }) => [object(image)['reference'], object(image)['pullPolicy']]),
  ];
  const images = new Map<string, TemplateImage['pullPolicy']>();
  for (const [given, policy] of asked) {
    const image = text(given);
    if (image === null) continue;
    const own = pullPolicies.find((one) => one === policy) ?? (isLatest(image) ? 'Always' : 'IfNotPresent');
    const before = images.get(image) ?? 'Never';
    images.set(image, pullPolicies.indexOf(own) > pullPolicies.indexOf(before) ? own : before);
  }
  return [...images].map(([image, pullPolicy]) => ({ image, pullPolicy }));
}

/** The name is the same for every attempt. It can never be the name of a member of any cluster. */
export const preflightName = (
  rolloutUid: string,
  revision: string,
  node: string,
  about: PreflightOf['about'],
): string =>
  `${namePrefix}${createHash('sha256').update(`${rolloutUid} ${revision} ${node} ${about}`).digest('hex').slice(0, 16)}`;

const namePrefix = 'moco-rollout-preflight-';

/**
 * Any client can put our label on a pod, even on a member. Pods of this program also have this owner and such a name.
 */
export function isPreflightOf(rolloutUid: string, { metadata }: Json): boolean {
  const { name, ownerReferences } = object(metadata);
  const owner = objects(ownerReferences).find(({ controller }) => controller === true);
  return (text(name) ?? '').startsWith(namePrefix) && owner?.['uid'] === rolloutUid;
}

/**
 * The disk is limited as well, since a full disk makes the kubelet evict members. The pod requests 0 bytes of it.
 * Without a request, the API server would request as much as the limit, and some kubelets do not measure their disk.
 */
const resources = {
  requests: { cpu: '10m', memory: '32Mi', 'ephemeral-storage': '0' },
  limits: { cpu: '1', memory: '256Mi', 'ephemeral-storage': '256Mi' },
};

/**
 * How much longer the pod waits than the rollout does. After this time the pod ends by itself, even if it is not
 * deleted.
 */
const graceSeconds = 60;

/**
 * A pod that fetches images on a node by mounting them (image volumes, GA in Kubernetes 1.36) and usually runs none of
 * them. Its own image is that of the member's running mysqld, which only prints its version. If the version of the new
 * mysqld is not known, a second container runs the new mysqld, which ends before it writes anything. To check the
 * configuration, the pod runs only the new mysqld, with the ConfigMaps of the member and empty directories for
 * everything else. The pod goes through the scheduler, like the next pod of the member, and has no label of a member.
 */
export function preflightPod(of: PreflightOf): Json {
  const { namespace, clusterName, rollout, node, template, about } = of;
  const checksConfiguration = about === 'configuration';
  const spec = object(template['spec']);
  const mysqld = mysqldOf(checksConfiguration ? template : of.templateBefore);
  const fetched = (checksConfiguration ? [] : imagesOf(template)).map(({ image: reference, pullPolicy }, index) => ({
    name: `image-${index}`,
    image: { reference, pullPolicy },
  }));
  const mounts = checksConfiguration ? objects(mysqld['volumeMounts']) : [];
  const mounted = new Set(mounts.map(({ name }) => name));
  const configMaps = objects(spec['volumes']).filter(({ name, configMap }) => mounted.has(name) && configMap);
  const kept = new Set(configMaps.map(({ name }) => name));
  const others = [...mounted].filter((name) => !kept.has(name));
  const securityContext = confined(object(mysqld['securityContext']), object(spec['securityContext']));
  const imageMounts = fetched.map(({ name }) => ({ name, mountPath: `/preflight/${name}`, readOnly: true }));
  const versionContainers = [
    {
      ...containerOf(mysqldOf(template), versionArguments),
      name: versionContainer,
      securityContext,
      // The kubelet has just pulled this image, because the image is also a volume. Volumes are mounted before the
      // container starts.
      imagePullPolicy: 'IfNotPresent',
      volumeMounts: imageMounts,
    },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: preflightName(rollout.uid, of.revision, node, about),
      labels: { 'app.kubernetes.io/managed-by': 'moco-rollout', [preflightLabel]: clusterName },
      ownerReferences: [{ ...rollout, controller: true }],
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: of.timeoutSeconds + graceSeconds,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
          },
        },
      },
      ...pick(spec, 'tolerations', 'serviceAccountName', 'runtimeClassName'),
      securityContext: confinedPod(object(spec['securityContext'])),
      imagePullSecrets: pullSecretsOf(checksConfiguration ? [template] : [template, of.templateBefore]),
      containers: [
        {
          ...containerOf(
            mysqld,
            checksConfiguration ? [...strings(mysqld['args']), '--validate-config'] : ['--version'],
          ),
          name: mysqldContainer,
          securityContext,
          // This image already runs on the node and shows nothing about the new images. So the registry is not asked
          // for it.
          ...(!checksConfiguration && { imagePullPolicy: 'IfNotPresent' }),
          volumeMounts: [
            ...mounts.map((mount) => ({ ...pick(mount, 'name', 'mountPath', 'subPath', 'readOnly') })),
            ...imageMounts,
          ],
        },
        ...(of.asksVersion && !checksConfiguration ? versionContainers : []),
      ],
      volumes: [...configMaps, ...others.map((name) => ({ name, emptyDir: {} })), ...fetched],
    },
  };
}

const containerOf = (mysqld: Json, args: readonly string[]): Json => ({
  ...pick(mysqld, 'image', 'imagePullPolicy', 'command'),
  args,
  resources,
  terminationMessagePolicy: 'FallbackToLogsOnError',
});

export const versionContainer = 'version';

/**
 * With these arguments mysqld logs its version and then fails, because no directory can be created below a device
 * (9.7.4 ends after 0.1 s and writes no file). It has to fail, because the kubelet passes on the output of a container
 * only if the container fails. With `--version` or `--validate-config`, the kubelet would not pass on the version.
 */
const versionArguments = ['--no-defaults', '--initialize', '--datadir=/dev/null/none'] as const;

/**
 * The user and group ids of the member, but none of its other privileges, because an attacker with the controller's
 * token could name any image (config/rbac/controller-policy.yaml). If the template has no ids, those of the image
 * apply, or those that OpenShift assigns.
 */
const confinedPod = (given: Json): Json => ({
  ...idsOf(given),
  ...pick(given, 'fsGroup', 'fsGroupChangePolicy'),
  ...levelOf(given),
});

function confined(given: Json, ofPod: Json): Json {
  const profile = [given, ofPod]
    .map(({ seccompProfile }) => object(seccompProfile))
    .find(({ type }) => type !== undefined);
  return {
    ...idsOf(given),
    ...pick(given, 'readOnlyRootFilesystem'),
    ...levelOf(given),
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: profile?.['type'] === 'Localhost' ? profile : { type: 'RuntimeDefault' },
  };
}

const idsOf = (given: Json): Json =>
  Object.fromEntries(Object.entries(pick(given, 'runAsUser', 'runAsGroup')).filter(([, id]) => id !== 0));

/** The type in the SELinux options, such as `spc_t`, can lift the confinement of a process; the level cannot. */
function levelOf({ seLinuxOptions }: Json): Json {
  const { level } = object(seLinuxOptions);
  return level === undefined ? {} : { seLinuxOptions: { level } };
}

/** Pull secrets come from both templates, since the new template may lack the pull secret for the pod's own image. */
const pullSecretsOf = (templates: readonly Json[]): readonly Json[] => {
  const all = templates.flatMap((one) => objects(object(one['spec'])['imagePullSecrets']));
  return [...new Map(all.map((secret) => [secret['name'], secret])).values()];
};

export const mysqldOf = ({ spec }: Json): Json => named(object(spec)['containers'], mysqldContainer);

const pick = (from: Json, ...fields: readonly string[]): Json =>
  Object.fromEntries(fields.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]])));
