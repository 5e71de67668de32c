import { createHash } from 'node:crypto';
import { conditionOf, type Json, named, object, objects, strings, text } from '../base/json.ts';
import { fullName } from './in-place/images.ts';
import { isLatest } from './in-place/pod-defaults.ts';
import { mysqldContainer, preflightLabel } from './names.ts';

// The short-lived pod of a preflight: how it is built from a member's pod, and what its status says about the node and
// the revision.

/** From the weakest to the strongest. */
const pullPolicies = ['Never', 'IfNotPresent', 'Always'] as const;

/** An image of a pod template, and when its node asks the registry for it. */
export interface TemplateImage {
  readonly image: string;
  readonly pullPolicy: (typeof pullPolicies)[number];
}

/** The inputs for a preflight on one node. */
export interface PreflightOf {
  readonly namespace: string;
  readonly clusterName: string;
  readonly rollout: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
  readonly node: string;
  /** The template of the update revision. */
  readonly revision: string;
  readonly template: Json;
  /** The pod of a member on this node, which has its images. */
  readonly templateBefore: Json;
  /** Whether the images are available, or whether the new mysqld accepts its configuration. */
  readonly about: 'images' | 'configuration';
  readonly timeoutSeconds: number;
}

/**
 * Every image that a pod of this template needs, once. An image that is never pulled has to be on the node already,
 * which the kubelet also checks for a volume.
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

/** The same for every attempt. It can never be the name of a member of any cluster. */
export const preflightName = (
  rolloutUid: string,
  revision: string,
  node: string,
  about: PreflightOf['about'],
): string =>
  `${namePrefix}${createHash('sha256').update(`${rolloutUid} ${revision} ${node} ${about}`).digest('hex').slice(0, 16)}`;

const namePrefix = 'moco-rollout-preflight-';

/** Anyone may give a pod our label, even to a member: the pods of this program have this owner and such a name. */
export function isPreflightOf(rolloutUid: string, { metadata }: Json): boolean {
  const { name, ownerReferences } = object(metadata);
  const owner = objects(ownerReferences).find(({ controller }) => controller === true);
  return (text(name) ?? '').startsWith(namePrefix) && owner?.['uid'] === rolloutUid;
}

/**
 * The disk is limited as well: what fills it makes the kubelet evict members. A request of nothing, since the API
 * server would request the limit, and not every kubelet counts its disk.
 */
const resources = {
  requests: { cpu: '10m', memory: '32Mi', 'ephemeral-storage': '0' },
  limits: { cpu: '1', memory: '256Mi', 'ephemeral-storage': '256Mi' },
};

/** Longer than the rollout waits, so that a pod that nobody deletes ends by itself. */
const graceSeconds = 60;

/**
 * A pod that fetches images on a node by mounting them (image volumes, GA in Kubernetes 1.36) and runs none of them:
 * its own image is that of the member's running mysqld, and it prints its version. For a check of the configuration it
 * runs the new mysqld instead, with the ConfigMaps of the member and empty directories for everything else. It goes
 * through the scheduler, like the next pod of the member, and has no label of a member.
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
      ...pick(spec, 'tolerations', 'serviceAccountName', 'runtimeClassName'),
      securityContext: confinedPod(object(spec['securityContext'])),
      imagePullSecrets: pullSecretsOf(checksConfiguration ? [template] : [template, of.templateBefore]),
      containers: [
        {
          name: mysqldContainer,
          ...pick(mysqld, 'image', 'imagePullPolicy', 'command'),
          securityContext: confined(object(mysqld['securityContext']), object(spec['securityContext'])),
          // An image that already runs shows nothing about the new ones, so its registry is not asked.
          ...(!checksConfiguration && { imagePullPolicy: 'IfNotPresent' }),
          args: checksConfiguration ? [...strings(mysqld['args']), '--validate-config'] : ['--version'],
          resources,
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

/**
 * The user and group ids of the member, but none of its other privileges: with the controller's token an attacker could
 * name any image (config/rbac/controller-policy.yaml). If the template has no ids, those of the image apply, or those
 * that OpenShift assigns.
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

/** The SELinux type of a process, such as `spc_t`, can lift its confinement; its level cannot. */
function levelOf({ seLinuxOptions }: Json): Json {
  const { level } = object(seLinuxOptions);
  return level === undefined ? {} : { seLinuxOptions: { level } };
}

/** The new template may no longer have the pull secret for the pod's own image. */
const pullSecretsOf = (templates: readonly Json[]): readonly Json[] => {
  const all = templates.flatMap((one) => objects(object(one['spec'])['imagePullSecrets']));
  return [...new Map(all.map((secret) => [secret['name'], secret])).values()];
};

const mysqldIn = ({ spec }: Json): Json => named(object(spec)['containers'], mysqldContainer);

const pick = (from: Json, ...fields: readonly string[]): Json =>
  Object.fromEntries(fields.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]])));

/** What a pod shows about its node. A message is in Kubernetes' or mysqld's words. */
export type PreflightSaid =
  | { readonly kind: 'running'; readonly message: string | null }
  | { readonly kind: 'fetched' | 'timedOut' }
  /** The kubelet could not get an image, and tries again by itself, for the first time after 10 s (1.36). */
  | { readonly kind: 'failing'; readonly message: string }
  | { readonly kind: 'ImageUnavailable' | 'ConfigurationRefused' | 'unknown'; readonly message: string };

/** Why the kubelet can never get an image for a container (Kubernetes 1.36, pkg/kubelet/images/types.go). */
const noImageEver = ['InvalidImageName', 'ErrImageNeverPull'];
/** Why it cannot get one now and tries again: a registry may be busy for a moment. */
const noImageYet = [
  'ErrImagePull',
  'ImagePullBackOff',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
];

/**
 * The message has the name as given, or in the notation of container runtimes (`docker://docker.io/library/mysql:1:`).
 */
const isNamedIn = (message: string, image: string): boolean =>
  message.split(/[^\w./:@-]+/).some((word) => fullName(withoutEnd(word.replace(/^\w+:\/\//, ''))) === fullName(image));

/** Without the punctuation around the name in the sentence. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && '.:'.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

/** The message is about the image that the pod itself runs, not about one that it has to fetch. */
function isOfOwnImage(words: string, spec: Json): boolean {
  const own = text(mysqldIn({ spec })['image']);
  const fetched = objects(spec['volumes']).flatMap(({ image }) => text(object(image)['reference']) ?? []);
  return (
    own !== null && fetched.length > 0 && isNamedIn(words, own) && !fetched.some((image) => isNamedIn(words, image))
  );
}

/** MySQL's error numbers for missing files and directories: the pod has none of the files in a member's volumes. */
const missing = /No such file or directory|Errcode: 2\b|OS errno 2\b/;

/** An error in the log of mysqld, without its time. */
interface MysqldError {
  /** `MY-000067`; `null` for messages before mysqld has a log. */
  readonly code: string | null;
  readonly words: string;
}

/**
 * The errors at the end of its log (9.7): `2026-11-26T00:24:15.406566Z 0 [ERROR] [MY-000067] [Server] unknown variable
 * 'a=1'.`
 */
function errorsIn(log: string): readonly MysqldError[] {
  const errors = log.split('\n').flatMap((line) => errorIn(line.trim()) ?? []);
  return errors.filter(({ words }) => words !== 'Aborting');
}

const errorMark = '[ERROR]';
const beforeTheLog = 'mysqld: ';

function errorIn(line: string): MysqldError | null {
  const at = line.indexOf(errorMark);
  if (at === -1) return line.startsWith(beforeTheLog) ? { code: null, words: line.slice(beforeTheLog.length) } : null;
  const { code = null, words } =
    /^(?: \[(?<code>MY-\d+)\])?(?: \[[^\]]*\])* (?:mysqld: )?(?<words>.+)$/s.exec(line.slice(at + errorMark.length))
      ?.groups ?? {};
  return words === undefined ? null : { code, words };
}

/** mysqld's messages about variables. Only the names are shown. */
const knownErrors: readonly (readonly [RegExp, string])[] = [
  [/^unknown variable '([\w.-]+)=/, "unknown variable '$1=…'"],
  [/^unknown option '(--[\w.-]+)/, "unknown option '$1'"],
  [/^ambiguous option '(--[\w.-]+)/, "ambiguous option '$1'"],
  [/^option '(--[\w.-]+)' requires an argument/, "option '$1' requires an argument"],
  [/^option '(--[\w.-]+)' cannot take an argument/, "option '$1' cannot take an argument"],
  [/^Error while setting value '.*' to '([\w.-]+)'\.?$/, "Error while setting value '…' to '$1'"],
  [/^Variable '([\w.-]+)' can't be set to the value of '/, "Variable '$1' can't be set to the value of '…'"],
  [/^Unknown suffix '.' used for variable '([\w.-]+)' \(value '/, "Unknown suffix used for variable '$1'"],
  [/^Unknown (character set|collation): '/, "Unknown $1: '…'"],
];

/**
 * A user who may read a status may not be allowed to read a ConfigMap, so names of variables are shown but no values.
 * An error with other words is shown only by its number, which MySQL's documentation explains.
 */
function withoutValues({ code, words }: MysqldError): string {
  for (const [shape, told] of knownErrors) {
    const found = shape.exec(words);
    if (found) return told.replace('$1', found[1] ?? '');
  }
  return code === null ? 'another error' : `another error (${code})`;
}

const told = (errors: readonly MysqldError[]): string => [...new Set(errors.map(withoutValues))].join('; ');

/** The exit code of a mysqld that refuses an option (9.7). */
const refusedExitCode = 1;

export function readPreflightPod(pod: Json, checksConfiguration: boolean): PreflightSaid {
  const status = object(pod['status']);
  // A webhook may have added other containers.
  const { waiting, terminated, running } = object(named(status['containerStatuses'], mysqldContainer)['state']);
  const message = text(object(waiting)['message']) ?? text(status['message']);
  const reason = text(object(waiting)['reason']) ?? text(status['reason']) ?? '';
  if (noImageEver.includes(reason) || noImageYet.includes(reason)) {
    const words = message ?? reason;
    if (isOfOwnImage(words, object(pod['spec']))) return { kind: 'unknown', message: words };
    return { kind: noImageEver.includes(reason) ? 'ImageUnavailable' : 'failing', message: words };
  }
  if (status['phase'] === 'Succeeded') return { kind: 'fetched' };
  const hasEnded = terminated !== undefined && text(object(terminated)['reason']) !== 'ContainerStatusUnknown';
  const { exitCode, reason: ended, message: said } = object(terminated);
  // A container that was created has had its volumes mounted.
  if (hasEnded && (!checksConfiguration || exitCode === 0)) return { kind: 'fetched' };
  if (status['reason'] === 'DeadlineExceeded') return { kind: 'timedOut' };
  if (hasEnded) {
    const without = `${text(ended) ?? 'Error'}, exit code ${String(exitCode)}`;
    // If a container did not start, the kubelet gives the reason.
    if (exitCode !== refusedExitCode)
      return { kind: 'unknown', message: (ended === 'StartError' ? text(said) : null) ?? without };
    const all = errorsIn(text(said) ?? '');
    const refusals = all.filter(({ words }) => !missing.test(words));
    if (refusals.length > 0) return { kind: 'ConfigurationRefused', message: told(refusals) };
    return all.length > 0
      ? { kind: 'unknown', message: `a file is missing, and the preflight has no volumes of the member: ${told(all)}` }
      : { kind: 'ConfigurationRefused', message: `mysqld --validate-config names no error (${without})` };
  }
  if (status['phase'] === 'Failed') return { kind: 'unknown', message: message ?? `its pod has failed: ${reason}` };
  if (reason.endsWith('Error')) return { kind: 'unknown', message: message ?? reason };
  if (running !== undefined && !checksConfiguration) return { kind: 'fetched' };
  const scheduled = conditionOf(status, 'PodScheduled');
  return { kind: 'running', message: scheduled['status'] === 'False' ? text(scheduled['message']) : null };
}
