import { ApiError } from './kube/api-error.ts';

/** Invalid usage: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Another replica leads now, or may lead. The exit status is 1, and the Deployment restarts this replica. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/**
 * One sentence for the person who started the program. This program's own errors already have such a sentence as their
 * message. Any other error is a defect and is shown with its stack, for the bug report.
 */
export function explainFailure(error: unknown): string {
  if (error instanceof ApiError)
    return `the API server ${error.status === 0 ? 'gave no answer' : 'refused'}: ${error.message}`;
  if (error instanceof Error && ownErrors.has(error.name)) return error.message;
  return `a defect: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

const ownErrors: ReadonlySet<string> = new Set([
  'UsageError',
  'ConfigurationError',
  'CertificateError',
  'ListenError',
  'LeaseLostError',
]);
