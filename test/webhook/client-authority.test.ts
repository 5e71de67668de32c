import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { CertificateError } from '../../src/webhook/certificate.ts';
import { readClientAuthority } from '../../src/webhook/client-authority.ts';
import { type RunningWebhook, startWebhook } from '../../src/webhook/server.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { post, type Received } from './post.ts';
import { reviewOf } from './review.ts';

describe('a webhook that serves only the clients of an authority', () => {
  let serving: Awaited<ReturnType<typeof makeDirectory>>;
  let clients: Awaited<ReturnType<typeof makeDirectory>>;
  let certificate: MadeCertificate;
  /** Is its own authority. */
  let apiServer: MadeCertificate;
  let webhook: RunningWebhook | null = null;
  let told: (message: string) => void = () => {};

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

  it('answers one that the authority has issued a certificate for', async () => {
    expect((await ask(apiServer)).status).to.equal(200);
  });

  it('cuts off one without a certificate, and one with somebody else’s', async () => {
    const other = await makeDirectory();
    for (const identity of [undefined, await putCertificate(other.path, 'api-server')]) {
      expect(await ask(identity).catch((error: unknown) => error)).to.be.instanceOf(Error);
    }
    await other.remove();
    expect((await ask(apiServer)).status).to.equal(200);
  });

  it('takes up another authority, and keeps it beside a new certificate of its own', async () => {
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

  it('keeps its authority while there is nothing to use in its place', async () => {
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
    it(`isn’t started where the authority’s file ${what}, and a sentence says so`, async () => {
      if (text === null) await rm(caFile());
      else await writeFile(caFile(), text);
      const thrown = await start().catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(CertificateError);
      expect((thrown as CertificateError).message)
        .to.match(/^Expected certificates in PEM at .*tls\.crt, given by --client-ca-file, /)
        .and.match(why);
    });
  }

  it('takes a file of several certificates', async () => {
    const other = await makeDirectory();
    const { cert } = await putCertificate(other.path, 'another');
    await other.remove();
    const both = `${cert}\n${apiServer.cert}`;
    await writeFile(caFile(), both);
    expect(await readClientAuthority(caFile())).to.equal(await readFile(caFile(), 'utf8'));
    await webhook?.close(0);
    webhook = await start();
    expect((await ask(apiServer)).status).to.equal(200);
  });

  function caFile(): string {
    return join(clients.path, 'tls.crt');
  }

  function start(): Promise<RunningWebhook> {
    const tell = (_: object, message: string): void => told(message);
    const log = { info: tell, warn: tell, error: tell };
    const address = { host: '127.0.0.1', port: 0 };
    return startWebhook({ address, certDir: serving.path, clientCaFile: caFile(), log });
  }

  function heard(expected: string): Promise<void> {
    return new Promise((resolve) => {
      told = (message) => {
        if (message === expected) resolve();
      };
    });
  }

  function ask(identity: MadeCertificate | undefined): Promise<Received> {
    const port = webhook?.address.port ?? 0;
    return post(port, certificate.cert, JSON.stringify(reviewOf()), identity === undefined ? {} : { identity });
  }
});
