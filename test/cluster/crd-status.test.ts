import { expect } from 'chai';
import { definitions, type Schema } from '../../hack/crd.ts';
import type { MySQLRollout } from '../../src/api/rollout.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

const at = '2026-01-02T03:04:05Z';

const condition = (type: string): object => ({
  type,
  status: 'True',
  lastTransitionTime: at,
  reason: 'UpToDate',
  message: '',
  observedGeneration: 1,
});
const member = { ordinal: 0, role: 'primary', updated: false, state: 'participating', verdict: 'Next' };
const intent = {
  id: 'a1',
  holder: 'moco-rollout-controller-x',
  step: 'demote',
  rule: 'PrimaryLast',
  revision: 'moco-test-7966559688',
  at,
  pods: [{ name: 'moco-test-0', uid: 'd1f5', resourceVersion: '123' }],
};

describe('the API server and the status of a MySQLRollout', function () {
  const controlPlane = useControlPlane();
  let namespace: string;

  before(async () => {
    namespace = await freshNamespace(controlPlane(), 'crd-status');
  });

  for (const { spec: definition } of Object.values(definitions())) {
    const { kind } = definition.names;
    const { status } = definition.versions[0].schema.openAPIV3Schema.properties ?? {};
    if (status === undefined) continue;
    it(`keep every field of a written status of a ${kind}`, async () => {
      const written = whole(status);
      const spec = kind === 'MySQLRolloutSequence' ? { stages: [{ name: 'all' }] } : {};
      await create({ kind, metadata: { name: 'whole' }, spec });
      const body = JSON.stringify({ status: written });
      const patch = ['--subresource=status', '--type=merge', '-p', body, '-o', 'json'];
      const stored = await kubectl('patch', kind, 'whole', ...patch);
      // Policies and sequences apply to all tests on this control plane.
      await kubectl('delete', kind, 'whole');
      expect(JSON.parse(stored).status).to.deep.equal(written);
    });
  }

  const refused: Readonly<Record<string, readonly [status: object, reason: RegExp]>> = {
    'a member twice': [{ members: [member, member] }, /Duplicate value/],
    'an eviction without a pod': [{ intent: { ...intent, step: 'evict', pods: [] } }, /must name its pods/],
    'setPartition without a StatefulSet': [
      { intent: { ...intent, step: 'setPartition', partition: 1 } },
      /must name the partition/,
    ],
    'two conditions of one type': [{ conditions: [condition('Stalled'), condition('Stalled')] }, /Duplicate value/],
    'a rule that does not exist': [{ hold: { rule: 'Pausing', message: '', since: at } }, /Unsupported value/],
  };
  for (const [what, [status, reason]] of Object.entries(refused)) {
    it(`refuse ${what}`, async () => {
      await kubectl('delete', 'mro', 'refused', '--ignore-not-found');
      await create(rollout('refused'));
      const put = putStatus('refused', status).then(() => 'taken', String);
      expect(await put).to.match(reason);
    });
  }

  it('refuse an unknown field only with fieldValidation=Strict, and name it', async () => {
    await create(rollout('strict'));
    const status = { phase: 'Paused', intent: { ...intent, later: 1 }, later: 1 };
    const object = { ...(await read('strict')), status };
    const put = async (query: string) => {
      const path = `/apis/moco-rollout.io/v1alpha1/namespaces/${namespace}/mysqlrollouts/strict/status${query}`;
      return kubectl('replace', `--raw=${path}`, '-f', await controlPlane().fileOf(object)).then(() => 'taken', String);
    };
    expect(await put('?fieldValidation=Strict')).to.contain(
      'strict decoding error: unknown field "status.intent.later", unknown field "status.later"',
    );
    expect((await read('strict')).status).to.equal(undefined);
    expect(await put('')).to.equal('taken');
    expect((await read('strict')).status).to.deep.equal({ phase: 'Paused', intent });
  });

  it('keep spec and status apart', async () => {
    await create({ ...rollout('apart'), spec: { paused: true }, status: { phase: 'Complete' } });
    expect(await read('apart')).to.not.have.property('status');
    await putStatus('apart', { phase: 'Complete' });
    const object = await read('apart');
    expect(object).to.deep.include({ spec: { paused: true }, status: { phase: 'Complete' } });
    expect(object.metadata.generation).to.equal(1);
  });

  it('keep everything but the status in a PUT of the status that omits the rest', async () => {
    const { apiVersion, kind, metadata } = rollout('annotated');
    const more = { labels: { team: 'a' }, annotations: { note: 'b' }, finalizers: ['example.com/keep'] };
    await create({ kind, metadata: { ...metadata, ...more }, spec: { paused: true } });
    const before = await read('annotated');
    const { name, namespace: place, uid, resourceVersion } = before.metadata;
    const slim = { apiVersion, kind, metadata: { name, namespace: place, uid, resourceVersion } };
    const file = await controlPlane().fileOf({ ...slim, status: { phase: 'Complete' } });
    await kubectl('replace', '--subresource=status', '-f', file);
    const after = await read('annotated');
    expect(after.status).to.deep.equal({ phase: 'Complete' });
    expect(after.spec).to.deep.equal({ paused: true });
    expect(after.metadata).to.deep.include(more);
    expect(after.metadata.generation).to.equal(before.metadata.generation);
    await kubectl('patch', 'mro', 'annotated', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
  });

  function kubectl(...flags: readonly string[]): Promise<string> {
    return controlPlane().kubectl('--namespace', namespace, ...flags);
  }

  async function create(object: object): Promise<string> {
    return kubectl('create', '-f', await controlPlane().fileOf({ apiVersion: 'moco-rollout.io/v1alpha1', ...object }));
  }

  async function read(name: string): Promise<MySQLRollout> {
    return JSON.parse(await kubectl('get', 'mro', name, '-o', 'json'));
  }

  async function putStatus(name: string, status: object): Promise<void> {
    const file = await controlPlane().fileOf({ ...(await read(name)), status });
    await kubectl('replace', '--subresource=status', '-f', file);
  }
});

const rollout = (name: string) => ({
  apiVersion: 'moco-rollout.io/v1alpha1',
  kind: 'MySQLRollout',
  metadata: { name },
});

/** Texts that have to be of a form, by the names of their fields. */
const texts: Readonly<Record<string, string>> = {
  schedule: '0 1 * * TUE-THU',
  duration: '4h',
  timeZone: 'Asia/Tokyo',
  until: '2026-01-03T03:04:05Z',
};

/** A value with every field of a schema. Throws where the API server would prune what is in an object. */
function whole(schema: Schema, name = ''): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {});
      if (fields.length === 0) throw new Error(`expected fields in the schema of ${name}, got none`);
      return Object.fromEntries(fields.map(([field, inner]) => [field, whole(inner, field)]));
    }
    case 'array':
      return [whole(schema.items ?? {}, name)];
    case 'boolean':
      return true;
    case 'string':
      return texts[name] ?? (schema.format === 'date-time' ? at : 'text');
    default:
      return texts[name] ?? Math.max(1, schema.minimum ?? 1);
  }
}
