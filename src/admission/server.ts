import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { ClientRates, limitClients, type Rate } from '../telemetry/clients.ts';
import { type BindAddress, close, listen } from '../telemetry/http-server.ts';
import { answer, bodiesLimitBytes, internalError, tooManyRequests, type WebhookAnswer } from './answer.ts';
import { BodyBudget } from './bodies.ts';
import { reviewers } from './mutations.ts';
import { followTls, readTls, secureContext, type TlsSources, type WebhookLog } from './serving-tls.ts';

// The HTTPS server of the webhooks.

export interface WebhookOptions extends TlsSources {
  readonly address: BindAddress;
  readonly log: WebhookLog;
  /**
   * The maximum number of connections. Beyond it, a new connection replaces the connection that has been idle longest.
   */
  readonly maxConnections?: number;
  /**
   * The time that a client has to send its request, including the headers. A client that takes longer gets 408 and is
   * cut off.
   */
  readonly requestTimeoutMilliseconds?: number;
  readonly keepAliveMilliseconds?: number;
  readonly certificatePollMilliseconds?: number;
  /**
   * A clock in milliseconds since an arbitrary moment, for the rates of clients. The default is the clock of the
   * process.
   */
  readonly clock?: () => number;
  /** Called with each response: the status code, and how long the answer took. */
  readonly onAnswered?: (code: number, milliseconds: number) => void;
}

export interface RunningWebhook {
  /** The address with the actual port. */
  readonly address: BindAddress;
  /**
   * Stops accepting requests, and lets current requests finish within the grace period. Then it ends those that remain.
   */
  close(graceMilliseconds: number): Promise<void>;
}

/** The longest time that the API server waits for an answer (`timeoutSeconds` in the webhook's configuration). */
const defaultRequestTimeoutMilliseconds = 10_000;
/** Each API server opens one connection for every review in progress, and keeps some of these connections. */
const defaultMaxConnections = 128;
/**
 * The rates for one address. Behind a proxy, all API servers may share one address. Each write of a StatefulSet by MOCO
 * causes a review: some tens per second. A connection needs a TLS handshake, which costs far more than a review.
 */
const connectionRate: Rate = { perSecond: 50, burst: 256 };
const requestRate: Rate = { perSecond: 500, burst: 1000 };
const defaultCertificatePollMilliseconds = 10_000;
/**
 * Longer than the API server keeps an idle connection (Go: 90 s). So the webhook never closes a connection on which a
 * request is about to arrive.
 */
const defaultKeepAliveMilliseconds = 120_000;
/** How many times within a client's time limit the server checks whether the limit has passed. */
const checksPerTimeout = 10;

/**
 * Serves the webhook over TLS 1.2 or newer. Rejects with a `CertificateError` or a `ListenError`; the message of each
 * is a sentence. A new certificate applies to new connections, and open connections continue.
 */
export async function startWebhook(options: WebhookOptions): Promise<RunningWebhook> {
  const timeout = options.requestTimeoutMilliseconds ?? defaultRequestTimeoutMilliseconds;
  const budget = new BodyBudget(bodiesLimitBytes);
  const tls = await readTls(options);
  const server = createServer({
    ...secureContext(tls),
    requestCert: tls.clientCA !== null,
    rejectUnauthorized: tls.clientCA !== null,
    handshakeTimeout: timeout,
    headersTimeout: timeout,
    requestTimeout: timeout,
    connectionsCheckingInterval: Math.ceil(timeout / checksPerTimeout),
    keepAliveTimeout: options.keepAliveMilliseconds ?? defaultKeepAliveMilliseconds,
  });
  const clock = options.clock ?? (() => performance.now());
  const limits = {
    connections: options.maxConnections ?? defaultMaxConnections,
    connecting: new ClientRates(clock, connectionRate),
    requesting: new ClientRates(clock, requestRate),
  };
  limitClients(server, limits, (request, response, isWithinRate) => {
    const answered = isWithinRate ? answer(request, reviewers, budget) : Promise.resolve(tooManyRequests());
    void send(request, response, answered, options);
  });
  const address = await listen(server, options.address, '--webhook-bind-address');
  const poll = options.certificatePollMilliseconds ?? defaultCertificatePollMilliseconds;
  const stopFollowing = followTls(options, tls, poll, options.log, (found) =>
    server.setSecureContext(secureContext(found)),
  );
  return {
    address,
    close: (graceMilliseconds) => {
      stopFollowing();
      return close(server, graceMilliseconds);
    },
  };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answering: Promise<WebhookAnswer>,
  { log, onAnswered }: WebhookOptions,
): Promise<void> {
  const since = performance.now();
  let answered: WebhookAnswer;
  try {
    answered = await answering;
  } catch (error) {
    if (request.destroyed && !request.complete) return;
    log.error({ error }, 'Webhook failed to answer');
    answered = internalError();
  }
  const { status, body, headers } = answered;
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
  onAnswered?.(status, performance.now() - since);
}
