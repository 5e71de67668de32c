import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, type Server, request as sendRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { KeyPair } from '../../support/control-plane/certificates.ts';
import { Connections } from '../../support/control-plane/connections.ts';
import type { ControlPlane } from '../../support/control-plane/control-plane.ts';
import { type Answer, passing, refuse, textOf } from './answer.ts';
import type { Mishap, Side } from './mishap.ts';
import { type NamedRequest, nameOf } from './point.ts';

/** The process whose requests pass. */
export interface Victim {
  /** kill -9. */
  kill(): void;
  /** SIGSTOP, and SIGCONT after the given time. */
  freeze(milliseconds: number): void;
}

/** Decides what befalls requests. Times are milliseconds. */
export interface Fate {
  /** Before the API server sees a request, and once it has answered. */
  of(request: NamedRequest, side: Side): Mishap | null;
  /** Of any request but a watch, whatever it is for. */
  ofAny(): Mishap | null;
  /** By how much a watch of a kind is late at this moment. */
  lagOf(plural: string): number;
}

export interface ChaosProxyOptions {
  readonly controlPlane: ControlPlane;
  readonly keyPair: KeyPair;
  /** Appended to the user agent, to distinguish processes in the audit log. */
  readonly actor: string;
  readonly fate: Fate;
  readonly victim: Victim;
  /** Awaited when a confirmation begins, before its first read is forwarded. */
  readonly onConfirming: (namespace: string) => Promise<void>;
}

/**
 * A proxy between one process and the API server that knows the purpose of each request, and cuts, delays, answers,
 * kills, freezes or delivers late as instructed.
 */
export class ChaosProxy {
  readonly connections = new Connections();
  readonly #options: ChaosProxyOptions;
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #target: URL;
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  private constructor(options: ChaosProxyOptions, certificate: string, key: string) {
    this.#options = options;
    this.#target = new URL(options.controlPlane.server);
    this.#agent = new Agent({ keepAlive: true, ca: options.controlPlane.caBundle });
    this.#server = createServer({ cert: certificate, key }, (request, response) => {
      const handled = this.#handle(request, response).catch(() => void request.socket.destroy());
      this.#underWay.add(handled);
      void handled.then(() => this.#underWay.delete(handled));
    });
    // Those of TCP, from before TLS.
    this.#server.on('connection', (socket: Socket) => void this.connections.accept(socket));
    this.#server.on('tlsClientError', () => {});
  }

  static async start(options: ChaosProxyOptions): Promise<ChaosProxy> {
    const { certificate, key } = options.keyPair;
    const proxy = new ChaosProxy(options, await readFile(certificate, 'utf8'), await readFile(key, 'utf8'));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The path of a copy of a kubeconfig that uses this proxy. */
  async kubeconfig(path: string): Promise<string> {
    const { port } = this.#server.address() as AddressInfo;
    const through = `${path}.${this.#options.actor}`;
    const text = await readFile(path, 'utf8');
    await writeFile(through, text.replaceAll(this.#options.controlPlane.server, `https://127.0.0.1:${port}`));
    return through;
  }

  /** Watches end; of calls, what is still on its way arrives first. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#server.close();
    this.connections.cut();
    await Promise.all(this.#underWay);
    this.#agent.destroy();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const { method = 'GET', url = '/' } = request;
    const body = await textOf(request);
    if (url.includes('watch=true')) return this.#watch(request, response);
    const named = nameOf(method, url, body);
    if (named?.name === 'confirm') await this.#options.onConfirming(named.namespace);
    const mishap = this.#options.fate.ofAny() ?? this.#of(named, 'before');
    if (mishap !== null && !(await this.#before(mishap, response))) return;
    const answer = await this.#send(request, body);
    const later = this.#of(named, 'after');
    if (later !== null && !(await this.#after(later, response))) return;
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  }

  #of(named: NamedRequest | null, side: Side): Mishap | null {
    return named === null ? null : this.#options.fate.of(named, side);
  }

  /** Resolves to whether the request is forwarded to the API server. */
  async #before(mishap: Mishap, response: ServerResponse): Promise<boolean> {
    const { victim } = this.#options;
    switch (mishap.kind) {
      case 'kill':
        victim.kill();
        response.socket?.destroy();
        return false;
      case 'killAndArrive':
        victim.kill();
        await pause(mishap.afterMilliseconds);
        return true;
      case 'freeze':
        victim.freeze(mishap.forMilliseconds);
        await pause(mishap.forMilliseconds / 2);
        return true;
      case 'slow':
        await pause(mishap.byMilliseconds);
        return true;
      case 'reset':
      case 'answer':
        refuse(mishap, response);
        return false;
    }
  }

  /** Resolves to whether the API server's answer is returned. */
  async #after(mishap: Mishap, response: ServerResponse): Promise<boolean> {
    const { victim } = this.#options;
    switch (mishap.kind) {
      case 'kill':
      case 'killAndArrive':
        victim.kill();
        response.socket?.destroy();
        return false;
      case 'freeze':
        victim.freeze(mishap.forMilliseconds);
        return true;
      case 'slow':
        await pause(mishap.byMilliseconds);
        return true;
      case 'reset':
      case 'answer':
        refuse(mishap, response);
        return false;
    }
  }

  async #send(request: IncomingMessage, body: string): Promise<Answer> {
    const answer = await this.#begin(request, body);
    return { status: answer.statusCode ?? 500, headers: passing(answer.headers), body: await textOf(answer) };
  }

  /** In order, each piece as late as the kind's watches are at that moment. */
  async #watch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ending = new AbortController();
    response.on('close', () => ending.abort());
    if (response.destroyed) return;
    const signal = AbortSignal.any([ending.signal, this.#closing.signal]);
    const answer = await this.#begin(request, '', signal);
    response.writeHead(answer.statusCode ?? 500, passing(answer.headers));
    response.flushHeaders();
    const plural = /\/([^/?]+)\?/.exec(request.url ?? '')?.[1] ?? '';
    for await (const piece of answer) {
      const lag = this.#options.fate.lagOf(plural);
      if (lag > 0) await pause(lag);
      if (response.destroyed) return;
      response.write(piece as Buffer);
    }
    response.end();
  }

  async #begin(request: IncomingMessage, body: string, signal?: AbortSignal): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { hostname, port } = this.#target;
    const { method, url: path, headers } = request;
    const agentName = `${headers['user-agent'] ?? ''} ${this.#options.actor}`;
    const onward = sendRequest({
      hostname,
      port,
      agent: this.#agent,
      method,
      path,
      headers: { ...passing(headers), 'user-agent': agentName, 'content-length': Buffer.byteLength(body) },
      ...(signal !== undefined && { signal }),
    });
    onward.once('response', resolve).once('error', reject);
    onward.end(body);
    return promise;
  }
}
