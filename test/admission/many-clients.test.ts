import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { bodiesLimitBytes } from '../../src/admission/answer.ts';
import { type RunningWebhook, startWebhook } from '../../src/admission/server.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { post } from './post.ts';
import { reviewOf } from './review.ts';

const maxConnections = 12;
const bodyBytes = 7 * 1024 * 1024;
const fitting = Math.floor(bodiesLimitBytes / bodyBytes);

describe('a webhook that has many clients', () => {
  let directory: Awaited<ReturnType<typeof makeDirectory>>;
  let certificate: MadeCertificate;
  let webhook: RunningWebhook;
  let sockets: TLSSocket[] = [];

  beforeEach(async () => {
    directory = await makeDirectory();
    certificate = await putCertificate(directory.path, 'webhook');
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    webhook = await startWebhook({
      address: { host: '127.0.0.1', port: 0 },
      certDir: directory.path,
      log,
      maxConnections,
    });
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await webhook.close(0);
    await directory.remove();
  });

  it('refuses excess bodies with a sentence, and serves a real review meanwhile', async () => {
    const answers: string[] = [];
    const clients = 8;
    let enough = (): void => undefined;
    const refused = new Promise<void>((resolve) => {
      enough = resolve;
    });
    for (let client = 0; client < clients; client += 1) {
      const socket = await open();
      socket.on('data', (bytes: Buffer) => {
        answers.push(bytes.toString());
        if (answers.length === clients - fitting) enough();
      });
      socket.write(`POST /mutate-statefulset HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`);
      // One byte is never sent.
      socket.write(`Content-Length: ${bodyBytes + 1}\r\n\r\n`);
      socket.write(Buffer.alloc(bodyBytes, ' '));
    }
    await refused;
    await isServed();
    expect(answers).to.have.length(clients - fitting);
    for (const answer of answers) {
      expect(answer).to.match(/^HTTP\/1\.1 503 /);
      expect(answer).to.match(/\r\nRetry-After: 1\r\n/);
      expect(answer).to.contain('Expected all requests together to have less in their bodies');
    }
  });

  it('closes the most idle connection for a new one', async () => {
    const idle = Array.from({ length: maxConnections }, () => open());
    const closed = Promise.any(
      (await Promise.all(idle)).map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    await isServed();
    await closed;
    expect(sockets.filter(({ destroyed }) => !destroyed)).to.have.length(maxConnections - 1);
  });

  async function isServed(): Promise<void> {
    const { status } = await post(webhook.address.port, certificate.cert, JSON.stringify(reviewOf()));
    expect(status).to.equal(200);
  }

  function open(): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: webhook.address.port, rejectUnauthorized: false };
      const socket = connect(where, () => resolve(socket));
      sockets.push(socket);
      socket.once('error', reject);
      socket.on('error', () => undefined);
    });
  }
});
