import { type Agent, request } from 'node:https';
import { connect as connectPlainly, type Socket } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { type RunningWebhook, startWebhook, type WebhookOptions } from '../../src/admission/server.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { reviewOf } from './review.ts';

export interface Received {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface Sent {
  readonly agent: Agent | false;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The client's own certificate and its key, in PEM. */
  readonly identity: { readonly cert: string; readonly key: string } | undefined;
}

export const json = { 'Content-Type': 'application/json' };

/** The webhook on a port of 127.0.0.1, with a certificate in a directory of its own, and its clients. */
export class ServedWebhook {
  readonly logged: { readonly level: string; readonly message: string }[] = [];
  readonly directory: string;
  certificate: MadeCertificate;
  readonly #remove: () => Promise<void>;
  readonly #sockets: Socket[] = [];
  #webhook: RunningWebhook | null = null;
  #onLogged = (): void => {};

  private constructor(directory: Awaited<ReturnType<typeof makeDirectory>>, certificate: MadeCertificate) {
    this.directory = directory.path;
    this.#remove = directory.remove;
    this.certificate = certificate;
  }

  static async start(options: Partial<WebhookOptions> = {}): Promise<ServedWebhook> {
    const directory = await makeDirectory();
    const served = new ServedWebhook(directory, await putCertificate(directory.path, 'first'));
    await served.restart(options);
    return served;
  }

  get running(): RunningWebhook {
    if (this.#webhook === null) throw new Error('expected the webhook to run');
    return this.#webhook;
  }

  /** Begins anew with other options; rejects if that fails, and the one before goes on. */
  async restart(options: Partial<WebhookOptions>): Promise<void> {
    const tell = (level: string) => (_: object, message: string) => {
      this.logged.push({ level, message });
      this.#onLogged();
    };
    const before = this.#webhook;
    this.#webhook = await startWebhook({
      address: { host: '127.0.0.1', port: 0 },
      certDir: this.directory,
      log: { info: tell('info'), warn: tell('warn'), error: tell('error') },
      certificatePollMilliseconds: 10,
      ...options,
    });
    await before?.close(0);
  }

  async replaceCertificate(commonName: string): Promise<void> {
    this.certificate = await putCertificate(this.directory, commonName);
  }

  /** Resolves once this has been logged from now on. */
  heard(expected: string): Promise<void> {
    const from = this.logged.length;
    return new Promise((resolve) => {
      this.#onLogged = () => this.logged.slice(from).some(({ message }) => message === expected) && resolve();
    });
  }

  /** Sends a body, by default a review that it answers with a patch. */
  post(
    body: string | Buffer = JSON.stringify(reviewOf()),
    { path = '/mutate-statefulset', method = 'POST', headers = json, agent = false, identity }: Partial<Sent> = {},
  ): Promise<Received> {
    return new Promise((resolve, reject) => {
      const length = 'Transfer-Encoding' in headers ? {} : { 'Content-Length': Buffer.byteLength(body) };
      const target = { host: '127.0.0.1', port: this.#port, path, method, ca: this.certificate.cert, agent };
      const sent = request({ ...target, ...identity, headers: { ...headers, ...length } }, (response) => {
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

  async isServed(): Promise<void> {
    expect((await this.post()).status).to.equal(200);
  }

  open(options: ConnectionOptions = {}): Promise<TLSSocket> {
    const where = { host: '127.0.0.1', port: this.#port, rejectUnauthorized: false };
    return this.#opened((opened) => connect({ ...where, ...options }, opened));
  }

  openPlainly(): Promise<Socket> {
    return this.#opened((opened) => connectPlainly(this.#port, '127.0.0.1', opened));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#webhook?.close(0);
    await this.#remove();
  }

  get #port(): number {
    return this.running.address.port;
  }

  #opened<S extends Socket>(open: (opened: () => void) => S): Promise<S> {
    return new Promise((resolve, reject) => {
      const socket = open(() => resolve(socket));
      this.#sockets.push(socket);
      socket.on('error', reject);
    });
  }
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
