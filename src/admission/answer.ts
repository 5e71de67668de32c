import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { mayHaveMoreValues } from '../base/text.ts';
import { type BodyBudget, readBody } from './bodies.ts';
import { type Reviewer, statefulSetShape } from './mutations.ts';

// Answers AdmissionReviews over HTTP, within limits for bodies and values.

/**
 * An AdmissionReview contains the new object and the old one. The API server accepts request bodies of up to 3 MiB, so
 * the two objects take up at most 6 MiB, and 2 MiB remain for the rest of the review. A stored object can exceed this
 * limit only if it contains text that JSON escapes to several times its length.
 */
export const bodyLimitBytes = 8 * 1024 * 1024;

/**
 * The maximum number of values in a body. A StatefulSet of MOCO contains some thousand values, and its review contains
 * twice as many. The API server accepts a few hundred thousand values in an object. Parsing so many would block the
 * thread that renews the lease for a second.
 */
export const mostValues = 50_000;

/**
 * The maximum number of bytes that the bodies of all current requests may have together: twice the limit of one body.
 * The review of a StatefulSet has some 50 KB, so hundreds of reviews fit.
 */
export const bodiesLimitBytes = 2 * bodyLimitBytes;

export interface WebhookAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer to a request. Rejects if the client goes away, or because of a bug. */
export async function answer(
  request: IncomingMessage,
  byPath: ReadonlyMap<string, Reviewer>,
  budget: BodyBudget,
): Promise<WebhookAnswer> {
  const [path = '/'] = (request.url ?? '/').split('?');
  const reviewer = byPath.get(path);
  if (reviewer === undefined) {
    return failureAnswer(404, `Expected one of the paths ${[...byPath.keys()].join(', ')}; got ${path}.`);
  }
  if (request.method !== 'POST') return failureAnswer(405, `Expected POST, got ${request.method}.`, { Allow: 'POST' });
  const contentType = request.headers['content-type'] ?? 'none';
  if (contentType.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    return failureAnswer(415, `Expected the content type application/json, got ${contentType}.`);
  }
  const body = await readBody(request, bodyLimitBytes, budget);
  if (body.kind === 'overloaded') {
    const sentence = 'Expected smaller bodies of all requests together, and this one was the largest; try again.';
    return failureAnswer(503, sentence, { 'Retry-After': '1' });
  }
  if (body.kind === 'too-large') {
    const most = `at most ${bodyLimitBytes} bytes, including the new object and the old one`;
    return failureAnswer(413, `Expected a body of ${most}; got more.`);
  }
  if (mayHaveMoreValues(body.bytes, mostValues)) {
    return failureAnswer(413, `Expected a body of at most ${mostValues} values; got more.`);
  }
  const review = parseJson(body.bytes);
  if (review === undefined)
    return failureAnswer(400, 'Expected an AdmissionReview as JSON in UTF-8, got something else.');
  const reviewed = answerReview(review, reviewer);
  if (reviewed.kind === 'malformed') return failureAnswer(400, reviewed.message);
  return { status: 200, body: JSON.stringify(reviewed.review), headers: { 'Content-Type': 'application/json' } };
}

/** The response if `answer` throws an error while the client is still connected. */
export const internalError = (): WebhookAnswer =>
  failureAnswer(500, 'An internal error occurred; see the log of moco-rollout.');

/** The response to a client that sends requests too often. */
export const tooManyRequests = (): WebhookAnswer =>
  failureAnswer(429, 'Expected fewer requests per second from one address; try again.', {
    'Retry-After': '1',
    Connection: 'close',
  });

/** Returns `undefined`, which JSON cannot represent, if the bytes are not JSON. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Kubernetes' reasons for the HTTP status codes that this file uses. */
const reasons = {
  400: 'BadRequest',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
} as const;

/**
 * The response as a Kubernetes Status. Unlike plain text, the message of a Status reaches the user who sent the request
 * to the API server.
 */
function failureAnswer(
  code: keyof typeof reasons,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): WebhookAnswer {
  const reason = reasons[code];
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, body: JSON.stringify(status), headers: { 'Content-Type': 'application/json', ...headers } };
}

export type ReviewAnswer = ReturnType<typeof answerReview>;

const requestShape = z.object({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string().min(1),
    kind: z.object({ group: z.string(), version: z.string(), kind: z.string() }),
    operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
    subResource: z.string().optional(),
    object: z.unknown().optional(),
    oldObject: z.unknown().optional(),
  }),
});

type AdmissionRequest = z.infer<typeof requestShape>['request'];

/**
 * Answers one AdmissionReview of version v1, and never denies a request. If the request is not for a StatefulSet, or
 * not meant for this reviewer, it is allowed unchanged, with a warning that says why.
 */
export function answerReview(body: unknown, reviewer: Reviewer) {
  const parsed = requestShape.safeParse(body);
  if (!parsed.success) {
    const message = `Expected an AdmissionReview of admission.k8s.io/v1, got one where ${firstProblem(parsed.error)}.`;
    return { kind: 'malformed', message } as const;
  }
  const { request } = parsed.data;
  const unchanged = (why: string) => allow(request, { warnings: [`moco-rollout changed nothing: ${why}`] });
  const misplaced = whyNotOurs(request, reviewer);
  if (misplaced !== null) return unchanged(misplaced);
  const object = statefulSetShape.safeParse(request.object);
  if (!object.success) return unchanged(`in the object, ${firstProblem(object.error)}`);
  const before = statefulSetShape.safeParse(request.oldObject);
  const { because, patch } = reviewer.review(object.data, before.success ? before.data : null);
  const warning = reviewer.warnings?.[because];
  const base64 = Buffer.from(JSON.stringify(patch)).toString('base64');
  return allow(request, {
    ...(patch.length > 0 && { patch: base64, patchType: 'JSONPatch' }),
    ...(warning !== undefined && { warnings: [`moco-rollout changed nothing: ${warning}`] }),
    auditAnnotations: { [reviewer.auditKey]: because },
  });
}

/**
 * What is wrong with a request that a webhook configuration sent here by mistake; `null` for a request that the
 * reviewer handles.
 */
function whyNotOurs({ kind, operation, subResource = '', object = null }: AdmissionRequest, { operations }: Reviewer) {
  if (kind.group !== 'apps' || kind.version !== 'v1' || kind.kind !== 'StatefulSet') {
    return `expected a StatefulSet of apps/v1, got ${kind.kind} of ${kind.group === '' ? '' : `${kind.group}/`}${kind.version}`;
  }
  if (!operations.some((expected) => expected === operation)) {
    return `expected ${operations.join(' or ')}, got ${operation}`;
  }
  if (subResource !== '') return `expected the StatefulSet itself, got its ${subResource}`;
  return object === null ? 'expected an object in the request, got none' : null;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response */
interface ReviewOutcome {
  /** A JSON patch in Base64. */
  readonly patch?: string;
  readonly patchType?: 'JSONPatch';
  /** Warnings for the user who sent the request; kubectl prints them. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

function allow({ uid }: AdmissionRequest, outcome: ReviewOutcome) {
  const response = { uid, allowed: true, ...outcome } as const;
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response } as const;
  return { kind: 'answered', review } as const;
}

function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'something is wrong';
  const where = issue.path.length === 0 ? 'the whole' : issue.path.join('.');
  return `${where} is not right (${issue.message})`;
}
