import { ApiError, type ApiErrorCause } from './api-error.ts';
import { isRawObject } from './raw-object.ts';
import { shortened } from './text.ts';

const longestBody = 200;

/**
 * The error of an answer that isn't 2xx. Its body is a `meta/v1` Status where the API server itself has spoken, and
 * anything at all where a proxy or a load balancer has.
 */
export function errorOfAnswer(
  what: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiError {
  return errorOfStatus(what, status, parsed(body), headers, body);
}

/** The error of a Status that came inside of a watch; its own `code` is all there is of an HTTP status. */
export function errorOfWatch(what: string, status: unknown): ApiError {
  const code = isRawObject(status) && typeof status['code'] === 'number' ? status['code'] : 500;
  return errorOfStatus(what, code, status, {}, JSON.stringify(status) ?? 'nothing');
}

function errorOfStatus(
  what: string,
  status: number,
  given: unknown,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiError {
  const fields = isRawObject(given) && given['kind'] === 'Status' ? given : {};
  const details = isRawObject(fields['details']) ? fields['details'] : undefined;
  const reason = typeof fields['reason'] === 'string' && fields['reason'] !== '' ? fields['reason'] : reasonOf(status);
  const message = typeof fields['message'] === 'string' ? fields['message'] : cut(body);
  return new ApiError({
    status,
    reason,
    message: `${what}: ${status} ${reason}${message === '' ? '' : `: ${message}`}`,
    causes: causesOf(details?.['causes']),
    retryAfterSeconds: seconds(headers['retry-after']) ?? seconds(details?.['retryAfterSeconds']),
    details,
  });
}

/** Kubernetes' reasons for the HTTP statuses that a proxy in front of it may answer with. */
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
  return causes.filter(isRawObject).map(({ reason, message, field }) => ({
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : '',
    ...(typeof field === 'string' && { field }),
  }));
}

/** Retry-After in its seconds form, which is the only one that Kubernetes sends. 0 in a Status means unset. */
function seconds(value: unknown): number | null {
  if (typeof value === 'number') return value > 0 ? value : null;
  return typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : null;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const cut = (body: string): string => shortened(body.replaceAll(/\s+/g, ' ').trim(), longestBody);
