import { type Agent, request } from 'node:https';
import { expect } from 'chai';

export interface Received {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Sent {
  readonly agent: Agent | false;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The client's own certificate and its key, in PEM. */
  readonly identity: { readonly cert: string; readonly key: string };
}

export const json = { 'Content-Type': 'application/json' };

/** Sends a body to a port of 127.0.0.1 whose certificate has to be the one given. */
export function post(
  port: number,
  certificate: string,
  body: string | Buffer,
  { path = '/mutate-statefulset', method = 'POST', headers = json, agent = false, identity }: Partial<Sent> = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length = 'Transfer-Encoding' in headers ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const target = { host: '127.0.0.1', port, path, method, ca: certificate, agent, ...identity };
    const sent = request({ ...target, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          headers: response.headers,
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The sentence of an answer that is a failure; it has to be a Status of Kubernetes, which the API server reads. */
export function sentenceOf({ status, body, headers }: Received): string {
  expect(headers['content-type']).to.equal('application/json');
  const reported = JSON.parse(body) as { readonly message: string };
  expect(reported).to.include({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status });
  expect(reported)
    .to.have.property('reason')
    .that.matches(/^[A-Z][A-Za-z]+$/);
  return reported.message;
}
