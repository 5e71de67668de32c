import { isObject } from '../base/json.ts';
import { jsonOf, shortened } from '../base/text.ts';

// The error of a request to the API server, and what it means: refused, in conflict, gone, or not answered.

/** One entry of `details.causes` in a Kubernetes Status, such as `DisruptionBudget` for a refused eviction. */
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
  readonly about?: ApiErrorAbout | null;
  readonly cause?: unknown;
}

/** The object that a Status is about, from its `details`: the plural of the kind, and the name. */
export interface ApiErrorAbout {
  readonly kind: string;
  readonly name: string;
}

/** Why there was no answer. Used in place of the `reason` of a Status. */
export type NoAnswerReason =
  /** The connection was refused, so the request cannot have reached the server. */
  | 'ConnectionRefused'
  /** The connection broke, so it is unknown whether the request was carried out. */
  | 'ConnectionLost'
  /** The time limit passed, so it is unknown whether the request was carried out. */
  | 'TimedOut'
  /** The caller aborted the request. */
  | 'Aborted'
  /** The answer is not a valid Kubernetes API response. */
  | 'UnreadableAnswer'
  /** Credentials (a token file, an exec plugin) were unavailable. Nothing was sent. */
  | 'CredentialsUnavailable'
  /** This process is no longer the leader and must not write. Nothing was sent. */
  | 'NotLeading'
  /** The request waited so long that its caller no longer wanted it. Nothing was sent. */
  | 'TooLate';

/** The only type of error for requests to the API server: the server refused the request, or did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status; 0 if there was no readable answer. */
  readonly status: number;
  /** The `reason` of the Status, such as `Conflict` or `TooManyRequests`; a `NoAnswerReason` if `status` is 0. */
  readonly reason: string;
  readonly causes: readonly ApiErrorCause[];
  /** The number of seconds that the server asks clients to wait; `null` if the server gave none. */
  readonly retryAfterSeconds: number | null;
  /**
   * Whether the answer is a Status, as the API server sends it. A proxy or a load balancer may send any other answer.
   */
  readonly isStatus: boolean;
  /** `null` if the answer does not name an object. */
  readonly about: ApiErrorAbout | null;

  constructor({
    status,
    reason,
    message,
    causes = [],
    retryAfterSeconds = null,
    isStatus = true,
    about = null,
    cause,
  }: ApiErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isStatus = isStatus;
    this.about = about;
  }
}

/** Whether the answer was larger than the caller allows. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'UnreadableAnswer' && error.cause instanceof RangeError;

export const wasNeverSent = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 0 && (error.reason === 'NotLeading' || error.reason === 'TooLate');

/** Whether the request was never sent because it waited too long. */
export const wasTooLate = (error: unknown): boolean => wasNeverSent(error) && (error as ApiError).reason === 'TooLate';

/** Whether the API server itself says that there is no such object. */
export const isNotFound = (error: unknown): boolean => isMissing(error) && (error as ApiError).isStatus;

/**
 * Whether the API server itself says that this very object does not exist. A Status that does not name the object may
 * come from another server, or be about the kind or the path.
 */
export const isNotFoundByName = (error: unknown, { kind, name }: ApiErrorAbout): boolean =>
  error instanceof ApiError &&
  isNotFound(error) &&
  error.reason === 'NotFound' &&
  error.about?.kind === kind &&
  error.about.name === name;

/**
 * Whether any server answered with status 404. The API server also answers 404 for a kind that it does not serve, and a
 * proxy may answer 404 to any request.
 */
export const isMissing = (error: unknown): boolean => hasStatus(error, 404);

/** Whether the object was changed in the meantime, or a precondition failed. `AlreadyExists` does not count. */
export const isConflict = (error: unknown): boolean => hasStatus(error, 409) && !isAlreadyExists(error);

/**
 * Whether a different object has taken the name. If a patch without a resourceVersion contains a different uid, the API
 * server treats the uid as a change of an immutable field (seen on 1.36 and 1.37).
 */
export const isOfAnotherUid = (error: unknown): error is ApiError =>
  error instanceof ApiError && isInvalid(error) && error.causes.some(({ field }) => field === 'metadata.uid');

export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'AlreadyExists';

/** The server no longer has this resourceVersion or page token. */
export const isGone = (error: unknown): boolean => hasStatus(error, 410);

export const isTooManyRequests = (error: unknown): boolean => hasStatus(error, 429);

export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);

/** The namespace is being deleted, so nothing can be created in it. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) && (error as ApiError).causes.some(({ reason }) => reason === 'NamespaceTerminating');

/** The request is malformed, for example because strict validation found an unknown field. */
export const isBadRequest = (error: unknown): boolean => hasStatus(error, 400);

export const isInvalid = (error: unknown): boolean => hasStatus(error, 422);

/** The server itself failed, or a webhook that the server called. */
export const isInternalError = (error: unknown): boolean => hasStatus(error, 500);

export const isUnauthorized = (error: unknown): boolean => hasStatus(error, 401);

/** The message without the description of the request, which is long and does not help people. */
export const withoutRequest = ({ message }: Error): string => message.replace(/^[A-Z]+ \S+: /, '');

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

const longestBody = 200;

/**
 * The error for an answer with a status other than 2xx. The API server sends a `meta/v1` Status as the body; a proxy or
 * a load balancer may send anything.
 */
export function errorOfAnswer(
  what: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiError {
  return errorOfStatus(what, status, jsonOf(body), headers, body);
}

/** The error for a Status that arrives inside a watch. The `code` of the Status replaces the HTTP status. */
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
    about: aboutOf(details),
    retryAfterSeconds: seconds(headers['retry-after']) ?? seconds(details?.['retryAfterSeconds']),
  });
}

/** The Kubernetes reason for an HTTP status that a proxy may return. */
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

function aboutOf(details: Readonly<Record<string, unknown>> | undefined): ApiErrorAbout | null {
  const { kind, name } = details ?? {};
  return typeof kind === 'string' && typeof name === 'string' ? { kind, name } : null;
}

function causesOf(causes: unknown): readonly ApiErrorCause[] {
  if (!Array.isArray(causes)) return [];
  return causes.filter(isObject).map(({ reason, message, field }) => ({
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : '',
    ...(typeof field === 'string' && { field }),
  }));
}

/**
 * The value of Retry-After in seconds, because Kubernetes sends no other form. In a Status, 0 means that no value is
 * set.
 */
function seconds(value: unknown): number | null {
  if (typeof value === 'number') return value > 0 ? value : null;
  return typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : null;
}

const cut = (body: string): string => shortened(body.replaceAll(/\s+/g, ' ').trim(), longestBody);

/**
 * Whether the API server refuses to create the object in its present form. A webhook that cannot be reached counts as
 * well: other clients cannot create the object either.
 */
export const refusesCreation = (error: ApiError): boolean =>
  isForbidden(error) || isInvalid(error) || isBadRequest(error) || isInternalError(error);
