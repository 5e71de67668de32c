import { isObject } from '../base/json.ts';
import { jsonOf, shortened } from '../base/text.ts';

// The error of a request to the API server, and what it means: refused, conflicting, gone, or not answered.

/** One entry of `details.causes` in a Kubernetes Status, such as `DisruptionBudget` of a refused eviction. */
export interface ApiErrorCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface ApiErrorOptions {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly causes?: readonly ApiErrorCause[];
  readonly retryAfterSeconds?: number | null;
  readonly isStatus?: boolean;
  readonly cause?: unknown;
}

/** Why there was no answer; used in place of a Status's reason. */
export type NoAnswerReason =
  /** The connection was refused: the request cannot have reached the server. */
  | 'ConnectionRefused'
  /** The connection broke: whether the request was carried out is unknown. */
  | 'ConnectionLost'
  /** The time limit passed: whether the request was carried out is unknown. */
  | 'TimedOut'
  /** The caller aborted the request. */
  | 'Aborted'
  /** The answer is not one of a Kubernetes API server. */
  | 'UnreadableAnswer'
  /** Credentials were unavailable (a token file, an exec plugin): nothing was sent. */
  | 'CredentialsUnavailable'
  /** This process is not the leader any more and must not write: nothing was sent. */
  | 'NotLeading'
  /** The request waited until its caller no longer wanted it: nothing was sent. */
  | 'TooLate';

/** The one error of every request to the API server: it refused the request, or did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status, 0 without a readable answer. */
  readonly status: number;
  /** The Status's `reason`, such as `Conflict` or `TooManyRequests`; a `NoAnswerReason` with status 0. */
  readonly reason: string;
  readonly causes: readonly ApiErrorCause[];
  /** After how many seconds the server wants the next request; `null` if it did not say. */
  readonly retryAfterSeconds: number | null;
  /** The answer is a Status, as the API server sends it. A proxy or a load balancer may send anything. */
  readonly isStatus: boolean;

  constructor({
    status,
    reason,
    message,
    causes = [],
    retryAfterSeconds = null,
    isStatus = true,
    cause,
  }: ApiErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isStatus = isStatus;
  }
}

export const wasNeverSent = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 0 && (error.reason === 'NotLeading' || error.reason === 'TooLate');

/** Whether the request was never sent because it waited too long. */
export const wasTooLate = (error: unknown): boolean => wasNeverSent(error) && (error as ApiError).reason === 'TooLate';

/** The API server itself says that there is no such object. */
export const isNotFound = (error: unknown): boolean => isMissing(error) && (error as ApiError).isStatus;

/** Some server reports this: the API server for a kind that it does not serve, or a proxy for anything. */
export const isMissing = (error: unknown): boolean => hasStatus(error, 404);

/** The object was changed in the meantime, or a precondition failed. `AlreadyExists` does not count. */
export const isConflict = (error: unknown): boolean => hasStatus(error, 409) && !isAlreadyExists(error);

export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'AlreadyExists';

/** A resourceVersion or a page token that the server no longer has. */
export const isGone = (error: unknown): boolean => hasStatus(error, 410);

export const isTooManyRequests = (error: unknown): boolean => hasStatus(error, 429);

export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);

/** The namespace is being deleted: nothing can be created there any more. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) && (error as ApiError).causes.some(({ reason }) => reason === 'NamespaceTerminating');

/** The request is malformed, for example an unknown field under strict validation. */
export const isBadRequest = (error: unknown): boolean => hasStatus(error, 400);

export const isInvalid = (error: unknown): boolean => hasStatus(error, 422);

/** The server, or a webhook that it called, has failed. */
export const isInternalError = (error: unknown): boolean => hasStatus(error, 500);

export const isUnauthorized = (error: unknown): boolean => hasStatus(error, 401);

/** The message without the request, which is long and does not help people. */
export const withoutRequest = ({ message }: Error): string => message.replace(/^[A-Z]+ \S+: /, '');

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

const longestBody = 200;

/**
 * The error of an answer that is not 2xx. Its body is a `meta/v1` Status from the API server, and anything from a proxy
 * or a load balancer.
 */
export function errorOfAnswer(
  what: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiError {
  return errorOfStatus(what, status, jsonOf(body), headers, body);
}

/** The error of a Status inside a watch; its own `code` replaces the HTTP status. */
export function errorOfWatch(what: string, status: unknown): ApiError {
  const code = isObject(status) && typeof status['code'] === 'number' ? status['code'] : 500;
  return errorOfStatus(what, code, status, {}, JSON.stringify(status) ?? 'nothing');
}

function errorOfStatus(
  what: string,
  status: number,
  given: unknown,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiError {
  const isStatus = isObject(given) && given['kind'] === 'Status';
  const fields = isStatus ? given : {};
  const details = isObject(fields['details']) ? fields['details'] : undefined;
  const reason = typeof fields['reason'] === 'string' && fields['reason'] !== '' ? fields['reason'] : reasonOf(status);
  const message = typeof fields['message'] === 'string' ? fields['message'] : cut(body);
  return new ApiError({
    status,
    reason,
    message: `${what}: ${status} ${reason}${message === '' ? '' : `: ${message}`}`,
    causes: causesOf(details?.['causes']),
    isStatus,
    retryAfterSeconds: seconds(headers['retry-after']) ?? seconds(details?.['retryAfterSeconds']),
  });
}

/** Kubernetes' reasons for the HTTP statuses with which a proxy in front of it may answer. */
function reasonOf(status: number): string {
  const reasons: Readonly<Record<number, string>> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    409: 'Conflict',
    410: 'Gone',
    413: 'RequestEntityTooLarge',
    422: 'Invalid',
    429: 'TooManyRequests',
    500: 'InternalError',
    503: 'ServiceUnavailable',
    504: 'Timeout',
  };
  return reasons[status] ?? 'Unknown';
}

function causesOf(causes: unknown): readonly ApiErrorCause[] {
  if (!Array.isArray(causes)) return [];
  return causes.filter(isObject).map(({ reason, message, field }) => ({
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : '',
    ...(typeof field === 'string' && { field }),
  }));
}

/** Retry-After in seconds, the only form that Kubernetes sends. 0 in a Status means unset. */
function seconds(value: unknown): number | null {
  if (typeof value === 'number') return value > 0 ? value : null;
  return typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : null;
}

const cut = (body: string): string => shortened(body.replaceAll(/\s+/g, ' ').trim(), longestBody);

/**
 * The API server does not create the object as it is. A webhook that cannot be reached counts as well: other clients
 * cannot create the object either.
 */
export const refusesCreation = (error: ApiError): boolean =>
  isForbidden(error) || isInvalid(error) || isBadRequest(error) || isInternalError(error);
