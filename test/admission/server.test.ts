import { Agent } from 'node:https';
import { expect } from 'chai';
import { bodyLimitBytes, mostValues } from '../../src/admission/answer.ts';
import { mutatePartitionPath } from '../../src/admission/mutations.ts';
import { CertificateError } from '../../src/admission/serving-tls.ts';
import { ListenError } from '../../src/telemetry/http-server.ts';
import { makeDirectory } from './certificates.ts';
import { reviewOf } from './review.ts';
import { json, type Received, ServedWebhook, sentenceOf } from './served-webhook.ts';
import { mocoStatefulSet } from './stateful-sets.ts';

const chunked = { headers: { ...json, 'Transfer-Encoding': 'chunked' } };
const noReview = 'Expected an AdmissionReview as JSON in UTF-8, got something else.';
const tooLarge = `Expected a body of at most ${bodyLimitBytes} bytes, including the new object and the old one; got more.`;

describe('the webhook over TLS', () => {
  let webhook: ServedWebhook;
  let answers: (readonly [code: number, milliseconds: number])[];

  beforeEach(async () => {
    answers = [];
    webhook = await ServedWebhook.start({ onAnswered: (...answer) => void answers.push(answer) });
  });

  afterEach(() => webhook.close());

  it('answers an AdmissionReview, and says the code and the time of each answer', async () => {
    const { status, body, headers } = await webhook.post();
    await webhook.post('');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json');
    expect(JSON.parse(body)).to.have.nested.property('response.patchType', 'JSONPatch');
    expect(answers.map(([code]) => code)).to.deep.equal([200, 400]);
    for (const [, milliseconds] of answers) expect(milliseconds).to.be.at.least(0);
  });

  it('accepts the timeout that the API server adds to the path, and parameters of the content type', async () => {
    const path = '/mutate-statefulset?timeout=10s';
    const headers = { 'Content-Type': 'Application/JSON; charset=utf-8' };
    expect((await webhook.post(undefined, { path, headers })).status).to.equal(200);
  });

  const failures: Readonly<
    Record<string, readonly [() => Promise<Received>, status: number, sentence: string | RegExp]>
  > = {
    'no body': [() => webhook.post(''), 400, noReview],
    'no JSON': [() => webhook.post('{"kind":'), 400, noReview],
    'deep nesting': [() => webhook.post('['.repeat(mostValues)), 400, noReview],
    'bytes that aren’t UTF-8': [() => webhook.post(Buffer.from([0x22, 0xff, 0xfe, 0x22])), 400, noReview],
    'JSON that is no AdmissionReview': [
      () => webhook.post('{"kind":"Status"}'),
      400,
      /^Expected an AdmissionReview of admission\.k8s\.io\/v1, got one where apiVersion is not right .*\.$/,
    ],
    'another path': [
      () => webhook.post('{}', { path: '/' }),
      404,
      'Expected one of the paths /mutate-statefulset, /mutate-partition; got /.',
    ],
    'another method': [() => webhook.post('', { method: 'GET' }), 405, 'Expected POST, got GET.'],
    'another content type': [
      () => webhook.post('{}', { headers: { 'Content-Type': 'application/yaml' } }),
      415,
      'Expected the content type application/json, got application/yaml.',
    ],
    'a body above the limit': [() => webhook.post(' '.repeat(bodyLimitBytes + 1)), 413, tooLarge],
    'one whose length is not announced': [() => webhook.post(' '.repeat(bodyLimitBytes + 1), chunked), 413, tooLarge],
  };
  for (const [what, [sent, status, sentence]] of Object.entries(failures)) {
    it(`answers ${status} with a sentence to ${what}`, async () => {
      const received = await sent();
      expect(received.status).to.equal(status);
      if (typeof sentence === 'string') expect(sentenceOf(received)).to.equal(sentence);
      else expect(sentenceOf(received)).to.match(sentence);
      expect(received.headers['allow']).to.equal(status === 405 ? 'POST' : undefined);
      expect(webhook.logged).to.deep.equal([]);
    });
  }

  it('accepts a body of exactly the limit, enough for two objects of the largest size that the API server accepts', async () => {
    expect(bodyLimitBytes).to.be.above(2 * 3 * 1024 * 1024);
    const full = JSON.stringify(reviewOf()).padEnd(bodyLimitBytes, ' ');
    for (const sent of [{}, chunked]) expect((await webhook.post(full, sent)).status).to.equal(200);
  });

  it('reads past a body that is too large, so that its connection can be used again', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await webhook.post(' '.repeat(4 * bodyLimitBytes), { agent, ...chunked })).status).to.equal(413);
    expect((await webhook.post(undefined, { agent })).status).to.equal(200);
    agent.destroy();
  });

  it('refuses a body of more values than any StatefulSet has, however short they are', async () => {
    for (const value of ['[]', '{}', '0', '"",{"a":1}']) {
      const object = mocoStatefulSet({ spec: { template: 'MANY' } });
      const many = `[${`${value},`.repeat(mostValues)}0]`;
      const received = await webhook.post(JSON.stringify(reviewOf({ object })).replaceAll('"MANY"', many));
      expect(received.status).to.equal(413);
      expect(sentenceOf(received)).to.equal(`Expected a body of at most ${mostValues} values; got more.`);
    }
  });

  it('answers 500 with a sentence to an extremely deep object, and continues', async () => {
    const levels = mostValues / 2 - 1000;
    const deep = '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
    const object = mocoStatefulSet({ spec: { template: 'DEEP' } });
    const review = JSON.stringify(reviewOf({ object, oldObject: object })).replaceAll('"DEEP"', deep);
    const received = await webhook.post(review, { path: mutatePartitionPath });
    expect(received.status).to.equal(500);
    expect(sentenceOf(received)).to.equal('An internal error occurred; see the log of moco-rollout.');
    expect(webhook.logged).to.deep.equal([{ level: 'error', message: 'Webhook failed to answer' }]);
    await webhook.isServed();
  });

  it('refuses TLS older than 1.2', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await webhook.open(old).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect((await webhook.open({ maxVersion: 'TLSv1.2' })).getProtocol()).to.equal('TLSv1.2');
  });

  it('uses a new certificate and keeps open connections', async () => {
    const open = await webhook.open();
    expect(open.getPeerCertificate().subject.CN).to.equal('first');
    const logged = webhook.heard('Webhook loaded a new certificate');
    await webhook.replaceCertificate('second');
    await logged;
    expect((await webhook.open()).getPeerCertificate().subject.CN).to.equal('second');
    await webhook.isServed();
    const answered = new Promise<string>((resolve) => open.once('data', (chunk: Buffer) => resolve(chunk.toString())));
    open.write('GET /mutate-statefulset HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await answered).to.match(/^HTTP\/1\.1 405 /);
  });

  it('lets current requests finish when it is closed', async () => {
    const body = JSON.stringify(reviewOf());
    const socket = await webhook.open();
    socket.write(
      `POST /mutate-statefulset HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once('data', resolve));
    const closed = webhook.running.close(60_000);
    const answered = new Promise<string>((resolve) =>
      socket.once('data', (chunk: Buffer) => resolve(chunk.toString())),
    );
    socket.write(body);
    expect(await answered).to.match(/^HTTP\/1\.1 200 /);
    socket.end();
    await closed;
  });

  it('reports a missing certificate and an address in use', async () => {
    const empty = await makeDirectory();
    const missing = await webhook.restart({ certDir: empty.path }).catch((error: unknown) => error);
    expect(missing).to.be.instanceOf(CertificateError);
    await empty.remove();
    const taken = await webhook.restart({ address: webhook.running.address }).catch((error: unknown) => error);
    expect(taken).to.be.instanceOf(ListenError);
    expect((taken as ListenError).message).to.contain('--webhook-bind-address');
  });
});
