// HTTP requests to pods and other servers that are not the API server.

// oxlint-disable no-restricted-imports -- it only asks what an address is
import { isIP } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { textOf } from '../base/text.ts';
import { TimeLimit } from '../base/time-limit.ts';
import type { World } from '../base/world.ts';

/**
 * Several times as much as an agent of MOCO sends, and far more than Prometheus needs to explain why a query failed.
 */
const largestBodyBytes = 512 * 1024;

export interface PlainAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends requests to a server other than the API server. Each client has its own connection pool, and a time limit for a
 * whole request.
 */
export async function answerTo(
  agent: Dispatcher,
  request: Omit<Dispatcher.RequestOptions, 'signal'>,
  signal: AbortSignal,
): Promise<PlainAnswer> {
  const { statusCode, body } = await agent.request({ ...request, signal, headersTimeout: 0, bodyTimeout: 0 });
  return { status: statusCode, body: await textOf(body, largestBodyBytes) };
}

/**
 * Resolves to the result of `work` if it arrives within the time limit. Otherwise rejects with an `Error` with a
 * message for people: `what`, and why there is no result.
 */
export async function inTime<Result>(
  world: World,
  milliseconds: number,
  what: string,
  work: (signal: AbortSignal) => Promise<Result>,
  callers?: AbortSignal,
): Promise<Result> {
  const limit = new TimeLimit(world, milliseconds, callers);
  try {
    return await work(limit.signal);
  } catch (error) {
    const why = limit.passed ? `no answer within ${milliseconds} ms` : reasonOf(error);
    throw new Error(`${what}: ${why}`, { cause: error });
  } finally {
    limit.end();
  }
}

/** The error code of the operating system if there is one, because the message would repeat the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && /^E[A-Z]+$/.test(code) ? code : error.message;
}

export interface PodAddress {
  /** The IP address of the pod. A name is never used, so no DNS lookup is needed. */
  readonly ip: string;
  readonly port: number;
}

/** Sends a GET to a pod. Rejects with an `Error` that has a human-readable message. */
export type PodGet = (address: PodAddress, path: string, signal: AbortSignal) => Promise<PlainAnswer>;

const connectMilliseconds = 1000;

/** A client without credentials, proxies or redirects: requests go only to the pod itself. */
export class PodHttp {
  readonly #world: World;
  readonly #timeoutMilliseconds: number;
  /** Connections are not reused: requests to pods are rare, and a different pod may get the address later. */
  readonly #agent = new Agent({
    pipelining: 0,
    maxHeaderSize: 16 * 1024,
    connect: { timeout: connectMilliseconds },
  });

  /** @param timeoutMilliseconds the limit for a whole request: connection, header and body */
  constructor(world: World, timeoutMilliseconds: number) {
    this.#world = world;
    this.#timeoutMilliseconds = timeoutMilliseconds;
  }

  readonly get: PodGet = async ({ ip, port }, path, signal) => {
    const family = isIP(ip);
    if (family === 0) throw new Error(`expected the pod to have an IP address, got \`${ip}\``);
    const host = `${family === 6 ? `[${ip}]` : ip}:${port}`;
    const request = { origin: `http://${host}`, path, method: 'GET' } as const;
    const send = (limit: AbortSignal): Promise<PlainAnswer> => answerTo(this.#agent, request, limit);
    return inTime(this.#world, this.#timeoutMilliseconds, `GET http://${host}${path}`, send, signal);
  };

  /** Aborts requests in progress. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
