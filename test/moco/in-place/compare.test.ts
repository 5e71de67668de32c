import { expect } from 'chai';
import { type Json, object, objects } from '../../../src/base/json.ts';
import { neverInPlace } from '../../../src/core/in-place-changes.ts';
import { type Comparison, compare } from '../../../src/moco/in-place/compare.ts';
import { withPodDefaults } from '../../../src/moco/in-place/pod-defaults.ts';
import { recorded } from '../../controller/moco-objects.ts';
import { podOf } from './live-pod.ts';

type Edit = (template: Template) => void;
interface Template {
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  spec: { containers: Container[]; initContainers: Container[]; [field: string]: unknown };
}
interface Container {
  name: string;
  image: string;
  [field: string]: unknown;
}

/** The pod template that moco-controller has written, in a real StatefulSet. */
function templateOf(...edits: readonly Edit[]): Template {
  const { metadata, spec } = structuredClone<unknown>(recorded.statefulSet.spec['template']) as Template;
  const template = { metadata: { ...metadata, annotations: metadata.annotations ?? {} }, spec };
  for (const edit of edits) edit(template);
  return template;
}

const container = ({ spec }: Template, name: string): Container => {
  const found = [...spec.containers, ...spec.initContainers].find((one) => one.name === name);
  if (found === undefined) throw new Error(`expected a container ${name}, got none`);
  return found;
};
const image =
  (name: string, tag: string): Edit =>
  (template) => {
    container(template, name).image = `example/${name}:${tag}`;
  };
/** MOCO copies its init program from the image of the agent. */
const agent =
  (tag: string): Edit =>
  (template) => {
    for (const name of ['agent', 'copy-moco-init']) container(template, name).image = `example/agent:${tag}`;
  };
/** Other fields of a container, or of the whole spec. */
const withFields =
  (name: string, fields: object): Edit =>
  (template) =>
    Object.assign(container(template, name), structuredClone(fields));
const specWith =
  (fields: object): Edit =>
  ({ spec }) =>
    Object.assign(spec, structuredClone(fields));
const annotation =
  (key: string, value: string): Edit =>
  ({ metadata }) => {
    metadata.annotations[key] = value;
  };
const label =
  (key: string, value: string): Edit =>
  ({ metadata }) => {
    metadata.labels[key] = value;
  };

const resources = (name: string, value: object): Edit => withFields(name, { resources: value });
const restartsFor = (name: string, resourceName: string): Edit =>
  withFields(name, { resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }] });
const resize = (name: string, limits: object, requests: object = {}) => ({ name, limits, requests, restarts: false });

/** The `managedFields` of a pod, of which these quantities were resized. */
function resizedBy(manager: string, name: string, { limits = [], requests = [] }: Record<string, readonly string[]>) {
  const fields = (list: readonly string[]) => Object.fromEntries(list.map((one) => [`f:${one}`, {}]));
  const all = { 'f:limits': fields(limits), 'f:requests': fields(requests) };
  const containers = { [`k:{"name":"${name}"}`]: { 'f:resources': all } };
  return [
    { manager: 'kube-controller-manager', operation: 'Update', fieldsV1: { 'f:spec': {} } },
    { manager, operation: 'Update', subresource: 'resize', fieldsV1: { 'f:spec': { 'f:containers': containers } } },
  ];
}

interface Case {
  readonly before?: readonly Edit[];
  readonly after: readonly Edit[];
  /** What happened to the pod since it was created. */
  readonly live?: readonly Edit[];
  /** What a resize by this program has set last: `managedFields`. */
  readonly resized?: unknown;
  readonly settings?: object;
  readonly gives: object;
}

const changes = (change: object): object => ({
  kind: 'possible',
  change: { resources: [], resized: [], labels: {}, annotations: {}, containers: [], initContainers: [], ...change },
});
const needsAPod = (...reasons: readonly string[]): object => ({ kind: 'impossible', reasons });

function updateOf({ before = [], after, live = [], resized, settings = {} }: Omit<Case, 'gives'>): Comparison {
  const templates = {
    before: withPodDefaults(templateOf(...before) as unknown as Json),
    after: withPodDefaults(templateOf(...before, ...after) as unknown as Json),
  };
  const pod = podOf(templateOf(...before, ...live) as unknown as Json, resized);
  return compare(pod, templates, { ...neverInPlace, metadata: ['team', 'note', 'zone'], ...settings });
}

const cases: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  'that differ by nothing need only the label': {
    'the same template': { after: [], gives: changes({}) },
    'an empty field that a newer Kubernetes does not write': {
      before: [({ metadata }) => Object.assign(metadata, { creationTimestamp: null })],
      after: [({ metadata }) => Reflect.deleteProperty(metadata, 'creationTimestamp')],
      gives: changes({}),
    },
    'defaults that a newer Kubernetes writes': {
      before: [(template) => Reflect.deleteProperty(container(template, 'mysqld'), 'terminationMessagePolicy')],
      after: [specWith({ enableServiceLinks: true }), withFields('mysqld', { terminationMessagePolicy: 'File' })],
      gives: changes({}),
    },
    'a request that is as large as the limit': {
      before: [withFields('agent', { resources: { limits: { cpu: '1' } } })],
      after: [withFields('agent', { resources: { limits: { cpu: '1' }, requests: { cpu: '1' } } })],
      gives: changes({}),
    },
  },
  'that differ by images of containers that may restart': {
    'the exporter': {
      before: [({ spec }) => spec.containers.push({ name: 'mysqld-exporter', image: 'example/mysqld-exporter:1' })],
      after: [image('mysqld-exporter', '2')],
      gives: changes({ containers: [{ name: 'mysqld-exporter', image: 'example/mysqld-exporter:2' }] }),
    },
    'the agent, and with it the init container of the same image': {
      before: [agent('1')],
      after: [agent('2')],
      gives: changes({
        containers: [{ name: 'agent', image: 'example/agent:2' }],
        initContainers: [{ name: 'copy-moco-init', image: 'example/agent:2' }],
      }),
    },
    'one that the pod runs already: nothing restarts': {
      before: [image('slow-log', '1')],
      after: [image('slow-log', '2')],
      live: [image('slow-log', '2')],
      gives: changes({}),
    },
  },
  'that differ by images of other containers need another pod': {
    mysqld: {
      before: [image('mysqld', '1')],
      after: [image('mysqld', '2')],
      gives: needsAPod('spec.containers[mysqld].image differs, and inPlace.containers does not contain mysqld'),
    },
    'one that the user does not allow': {
      before: [agent('1')],
      after: [agent('2')],
      settings: { containers: ['slow-log'] },
      gives: needsAPod(
        'spec.containers[agent].image differs, and inPlace.containers does not contain agent',
        'spec.initContainers[copy-moco-init].image differs, and inPlace.containers does not contain copy-moco-init',
      ),
    },
    'an init container that has an image of its own': {
      before: [agent('1'), image('moco-init', '1')],
      after: [image('moco-init', '2')],
      gives: needsAPod(
        'spec.initContainers[moco-init].image differs, and inPlace.containers does not contain moco-init',
      ),
    },
    'an init container that runs on as a sidecar': {
      before: [agent('1'), withFields('copy-moco-init', { restartPolicy: 'Always' })],
      after: [agent('2')],
      gives: needsAPod(
        'spec.initContainers[copy-moco-init].image differs, and inPlace.containers does not contain copy-moco-init',
      ),
    },
    'one that another client has changed in the pod': {
      before: [image('slow-log', '1')],
      after: [image('slow-log', '2')],
      live: [image('slow-log', 'hotfix')],
      gives: needsAPod('another program has changed spec.containers[slow-log].image of the pod'),
    },
  },
  'that differ by metadata': {
    'that the user allows to change': {
      before: [label('team', 'a'), annotation('note', 'x')],
      after: [label('team', 'b'), ({ metadata }) => Reflect.deleteProperty(metadata.annotations, 'note')],
      gives: changes({ labels: { team: 'b' }, annotations: { note: null } }),
    },
    'if the user allows the beginning of the key': {
      after: [label('example.com/team', 'b'), annotation('example.com/note', 'x')],
      settings: { metadata: ['example.com/*'] },
      gives: changes({ labels: { 'example.com/team': 'b' }, annotations: { 'example.com/note': 'x' } }),
    },
    'that only describes the pod, or is read while it runs: by default': {
      after: [
        label('app.kubernetes.io/version', '2'),
        label('helm.sh/chart', 'mysql-2'),
        annotation('cluster-autoscaler.kubernetes.io/safe-to-evict', 'false'),
      ],
      settings: { metadata: neverInPlace.metadata },
      gives: changes({
        labels: { 'app.kubernetes.io/version': '2', 'helm.sh/chart': 'mysql-2' },
        annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' },
      }),
    },
    'with a key that is not allowed': {
      before: [annotation('rollme', 'a')],
      after: [label('team', 'b'), annotation('rollme', 'b')],
      gives: needsAPod('the annotation rollme changes, and inPlace.metadata does not contain it'),
    },
    'that is gone': {
      before: [annotation('sidecar.istio.io/inject', 'true')],
      after: [({ metadata }) => Reflect.deleteProperty(metadata.annotations, 'sidecar.istio.io/inject')],
      gives: needsAPod('the annotation sidecar.istio.io/inject changes, and inPlace.metadata does not contain it'),
    },
    'that another client has changed in the pod': {
      before: [label('team', 'a')],
      after: [label('team', 'b')],
      live: [label('team', 'c')],
      gives: needsAPod('another program has changed metadata.labels.team of the pod'),
    },
    'that the pod has already': {
      before: [label('team', 'a')],
      after: [label('team', 'b')],
      live: [label('team', 'b')],
      gives: changes({}),
    },
    'that requests a restart, whatever is allowed': {
      after: [annotation('kubectl.kubernetes.io/restartedAt', '2026-01-01T00:00:00Z')],
      settings: { metadata: ['kubectl.kubernetes.io/*'] },
      gives: needsAPod('the annotation kubectl.kubernetes.io/restartedAt changes, and it requests a restart'),
    },
    'that selects the pod, whatever is allowed': {
      after: [label('app.kubernetes.io/name', 'other')],
      settings: { metadata: ['app.kubernetes.io/*'] },
      gives: needsAPod('the label app.kubernetes.io/name changes, and it selects the pod'),
    },
    'that MOCO acts on, whatever is allowed': {
      after: [annotation('moco.cybozu.com/demote', 'true')],
      settings: { metadata: ['m*'] },
      gives: needsAPod('the annotation moco.cybozu.com/demote changes, and MOCO or moco-rollout acts on it'),
    },
    'that a container reads as an environment variable': {
      before: [
        annotation('zone', 'a'),
        withFields('agent', {
          env: [{ name: 'ZONE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['zone']" } } }],
        }),
      ],
      after: [annotation('zone', 'b')],
      gives: needsAPod('the annotation zone changes, and the spec of the pod reads it'),
    },
    'that a volume has all of': {
      before: [
        label('team', 'a'),
        ({ spec }) =>
          Object.assign(spec, {
            volumes: [
              ...objects(spec['volumes']),
              {
                name: 'info',
                downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
              },
            ],
          }),
      ],
      after: [label('team', 'b')],
      gives: needsAPod('the label team changes, and the spec of the pod reads it'),
    },
    'that a topology spread constraint counts': {
      before: [label('zone', 'a'), specWith({ topologySpreadConstraints: [{ matchLabelKeys: ['zone'] }] })],
      after: [label('zone', 'b')],
      gives: needsAPod('the label zone changes, and the spec of the pod reads it'),
    },
    'that an anti-affinity selects': {
      before: [
        label('zone', 'a'),
        specWith({
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'node', labelSelector: { matchLabels: { zone: 'a' } } },
              ],
            },
          },
        }),
      ],
      after: [label('zone', 'b')],
      gives: needsAPod('the label zone changes, and the spec of the pod reads it'),
    },
  },
  'that differ by resources': {
    'of mysqld, beside an image': {
      before: [image('slow-log', '1')],
      after: [image('slow-log', '2'), resources('mysqld', { requests: { memory: '2Gi' } })],
      gives: changes({
        containers: [{ name: 'slow-log', image: 'example/slow-log:2' }],
        resources: [resize('mysqld', {}, { memory: '2Gi' })],
      }),
    },
    'of two containers': {
      before: [
        resources('mysqld', { limits: { cpu: '1', memory: '1Gi' } }),
        resources('agent', { limits: { cpu: '1' } }),
      ],
      after: [
        resources('mysqld', { limits: { cpu: '2', memory: '1Gi' } }),
        resources('agent', { limits: { cpu: '500m' }, requests: { cpu: '250m' } }),
      ],
      gives: changes({
        resources: [resize('mysqld', { cpu: '2' }, { cpu: '2' }), resize('agent', { cpu: '500m' }, { cpu: '250m' })],
      }),
    },
    'only in how a quantity is written': {
      before: [resources('mysqld', { limits: { cpu: '1', memory: '1Gi' } })],
      after: [resources('mysqld', { limits: { cpu: '1000m', memory: '1024Mi' } })],
      gives: changes({}),
    },
    'that the pod has already': {
      before: [resources('agent', { limits: { cpu: '1' } })],
      after: [resources('agent', { limits: { cpu: '500m' } })],
      live: [resources('agent', { limits: { cpu: '0.5' }, requests: { cpu: '500m' } })],
      gives: changes({ resized: ['agent'] }),
    },
    'that another program has changed': {
      before: [resources('agent', { limits: { cpu: '1' } })],
      after: [resources('agent', { limits: { cpu: '500m' } })],
      live: [resources('agent', { limits: { cpu: '1' }, requests: { cpu: '700m' } })],
      gives: needsAPod('another program has changed spec.containers[agent].resources.requests.cpu of the pod'),
    },
    'that this program has changed for a revision that is over': {
      before: [resources('agent', { limits: { cpu: '1' } })],
      after: [resources('agent', { limits: { cpu: '500m' } })],
      live: [resources('agent', { limits: { cpu: '700m' }, requests: { cpu: '700m' } })],
      resized: resizedBy('moco-rollout', 'agent', { limits: ['cpu'], requests: ['cpu'] }),
      gives: changes({ resources: [resize('agent', { cpu: '500m' }, { cpu: '500m' })] }),
    },
    'of a revision in between, which no revision asks for any more': {
      before: [resources('agent', { limits: { cpu: '1' } })],
      after: [],
      live: [resources('agent', { limits: { cpu: '700m' }, requests: { cpu: '1' } })],
      resized: resizedBy('moco-rollout', 'agent', { limits: ['cpu'] }),
      gives: changes({ resources: [resize('agent', { cpu: '1' }, {})] }),
    },
    'of a revision in between, which set a limit where there is none': {
      before: [resources('agent', {})],
      after: [],
      live: [resources('agent', { limits: { cpu: '700m' } })],
      resized: resizedBy('moco-rollout', 'agent', { limits: ['cpu'] }),
      gives: needsAPod("spec.containers[agent].resources.limits.cpu can't be removed from a running pod"),
    },
    'and a vertical autoscaler has resized the pod, which no revision asks for': {
      before: [resources('agent', { limits: { cpu: '1' } })],
      after: [],
      live: [resources('agent', { limits: { cpu: '700m' }, requests: { cpu: '1' } })],
      resized: resizedBy('vpa-updater', 'agent', { limits: ['cpu'] }),
      gives: changes({}),
    },
    'that the user does not allow to change': {
      before: [resources('agent', { limits: { cpu: '1' } })],
      after: [resources('agent', { limits: { cpu: '500m' } })],
      settings: { resources: false },
      gives: needsAPod(
        'spec.containers[agent].resources.limits.cpu differs, and inPlace.resources is false',
        'spec.containers[agent].resources.requests.cpu differs, and inPlace.resources is false',
      ),
    },
    'by a limit that is gone': {
      before: [resources('agent', { limits: { cpu: '1' } })],
      after: [resources('agent', {})],
      gives: needsAPod(
        "spec.containers[agent].resources.limits.cpu can't be removed from a running pod",
        "spec.containers[agent].resources.requests.cpu can't be removed from a running pod",
      ),
    },
    'of init containers': {
      before: [resources('moco-init', {})],
      after: [resources('moco-init', { limits: { cpu: '50m' } })],
      gives: needsAPod(
        "spec.initContainers[moco-init].resources.limits.cpu can't change in a running pod",
        "spec.initContainers[moco-init].resources.requests.cpu can't change in a running pod",
      ),
    },
    'of another kind': {
      after: [resources('mysqld', { limits: { 'ephemeral-storage': '1Gi' } })],
      gives: needsAPod(
        "spec.containers[mysqld].resources.limits[ephemeral-storage] can't change in a running pod",
        "spec.containers[mysqld].resources.requests[ephemeral-storage] can't change in a running pod",
      ),
    },
    'by a lower memory limit of mysqld': {
      before: [resources('mysqld', { limits: { memory: '2Gi' }, requests: { memory: '1Gi' } })],
      after: [resources('mysqld', { limits: { memory: '2047Mi' }, requests: { memory: '1Gi' } })],
      gives: needsAPod(
        'spec.containers[mysqld].resources.limits.memory would be lower in a running pod, and mysqld may use more',
      ),
    },
    'by the first memory limit of mysqld': {
      before: [resources('mysqld', { requests: { memory: '1Gi' } })],
      after: [resources('mysqld', { limits: { memory: '8Gi' }, requests: { memory: '1Gi' } })],
      gives: needsAPod(
        'spec.containers[mysqld].resources.limits.memory would be lower in a running pod, and mysqld may use more',
      ),
    },
    'by a higher memory limit of mysqld, and a lower one of a sidecar': {
      before: [
        resources('mysqld', { limits: { memory: '2Gi' }, requests: { memory: '1Gi' } }),
        resources('slow-log', { limits: { memory: '2Gi' }, requests: { memory: '1Gi' } }),
      ],
      after: [
        resources('mysqld', { limits: { memory: '3Gi' }, requests: { memory: '1Gi' } }),
        resources('slow-log', { limits: { memory: '1Gi' }, requests: { memory: '1Gi' } }),
      ],
      gives: changes({ resources: [resize('mysqld', { memory: '3Gi' }), resize('slow-log', { memory: '1Gi' })] }),
    },
    'by the memory request of mysqld, from which MOCO computes my.cnf': {
      before: [resources('mysqld', { requests: { memory: '1Gi' } })],
      after: [
        resources('mysqld', { requests: { memory: '2Gi' } }),
        ({ spec }) =>
          Object.assign(spec, {
            volumes: objects(spec['volumes']).map((one) =>
              one['name'] === 'mysql-conf' ? { ...one, configMap: { name: 'moco-test.0a1b2c3d' } } : one,
            ),
          }),
      ],
      gives: needsAPod("spec.volumes[mysql-conf].configMap.name can't change in a running pod"),
    },
    'of a container that restarts for it, if that is allowed': {
      before: [resources('slow-log', { limits: { cpu: '1' } }), restartsFor('slow-log', 'cpu')],
      after: [resources('slow-log', { limits: { cpu: '2' }, requests: { cpu: '1' } })],
      gives: changes({ resources: [{ ...resize('slow-log', { cpu: '2' }), restarts: true }] }),
    },
    'of a container that restarts only for other resources': {
      before: [resources('slow-log', { limits: { cpu: '1' } }), restartsFor('slow-log', 'memory')],
      after: [resources('slow-log', { limits: { cpu: '2' }, requests: { cpu: '1' } })],
      gives: changes({ resources: [resize('slow-log', { cpu: '2' })] }),
    },
    'of a container that restarts for it, if that is not allowed': {
      before: [resources('slow-log', { limits: { cpu: '1' } }), restartsFor('slow-log', 'cpu')],
      after: [resources('slow-log', { limits: { cpu: '2' }, requests: { cpu: '1' } })],
      settings: { containers: ['agent'] },
      gives: needsAPod(
        'spec.containers[slow-log].resources.limits.cpu restarts slow-log, and inPlace.containers does not contain it',
      ),
    },
    'of mysqld, which restarts for it': {
      before: [resources('mysqld', { limits: { cpu: '1' } }), restartsFor('mysqld', 'cpu')],
      after: [resources('mysqld', { limits: { cpu: '2' }, requests: { cpu: '1' } })],
      gives: needsAPod(
        'spec.containers[mysqld].resources.limits.cpu restarts mysqld, and inPlace.containers does not contain it',
      ),
    },
    'of the agent, which restarts for it': {
      before: [resources('agent', { limits: { cpu: '1' } }), restartsFor('agent', 'cpu')],
      after: [resources('agent', { limits: { cpu: '2' }, requests: { cpu: '1' } })],
      gives: needsAPod(
        'spec.containers[agent].resources.limits.cpu restarts the agent, which the probes of mysqld need',
      ),
    },
  },
  'that differ in the order of a list need another pod': {
    'containers, beside an image': {
      before: [image('slow-log', '1')],
      after: [image('slow-log', '2'), ({ spec }) => spec.containers.reverse()],
      gives: needsAPod("the order of spec.containers can't change in a running pod"),
    },
    'init containers': {
      after: [({ spec }) => spec.initContainers.reverse()],
      gives: needsAPod("the order of spec.initContainers can't change in a running pod"),
    },
    'environment variables, one of which uses another': {
      before: [
        withFields('agent', {
          env: [
            { name: 'USER', value: 'reader' },
            { name: 'DSN', value: '$(USER)@primary' },
          ],
        }),
      ],
      after: [(template) => (container(template, 'agent')['env'] as unknown[]).reverse()],
      gives: needsAPod("the order of spec.containers[agent].env can't change in a running pod"),
    },
    'options of the resolver': {
      before: [specWith({ dnsConfig: { options: [{ name: 'ndots' }, { name: 'timeout' }] } })],
      after: [({ spec }) => (spec['dnsConfig'] as { options: unknown[] }).options.reverse()],
      gives: needsAPod("the order of spec.dnsConfig.options can't change in a running pod"),
    },
  },
  'that differ by anything else need another pod': {
    arguments: {
      after: [withFields('agent', { command: ['/agent', '--verbose'] })],
      gives: needsAPod("spec.containers[agent].command can't change in a running pod"),
    },
    'a container that came': {
      after: [({ spec }) => spec.containers.push({ name: 'new', image: 'example/new:1' })],
      gives: needsAPod("spec.containers[new] can't change in a running pod"),
    },
    'the whole spec': {
      after: [specWith({ nodeSelector: { disk: 'fast' } })],
      gives: needsAPod("spec.nodeSelector can't change in a running pod"),
    },
  },
};

describe('two revisions', () => {
  for (const [group, all] of Object.entries(cases)) {
    describe(group, () => {
      for (const [sentence, { gives, ...one }] of Object.entries(all)) {
        it(sentence, () => expect(updateOf(one)).to.deep.equal(gives));
      }
    });
  }

  it('need a new pod beyond the limits on their size', () => {
    const annotations = (count: number): Edit[] =>
      Array.from({ length: count }, (_, index) => annotation(`example.com/${index}`, 'b'));
    const settings = { metadata: ['example.com/*'] };
    expect(updateOf({ after: annotations(256), settings }).kind).to.equal('possible');
    expect(updateOf({ after: annotations(257), settings })).to.deep.equal(
      needsAPod('expected at most 256 changes of the pod template, got 257'),
    );
    const sides =
      (count: number): Edit =>
      ({ spec }) => {
        const own = spec.containers.length + spec.initContainers.length;
        for (let index = own; index < count; index += 1) spec.containers.push({ name: `side-${index}`, image: 'a:1' });
      };
    expect(updateOf({ before: [sides(64)], after: [] }).kind).to.equal('possible');
    expect(updateOf({ before: [sides(64)], after: [sides(65)] })).to.deep.equal(
      needsAPod('expected a pod template of at most 64 containers, got 65'),
    );
  });

  it("of MOCO's own template differ by nothing from themselves with all of the API server's defaults", () => {
    const template = templateOf() as unknown as Json;
    expect(object(template['spec'])['restartPolicy']).to.equal('Always');
    expect(updateOf({ after: [] })).to.deep.equal(changes({}));
  });
});
