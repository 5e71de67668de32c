import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ClientRates } from '../../src/telemetry/clients.ts';
import { plainText, type RunningHttpServer, shared, startHttpServer } from '../../src/telemetry/http-server.ts';

describe('the rate of a client', () => {
  let now: number;
  let rates: ClientRates;

  beforeEach(() => {
    now = 0;
    rates = new ClientRates(() => now, { perSecond: 2, burst: 3 });
  });

  const allowed = (address: string, tries: number): number =>
    Array.from({ length: tries }, () => rates.allows(address)).filter(Boolean).length;

  it('is a burst, and then so many per second', () => {
    expect(allowed('10.0.0.1', 10)).to.equal(3);
    now += 1000;
    expect(allowed('10.0.0.1', 10)).to.equal(2);
    now += 3_600_000;
    expect(allowed('10.0.0.1', 10)).to.equal(3);
  });

  it('is its own: a flood of one address keeps no other one out', () => {
    expect(allowed('10.0.0.1', 1000)).to.equal(3);
    expect(allowed('10.0.0.2', 3)).to.equal(3);
  });

  it('is nothing for a while where it is exhausted', () => {
    rates.exhaust('10.0.0.1');
    now += 1400;
    expect(allowed('10.0.0.1', 1)).to.equal(0);
    now += 200;
    expect(allowed('10.0.0.1', 1)).to.equal(1);
  });

  it('is remembered of a thousand addresses, those that were quiet for longest first forgotten', () => {
    expect(allowed('10.0.0.1', 5)).to.equal(3);
    for (let index = 0; index < 1023; index += 1) rates.allows(`10.1.${index >> 8}.${index & 255}`);
    expect(allowed('10.0.0.1', 1), 'still known').to.equal(0);
    for (let index = 0; index < 1024; index += 1) rates.allows(`10.2.${index >> 8}.${index & 255}`);
    expect(allowed('10.0.0.1', 5), 'forgotten').to.equal(3);
  });
});

describe('the HTTP server and a hostile client', () => {
  let calls: number;
  let running: RunningHttpServer;
  const sockets: Socket[] = [];
  const get = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
  const largeBody = 'x'.repeat(700_000);

  beforeEach(async () => {
    calls = 0;
    const render = () => {
      calls += 1;
      return Promise.resolve(plainText(200, largeBody));
    };
    running = await startHttpServer({
      address: { host: '127.0.0.1', port: 0 },
      flag: '--metrics-bind-address',
      handlers: { '/metrics': render, '/healthz': () => plainText(200, 'ok') },
      onError: () => {},
      clock: () => 0,
    });
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await running.close();
  });

  async function open(localAddress = '127.0.0.1'): Promise<Socket> {
    const socket = connect({ port: running.address.port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  }

  /** The beginning of what comes until the connection ends. */
  function received(socket: Socket): Promise<string> {
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      if (text.length < 100) text += bytes.toString('latin1');
    });
    return new Promise((resolve) => socket.once('close', () => resolve(text)));
  }

  it('has one request of a connection at a time, and disconnects a client that does not wait for its answer', async () => {
    const socket = await open();
    const all = received(socket);
    socket.write(get.repeat(1000));
    expect(await all).to.equal('');
    expect(calls).to.equal(1);
  });

  it('does not serve an address at once that has sent requests without waiting', async () => {
    const socket = await open();
    const first = received(socket);
    socket.write(get.repeat(2));
    await first;
    const next = await open();
    const second = received(next);
    next.write(get);
    expect(await second).to.equal('');
    expect(calls).to.equal(1);
  });

  it('answers requests beyond the rate of an address with 429 and without work', async () => {
    const statuses: number[] = [];
    const url = `http://127.0.0.1:${running.address.port}/metrics`;
    for (let sent = 0; sent < 60; sent += 1) {
      const answer = await fetch(url).catch(() => null);
      statuses.push(answer?.status ?? 0);
      await answer?.arrayBuffer();
    }
    expect(statuses.indexOf(429)).to.equal(calls);
    expect(calls).to.be.within(25, 49);
    expect(statuses.at(-1)).to.equal(0);
  });

  it('keeps open connections of an address when it refuses a new one', async () => {
    const quiet = await open();
    const answer = received(quiet);
    for (let index = 1; index < 50; index += 1) await open();
    for (let index = 0; index < 14; index += 1) await open(`127.0.1.${index}`);
    expect(await received(await open())).to.equal('');
    quiet.write(get);
    expect(await answer).to.match(/^HTTP\/1\.1 429 /);
  });

  it('closes the connection that was quiet for longest for a new one', async () => {
    const quiet = await open();
    const closed = new Promise((resolve) => quiet.once('close', resolve));
    const others = Array.from({ length: 48 }, (_, index) =>
      connect({ port: running.address.port, host: '127.0.0.1', localAddress: `127.0.1.${index}` }),
    );
    const more = Array.from({ length: 16 }, (_, index) =>
      connect({ port: running.address.port, host: '127.0.0.1', localAddress: `127.0.2.${index}` }),
    );
    for (const socket of [...others, ...more]) {
      sockets.push(socket);
      socket.on('error', () => {});
    }
    await closed;
    const socket = connect({ port: running.address.port, host: '127.0.0.1', localAddress: '127.0.3.1' });
    sockets.push(socket);
    const answer = received(socket);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await answer).to.match(/^HTTP\/1\.1 200 /);
  });
});

describe('an answer that is shared', () => {
  let now: number;
  let calls: number;
  let handler: ReturnType<typeof shared>;

  beforeEach(() => {
    now = 0;
    calls = 0;
    handler = shared(
      () => {
        calls += 1;
        return calls === 2 ? Promise.reject(new Error('once')) : Promise.resolve(plainText(200, `answer ${calls}`));
      },
      () => now,
    );
  });

  it('serves all requests of a second with the same bytes', async () => {
    const answers = await Promise.all(Array.from({ length: 1000 }, () => handler()));
    now = 999;
    answers.push(await handler());
    expect(new Set(answers.map(({ body }) => body)).size).to.equal(1);
    expect(calls).to.equal(1);
  });

  it('is made anew after it, also where it could not be made', async () => {
    await handler();
    now = 1000;
    expect(await handler().catch((error: unknown) => error)).to.be.instanceOf(Error);
    now = 2000;
    expect(String((await handler()).body)).to.equal('answer 3\n');
  });
});
