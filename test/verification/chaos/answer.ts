import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mishap } from './mishap.ts';

const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host']);

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/** An answer that the API server did not send. */
export function refuse(mishap: Extract<Mishap, { kind: 'reset' | 'answer' }>, response: ServerResponse): void {
  if (mishap.kind === 'reset') {
    response.socket?.destroy();
    return;
  }
  const { status, retryAfterSeconds } = mishap;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
  const message = 'trouble on the way';
  response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, message }));
}

/** Without those that belong to one connection. */
export function passing(headers: NodeJS.Dict<string | string[]>): NodeJS.Dict<string | string[]> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));
}

export async function textOf(message: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
