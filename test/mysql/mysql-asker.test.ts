import { expect } from 'chai';
import { ApiClient } from '../../src/kube/api-client.ts';
import { SecretAsker } from '../../src/mysql/mysql-asker.ts';
import { FakeWorld, says, status } from '../kube/fake-world.ts';

const cluster = { namespace: 'shop', name: 'test' };

describe('why no mysqld is asked', () => {
  const cases: Readonly<Record<string, readonly [answer: readonly [number, object], problem: string | null]>> = {
    'the right is missing': [
      [403, status(403, 'Forbidden')],
      'the controller may not read the Secret shop/moco-test-readonly',
    ],
    'the Secret is missing': [[404, status(404, 'NotFound')], 'there is no Secret shop/moco-test-readonly'],
    'the password is missing': [
      [200, { data: { ADMIN_PASSWORD: 'eA==' } }],
      'the Secret shop/moco-test-readonly has no READONLY_PASSWORD',
    ],
    // Until the API server answers.
    'the API server refuses otherwise': [[400, status(400, 'BadRequest')], null],
  };
  for (const [what, [answer, problem]] of Object.entries(cases)) {
    it(`is ${problem === null ? 'no lasting problem' : 'told'} where ${what}`, async () => {
      const world = new FakeWorld(says(...answer));
      const client = new ApiClient({ world, qps: 100, burst: 100 });
      const asker = new SecretAsker(client, world, { secretName: 'moco-{name}-readonly', tls: 'Prefer', caFile: null });
      const question = { cluster, primary: null, replicas: [], forSwitchover: false };
      expect((await asker.ask(question, new AbortController().signal)).problem).to.equal(problem);
      expect(world.requests.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
        'GET /api/v1/namespaces/shop/secrets/moco-test-readonly',
      ]);
    });
  }
});
