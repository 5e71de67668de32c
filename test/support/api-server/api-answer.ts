import { type Json } from '../../../src/base/json.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Without its query. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly contentType?: string;
  readonly body?: Json;
  /** The client, for listeners. */
  readonly actor: string;
}

/** It is admitted and answered like any other, and nothing of it is stored. */
export const isDryRun = ({ query }: ApiRequest): boolean => query?.get('dryRun') === 'All';

export interface ApiAnswer {
  readonly code: number;
  readonly body: Json;
  readonly retryAfterSeconds?: number;
}

export function answer(code: number, body: unknown): ApiAnswer {
  return { code, body: body as Json };
}

/** A meta/v1 Status. */
export function refusal(code: number, reason: string, message: string, details?: Json): ApiAnswer {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return answer(code, details === undefined ? status : { ...status, details });
}
