// oxlint-disable no-restricted-imports -- it only asks what an address is
import { isIP } from 'node:net';
import { Agent } from 'undici';
import { TimeLimit } from './time-limit.ts';
import type { World } from './world.ts';

/** Where a container listens. */
export interface PodAddress {
  /** The IP address of the pod: never a name, so that nothing is resolved. */
  readonly ip: string;
  readonly port: number;
}

export interface PodResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends a GET to a pod. Rejects with an `Error` whose message is meant for people. */
export type PodGet = (address: PodAddress, path: string, signal: AbortSignal) => Promise<PodResponse>;

/** Several times what an agent of MOCO serves. */
const largestBodyBytes = 512 * 1024;
const connectMilliseconds = 1000;

/** A client without credentials, proxies or redirects: a pod is asked at its own address, and nobody else. */
export class PodHttp {
  readonly #world: World;
  readonly #timeoutMilliseconds: number;
  /** No connection is kept: pods are asked rarely, and the next one at the address may be another. */
  readonly #agent = new Agent({
    pipelining: 0,
    maxHeaderSize: 16 * 1024,
    connect: { timeout: connectMilliseconds },
  });

  /** @param timeoutMilliseconds for a whole request: connection, head and body */
  constructor(world: World, timeoutMilliseconds: number) {
    this.#world = world;
    this.#timeoutMilliseconds = timeoutMilliseconds;
  }

  readonly get: PodGet = async ({ ip, port }, path, signal) => {
    const family = isIP(ip);
    if (family === 0) throw new Error(`expected the pod to have an IP address, got \`${ip}\``);
    const host = `${family === 6 ? `[${ip}]` : ip}:${port}`;
    const limit = new TimeLimit(this.#world, this.#timeoutMilliseconds, signal);
    try {
      const response = await this.#agent.request({
        origin: `http://${host}`,
        path,
        method: 'GET',
        signal: limit.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return { status: response.statusCode, body: await textOf(response.body) };
    } catch (error) {
      const why = limit.passed ? `no answer within ${this.#timeoutMilliseconds} ms` : reasonOf(error);
      throw new Error(`GET http://${host}${path}: ${why}`, { cause: error });
    } finally {
      limit.end();
    }
  };

  /** Ends requests in progress. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > largestBodyBytes) throw new Error(`expected at most ${largestBodyBytes} bytes, got more`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The system's code where there is one: its message repeats the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && /^E[A-Z]+$/.test(code) ? code : error.message;
}
