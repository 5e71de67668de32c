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
  readonly details?: unknown;
  readonly cause?: unknown;
}

/** Why there was no answer; stands in place of a Status' reason. */
export type NoAnswerReason =
  /** The connection was refused: the request can't have reached the server. */
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

/** The one error of every request to the API server: its refusal, or that there was no answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status, 0 where there was no answer that could be read. */
  readonly status: number;
  /** The Status's `reason`, such as `Conflict` or `TooManyRequests`; a `NoAnswerReason` with status 0. */
  readonly reason: string;
  readonly causes: readonly ApiErrorCause[];
  /** When the server asked to be called again, in seconds from its answer; `null` where it didn't say. */
  readonly retryAfterSeconds: number | null;
  /** The Status's `details` as they came. */
  readonly details?: unknown;

  constructor({ status, reason, message, causes = [], retryAfterSeconds = null, details, cause }: ApiErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
    this.details = details;
  }
}

/** Whether the request was never sent. */
export const wasNeverSent = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 0 && (error.reason === 'NotLeading' || error.reason === 'TooLate');

/** Whether the request was never sent because it waited too long. */
export const wasTooLate = (error: unknown): boolean => wasNeverSent(error) && (error as ApiError).reason === 'TooLate';

export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);

/** The object was changed meanwhile, or a precondition failed. `AlreadyExists` is not one. */
export const isConflict = (error: unknown): boolean => hasStatus(error, 409) && !isAlreadyExists(error);

export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'AlreadyExists';

/** A resourceVersion or a page token that the server no longer has. */
export const isGone = (error: unknown): boolean => hasStatus(error, 410);

export const isTooManyRequests = (error: unknown): boolean => hasStatus(error, 429);

export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);

/** The request is malformed, for example an unknown field under strict validation. */
export const isBadRequest = (error: unknown): boolean => hasStatus(error, 400);

/** The object would not be valid. */
export const isInvalid = (error: unknown): boolean => hasStatus(error, 422);

/** The server, or a webhook that it asked, has failed. */
export const isInternalError = (error: unknown): boolean => hasStatus(error, 500);

export const isUnauthorized = (error: unknown): boolean => hasStatus(error, 401);

/** The message without the request, which is long and says nothing to people. */
export const withoutRequest = ({ message }: Error): string => message.replace(/^[A-Z]+ \S+: /, '');

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}
