import { explainFailure } from '../failure.ts';
import { ApiError } from '../kube/api-error.ts';

/** What was asked for can't be done: a sentence for the user, and exit status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Errors in the words that kubectl has for them, so that people find what they know; one line for each. */
export function explainCommandFailure(error: unknown, { server, requestTimeoutSeconds }: Surroundings): string {
  if (error instanceof CommandError) return `error: ${error.message}`;
  if (!(error instanceof ApiError)) return `error: ${explainFailure(error)}`;
  switch (error.reason) {
    case 'TimedOut':
      return `Unable to connect to the server: ${server} gave no answer within ${requestTimeoutSeconds} s (--request-timeout)`;
    case 'ConnectionRefused':
    case 'ConnectionLost':
      return `Unable to connect to the server: ${server} can't be reached (${sentenceOf(error)})`;
    case 'CredentialsUnavailable':
      return `error: ${error.message}`;
    case 'Unauthorized':
      return `error: You must be logged in to the server (Unauthorized): ${server} does not know these credentials`;
    default:
      return error.status === 0
        ? `error: ${error.message}`
        : `Error from server (${error.reason}): ${sentenceOf(error)}`;
  }
}

interface Surroundings {
  readonly server: string;
  readonly requestTimeoutSeconds: number;
}

/** What the server itself said, without the request in front of it. */
export function sentenceOf({ message }: ApiError): string {
  return message.replace(/\b[A-Z]+ \/\S+: (\d+ )?[A-Za-z]+: /g, '');
}
