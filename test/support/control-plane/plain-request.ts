import { Agent, request } from 'undici';

const timeoutMilliseconds = 60_000;

export interface PlainRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  /** PEM of the CA that must have issued the server's certificate. */
  readonly ca?: string;
  readonly token?: string;
  readonly body?: unknown;
}

export interface PlainAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * One request on a connection of its own. The control plane has to start, and its tests to fail, without the code that
 * is tested against it, so this does not go through `src/kube`.
 */
export async function plainRequest({ url, method = 'GET', ca, token, body }: PlainRequest): Promise<PlainAnswer> {
  const dispatcher = new Agent({
    connect: { timeout: timeoutMilliseconds, ...(ca !== undefined && { ca }) },
    headersTimeout: timeoutMilliseconds,
    bodyTimeout: timeoutMilliseconds,
  });
  try {
    const answer = await request(url, {
      dispatcher,
      method,
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, body: await answer.body.text() };
  } finally {
    await dispatcher.destroy();
  }
}

/** Throws what was answered where it is something else than 200. */
export function isOk({ status, body }: PlainAnswer): boolean {
  if (status !== 200) throw new Error(`${status} ${body}`);
  return true;
}
