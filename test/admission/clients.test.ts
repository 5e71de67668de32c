import { Agent } from 'node:https';
import type { Socket } from 'node:net';
import { clearInterval, setInterval } from 'node:timers';
import { expect } from 'chai';
import { bodiesLimitBytes, bodyLimitBytes } from '../../src/admission/answer.ts';
import { ServedWebhook } from './served-webhook.ts';

const pieceMilliseconds = 10;
const heads = 'POST /mutate-statefulset HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe('a webhook whose client is slow', () => {
  let webhook: ServedWebhook;

  beforeEach(async () => {
    webhook = await ServedWebhook.start({ requestTimeoutMilliseconds: 200, keepAliveMilliseconds: 100 });
  });

  afterEach(() => webhook.close());

  const bodyTooLong = `${heads}Content-Length: ${bodyLimitBytes + 1_000_000}\r\n\r\n`;
  const clients: Readonly<Record<string, readonly [beginning: string, piece: string, answer: RegExp]>> = {
    'sends nothing after the TLS handshake': ['', '', /^HTTP\/1\.1 408 /],
    'stops in its headers': [heads, '', /^HTTP\/1\.1 408 /],
    'sends headers endlessly in pieces': [heads, 'X-More: x\r\n', /^HTTP\/1\.1 4(08|31) /],
    'stops in its body': [`${heads}Content-Length: 99\r\n\r\n{`, '', /^HTTP\/1\.1 408 /],
    'sends a body endlessly in pieces': [`${heads}Content-Length: 1000000\r\n\r\n`, ' ', /^HTTP\/1\.1 408 /],
    'sends a body endlessly in chunks': [
      `${heads}Transfer-Encoding: chunked\r\n\r\n`,
      '1\r\n \r\n',
      /^HTTP\/1\.1 408 /,
    ],
    'sends a body endlessly that has been refused for its length': [bodyTooLong, ' ', /^HTTP\/1\.1 413 /],
    'has been answered and keeps its connection for nothing': [
      `${heads}Content-Length: 2\r\n\r\n{}`,
      '',
      /^HTTP\/1\.1 400 .*\r\nConnection: keep-alive\r\n/is,
    ],
  };
  for (const [what, [beginning, piece, answer]] of Object.entries(clients)) {
    it(`disconnects one that ${what}`, async () => {
      expect(await receivedUntilCut(await webhook.open(), beginning, piece)).to.match(answer);
      await webhook.isServed();
      expect(webhook.logged).to.deep.equal([]);
    });
  }

  // The head of a record that announces 16 KiB of a handshake, then one byte of it after the other.
  const handshake = [Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00]), Buffer.from([0x01])] as const;
  for (const [what, [beginning, piece]] of Object.entries({
    'never begins with TLS': ['', ''] as const,
    'sends a TLS handshake endlessly in pieces': handshake,
  })) {
    it(`disconnects one that ${what}`, async () => {
      expect(await receivedUntilCut(await webhook.openPlainly(), beginning, piece)).to.equal('');
      await webhook.isServed();
    });
  }

  async function receivedUntilCut(socket: Socket, beginning: string | Buffer, piece: string | Buffer): Promise<string> {
    let received = '';
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.write(beginning);
    const sending = setInterval(() => piece.length > 0 && socket.write(piece), pieceMilliseconds);
    await closed;
    clearInterval(sending);
    return received;
  }
});

describe('a webhook that has many clients', () => {
  const maxConnections = 12;
  const bodyBytes = 7 * 1024 * 1024;
  const fitting = Math.floor(bodiesLimitBytes / bodyBytes);
  let webhook: ServedWebhook;

  beforeEach(async () => {
    webhook = await ServedWebhook.start({ maxConnections });
  });

  afterEach(() => webhook.close());

  it('refuses excess bodies with a sentence, and serves a real review meanwhile', async () => {
    const answers: string[] = [];
    const clients = 8;
    const { promise: refused, resolve: enough } = Promise.withResolvers<void>();
    for (let client = 0; client < clients; client += 1) {
      const socket = await webhook.open();
      socket.on('data', (bytes: Buffer) => {
        answers.push(bytes.toString());
        if (answers.length === clients - fitting) enough();
      });
      // One byte is never sent.
      socket.write(`${heads}Content-Length: ${bodyBytes + 1}\r\n\r\n`);
      socket.write(Buffer.alloc(bodyBytes, ' '));
    }
    await refused;
    await webhook.isServed();
    expect(answers).to.have.length(clients - fitting);
    for (const answer of answers) {
      expect(answer).to.match(/^HTTP\/1\.1 503 /);
      expect(answer).to.match(/\r\nRetry-After: 1\r\n/);
      expect(answer).to.match(/Expected (all requests together to have less in their|smaller) bodies/);
    }
  });

  it('closes the most idle connection for a new one', async () => {
    const sockets = await Promise.all(Array.from({ length: maxConnections }, () => webhook.open()));
    const closed = Promise.any(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    await webhook.isServed();
    await closed;
    expect(sockets.filter(({ destroyed }) => !destroyed)).to.have.length(maxConnections - 1);
  });
});

describe('a webhook whose client sends too much', () => {
  const get = 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n';
  let webhook: ServedWebhook;
  let answered: number;

  beforeEach(async () => {
    answered = 0;
    webhook = await ServedWebhook.start({
      clock: () => 0,
      maxConnections: 256,
      onAnswered: () => {
        answered += 1;
      },
    });
  });

  afterEach(() => webhook.close());

  const closeOf = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));

  it('answers one request of a connection at a time, and disconnects a client that does not wait for its answer', async () => {
    const socket = await webhook.open();
    const closed = closeOf(socket);
    socket.resume().write(get.repeat(5000));
    await closed;
    expect(answered).to.be.at.most(1);
  });

  it('closes all connections of that address, and accepts no new one at once', async () => {
    const quiet = closeOf(await webhook.open());
    const socket = await webhook.open();
    socket.resume().write(get.repeat(2));
    await quiet;
    await closeOf(await webhook.openPlainly());
  });

  it('answers requests beyond the rate of an address with 429, without a review', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let sent = 0; sent < 1000; sent += 1) await webhook.post('', { agent, path: '/x', headers: {} });
    const { status, body, headers } = await webhook.post(undefined, { agent });
    agent.destroy();
    expect([status, headers['retry-after'], headers['connection']]).to.deep.equal([429, '1', 'close']);
    expect(JSON.parse(body)).to.deep.include({ kind: 'Status', reason: 'TooManyRequests' });
  });

  it('keeps open connections of an address when it refuses a new one', async () => {
    const quiet = await webhook.open();
    const answer = new Promise((resolve) => {
      quiet.once('data', (bytes: Buffer) => resolve(bytes.toString()));
      quiet.once('close', () => resolve('closed'));
    });
    for (let index = 1; index < 256; index += 1) await webhook.openPlainly();
    await closeOf(await webhook.openPlainly());
    quiet.write(get);
    expect(await answer).to.match(/^HTTP\/1\.1 404 /);
  });
});
