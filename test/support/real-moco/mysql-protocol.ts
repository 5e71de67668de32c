import type { Socket } from 'node:net';

/** A table as an answer: every value as text, `null` for NULL. */
export interface ResultSet {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** `null`: done, without a table. Throws what is sent as MySQL's error. */
export type Answer = (statement: string) => Promise<ResultSet | null>;

const headerBytes = 4;
const nulBytes = 1;
const tokenBytes = 20;
const firstTokenBytes = 8;
const reservedBytes = 10;
const serverVersion = '8.4.8';
const authentication = 'mysql_native_password';
/** LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, MULTI_RESULTS, PLUGIN_AUTH. */
const capabilities = 0x00_0a_a2_09;
const utf8 = 45;
const autocommit = 2;
const columnLength = 1024;
const varString = 253;
const fixedFieldsBytes = 0x0c;
const nullValue = 0xfb;
const endMarker = 0xfe;
const errorMarker = 0xff;
const syntaxError = 1064;
const command = { quit: 1, query: 3, ping: 14 } as const;

/**
 * The server's side of MySQL's text protocol on one connection: every client is accepted, every statement is passed to
 * `answer`. Covers the part that Go's MySQL driver uses with `interpolateParams`.
 */
export function serveMysql(socket: Socket, answer: Answer): void {
  const packets = new Packets(socket);
  packets.send(0, handshake());
  let authenticated = false;
  let busy = Promise.resolve();
  packets.onPacket = (sequence, payload) => {
    if (!authenticated) {
      authenticated = true;
      packets.send(sequence + 1, ok());
      return;
    }
    busy = busy.then(() => respond(packets, payload, answer));
  };
}

async function respond(packets: Packets, payload: Buffer, answer: Answer): Promise<void> {
  switch (payload[0]) {
    case command.quit:
      packets.end();
      return;
    case command.ping:
      packets.send(1, ok());
      return;
    case command.query:
      try {
        const result = await answer(payload.subarray(1).toString('utf8'));
        packets.send(1, ...(result === null ? [ok()] : table(result)));
      } catch (error) {
        packets.send(1, failure(String(error)));
      }
      return;
    default:
      packets.send(1, failure(`command ${payload[0]} is not known here`));
  }
}

/** Packets of one connection: a length of three bytes, a sequence number, a payload. */
class Packets {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  onPacket: (sequence: number, payload: Buffer) => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#take(chunk));
    // The client has disconnected; the next one uses another connection.
    socket.on('error', () => socket.destroy());
  }

  /** Several packets that belong together, numbered from `sequence` up. */
  send(sequence: number, ...payloads: readonly Buffer[]): void {
    if (this.#socket.destroyed) return;
    const packets = payloads.map((payload, index) => {
      const header = Buffer.alloc(headerBytes);
      header.writeUIntLE(payload.length, 0, 3);
      header.writeUInt8((sequence + index) % 256, 3);
      return Buffer.concat([header, payload]);
    });
    this.#socket.write(Buffer.concat(packets));
  }

  end(): void {
    this.#socket.end();
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= headerBytes) {
      const end = headerBytes + this.#received.readUIntLE(0, 3);
      if (this.#received.length < end) return;
      const sequence = this.#received.readUInt8(3);
      const payload = this.#received.subarray(headerBytes, end);
      this.#received = this.#received.subarray(end);
      this.onPacket(sequence, payload);
    }
  }
}

function handshake(): Buffer {
  const token = Buffer.alloc(tokenBytes, 'x');
  return Buffer.concat([
    Buffer.from([10]),
    nulTerminated(serverVersion),
    uint(1, 4),
    token.subarray(0, firstTokenBytes),
    Buffer.from([0]),
    uint(capabilities % 0x1_00_00, 2),
    Buffer.from([utf8]),
    uint(autocommit, 2),
    uint(Math.floor(capabilities / 0x1_00_00), 2),
    Buffer.from([tokenBytes + nulBytes]),
    Buffer.alloc(reservedBytes),
    token.subarray(firstTokenBytes),
    Buffer.from([0]),
    nulTerminated(authentication),
  ]);
}

function ok(): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0]), uint(autocommit, 2), uint(0, 2)]);
}

function end(): Buffer {
  return Buffer.concat([Buffer.from([endMarker]), uint(0, 2), uint(autocommit, 2)]);
}

function failure(message: string): Buffer {
  return Buffer.concat([Buffer.from([errorMarker]), uint(syntaxError, 2), Buffer.from(`#42000${message}`)]);
}

function table({ columns, rows }: ResultSet): Buffer[] {
  return [Buffer.from([columns.length]), ...columns.map(definition), end(), ...rows.map(row), end()];
}

function definition(name: string): Buffer {
  return Buffer.concat([
    ...['def', '', '', '', name, name].map(text),
    Buffer.from([fixedFieldsBytes]),
    uint(utf8, 2),
    uint(columnLength, 4),
    Buffer.from([varString]),
    uint(0, 2),
    Buffer.from([0]),
    uint(0, 2),
  ]);
}

function row(values: readonly (string | null)[]): Buffer {
  return Buffer.concat(values.map((value) => (value === null ? Buffer.from([nullValue]) : text(value))));
}

/** Length-encoded; nothing here needs more than the two-byte form. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  const length =
    bytes.length < nullValue
      ? Buffer.from([bytes.length])
      : Buffer.concat([Buffer.from([0xfc]), uint(bytes.length, 2)]);
  return Buffer.concat([length, bytes]);
}

function nulTerminated(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'utf8');
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}
