import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { realWorld } from '../../src/base/world.ts';
import { converse, MysqlError } from '../../src/mysql/mysql-session.ts';
import { readCluster } from '../../src/mysql/read-cluster.ts';
import { askWhoItIs } from '../../src/mysql/statements.ts';
import { loopbackCertificate } from '../support/control-plane/certificates.ts';
import { error, floods, greeting, HostileServer, letsIn, ok, packet } from './hostile-server.ts';

const world = realWorld(() => Promise.reject(new Error('no API server')));
const account = { user: 'moco-readonly', password: 'a-secret-of-the-cluster' };
const never = new AbortController().signal;
/** More than what a conversation may receive, with what the kernel keeps on both sides. */
const bounded = 32 * 1024 * 1024;

async function askAt(port: number, signal: AbortSignal = never): Promise<MysqlError> {
  try {
    await converse(world, { ip: '127.0.0.1', port }, account, signal, askWhoItIs);
  } catch (thrown) {
    expect(thrown).to.be.instanceOf(MysqlError);
    return thrown as MysqlError;
  }
  throw new Error('expected a hostile server to be found out');
}

const large = Buffer.alloc(64 * 1024, 1);
const columns = (count: number): Buffer => packet(1, Buffer.from([0xfc, count & 255, count >> 8]));
const servers: Readonly<Record<string, readonly [serve: (socket: Socket) => void, says: string]>> = {
  'says nothing': [() => undefined, 'no answer within 1 s'],
  'hangs up': [(socket) => socket.end(), 'PROTOCOL_CONNECTION_LOST'],
  'speaks HTTP': [(socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), ''],
  'sends bytes without an end': [(socket) => floods(socket, large), ''],
  'sends packets without an end': [(socket) => floods(socket, packet(0, large)), ''],
  'sends empty packets without an end': [(socket) => floods(socket, Buffer.alloc(64 * 1024)), ''],
  'sends one packet without an end': [(socket) => floods(socket, packet(0, large, 0xffffff)), ''],
  'announces more than it sends': [(socket) => socket.write(packet(0, large, 0xfffffe)), 'no answer within 1 s'],
  'announces less than it sends': [(socket) => socket.write(packet(0, Buffer.from([10]), 1)), ''],
  'offers TLS and does not speak it': [
    (socket) => {
      socket.write(greeting('caching_sha2_password', true));
      socket.on('data', () => floods(socket, large));
    },
    '',
  ],
  'answers with columns without an end': [
    letsIn((socket) => {
      socket.write(columns(0xffff));
      floods(socket, packet(2, large));
    }),
    '',
  ],
  'answers with columns that it never sends': [
    letsIn((socket) => socket.write(columns(0xffff))),
    'no answer within 1 s',
  ],
  'answers out of order': [letsIn((socket) => floods(socket, ok(77))), ''],
  'answers that all went well': [letsIn((socket) => socket.write(ok(1))), 'the answer is not from a mysqld'],
  'asks for a file': [letsIn((socket) => socket.write(packet(1, Buffer.from('\xfb/etc/passwd', 'latin1')))), ''],
  'asks for the password as it is': [
    (socket) => {
      socket.write(greeting());
      socket.once('data', () => socket.write(packet(2, Buffer.from('\xfemysql_clear_password\0', 'latin1'))));
    },
    'MYSQL_CLEAR_PASSWORD_NOT_ENABLED',
  ],
  'refuses the account': [
    (socket) => {
      socket.write(greeting());
      socket.once('data', () => socket.write(error(2, 1045, `Access denied, ${account.password}`)));
    },
    'ER_ACCESS_DENIED_ERROR',
  ],
  'has an error of its own': [letsIn((socket) => socket.write(error(1, 60_000, account.password))), ''],
};

describe('a server that is no mysqld', () => {
  const { error: printError } = console;
  const printed: unknown[] = [];
  beforeEach(() => {
    printed.length = 0;
    console.error = (...lines: unknown[]) => printed.push(...lines);
  });
  afterEach(() => {
    console.error = printError;
  });

  for (const [title, [serve, says]] of Object.entries(servers)) {
    it(`and ${title} costs its time and a bounded buffer`, async () => {
      const received: Buffer[] = [];
      const server = await HostileServer.open((socket) => {
        socket.on('data', (chunk) => received.push(chunk));
        serve(socket);
      });
      try {
        const { message } = await askAt(server.port);
        expect(message).to.contain(says);
        expect(message).to.not.contain(account.password);
        expect(Buffer.concat(received).includes(account.password)).to.equal(false);
        for (const { bytesWritten } of server.sockets) expect(bytesWritten).to.be.lessThan(bounded);
        expect(server.sockets.length).to.be.at.most(2);
        expect(printed).to.deep.equal([]);
      } finally {
        await server.close();
      }
    });
  }

  it('never gets further than an error, whatever it sends', async () => {
    const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
    const anyPacket = fc.tuple(fc.nat(4), bytes).map(([sequence, payload]) => packet(sequence, payload));
    const said = fc.array(fc.oneof(bytes, anyPacket), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('first', 'afterGreeting', 'afterLogin'), said, async (when, all) => {
        const answer = (socket: Socket): void => void socket.end(Buffer.concat(all));
        const server = await HostileServer.open((socket) => {
          if (when === 'first') return answer(socket);
          if (when === 'afterLogin') return letsIn(answer)(socket);
          socket.write(greeting('caching_sha2_password'));
          return void socket.on('data', () => answer(socket));
        });
        printed.length = 0;
        try {
          expect((await askAt(server.port)).message).to.not.equal('');
          // mysql2 prints a trace before it gives up on a number that is none.
          expect(printed.length).to.be.at.most(1);
        } finally {
          await server.close();
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is no longer queried once the caller has enough', async () => {
    const server = await HostileServer.open(() => undefined);
    const enough = new AbortController();
    const asked = askAt(server.port, enough.signal);
    enough.abort();
    expect((await asked).message).to.not.equal('');
    await server.close();
  });

  it('gets no name and no password where TLS is required and it offers none', async () => {
    const received: Buffer[] = [];
    const server = await HostileServer.open((socket) => {
      socket.on('data', (chunk) => received.push(chunk));
      socket.write(greeting());
    });
    const tls = { required: true, ca: null };
    const asked = converse(world, { ip: '127.0.0.1', port: server.port }, { ...account, tls }, never, askWhoItIs);
    const message = await asked.then(() => '', String);
    expect(message).to.contain('it offers no TLS, which --mysql-tls requires');
    expect(Buffer.concat(received).toString('latin1')).to.not.contain(account.user);
    await server.close();
  });

  for (const isSigned of [false, true]) {
    it(`gets ${isSigned ? 'a login' : 'no login'} where the pinned CA has ${isSigned ? '' : 'not '}signed its certificate`, async () => {
      const { certificate, key } = await loopbackCertificate('mysqld');
      const ca = isSigned ? certificate : (await loopbackCertificate('mysqld')).certificate;
      const received: Buffer[] = [];
      const server = await HostileServer.open((socket) => {
        socket.write(greeting('caching_sha2_password', true));
        // The client's request for TLS is a packet of 36 bytes.
        socket.once('readable', () => {
          socket.read(36);
          const secure = new TLSSocket(socket, { isServer: true, cert: certificate, key });
          secure.on('error', () => undefined);
          secure.on('data', (chunk) => {
            received.push(chunk);
            secure.destroy();
          });
        });
      });
      const tls = { required: false, ca };
      const asked = converse(world, { ip: '127.0.0.1', port: server.port }, { ...account, tls }, never, askWhoItIs);
      const said = await asked.then(() => '', String);
      expect(said).to.not.equal('');
      expect(Buffer.concat(received).toString('latin1').includes(account.user)).to.equal(isSigned);
      await server.close();
    });
  }

  it('is one of several that are asked, and the others still answer for themselves', async () => {
    const server = await HostileServer.open((socket) => floods(socket, large));
    const member = { uid: 'a', name: 'moco-test-0', address: { ip: '127.0.0.1', port: server.port } };
    const gone = { ...member, uid: 'b', address: { ip: '127.0.0.1', port: 1 } };
    const nowhere = { ...member, uid: 'c', address: { ip: 'moco-test-2', port: 1 } };
    const question = { primary: member, replicas: [gone, nowhere], forSwitchover: true, account };
    const { said, writes, isDenied } = await readCluster(world, question, never);
    expect([...said.values()].map(({ kind }) => kind)).to.deep.equal(['unknown', 'unknown', 'unknown']);
    expect(said.get('b')).to.deep.equal({ kind: 'unknown', message: 'ECONNREFUSED' });
    expect(said.get('c')).to.deep.equal({ kind: 'unknown', message: 'the pod has no IP address' });
    expect({ writes, isDenied }).to.deep.equal({ writes: null, isDenied: false });
    await server.close();
  });
});
