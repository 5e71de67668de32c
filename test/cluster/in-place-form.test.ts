import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { type Json, object } from '../../src/base/json.ts';
import { realWorld } from '../../src/base/world.ts';
import { neverInPlace } from '../../src/core/in-place-changes.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { path as pathOf, pods } from '../../src/kube/resource.ts';
import { type Comparison, compare } from '../../src/moco/in-place/compare.ts';
import { withPodDefaults } from '../../src/moco/in-place/pod-defaults.ts';
import { podOf } from '../moco/in-place/live-pod.ts';
import { bitOfEverything as template } from '../support/pod-template/bit-of-everything.ts';
import { at, changed, put } from '../support/pod-template/edit.ts';
import type { Path } from '../support/pod-template/fields.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

type Edit = (value: unknown) => unknown;
type Pair = readonly [before: Json, after: Json];

/** What can become of a value: it goes, it changes, or its items change places. */
function editsOf(value: unknown): Readonly<Record<string, Edit>> {
  const gone = { 'is gone': () => undefined };
  if (Array.isArray(value)) {
    return {
      ...gone,
      'has another order': (list) => (list as readonly unknown[]).toReversed(),
      'has one item less': (list) => (list as readonly unknown[]).slice(0, -1),
    };
  }
  if (typeof value === 'number') return { ...gone, 'is another number': (one) => Number(one) + 1 };
  if (typeof value === 'boolean') return { ...gone, 'is the other one': (one) => one !== true };
  if (typeof value === 'string') return { ...gone, 'is another text': (one) => `1${String(one)}` };
  return { ...gone, 'says nothing': () => ({}) };
}

function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(object(value));
  return entries.flatMap(([step, within]) => [[...path, step], ...pathsIn(within, [...path, step])]);
}

/** Values that the API server gives a field that is left out. */
const defaults: readonly (readonly [path: string, value: unknown])[] = [
  ['spec.restartPolicy', 'Always'],
  ['spec.schedulerName', 'default-scheduler'],
  ['spec.enableServiceLinks', true],
  ['spec.serviceAccount', 'default'],
  ['spec.containers.0.terminationMessagePath', '/dev/termination-log'],
  ['spec.containers.0.terminationMessagePolicy', 'File'],
  ['spec.containers.0.imagePullPolicy', 'IfNotPresent'],
  ['spec.containers.2.imagePullPolicy', 'Always'],
  ['spec.containers.0.resources.requests.memory', '1Gi'],
  ['spec.containers.0.ports.0.protocol', 'TCP'],
  ['spec.containers.0.env.2.valueFrom.fieldRef.apiVersion', 'v1'],
  ['spec.containers.0.livenessProbe.timeoutSeconds', 1],
  ['spec.containers.0.livenessProbe.successThreshold', 1],
  ['spec.containers.0.livenessProbe.failureThreshold', 3],
  ['spec.containers.0.livenessProbe.httpGet.scheme', 'HTTP'],
  ['spec.containers.0.readinessProbe.periodSeconds', 10],
  ['spec.containers.0.readinessProbe.grpc.service', ''],
  ['spec.containers.0.lifecycle.postStart.httpGet.path', '/'],
  ['spec.initContainers.1.startupProbe.periodSeconds', 10],
  ['spec.volumes.2.configMap.defaultMode', 0o644],
  ['spec.volumes.4.hostPath.type', ''],
  ['spec.volumes.5.downwardAPI.defaultMode', 0o644],
  ['spec.volumes.5.downwardAPI.items.0.fieldRef.apiVersion', 'v1'],
  ['spec.volumes.6.projected.defaultMode', 0o644],
  ['spec.volumes.6.projected.sources.0.serviceAccountToken.expirationSeconds', 3600],
  ['spec.volumes.6.projected.sources.3.downwardAPI.items.0.fieldRef.apiVersion', 'v1'],
];

const pathIn = (text: string): Path => text.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
const given = (path: Path, value: unknown, base: Json = template): Json => object(put(base, path, value));

describe('the API server and the change of a running pod', () => {
  const controlPlane = useControlPlane();
  let connection: Connection;
  let client: ApiClient;
  let namespace: string;

  before(async () => {
    connection = connect({ kubeconfigPath: await controlPlane().kubeconfigForUser('templates') });
    client = new ApiClient({ world: realWorld(connection.exchange), qps: 1000, burst: 1000 });
    namespace = await freshNamespace(controlPlane(), 'templates');
  });

  after(() => connection?.close());

  /** The pod that the API server makes of a template, or `null` if it makes none. */
  async function formOf({ metadata, spec }: Json): Promise<Json | null> {
    try {
      const pod = await client.call<Json>({
        method: 'POST',
        path: pathOf(pods, { namespace }),
        query: { dryRun: 'All' },
        body: { apiVersion: 'v1', kind: 'Pod', metadata: { ...object(metadata), name: 'one' }, spec },
        priority: 'read',
      });
      const { labels = {}, annotations = {} } = object(pod['metadata']);
      return { metadata: { labels, annotations }, spec: pod['spec'] };
    } catch (error) {
      if (error instanceof ApiError && [400, 422].includes(error.status)) return null;
      throw error;
    }
  }

  /** Of templates that are asked about again and again. */
  const known = new Map<Json, Promise<Json | null>>();

  function knownFormOf(before: Json): Promise<Json | null> {
    const form = known.get(before) ?? formOf(before);
    known.set(before, form);
    return form;
  }

  /** What is decided; `null` if one of the two makes no pod. */
  async function decided([before, after]: Pair): Promise<Comparison | null> {
    const [pod, wanted] = await Promise.all([knownFormOf(before), formOf(after)]);
    if (pod === null || wanted === null) return null;
    const templates = { before: withPodDefaults(before), after: withPodDefaults(after) };
    const update = compare(podOf(pod), templates, { ...neverInPlace, metadata: ['note', 'team'] });
    if (update.kind === 'possible') expect(changed(pod, update.change)).to.deep.equal(wanted);
    return update;
  }

  async function possibleOf(
    pairs: ReadonlyMap<string, Pair>,
  ): Promise<{ readonly tried: number; readonly possible: readonly string[] }> {
    let tried = 0;
    const possible: string[] = [];
    for (const [what, pair] of pairs) {
      const update = await decided(pair).catch((error: unknown) => {
        throw new Error(`${what}: ${String(error)}`, { cause: error });
      });
      if (update !== null) tried += 1;
      if (update?.kind === 'possible') possible.push(what);
    }
    return { tried, possible };
  }

  it('agree on what is equal: a default that the template leaves out', async () => {
    const pairs = defaults.map(([path, value]) => [path, [template, given(pathIn(path), value)]] as const);
    const { possible } = await possibleOf(new Map(pairs));
    expect(possible).to.deep.equal(defaults.map(([path]) => path));
  });

  it('agree on the image of a tag and a digest', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    for (const [tag, policy] of [
      [`latest@${digest}`, 'Always'],
      [`1@${digest}`, 'IfNotPresent'],
    ] as const) {
      const base = given(pathIn('spec.containers.0.image'), `localhost:5000/agent:${tag}`);
      const path = 'spec.containers.0.imagePullPolicy';
      const pairs = [policy, 'Never'].map((value) => [value, [base, given(pathIn(path), value, base)]] as const);
      expect((await possibleOf(new Map(pairs))).possible, tag).to.deep.equal([policy]);
    }
  });

  it('agree on the pod, or it is replaced, whatever changes in a template that has a bit of everything', async () => {
    const pairs = pathsIn(template).flatMap((path) =>
      Object.entries(editsOf(at(template, path))).map(
        ([what, edit]) => [`${path.join('.')} ${what}`, [template, given(path, edit(at(template, path)))]] as const,
      ),
    );
    const differing = pairs.filter(([, [before, after]]) => !isDeepStrictEqual(before, after));
    const { tried, possible } = await possibleOf(new Map(differing));
    expect(tried).to.be.greaterThan(350);
    const ofResources = [
      'limits.cpu is another text',
      'limits.memory is another text',
      'requests is gone',
      'requests says nothing',
      'requests.cpu is gone',
    ];
    const resized = [0, 1].map((index) => ofResources.map((one) => `spec.containers.${index}.resources.${one}`));
    // The label `team` decides where the pod may run.
    expect(possible).to.deep.equal([
      'metadata.annotations.note is gone',
      'metadata.annotations.note is another text',
      'spec.containers.0.image is another text',
      ...resized.flat(),
      'spec.containers.2.image is another text',
    ]);
  });
});
