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
  /** Whether the images can be had, or whether the new mysqld accepts its configuration. */
  readonly about: 'images' | 'configuration';
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
export const preflightName = (
  rolloutUid: string,
  revision: string,
  node: string,
  about: PreflightOf['about'],
): string =>
  `moco-rollout-preflight-${createHash('sha256').update(`${rolloutUid} ${revision} ${node} ${about}`).digest('hex').slice(0, 16)}`;

/** Longer than the rollout waits, so that a pod that nobody deletes ends by itself. */
const graceSeconds = 60;

/**
 * A pod that fetches images on a node by mounting them (image volumes, GA in Kubernetes 1.36) and runs nothing of them:
 * its own image is that of the member's running mysqld, which prints its version. To check the configuration, it is the
 * new mysqld instead, with the ConfigMaps of the member and empty directories for everything else. It goes through the
 * scheduler, as the next pod of the member does, and has no label of a member.
 */
export function preflightPod(of: PreflightOf): Json {
  const { namespace, clusterName, rollout, node, template, about } = of;
  const checksConfiguration = about === 'configuration';
  const spec = object(template['spec']);
  const mysqld = mysqldIn(checksConfiguration ? template : of.templateBefore);
  const fetched = (checksConfiguration ? [] : imagesOf(template)).map(({ image: reference, pullPolicy }, index) => ({
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
      ...pick(spec, 'tolerations', 'serviceAccountName', 'imagePullSecrets', 'securityContext', 'runtimeClassName'),
      containers: [
        {
          name: mysqldContainer,
          ...pick(mysqld, 'image', 'imagePullPolicy', 'command', 'securityContext'),
          // What runs already says nothing of the new images: its registry is not asked.
          ...(!checksConfiguration && { imagePullPolicy: 'IfNotPresent' }),
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

const mysqldIn = (template: Json): Json =>
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

/** MySQL's numbers of errors about files and directories: the pod has none of those that a member's volumes have. */
const missing = /No such file or directory|Errcode: 2\b|OS errno 2\b/;

/**
 * What mysqld complains about in the end of its log, without times and codes (9.7: `2026-11-26T00:24:15.406566Z 0
 * [ERROR] [MY-000067] [Server] unknown variable 'a=1'.`). Whoever may read a status may not read a ConfigMap: names of
 * variables are told, and no values.
 */
function refusalsIn(log: string): readonly string[] {
  const lines = log.split('\n').map((line) => line.trim());
  const errors = lines.flatMap((line) => /(?:\[ERROR\](?: \[[^\]]*\])*|^mysqld:) (.+)$/.exec(line)?.[1] ?? []);
  return errors.filter((error) => error !== 'Aborting').map(withoutValues);
}

/**
 * `unknown variable 'a=1'`, `unknown option '--a=1'`, `Error while setting value '1' to 'a'`, `Variable 'a' can't be
 * set to the value of '1'`, `Unknown suffix 'x' used for variable 'a' (value '1x')`, `Unknown character set: '1'`.
 */
const withoutValues = (error: string): string =>
  error
    .replace(/'([^'=\s]+)\s*=.*'/, "'$1=…'")
    .replace(/value '.*' to '/, "value '…' to '")
    .replace(/(value of|\(value|suffix|set:|collation:) '.*?'(?=\)|\.| used|$)/gi, "$1 '…'");

/** How mysqld exits that refuses an option (9.7). */
const refusedExitCode = 1;

export function readPreflightPod(pod: Json, checksConfiguration: boolean): PreflightSaid {
  const status = object(pod['status']);
  // A webhook may have added others.
  const container = objects(status['containerStatuses']).find(({ name }) => name === mysqldContainer) ?? {};
  const { waiting, terminated, running } = object(container['state']);
  const message = text(object(waiting)['message']) ?? text(status['message']);
  const reason = text(object(waiting)['reason']) ?? text(status['reason']) ?? '';
  if (noImage.includes(reason)) return { kind: 'ImageUnavailable', message: message ?? reason };
  if (status['phase'] === 'Succeeded') return { kind: 'fetched' };
  if (terminated !== undefined && text(object(terminated)['reason']) !== 'ContainerStatusUnknown') {
    // A container that was created has had its volumes.
    const { exitCode, reason: ended, message: said } = object(terminated);
    if (!checksConfiguration || exitCode === 0) return { kind: 'fetched' };
    const without = `${text(ended) ?? 'Error'}, exit code ${String(exitCode)}`;
    // Of a container that did not start the kubelet says why.
    if (exitCode !== refusedExitCode)
      return { kind: 'unknown', message: (ended === 'StartError' ? text(said) : null) ?? without };
    const all = refusalsIn(text(said) ?? '');
    const refusals = all.filter((error) => !missing.test(error));
    if (refusals.length > 0) return { kind: 'ConfigurationRefused', message: refusals.join(' ') };
    return all.length > 0
      ? { kind: 'unknown', message: `the preflight has no volumes of the member: ${all.join(' ')}` }
      : { kind: 'ConfigurationRefused', message: `mysqld --validate-config names no error (${without})` };
  }
  if (status['phase'] === 'Failed') return { kind: 'unknown', message: message ?? `its pod has failed: ${reason}` };
  if (reason.endsWith('Error')) return { kind: 'unknown', message: message ?? reason };
  if (running !== undefined && !checksConfiguration) return { kind: 'fetched' };
  const scheduled = objects(status['conditions']).find(({ type }) => type === 'PodScheduled');
  return { kind: 'running', message: scheduled?.['status'] === 'False' ? text(scheduled['message']) : null };
}
