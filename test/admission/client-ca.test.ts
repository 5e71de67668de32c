import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { CertificateError, readClientCA } from '../../src/admission/serving-tls.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { ServedWebhook } from './served-webhook.ts';

describe('a webhook that serves only the clients of a CA', () => {
  let clients: Awaited<ReturnType<typeof makeDirectory>>;
  /** Is its own authority. */
  let apiServer: MadeCertificate;
  let clientCaFile: string;
  let webhook: ServedWebhook;

  beforeEach(async () => {
    clients = await makeDirectory();
    clientCaFile = join(clients.path, 'tls.crt');
    apiServer = await putCertificate(clients.path, 'api-server');
    webhook = await ServedWebhook.start({ clientCaFile });
  });

  afterEach(async () => {
    await webhook.close();
    await clients.remove();
  });

  const serves = async (identity: MadeCertificate): Promise<void> => {
    expect((await webhook.post(undefined, { identity })).status).to.equal(200);
  };
  const disconnects = async (identity?: MadeCertificate): Promise<void> => {
    expect(await webhook.post(undefined, { identity }).catch((error: unknown) => error)).to.be.instanceOf(Error);
  };

  it('answers a client with a certificate of the CA, and disconnects one without', async () => {
    const other = await makeDirectory();
    for (const identity of [undefined, await putCertificate(other.path, 'api-server')]) await disconnects(identity);
    await other.remove();
    await serves(apiServer);
  });

  it('uses a changed CA, and keeps it beside a new serving certificate', async () => {
    const before = apiServer;
    const changed = webhook.heard('Webhook loaded a new client CA');
    apiServer = await putCertificate(clients.path, 'next-api-server');
    await changed;
    await serves(apiServer);
    await disconnects(before);
    const renewed = webhook.heard('Webhook loaded a new certificate');
    await webhook.replaceCertificate('webhook');
    await renewed;
    await serves(apiServer);
    await disconnects(before);
  });

  it('keeps its CA while there is no usable replacement', async () => {
    const problem = webhook.heard('Failed to load a new client CA; the webhook keeps the current one');
    await rm(clientCaFile);
    await problem;
    await serves(apiServer);
    await disconnects();
  });

  const unusable: Readonly<Record<string, readonly [text: string | null, why: RegExp]>> = {
    'is not there': [null, /, but there is none\.$/],
    'is empty': ['', /, but it contains none\.$/],
    'has no certificate': ['no certificate', /, but it contains none\.$/],
    'has one that can’t be read': [
      '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n',
      /, but one can't be used: .+\.$/,
    ],
  };
  for (const [what, [text, why]] of Object.entries(unusable)) {
    it(`does not start if the CA's file ${what}, and reports that`, async () => {
      if (text === null) await rm(clientCaFile);
      else await writeFile(clientCaFile, text);
      const thrown = await webhook.restart({ clientCaFile }).catch((error: unknown) => error);
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
    await writeFile(clientCaFile, `${cert}\n${apiServer.cert}`);
    expect(await readClientCA(clientCaFile)).to.equal(await readFile(clientCaFile, 'utf8'));
    await webhook.restart({ clientCaFile });
    await serves(apiServer);
  });
});
