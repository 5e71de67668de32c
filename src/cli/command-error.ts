import { explainFailure } from '../failure.ts';
import { ApiError } from '../kube/api-error.ts';

/** An error with a message for the user. The command exits with status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/**
 * The error on one line, in kubectl's wording, so that users recognise it. Only an answer of the API server, or none,
 * needs the session: without a kubeconfig it knows no server.
 */
export function explainCommandFailure(
  error: unknown,
  session: { readonly server: string; readonly requestTimeoutSeconds: number },
): string {
  if (error instanceof CommandError) return `error: ${error.message}`;
  if (!(error instanceof ApiError)) return `error: ${explainFailure(error).split('\n', 1)[0]}`;
  const { server, requestTimeoutSeconds } = session;
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

/** The server's own message, without the request in front of it. */
export function sentenceOf({ message }: ApiError): string {
  return message.replace(/\b[A-Z]+ \/\S+: (\d+ )?[A-Za-z]+: /g, '');
}

/** Names are not suggested if they differ by more than this share of their length. */
const furthestShare = 0.5;
const mostNames = 3;

/**
 * ` (did you mean x or y?)` with the names that the user may have meant, most similar first. Empty if there are none.
 */
export function didYouMean(wanted: string, names: readonly string[]): string {
  const asTyped = wanted.toLowerCase();
  const furthest = Math.max(1, Math.floor(wanted.length * furthestShare));
  const near = [...new Set(names)]
    .map((name) => {
      const other = name.toLowerCase();
      const contained = asTyped !== '' && (other.includes(asTyped) || asTyped.includes(other));
      return { name, edits: contained ? 1 : distance(asTyped, other) };
    })
    .filter(({ edits }) => edits <= furthest)
    .toSorted((one, other) => one.edits - other.edits || (one.name < other.name ? -1 : 1))
    .slice(0, mostNames)
    .map(({ name }) => name);
  return near.length === 0 ? '' : ` (did you mean ${near.join(' or ')}?)`;
}

/** The Levenshtein distance: the smallest number of characters to insert, delete or replace. */
function distance(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 0; row < one.length; row++) {
    const now = [row + 1];
    for (let column = 0; column < other.length; column++) {
      const replaced = (before[column] ?? 0) + (one[row] === other[column] ? 0 : 1);
      now.push(Math.min(replaced, (before[column + 1] ?? 0) + 1, (now[column] ?? 0) + 1));
    }
    before = now;
  }
  return before[other.length] ?? 0;
}
