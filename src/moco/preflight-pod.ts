import { createHash } from 'node:crypto';
import { isLatest } from './in-place/pod-defaults.ts';
import { type Json, object, objects, strings, text } from './json.ts';
import { mysqldContainer, preflightLabel } from './names.ts';

/** An image of a pod template, and when its node asks the registry for it. */
export interface TemplateImage {
  readonly image: string;
  readonly pullPolicy: 'Always' | 'IfNotPresent';
}

/** What a preflight on one node is made from. */
export interface PreflightOf {
  readonly namespace: string;
  readonly clusterName: string;
  readonly rollout: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
  readonly node: string;
  /** Of the update revision. */
  readonly revision: string;
  readonly template: Json;
  /** Of a member on this node, which has its images. */
  readonly templateBefore: Json;
  /** The new mysqld checks its configuration. */
  readonly checksConfiguration: boolean;
  readonly timeoutSeconds: number;
}

/** Every image that a pod of this template needs, once. One that is never pulled has to be on the node already. */
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
    if (image === null || policy === 'Never') continue;
    const always = policy === 'Always' || (text(policy) === null && isLatest(image)) || images.get(image) === 'Always';
    images.set(image, always ? 'Always' : 'IfNotPresent');
  }
  return [...images].map(([image, pullPolicy]) => ({ image, pullPolicy }));
}

/** The same for every try. It is no name of a member, whatever the name of its cluster. */
export const preflightName = (rolloutUid: string, revision: string, node: string): string =>
  `moco-rollout-preflight-${createHash('sha256').update(`${rolloutUid} ${revision} ${node}`).digest('hex').slice(0, 16)}`;

/** Longer than the rollout waits, so that a pod that nobody deletes ends by itself. */
const graceSeconds = 60;

/**
 * A pod that fetches images on a node by mounting them (image volumes, GA in Kubernetes 1.36) and runs nothing of them:
 * its own image is that of the member's running mysqld, which prints its version. To check the configuration, it is the
 * new mysqld instead, with the ConfigMaps of the member and empty directories for everything else. It goes through the
 * scheduler, as the next pod of the member does, and has no label of a member.
 */
export function preflightPod(of: PreflightOf): Json {
  const { namespace, clusterName, rollout, node, template, checksConfiguration } = of;
  const spec = object(template['spec']);
  const mysqld = mysqldOf(checksConfiguration ? template : of.templateBefore);
  const images = imagesOf(template).filter(({ image }) => !checksConfiguration || image !== text(mysqld['image']));
  const fetched = images.map(({ image: reference, pullPolicy }, index) => ({
    name: `image-${index}`,
    image: { reference, pullPolicy },
  }));
  const mounts = checksConfiguration ? objects(mysqld['volumeMounts']) : [];
  const mounted = new Set(mounts.map(({ name }) => name));
  const configMaps = objects(spec['volumes']).filter(({ name, configMap }) => mounted.has(name) && configMap);
  const others = [...mounted].filter((name) => !configMaps.some((one) => one['name'] === name));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: preflightName(rollout.uid, of.revision, node),
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
      ...pick(spec, 'tolerations', 'serviceAccountName', 'imagePullSecrets', 'securityContext', 'runtimeClassName'),
      containers: [
        {
          name: mysqldContainer,
          ...pick(mysqld, 'image', 'imagePullPolicy', 'command', 'securityContext'),
          args: checksConfiguration ? [...strings(mysqld['args']), '--validate-config'] : ['--version'],
          resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '1', memory: '256Mi' } },
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [
            ...mounts.map((mount) => ({ ...pick(mount, 'name', 'mountPath', 'subPath', 'readOnly') })),
            ...fetched.map(({ name }) => ({ name, mountPath: `/preflight/${name}`, readOnly: true })),
          ],
        },
      ],
      volumes: [...configMaps, ...others.map((name) => ({ name, emptyDir: {} })), ...fetched],
    },
  };
}

const mysqldOf = (template: Json): Json =>
  objects(object(template['spec'])['containers']).find(({ name }) => name === mysqldContainer) ?? {};

const pick = (from: Json, ...fields: readonly string[]): Json =>
  Object.fromEntries(fields.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]])));

/** What a pod says about its node. A message is in Kubernetes' or mysqld's words. */
export type PreflightSaid =
  | { readonly kind: 'running'; readonly message: string | null }
  | { readonly kind: 'fetched' }
  | { readonly kind: 'ImageUnavailable' | 'ConfigurationRefused' | 'unknown'; readonly message: string };

/** Why the kubelet has no image for a container (Kubernetes 1.36, pkg/kubelet/images/types.go). */
const noImage = [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
];

/**
 * What mysqld complains about in the end of its log, without times and codes; all of that where it names no error
 * (9.7: `2026-11-26T00:24:15.406566Z 0 [ERROR] [MY-000067] [Server] unknown variable 'a=1'.`).
 */
function refusalIn(log: string): string {
  const lines = log.split('\n').map((line) => line.trim());
  const errors = lines.flatMap((line) => /(?:\[ERROR\](?: \[[^\]]*\])*|^mysqld:) (.+)$/.exec(line)?.[1] ?? []);
  return errors.filter((error) => error !== 'Aborting').join(' ') || log.trim();
}

/** How mysqld exits that refuses an option (9.7). */
const refusedExitCode = 1;

export function readPreflightPod(pod: Json, checksConfiguration: boolean): PreflightSaid {
  const status = object(pod['status']);
  const [container = {}] = objects(status['containerStatuses']);
  const { waiting, terminated, running } = object(container['state']);
  const message = text(object(waiting)['message']) ?? text(status['message']);
  const reason = text(object(waiting)['reason']) ?? text(status['reason']) ?? '';
  if (noImage.includes(reason)) return { kind: 'ImageUnavailable', message: message ?? reason };
  if (status['phase'] === 'Succeeded') return { kind: 'fetched' };
  if (terminated !== undefined && text(object(terminated)['reason']) !== 'ContainerStatusUnknown') {
    // A container that was created has had its volumes.
    const { exitCode, reason: ended, message: said } = object(terminated);
    if (!checksConfiguration || exitCode === 0) return { kind: 'fetched' };
    const words = refusalIn(text(said) ?? '') || `${text(ended) ?? 'Error'}, exit code ${String(exitCode)}`;
    return { kind: exitCode === refusedExitCode ? 'ConfigurationRefused' : 'unknown', message: words };
  }
  if (status['phase'] === 'Failed') return { kind: 'unknown', message: message ?? `its pod has failed: ${reason}` };
  if (reason.endsWith('Error')) return { kind: 'unknown', message: message ?? reason };
  if (running !== undefined && !checksConfiguration) return { kind: 'fetched' };
  const scheduled = objects(status['conditions']).find(({ type }) => type === 'PodScheduled');
  return { kind: 'running', message: scheduled?.['status'] === 'False' ? text(scheduled['message']) : null };
}
