import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { realWorld } from '../../src/base/world.ts';
import { PrometheusHttp, type PrometheusOptions } from '../../src/kube/prometheus-http.ts';
import { HttpFront } from '../support/api-server/http-front.ts';
import { loopbackCertificate } from '../support/control-plane/certificates.ts';
import { FakeProxy } from './fake-proxy.ts';

const world = realWorld(() => Promise.reject(new Error('expected no request to the API server')));
interface Received {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly tenant: unknown;
  readonly form: URLSearchParams;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const json =
  (status: number, body: unknown): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const success = (data: unknown, more: object = {}): Answer => json(200, { status: 'success', data, ...more });
const vector = (...result: readonly unknown[]): Answer => success({ resultType: 'vector', result });
const refused = (status: number, errorType: string, error: string): Answer =>
  json(status, { status: 'error', errorType, error });

const plain = { caFile: null, tokenFile: null, basicAuthFile: null, headersFile: null, proxyUrl: null };

describe('a query to Prometheus', () => {
  let front: HttpFront;
  let url: string;
  let received: Received[];
  let answer: Answer;
  const closing: { close(): Promise<void> }[] = [];

  const handler = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request;
    const form = new URLSearchParams(await text(request));
    received.push({ method, path, authorization: headers.authorization, tenant: headers['x-scope-orgid'], form });
    answer(response, request);
  };

  function client(options: Partial<PrometheusOptions> & Pick<PrometheusOptions, 'url'>) {
    const made = new PrometheusHttp({ ...plain, ...options }, world);
    closing.unshift(made);
    return made;
  }

  beforeEach(async () => {
    received = [];
    answer = vector();
    front = await HttpFront.start((...both) => void handler(...both));
    closing.push(front);
    url = front.address;
  });

  afterEach(async () => {
    for (const each of closing.splice(0)) await each.close();
  });

  const failure = async (asked: Promise<unknown>): Promise<string> => {
    try {
      await asked;
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('expected the query to fail, it did not');
  };

  it('carries the headers of a file and a user and password, which are read for every query', async () => {
    const headersFile = await front.write('headers', '\nX-Scope-OrgID: team-a \nX: y\n');
    const basicAuthFile = await front.write('login', 'me:pass:word\n');
    const asked = client({ url, headersFile, basicAuthFile });
    await asked.query('up');
    await front.write('headers', 'X-Scope-OrgID: team-b');
    await asked.query('up');
    expect(received.map(({ tenant, authorization }) => [tenant, authorization])).to.deep.equal([
      ['team-a', `Basic ${Buffer.from('me:pass:word').toString('base64')}`],
      ['team-b', `Basic ${Buffer.from('me:pass:word').toString('base64')}`],
    ]);
  });

  it('is not sent with invalid or reserved headers, and names the line but not the value', async () => {
    const cases = {
      'secret value': 'something else in line 1',
      'A: b\nAuthorization: secret': 'Authorization in line 2, which the request sets itself',
      'X: \u0000secret': 'something else in line 1',
      'X:': 'something else in line 1',
    };
    for (const [content, got] of Object.entries(cases)) {
      const headersFile = await front.write('headers', content);
      expect(await failure(client({ url, headersFile }).query('up'))).to.contain(
        `expected headers at ${headersFile} (--prometheus-headers-file), got ${got}`,
      );
    }
    const basicAuthFile = await front.write('login', 'no password');
    expect(await failure(client({ url, basicAuthFile }).query('up'))).to.contain(
      `expected user:password at ${basicAuthFile} (--prometheus-basic-auth-file), got something else`,
    );
    expect(received).to.deep.equal([]);
  });

  it('goes through the proxy, in a tunnel where it is encrypted', async () => {
    const proxy = await FakeProxy.start('http');
    closing.unshift(proxy);
    const certificate = await loopbackCertificate();
    const { certificate: cert, key } = certificate;
    const secure = await new HttpFront(createServer({ cert, key }, (...both) => void handler(...both))).open();
    closing.push(secure);
    const caFile = await front.write('ca.crt', cert);
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    expect(await client({ url: secure.address, caFile, proxyUrl }).query('up')).to.deep.equal([]);
    expect(proxy.targets).to.deep.equal([`127.0.0.1:${secure.port}`]);
  });

  it('is sent as a form, with a time limit, and no credentials unless there are some', async () => {
    expect(await client({ url }).query('up == 0 and on() vector(1)')).to.deep.equal([]);
    const [{ method, path, authorization, form } = expect.fail('no request')] = received;
    expect({ method, path, authorization }).to.deep.equal({
      method: 'POST',
      path: '/api/v1/query',
      authorization: undefined,
    });
    expect(Object.fromEntries(form)).to.deep.equal({
      query: 'up == 0 and on() vector(1)',
      timeout: '5000ms',
      limit: '100',
    });
  });

  it('goes to the path that the address has', async () => {
    await client({ url: `${url}/prometheus` }).query('up');
    expect(received.map(({ path }) => path)).to.deep.equal(['/prometheus/api/v1/query']);
  });

  it('returns the series with their labels and values', async () => {
    answer = vector(
      { metric: { __name__: 'up', pod: 'a' }, value: [1, '0'] },
      { metric: {}, value: [1, 'NaN'] },
      { metric: { pod: 'b' }, value: [1, '+Inf'] },
    );
    expect(await client({ url }).query('up')).to.deep.equal([
      { labels: { __name__: 'up', pod: 'a' }, value: '0' },
      { labels: {}, value: 'NaN' },
      { labels: { pod: 'b' }, value: '+Inf' },
    ]);
  });

  it('treats a scalar as a series, as an alerting rule does', async () => {
    answer = success({ resultType: 'scalar', result: [1, '3'] });
    expect(await client({ url }).query('3')).to.deep.equal([{ labels: {}, value: '3' }]);
  });

  const bad: Readonly<Record<string, readonly [Answer, RegExp]>> = {
    'a query that Prometheus cannot read': [
      refused(400, 'bad_data', 'invalid parameter "query": 1:3: parse error: unexpected end of input'),
      /: expected an answer to the query, got HTTP 400: invalid parameter "query": 1:3: parse error/,
    ],
    'no token, or a wrong one': [(response) => response.writeHead(401).end('Unauthorized\n'), /got HTTP 401$/],
    'a query that cannot be evaluated': [
      refused(422, 'execution', 'found duplicate series'),
      /got HTTP 422: found duplicate series$/,
    ],
    'a Prometheus that is too slow by its own clock': [
      refused(503, 'timeout', 'query timed out'),
      /got HTTP 503: query/,
    ],
    'a redirect, which is not followed': [
      (response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
      /got HTTP 302$/,
    ],
    'a page instead of JSON': [(response) => response.writeHead(200).end('<html>'), /got HTTP 200$/],
    'JSON of something else': [json(200, null), /got HTTP 200$/],
    'an error with the status of a success': [refused(200, 'internal', 'no'), /got HTTP 200: no$/],
    'a range': [success({ resultType: 'matrix', result: [] }), /expected the query to return a vector, got matrix$/],
    'no data': [success(null), /expected the query to return a vector, got undefined$/],
    'series without labels': [vector({ value: [1, '1'] }), /expected series with labels/],
    'labels that are no text': [vector({ metric: { pod: 1 }, value: [1, '1'] }), /expected series with labels/],
    'series without a value': [vector({ metric: {} }), /expected series with a value/],
    'a series that is none': [vector(null), /expected series with labels/],
    'a warning that series may be missing': [
      success({ resultType: 'vector', result: [] }, { warnings: ['a store is unavailable'] }),
      /expected a complete answer, got a warning: a store is unavailable$/,
    ],
    'an answer that is cut short': [(response) => response.writeHead(200).end('{"status":"success","da'), /HTTP 200$/],
  };
  for (const [what, [given, expected]] of Object.entries(bad)) {
    it(`fails with ${what}`, async () => {
      answer = given;
      const message = await failure(client({ url }).query('up'));
      expect(message).to.match(expected);
      expect(message.startsWith(`${url}: `), message).to.equal(true);
      expect(received).to.have.length(1);
    });
  }

  it('returns what fails in spite of a warning', async () => {
    const result = [{ metric: {}, value: [1, '1'] }];
    answer = success({ resultType: 'vector', result }, { warnings: ['results truncated due to limit'] });
    expect(await client({ url }).query('up')).to.have.length(1);
  });

  it('cuts a long message', async () => {
    answer = refused(400, 'bad_data', 'x'.repeat(100_000));
    expect((await failure(client({ url }).query('up'))).length).to.be.lessThan(500);
  });

  describe('with TLS', () => {
    let https: string;
    let caFile: string;

    /** Its address, and the file of the CA of its certificate. */
    async function serving(): Promise<readonly [https: string, caFile: string]> {
      const { certificate: cert, key } = await loopbackCertificate();
      const other = await new HttpFront(createServer({ cert, key }, (...both) => void handler(...both))).open();
      closing.push(other);
      return [other.address, await other.write('ca.crt', cert)];
    }

    beforeEach(async () => {
      [https, caFile] = await serving();
    });

    it('trusts the given CA alone', async () => {
      expect(await client({ url: https, caFile }).query('up')).to.deep.equal([]);
      expect(await failure(client({ url: https }).query('up'))).to.match(/self-signed certificate/);
      expect(received).to.have.length(1);
    });

    it('refuses a certificate for another name', async () => {
      const elsewhere = https.replace('127.0.0.1', 'localhost');
      expect(await failure(client({ url: elsewhere, caFile }).query('up'))).to.match(/altnames/);
      expect(received).to.deep.equal([]);
    });

    it('reads a CA again that has changed', async () => {
      const { certificate: another } = await loopbackCertificate();
      const right = await readFile(caFile, 'utf8');
      const prometheus = client({ url: https, caFile });
      await writeFile(caFile, another);
      expect(await failure(prometheus.query('up'))).to.match(/certificate/);
      await writeFile(caFile, right);
      expect(await prometheus.query('up')).to.deep.equal([]);
      await writeFile(caFile, another);
      expect(await failure(prometheus.query('up'))).to.match(/certificate/);
    });

    it('sends the token of its file, and the next one once it is rotated', async () => {
      const tokenFile = await front.write('token', 'first\n');
      const one = client({ url: https, caFile, tokenFile });
      await one.query('up');
      await front.write('token', 'second');
      await one.query('up');
      expect(received.map(({ authorization }) => authorization)).to.deep.equal(['Bearer first', 'Bearer second']);
    });

    it('is not sent without a token or a CA that can be read', async () => {
      const missing = join(front.directory, 'missing');
      const twoLines = await front.write('two-lines', 'a\nb: c');
      const noCa = await front.write('no-ca', 'x');
      const tokenProblem = `expected a bearer token at ${missing} (--prometheus-token-file), got no such file`;
      expect(await failure(client({ url: https, caFile, tokenFile: missing }).query('up'))).to.contain(tokenProblem);
      expect(await failure(client({ url: https, caFile, tokenFile: missing }).checkFiles())).to.equal(tokenProblem);
      expect(await failure(client({ url: https, caFile, tokenFile: twoLines }).checkFiles())).to.equal(
        `expected a bearer token at ${twoLines} (--prometheus-token-file), got something else`,
      );
      expect(await failure(client({ url: https, caFile: missing }).checkFiles())).to.equal(
        `expected certificates in PEM at ${missing} (--prometheus-ca-file), got no such file`,
      );
      expect(await failure(client({ url: https, caFile: noCa }).checkFiles())).to.equal(
        `expected certificates in PEM at ${noCa} (--prometheus-ca-file), but it contains none`,
      );
      await client({ url: https, caFile, tokenFile: await front.write('token', 'a') }).checkFiles();
      expect(received).to.deep.equal([]);
    });
  });
});
