import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

const timeoutMilliseconds = 10_000;

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
export function plainRequest({ url, method = 'GET', ca, token, body }: PlainRequest): Promise<PlainAnswer> {
  const secure = url.startsWith('https:');
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method,
      agent: false,
      timeout: timeoutMilliseconds,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(ca === undefined ? {} : { ca: ca }),
    });
    request.once('timeout', () => request.destroy(new Error(`No answer from ${url} for ${timeoutMilliseconds} ms`)));
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    request.end(payload);
  });
}
