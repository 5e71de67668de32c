import { Agent } from 'node:https';
import { connect as connectPlainly } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { bodyLimitBytes } from '../../src/admission/answer.ts';
import { type RunningWebhook, startWebhook } from '../../src/admission/server.ts';
import { CertificateError } from '../../src/admission/serving-tls.ts';
import { ListenError } from '../../src/telemetry/http-server.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { json, post as postTo, type Received, type Sent, sentenceOf } from './post.ts';
import { reviewOf } from './review.ts';

const chunkedJson = { ...json, 'Transfer-Encoding': 'chunked' };

describe('the webhook over TLS', () => {
  const lines: { level: string; fields: object; message: string }[] = [];
  const log = Object.fromEntries(
    ['info', 'warn', 'error'].map((level) => [
      level,
      (fields: object, message: string) => {
        lines.push({ level, fields, message });
        written();
      },
    ]),
  ) as Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;
  let written: () => void = () => {};
  let directory: Awaited<ReturnType<typeof makeDirectory>>;
  let certificate: MadeCertificate;
  let webhook: RunningWebhook;
  const answers: (readonly [code: number, milliseconds: number])[] = [];
  const onAnswered = (...answer: readonly [number, number]): void => void answers.push(answer);

  beforeEach(async () => {
    lines.length = 0;
    answers.length = 0;
    directory = await makeDirectory();
    certificate = await putCertificate(directory.path, 'first');
    webhook = await start();
  });

  afterEach(async () => {
    await webhook.close(0);
    await directory.remove();
  });

  it('answers an AdmissionReview', async () => {
    const { status, body, headers } = await post(JSON.stringify(reviewOf()));
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json');
    expect(JSON.parse(body)).to.have.nested.property('response.patchType', 'JSONPatch');
  });

  it('says the code and the time of each answer', async () => {
    await post(JSON.stringify(reviewOf()));
    await post('');
    expect(answers.map(([code]) => code)).to.deep.equal([200, 400]);
    for (const [, milliseconds] of answers) expect(milliseconds).to.be.at.least(0);
  });

  it('accepts the timeout that the API server adds to the path', async () => {
    expect((await post(JSON.stringify(reviewOf()), { path: '/mutate-statefulset?timeout=10s' })).status).to.equal(200);
  });

  for (const [what, body] of Object.entries({
    nothing: '',
    'no JSON': '{"kind":',
    'deep nesting': '['.repeat(200_000),
  })) {
    it(`answers 400 with a sentence to ${what}`, async () => {
      const received = await post(body);
      expect(received.status).to.equal(400);
      expect(sentenceOf(received)).to.equal('Expected an AdmissionReview as JSON in UTF-8, got something else.');
    });
  }

  it('answers 400 with a sentence to bytes that aren’t UTF-8', async () => {
    expect((await post(Buffer.from([0x22, 0xff, 0xfe, 0x22]))).status).to.equal(400);
  });

  it('answers 400 with a sentence to JSON that is no AdmissionReview', async () => {
    const received = await post('{"kind":"Status"}');
    expect(received.status).to.equal(400);
    expect(sentenceOf(received)).to.match(
      /^Expected an AdmissionReview of admission\.k8s\.io\/v1, got one where apiVersion is not right .*\.$/,
    );
  });

  it('answers 404 at another path', async () => {
    const received = await post('{}', { path: '/' });
    expect(received.status).to.equal(404);
    expect(sentenceOf(received)).to.equal('Expected one of the paths /mutate-statefulset, /mutate-partition; got /.');
  });

  it('answers 405 to another method and names the right one', async () => {
    const received = await post('', { method: 'GET' });
    expect(received.status).to.equal(405);
    expect(received.headers['allow']).to.equal('POST');
    expect(sentenceOf(received)).to.equal('Expected POST, got GET.');
  });

  it('answers 415 to another content type', async () => {
    expect((await post('{}', { headers: { 'Content-Type': 'application/yaml' } })).status).to.equal(415);
    expect(
      (await post(JSON.stringify(reviewOf()), { headers: { 'Content-Type': 'Application/JSON; charset=utf-8' } }))
        .status,
    ).to.equal(200);
  });

  it('accepts a body of exactly the limit and answers 413 to one more byte, announced or not', async () => {
    const review = JSON.stringify(reviewOf());
    const full = review.padEnd(bodyLimitBytes, ' ');
    expect((await post(full)).status).to.equal(200);
    expect((await post(`${full} `)).status).to.equal(413);
    const chunked = { headers: chunkedJson };
    expect((await post(full, chunked)).status).to.equal(200);
    const received = await post(`${full} `, chunked);
    expect(received.status).to.equal(413);
    expect(sentenceOf(received)).to.equal(
      `Expected a body of at most ${bodyLimitBytes} bytes, the new object and the old one in it; got more.`,
    );
  });

  it('reads past a body that is too large, so that its connection can be used again', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await post(' '.repeat(4 * bodyLimitBytes), { agent, headers: chunkedJson })).status).to.equal(413);
    expect((await post(JSON.stringify(reviewOf()), { agent })).status).to.equal(200);
    agent.destroy();
  });

  it('cuts off a client that doesn’t finish its headers or its body', async () => {
    await webhook.close(0);
    webhook = await start({ requestTimeoutMilliseconds: 100 });
    for (const beginning of [
      'POST /mutate-statefulset HTTP/1.1\r\nHost: x\r\n',
      'POST /mutate-statefulset HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    ]) {
      const socket = await openSocket();
      const received: Buffer[] = [];
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('data', (chunk) => received.push(chunk)).on('error', () => {});
      socket.write(beginning);
      await closed;
      expect(Buffer.concat(received).toString()).to.match(/^HTTP\/1\.1 408 /);
    }
    expect((await post(JSON.stringify(reviewOf()))).status).to.equal(200);
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('cuts off a client that never begins with TLS', async () => {
    await webhook.close(0);
    webhook = await start({ requestTimeoutMilliseconds: 100 });
    const socket = connectPlainly(webhook.address.port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('refuses TLS older than 1.2', async () => {
    const refused = await openSocket({
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
    const socket = await openSocket({ maxVersion: 'TLSv1.2' });
    expect(socket.getProtocol()).to.equal('TLSv1.2');
    socket.destroy();
  });

  it('uses a new certificate and keeps open connections', async () => {
    const open = await openSocket();
    expect(open.getPeerCertificate().subject.CN).to.equal('first');
    const logged = new Promise<void>((resolve) => {
      written = () => lines.some(({ message }) => message === 'the webhook has a new certificate') && resolve();
    });
    certificate = await putCertificate(directory.path, 'second');
    await logged;
    const next = await openSocket();
    expect(next.getPeerCertificate().subject.CN).to.equal('second');
    next.destroy();
    expect((await post(JSON.stringify(reviewOf()))).status).to.equal(200);
    const answered = new Promise<string>((resolve) => open.once('data', (chunk: Buffer) => resolve(chunk.toString())));
    open.write('GET /mutate-statefulset HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await answered).to.match(/^HTTP\/1\.1 405 /);
    open.destroy();
  });

  it('lets current requests finish when it is closed', async () => {
    const body = JSON.stringify(reviewOf());
    const socket = await openSocket();
    socket.write(
      `POST /mutate-statefulset HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once('data', resolve));
    const closed = webhook.close(60_000);
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
    const missing = await startWebhook({ address: webhook.address, certDir: empty.path, log }).catch(
      (error: unknown) => error,
    );
    expect(missing).to.be.instanceOf(CertificateError);
    await empty.remove();
    const taken = await startWebhook({ address: webhook.address, certDir: directory.path, log }).catch(
      (error: unknown) => error,
    );
    expect(taken).to.be.instanceOf(ListenError);
    expect((taken as ListenError).message).to.contain('--webhook-bind-address');
  });

  function start(more: { requestTimeoutMilliseconds?: number } = {}): Promise<RunningWebhook> {
    return startWebhook({
      address: { host: '127.0.0.1', port: 0 },
      certDir: directory.path,
      log,
      onAnswered,
      certificatePollMilliseconds: 10,
      ...more,
    });
  }

  function openSocket(options: object = {}): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: webhook.address.port, ca: certificate.cert, rejectUnauthorized: false };
      const socket = connect({ ...where, ...options }, () => resolve(socket));
      socket.once('error', reject);
    });
  }

  function post(body: string | Buffer, sent: Partial<Sent> = {}): Promise<Received> {
    return postTo(webhook.address.port, certificate.cert, body, sent);
  }
});
