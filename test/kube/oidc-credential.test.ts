import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiError } from '../../src/kube/api-error.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { textOf } from '../../src/kube/text.ts';
import { patienceMilliseconds } from './patience.ts';

const request = { method: 'GET', path: '/', headers: {}, signal: new AbortController().signal, pool: 'call' } as const;

/** An id token with the claims that matter; its signature is nobody's business but the API server's. */
function idToken(lifeSeconds: number, subject: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const expiration = Math.floor(Date.now() / 1000) + lifeSeconds;
  return `${part({ alg: 'RS256' })}.${part({ sub: subject, exp: expiration })}.c2lnbmF0dXJl`;
}

// client-node 2.0.1 can't have a token renewed: it hands openid-client an address that this doesn't take.
describe('a connection of a user of OpenID Connect', function suite() {
  this.timeout(patienceMilliseconds);

  let directory: string;
  let api: Server;
  let connection: Connection;
  let valid: string;
  /** What the API server was shown. */
  let shown: (string | undefined)[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oidc-'));
    shown = [];
    api = createServer(({ headers: { authorization } }, response) => {
      shown.push(authorization);
      response.statusCode = authorization === `Bearer ${valid}` ? 200 : 401;
      response.end('{}');
    });
    await new Promise<void>((resolve) => {
      api.listen(0, '127.0.0.1', resolve);
    });
  });

  afterEach(async () => {
    await connection.close();
    await new Promise((resolve) => {
      api.close(resolve);
    });
    await rm(directory, { recursive: true });
  });

  async function kubeconfig(token: string): Promise<string> {
    const path = join(directory, 'kubeconfig');
    const server = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const config = {
      'client-id': 'c',
      'id-token': token,
      'refresh-token': 'r',
      'idp-issuer-url': 'https://127.0.0.1:1',
    };
    await writeFile(
      path,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: { 'auth-provider': { name: 'oidc', config } } }],
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'here',
      }),
    );
    return path;
  }

  const ask = async (): Promise<number> => {
    const { status, body } = await connection.exchange(request);
    await textOf(body);
    return status;
  };

  it('sends the token of the kubeconfig', async () => {
    valid = idToken(3600, 'me');
    connection = connect({ kubeconfigPath: await kubeconfig(valid) });
    expect([await ask(), await ask()]).to.deep.equal([200, 200]);
    expect(shown).to.deep.equal([`Bearer ${valid}`, `Bearer ${valid}`]);
  });

  it('reads the token again after 401', async () => {
    valid = idToken(3600, 'before');
    connection = connect({ kubeconfigPath: await kubeconfig(valid) });
    await ask();
    valid = idToken(3600, 'after');
    await kubeconfig(valid);
    expect(await ask()).to.equal(200);
  });

  it('rejects with the reason if the token has expired, and sends nothing', async () => {
    valid = idToken(-10, 'me');
    connection = connect({ kubeconfigPath: await kubeconfig(valid) });
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 0, reason: 'CredentialsUnavailable' });
    expect(shown).to.deep.equal([]);
  });
});
