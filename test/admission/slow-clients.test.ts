import { connect as connectPlainly, type Socket } from 'node:net';
import { clearInterval, setInterval } from 'node:timers';
import { connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { bodyLimitBytes } from '../../src/admission/answer.ts';
import { type RunningWebhook, startWebhook } from '../../src/admission/server.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { post } from './post.ts';
import { reviewOf } from './review.ts';

const pieceMilliseconds = 10;
const heads = 'POST /mutate-statefulset HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe('a webhook whose client is slow', () => {
  let directory: Awaited<ReturnType<typeof makeDirectory>>;
  let certificate: MadeCertificate;
  let webhook: RunningWebhook;

  beforeEach(async () => {
    directory = await makeDirectory();
    certificate = await putCertificate(directory.path, 'webhook');
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const address = { host: '127.0.0.1', port: 0 };
    webhook = await startWebhook({
      address,
      certDir: directory.path,
      log,
      requestTimeoutMilliseconds: 200,
      keepAliveMilliseconds: 100,
    });
  });

  afterEach(async () => {
    await webhook.close(0);
    await directory.remove();
  });

  const clients: Readonly<Record<string, readonly [beginning: string, piece: string, answer: RegExp]>> = {
    headers: [heads, 'X-More: x\r\n', /^HTTP\/1\.1 4(08|31) /],
    'a body': [`${heads}Content-Length: 1000000\r\n\r\n`, ' ', /^HTTP\/1\.1 408 /],
    'a body in chunks': [`${heads}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n', /^HTTP\/1\.1 408 /],
    'a body that has been refused for its length': [
      `${heads}Content-Length: ${bodyLimitBytes + 1_000_000}\r\n\r\n`,
      ' ',
      /^HTTP\/1\.1 413 /,
    ],
  };
  for (const [what, [beginning, piece, answer]] of Object.entries(clients)) {
    it(`disconnects one that sends ${what} endlessly in pieces`, async () => {
      expect(await receivedUntilCut(await open(), beginning, piece)).to.match(answer);
      await isServed();
    });
  }

  it('disconnects one that sends a TLS handshake endlessly in pieces', async () => {
    // The head of a record that announces 16 KiB of a handshake, then one byte of it after the other.
    const head = Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00]);
    expect(await receivedUntilCut(await openPlainly(), head, Buffer.from([0x01]))).to.equal('');
    await isServed();
  });

  it('disconnects one that sends nothing after the TLS handshake', async () => {
    expect(await receivedUntilCut(await open(), '', '')).to.match(/^HTTP\/1\.1 408 /);
    await isServed();
  });

  it('cuts it off that has been answered and keeps its connection for nothing', async () => {
    const asked = `${heads}Content-Length: 2\r\n\r\n{}`;
    expect(await receivedUntilCut(await open(), asked, '')).to.match(
      /^HTTP\/1\.1 400 .*\r\nConnection: keep-alive\r\n/is,
    );
    await isServed();
  });

  async function isServed(): Promise<void> {
    const { status } = await post(webhook.address.port, certificate.cert, JSON.stringify(reviewOf()));
    expect(status).to.equal(200);
  }

  async function receivedUntilCut(socket: Socket, beginning: string | Buffer, piece: string | Buffer): Promise<string> {
    let received = '';
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.on('error', () => {});
    socket.write(beginning);
    const sending = setInterval(() => piece.length > 0 && socket.write(piece), pieceMilliseconds);
    await closed;
    clearInterval(sending);
    return received;
  }

  function open(): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: webhook.address.port, rejectUnauthorized: false };
      const socket = connect(where, () => resolve(socket));
      socket.once('error', reject);
    });
  }

  function openPlainly(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connectPlainly(webhook.address.port, '127.0.0.1', () => resolve(socket));
      socket.once('error', reject);
    });
  }
});
