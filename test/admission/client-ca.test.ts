import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RunningWebhook, startWebhook } from '../../src/admission/server.ts';
import { CertificateError, readClientCA } from '../../src/admission/serving-tls.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { post, type Received } from './post.ts';
import { reviewOf } from './review.ts';

describe('a webhook that serves only the clients of a CA', () => {
  let serving: Awaited<ReturnType<typeof makeDirectory>>;
  let clients: Awaited<ReturnType<typeof makeDirectory>>;
  let certificate: MadeCertificate;
  /** Is its own authority. */
  let apiServer: MadeCertificate;
  let webhook: RunningWebhook | null = null;
  let reported: (message: string) => void = () => {};

  beforeEach(async () => {
    serving = await makeDirectory();
    clients = await makeDirectory();
    certificate = await putCertificate(serving.path, 'webhook');
    apiServer = await putCertificate(clients.path, 'api-server');
    webhook = await start();
  });

  afterEach(async () => {
    await webhook?.close(0);
    webhook = null;
    await serving.remove();
    await clients.remove();
  });

  it('answers a client with a certificate of the CA', async () => {
    expect((await ask(apiServer)).status).to.equal(200);
  });

  it('disconnects a client without a certificate of the CA', async () => {
    const other = await makeDirectory();
    for (const identity of [undefined, await putCertificate(other.path, 'api-server')]) {
      expect(await ask(identity).catch((error: unknown) => error)).to.be.instanceOf(Error);
    }
    await other.remove();
    expect((await ask(apiServer)).status).to.equal(200);
  });

  it('uses a changed CA, and keeps it beside a new serving certificate', async () => {
    const before = apiServer;
    const changed = heard('the webhook takes the client certificates of another authority');
    apiServer = await putCertificate(clients.path, 'next-api-server');
    await changed;
    expect((await ask(apiServer)).status).to.equal(200);
    expect(await ask(before).catch((error: unknown) => error)).to.be.instanceOf(Error);
    const renewed = heard('the webhook has a new certificate');
    certificate = await putCertificate(serving.path, 'webhook');
    await renewed;
    expect((await ask(apiServer)).status).to.equal(200);
    expect(await ask(before).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });

  it('keeps its CA while there is no usable replacement', async () => {
    const problem = heard('the webhook keeps the authority of its clients');
    await rm(caFile());
    await problem;
    expect((await ask(apiServer)).status).to.equal(200);
    expect(await ask(undefined).catch((error: unknown) => error)).to.be.instanceOf(Error);
  });

  const unusable: Readonly<Record<string, readonly [text: string | null, why: RegExp]>> = {
    'is not there': [null, /, but there is none\.$/],
    'is empty': ['', /, got none in it\.$/],
    'has no certificate': ['no certificate', /, got none in it\.$/],
    'has one that can’t be read': [
      '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n',
      /, but one can't be used: .+\.$/,
    ],
  };
  for (const [what, [text, why]] of Object.entries(unusable)) {
    it(`does not start if the CA's file ${what}, and reports that`, async () => {
      if (text === null) await rm(caFile());
      else await writeFile(caFile(), text);
      const thrown = await start().catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(CertificateError);
      expect((thrown as CertificateError).message)
        .to.match(/^Expected certificates in PEM at .*tls\.crt, given by --client-ca-file, /)
        .and.match(why);
    });
  }

  it('accepts a file of several certificates', async () => {
    const other = await makeDirectory();
    const { cert } = await putCertificate(other.path, 'another');
    await other.remove();
    const both = `${cert}\n${apiServer.cert}`;
    await writeFile(caFile(), both);
    expect(await readClientCA(caFile())).to.equal(await readFile(caFile(), 'utf8'));
    await webhook?.close(0);
    webhook = await start();
    expect((await ask(apiServer)).status).to.equal(200);
  });

  function caFile(): string {
    return join(clients.path, 'tls.crt');
  }

  function start(): Promise<RunningWebhook> {
    const tell = (_: object, message: string): void => reported(message);
    const log = { info: tell, warn: tell, error: tell };
    const address = { host: '127.0.0.1', port: 0 };
    return startWebhook({
      address,
      certDir: serving.path,
      clientCaFile: caFile(),
      log,
      certificatePollMilliseconds: 10,
    });
  }

  function heard(expected: string): Promise<void> {
    return new Promise((resolve) => {
      reported = (message) => {
        if (message === expected) resolve();
      };
    });
  }

  function ask(identity: MadeCertificate | undefined): Promise<Received> {
    const port = webhook?.address.port ?? 0;
    return post(port, certificate.cert, JSON.stringify(reviewOf()), identity === undefined ? {} : { identity });
  }
});
