// oxlint-disable no-restricted-imports -- it only asks what an address is
import { isIP } from 'node:net';
import { Agent } from 'undici';
import { answerTo, inTime, type PlainAnswer } from './plain-http.ts';
import type { World } from './world.ts';

export interface PodAddress {
  /** The IP address of the pod: never a name, so that nothing is resolved. */
  readonly ip: string;
  readonly port: number;
}

/** Sends a GET to a pod. Rejects with an `Error` whose message is meant for people. */
export type PodGet = (address: PodAddress, path: string, signal: AbortSignal) => Promise<PlainAnswer>;

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
    const request = { origin: `http://${host}`, path, method: 'GET' } as const;
    const send = (limit: AbortSignal): Promise<PlainAnswer> => answerTo(this.#agent, request, limit);
    return inTime(this.#world, this.#timeoutMilliseconds, `GET http://${host}${path}`, send, signal);
  };

  /** Ends requests in progress. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
