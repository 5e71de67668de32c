import type { IncomingMessage } from 'node:http';
import { answerReview } from './admission-review.ts';
import type { BodyBudget } from './bodies.ts';
import { readBody } from './bodies.ts';
import type { Reviewer } from './reviewers.ts';

/**
 * An AdmissionReview holds the new object and the old one. The API server takes 3 MiB as a request's body, and each of
 * the two came in one: 6 MiB, and 2 MiB more for what is around and between. Only of text that JSON writes several
 * times as long could an object be that is stored and yet longer.
 */
export const bodyLimitBytes = 8 * 1024 * 1024;

/**
 * What all requests together may keep of their bodies: two of the largest. Reviews of a StatefulSet have some 50 KB, so
 * hundreds of them fit in.
 */
export const bodiesLimitBytes = 2 * bodyLimitBytes;

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a request is answered with. Rejects when its client goes away, and for a defect. */
export async function answer(
  request: IncomingMessage,
  byPath: ReadonlyMap<string, Reviewer>,
  budget: BodyBudget,
): Promise<Answer> {
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
  const body = await readBody(request, bodyLimitBytes, budget);
  if (body.kind === 'overloaded') {
    return failure(
      503,
      'Expected all requests together to have less in their bodies, and this one had the most; try again.',
      { 'Retry-After': '1' },
    );
  }
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

/** For whatever `answer` rejects with while the client is still there. */
export function internalError(): Answer {
  return failure(500, 'An internal error occurred; the log of moco-rollout has it.');
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
  503: 'ServiceUnavailable',
} as const;

/** A Status of Kubernetes: its message reaches whoever sent the request to the API server, plain text doesn't. */
function failure(code: keyof typeof reasons, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const reason = reasons[code];
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, body: JSON.stringify(status), headers: { 'Content-Type': 'application/json', ...headers } };
}
