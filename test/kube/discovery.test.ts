import { expect } from 'chai';
import { policyKind, projectPolicy } from '../../src/api/rollout-policy.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { isProvenAbsent } from '../../src/kube/discovery.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { namespaces } from '../../src/kube/resource.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import { FakeLog } from './fake-log.ts';
import { answer, FakeWorld, settle } from './fake-world.ts';

type Answers = Readonly<Record<string, readonly [code: number, body: unknown]>>;

const page: readonly [number, unknown] = [404, '404 page not found'];
const groups = (...names: readonly string[]) =>
  ({ kind: 'APIGroupList', groups: names.map((name) => ({ name, versions: [{ version: 'v1alpha1' }] })) }) as const;
const resources = (...names: readonly string[]) =>
  ({ kind: 'APIResourceList', resources: names.map((name) => ({ name })) }) as const;
const own = '/apis/moco-rollout.io/v1alpha1';

const worldOf = (answers: () => Answers): FakeWorld =>
  new FakeWorld(({ path }) => {
    const [target = ''] = path.split('?');
    const [code, body] = answers()[target] ?? page;
    if (typeof body !== 'string') return Promise.resolve(answer(code, body as object));
    return Promise.resolve({
      status: code,
      headers: {},
      body: (async function* () {
        yield Buffer.from(body);
      })(),
    });
  });
const clientOf = (world: FakeWorld) => new ApiClient({ world, qps: 1e6, burst: 1e6 });

const notFound = { status: 404, reason: 'NotFound', message: '404 page not found' } as const;
const aPage = new ApiError({ ...notFound, isStatus: false });

describe('whether the API server serves a kind', () => {
  const cases: Readonly<Record<string, readonly [Answers, boolean]>> = {
    'is denied by its list of groups': [{ '/apis': [200, groups('apps')] }, true],
    'is denied by the resources of the version': [
      { '/apis': [200, groups('moco-rollout.io')], [own]: [200, resources('mysqlrollouts')] },
      true,
    ],
    'is not denied while the resources have it': [
      { '/apis': [200, groups('moco-rollout.io')], [own]: [200, resources('mysqlrolloutpolicies')] },
      false,
    ],
    'does not follow from a page': [{}, false],
    'does not follow from another answer': [{ '/apis': [200, { kind: 'Status' }] }, false],
    'is unknown if discovery is forbidden': [{ '/apis': [403, { kind: 'Status', reason: 'Forbidden' }] }, false],
  };
  for (const [sentence, [answers, expected]] of Object.entries(cases)) {
    it(sentence, async () => {
      const client = clientOf(worldOf(() => answers));
      expect(await isProvenAbsent(aPage, client, policyKind, new AbortController().signal)).to.equal(expected);
    });
  }

  it('is not asked if the API server itself says that there is no such object', async () => {
    const world = worldOf(() => ({}));
    const absent = await isProvenAbsent(
      new ApiError(notFound),
      clientOf(world),
      policyKind,
      new AbortController().signal,
    );
    expect([absent, world.requests.length]).to.deep.equal([true, 0]);
  });

  it('is certain of the core group', async () => {
    const client = clientOf(worldOf(() => ({ '/apis': [200, groups()] })));
    expect(await isProvenAbsent(aPage, client, namespaces, new AbortController().signal)).to.equal(false);
  });
});

describe('a 404 that is only a page', () => {
  /** The store after its list was answered with the page, once it had a freeze. */
  async function afterPage(discovery: Answers): Promise<readonly [number, readonly (string | null)[]]> {
    const items = [{ metadata: { name: 'freeze', uid: 'p1', resourceVersion: '7' }, spec: {} }];
    const list = { kind: 'MySQLRolloutPolicyList', metadata: { resourceVersion: '8' }, items };
    let answers: Answers = { [`${own}/mysqlrolloutpolicies`]: [200, list] };
    const world = worldOf(() => answers);
    const store = new Store<Stored>({});
    const unavailable: (string | null)[] = [];
    const reflector = new Reflector({
      client: clientOf(world),
      world,
      log: new FakeLog(),
      kind: policyKind,
      store,
      project: projectPolicy,
      onUnavailable: (why) => void unavailable.push(why),
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    await world.until(() => store.size === 1, 'the first list');
    answers = discovery;
    for (let tries = 0; tries < 20; tries += 1) {
      await world.advance(1000);
      await settle();
    }
    stop.abort();
    await world.advance(20_000);
    await running;
    return [store.size, unavailable];
  }

  it('leaves what is known, since a proxy says so of anything', async () => {
    expect(await afterPage({})).to.deep.equal([1, []]);
  });

  it('empties the store once discovery has not the kind', async () => {
    expect(await afterPage({ '/apis': [200, groups('apps')] })).to.deep.equal([0, ['NotFound']]);
  });
});
