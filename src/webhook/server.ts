import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { BindAddress } from '../telemetry/bind-address.ts';
import { listen } from '../telemetry/listen.ts';
import { answerReview } from './admission-review.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { watchCertificate } from './certificate-watch.ts';
import type { IsOnDelete } from './creation-mutation.ts';
import { readBody } from './read-body.ts';
import { type Reviewer, reviewers } from './reviewers.ts';

/**
 * An AdmissionReview holds the new object and the old one. The API server takes 3 MiB as a request's body, and each of
 * the two came in one: 6 MiB, and 2 MiB more for what is around and between. Only of text that JSON writes several times
 * as long could an object be that is stored and yet longer.
 */
export const bodyLimitBytes = 8 * 1024 * 1024;

interface WebhookLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface WebhookOptions {
  readonly address: BindAddress;
  /** Has `tls.crt` and `tls.key`. */
  readonly certDir: string;
  readonly log: WebhookLog;
  /** Decides about StatefulSets that are created; without it none is at OnDelete. */
  readonly isOnDelete?: IsOnDelete;
  /** A client that takes longer to send its request, headers included, gets 408 and is cut off. */
  readonly requestTimeoutMilliseconds?: number;
  readonly certificatePollMilliseconds?: number;
}

export interface RunningWebhook {
  /** With the real port. */
  readonly address: BindAddress;
  /** The certificate chain in PEM that new connections get. */
  certificate(): string;
  /** Takes no new request, lets those under way finish for as long as the grace lasts, then ends them. */
  close(graceMilliseconds: number): Promise<void>;
}

/** As the API server waits for an answer at most (`timeoutSeconds` in the webhook's configuration). */
const defaultRequestTimeoutMilliseconds = 10_000;
const defaultCertificatePollMilliseconds = 10_000;
/** Longer than the API server keeps an idle connection (Go: 90 s), so that it is never closed under a request. */
const keepAliveMilliseconds = 120_000;
/** How much sooner than a client's time is up it has to be noticed, as a part of that time. */
const checksPerTimeout = 10;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Serves the webhook by TLS 1.2 or newer. Rejects with a `CertificateError` or a `ListenError`, each a sentence. A new
 * certificate holds for connections made after it; those that are open go on.
 */
export async function startWebhook(options: WebhookOptions): Promise<RunningWebhook> {
  const { certDir, log } = options;
  const timeout = options.requestTimeoutMilliseconds ?? defaultRequestTimeoutMilliseconds;
  const byPath = reviewers(options.isOnDelete ?? (() => false));
  const current = await readCertificate(certDir);
  let served = current;
  const server = createServer(
    {
      ...secureContext(current),
      handshakeTimeout: timeout,
      headersTimeout: timeout,
      requestTimeout: timeout,
      connectionsCheckingInterval: Math.ceil(timeout / checksPerTimeout),
      keepAliveTimeout: keepAliveMilliseconds,
    },
    (request, response) => void serve(request, response, byPath, log),
  );
  const address = await listen(server, options.address, '--webhook-bind-address');
  const stopWatching = watchCertificate({
    directory: certDir,
    current,
    pollMilliseconds: options.certificatePollMilliseconds ?? defaultCertificatePollMilliseconds,
    onChange: (certificate) => {
      server.setSecureContext(secureContext(certificate));
      served = certificate;
      log.info({ validTo: certificate.validTo.toISOString() }, 'the webhook has a new certificate');
    },
    onProblem: (problem) => log.warn({ error: problem }, 'the webhook keeps its certificate'),
  });
  return {
    address,
    certificate: () => served.cert,
    close: (graceMilliseconds) => {
      stopWatching();
      return closeServer(server, graceMilliseconds);
    },
  };
}

function secureContext({ cert, key }: Certificate) {
  return { cert, key, minVersion: 'TLSv1.2' } as const;
}

async function closeServer(server: Server, graceMilliseconds: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
  await closed;
  clearTimeout(cut);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  byPath: ReadonlyMap<string, Reviewer>,
  log: WebhookLog,
): Promise<void> {
  let answered: Answer;
  try {
    answered = await answer(request, byPath);
  } catch (error) {
    if (request.destroyed && !request.complete) return;
    log.error({ error }, 'the webhook failed to answer');
    answered = failure(500, 'An internal error occurred; the log of moco-rollout has it.');
  }
  const { status, body, headers } = answered;
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

async function answer(request: IncomingMessage, byPath: ReadonlyMap<string, Reviewer>): Promise<Answer> {
  const [path = '/'] = (request.url ?? '/').split('?');
  const reviewer = byPath.get(path);
  if (reviewer === undefined) {
    return failure(404, `Expected one of the paths ${[...byPath.keys()].join(', ')}; got ${path}.`);
  }
  if (request.method !== 'POST') {
    return failure(405, `Expected POST, got ${request.method}.`, { Allow: 'POST' });
  }
  const contentType = request.headers['content-type'] ?? 'none';
  if (contentType.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    return failure(415, `Expected the content type application/json, got ${contentType}.`);
  }
  const body = await readBody(request, bodyLimitBytes);
  if (body.kind === 'too-large') {
    return failure(
      413,
      `Expected a body of at most ${bodyLimitBytes} bytes, the new object and the old one in it; got more.`,
    );
  }
  const review = parseJson(body.bytes);
  if (review === undefined) return failure(400, 'Expected an AdmissionReview as JSON in UTF-8, got something else.');
  const reviewed = answerReview(review, reviewer);
  if (reviewed.kind === 'malformed') return failure(400, reviewed.message);
  return { status: 200, body: JSON.stringify(reviewed.review), headers: { 'Content-Type': 'application/json' } };
}

/** `undefined`, which no JSON stands for, where the bytes aren't JSON. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Kubernetes' words for the codes that are answered here. */
const reasons = {
  400: 'BadRequest',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  500: 'InternalError',
} as const;

/** A Status of Kubernetes: its message reaches whoever sent the request to the API server, plain text doesn't. */
function failure(code: keyof typeof reasons, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const reason = reasons[code];
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, body: JSON.stringify(status), headers: { 'Content-Type': 'application/json', ...headers } };
}
