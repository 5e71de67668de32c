import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type CertifiedKey, makeAuthority, makeServing } from '../../../src/webhook/self-made/x509.ts';
import { makeDirectory } from '../certificates.ts';

const run = promisify(execFile);
const dnsNames = ['webhook.some.svc', 'webhook.some.svc.cluster.local'];
const authorityName = 'an-authority';
const at = (text: string): number => Date.parse(text);
const validity = { notBefore: at('2026-06-01T12:00:00.700Z'), notAfter: at('2049-12-31T23:59:59Z') };
/** Within both. */
const moment = String(at('2030-01-01T00:00:00Z') / 1000);

describe('a certificate of this program’s making', () => {
  let directory: Awaited<ReturnType<typeof makeDirectory>>;
  let authority: CertifiedKey;
  let serving: CertifiedKey;

  before(async () => {
    directory = await makeDirectory();
    authority = await makeAuthority(authorityName, validity);
    serving = await issue(authority);
  });

  after(() => directory.remove());

  it('is one that OpenSSL takes, checked strictly, for a server of each of its names', async () => {
    for (const name of dnsNames) expect(await verified(serving, authority, name)).to.contain(': OK');
  });

  it('is refused under another name, and by another authority of the same name', async () => {
    expect(await verified(serving, authority, 'webhook.other.svc')).to.contain('hostname mismatch');
    const other = await makeAuthority(authorityName, validity);
    expect(await verified(serving, other, dnsNames[0] ?? '')).to.match(/unable to get (local )?issuer certificate/);
  });

  it('has the names, the times and the key that were asked for, and no name but those', () => {
    const read = new X509Certificate(serving.cert);
    expect(read.subjectAltName).to.equal(dnsNames.map((name) => `DNS:${name}`).join(', '));
    expect(read.checkPrivateKey(createPrivateKey(serving.key))).to.equal(true);
    expect(read.ca).to.equal(false);
    expect(read.subject).to.equal('CN=a-server');
    expect(read.validFromDate.toISOString()).to.equal('2026-06-01T12:00:00.000Z');
    expect(read.validToDate.toISOString()).to.equal('2049-12-31T23:59:59.000Z');
  });

  it('can end after 2049, from when on years are written with four digits', async () => {
    const { cert } = await makeAuthority(authorityName, { ...validity, notAfter: at('2050-01-01T00:00:00Z') });
    expect(new X509Certificate(cert).validToDate.toISOString()).to.equal('2050-01-01T00:00:00.000Z');
    expect(new X509Certificate(cert).toString()).to.equal(cert);
  });

  it('has a serial number that no other has', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => issue(authority)));
    const serials = made.map(({ cert }) => new X509Certificate(cert).serialNumber);
    expect(new Set(serials).size).to.equal(20);
    for (const serial of serials) expect(serial).to.match(/^[4-7][0-9A-F]{31}$/);
  });

  it('by an authority that signs itself, for nothing but servers', async () => {
    const read = new X509Certificate(authority.cert);
    expect(read.ca).to.equal(true);
    expect(read.verify(read.publicKey)).to.equal(true);
    const { stdout } = await run('openssl', ['x509', '-noout', '-text', '-in', await put('shown', authority.cert)]);
    expect(stdout).to.match(/Basic Constraints: critical\n +CA:TRUE, pathlen:0/);
    expect(stdout).to.match(/Key Usage: critical\n +Certificate Sign, CRL Sign/);
    expect(stdout).to.contain('ASN1 OID: prime256v1').and.to.contain('ecdsa-with-SHA256');
  });

  function issue({ key }: CertifiedKey): Promise<CertifiedKey> {
    return makeServing({ name: authorityName, key: createPrivateKey(key) }, 'a-server', dnsNames, validity);
  }

  /** What OpenSSL says, of either kind. */
  async function verified(certificate: CertifiedKey, by: CertifiedKey, name: string): Promise<string> {
    const files = [await put('authority', by.cert), await put('certificate', certificate.cert)] as const;
    const checks = ['-x509_strict', '-purpose', 'sslserver', '-attime', moment, '-verify_hostname', name];
    return run('openssl', ['verify', ...checks, '-CAfile', ...files]).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
  }

  async function put(name: string, text: string): Promise<string> {
    const file = join(directory.path, name);
    await writeFile(file, text);
    return file;
  }
});
