import { explainFailure } from '../failure.ts';
import { ApiError } from '../kube/api-error.ts';

/** An error with a message for the user. The exit status is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The error on one line, in kubectl's wording, so that users recognise it. */
export function explainCommandFailure(error: unknown, { server, requestTimeoutSeconds }: Dependencies): string {
  if (error instanceof CommandError) return `error: ${error.message}`;
  if (!(error instanceof ApiError)) return `error: ${explainFailure(error).split('\n', 1)[0]}`;
  switch (error.reason) {
    case 'TimedOut':
      return `Unable to connect to the server: ${server} did not answer within ${requestTimeoutSeconds} s (--request-timeout)`;
    case 'ConnectionRefused':
    case 'ConnectionLost':
      return `Unable to connect to the server: ${server} is unreachable (${sentenceOf(error)})`;
    case 'CredentialsUnavailable':
      return `error: ${error.message}`;
    case 'Unauthorized':
      return `error: You must be logged in to the server (Unauthorized): ${server} does not accept these credentials`;
    default:
      return error.status === 0
        ? `error: ${error.message}`
        : `Error from server (${error.reason}): ${sentenceOf(error)}`;
  }
}

interface Dependencies {
  readonly server: string;
  readonly requestTimeoutSeconds: number;
}

/** The server's own message, without the request in front of it. */
export function sentenceOf({ message }: ApiError): string {
  return message.replace(/\b[A-Z]+ \/\S+: (\d+ )?[A-Za-z]+: /g, '');
}
