import { holderOf, type Lease } from '../../src/kube/lease.ts';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../src/kube/world.ts';
import { answer, status } from './fake-world.ts';

/** An API server that has one lease, with its resourceVersions as preconditions. */
export class FakeLeaseServer {
  lease: Lease | null = null;
  /** Whose writes have been carried out, by holder. */
  readonly holders: string[] = [];
  #version = 0;

  /** For every candidate alike, unless a script of the test's comes before it. */
  readonly exchange: Exchange = (request) => Promise.resolve(this.answer(request));

  answer({ method, body }: ExchangeRequest): ExchangeResponse {
    const sent = body === undefined ? null : (JSON.parse(body) as Lease);
    if (method === 'POST' && sent)
      return this.lease ? answer(409, status(409, 'AlreadyExists')) : this.#store(sent, 201);
    if (this.lease === null) return answer(404, status(404, 'NotFound'));
    if (method === 'GET') return answer(200, this.lease);
    if (method !== 'PUT' || !sent) return answer(405, status(405, 'MethodNotAllowed'));
    const fresh = sent.metadata.resourceVersion === this.lease.metadata.resourceVersion;
    return fresh ? this.#store(sent, 200) : answer(409, status(409, 'Conflict'));
  }

  get holder(): string {
    return this.lease === null ? '' : holderOf(this.lease);
  }

  #store(lease: Lease, code: number): ExchangeResponse {
    this.#version += 1;
    const metadata = { ...lease.metadata, uid: 'u', resourceVersion: String(this.#version) };
    this.lease = { ...lease, metadata };
    this.holders.push(holderOf(lease));
    return answer(code, this.lease);
  }
}
