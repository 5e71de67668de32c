import { copyFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  CertificateError,
  followTls,
  readCertificate,
  readTls,
  type ServingTls,
} from '../../src/admission/serving-tls.ts';
import { makeDirectory, putCertificate } from './certificates.ts';

describe('the webhook’s certificate', () => {
  let directory: Awaited<ReturnType<typeof makeDirectory>>;

  beforeEach(async () => {
    directory = await makeDirectory();
  });

  afterEach(() => directory.remove());

  it('is read with its key', async () => {
    const made = await putCertificate(directory.path, 'one');
    const read = await readCertificate(directory.path);
    expect(read).to.include(made);
    expect(read.validTo.getTime()).to.be.greaterThan(Date.now());
  });

  it('that is missing is reported with a remedy', async () => {
    expect(await problem()).to.equal(
      `Expected the webhook's tls.crt in ${directory.path}, but there is none; put tls.crt and tls.key there, name another directory with --cert-dir, or run without the webhook with --webhook-bind-address=0.`,
    );
    await putCertificate(directory.path, 'one');
    await rm(join(directory.path, 'tls.key'));
    expect(await problem()).to.match(/^Expected the webhook's tls\.key in .*, but there is none;/);
  });

  it('that isn’t PEM is refused in a sentence', async () => {
    await putCertificate(directory.path, 'one');
    await writeFile(join(directory.path, 'tls.crt'), 'no certificate');
    expect(await problem()).to.match(/^Expected .*tls\.crt to be a certificate in PEM, but it can't be used: /);
  });

  it('that doesn’t fit its key is refused in a sentence', async () => {
    const other = await makeDirectory();
    try {
      await putCertificate(directory.path, 'one');
      await putCertificate(other.path, 'two');
      await copyFile(join(other.path, 'tls.key'), join(directory.path, 'tls.key'));
      expect(await problem()).to.match(/^Expected tls\.key in .* to be the key of tls\.crt, but they do not match\.$/);
    } finally {
      await other.remove();
    }
  });

  it('is noticed when kubelet swaps the link to it', async () => {
    for (const version of ['..1', '..2']) {
      await mkdir(join(directory.path, version));
      await putCertificate(join(directory.path, version), version);
    }
    await symlink('..1', join(directory.path, '..data'));
    await symlink(join('..data', 'tls.crt'), join(directory.path, 'tls.crt'));
    await symlink(join('..data', 'tls.key'), join(directory.path, 'tls.key'));
    const second = await readCertificate(join(directory.path, '..2'));
    const { changed, stop } = await follow();
    await symlink('..2', join(directory.path, '..data_tmp'));
    await rename(join(directory.path, '..data_tmp'), join(directory.path, '..data'));
    expect((await changed).certificate.cert).to.equal(second.cert);
    stop();
  });

  it('stays until a valid replacement exists, which is logged once', async () => {
    await putCertificate(directory.path, 'one');
    const problems: string[] = [];
    const reported = Promise.withResolvers<void>();
    const { changed, stop } = await follow((problem) => {
      problems.push(problem);
      reported.resolve();
    });
    await rm(join(directory.path, 'tls.crt'));
    await reported.promise;
    const { cert } = await putCertificate(directory.path, 'two');
    expect((await changed).certificate.cert).to.equal(cert);
    expect(problems.filter((problem) => problem.includes('there is none'))).to.have.length(1);
    stop();
  });

  async function problem(): Promise<string> {
    const thrown = await readCertificate(directory.path).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(CertificateError);
    return (thrown as CertificateError).message;
  }

  async function follow(onProblem: (problem: string) => void = () => {}) {
    const sources = { certDir: directory.path };
    const { promise: changed, resolve: onChange } = Promise.withResolvers<ServingTls>();
    const warn = ({ error }: { readonly error?: unknown }): void => onProblem(String(error));
    const log = { info: () => {}, warn, error: () => {} };
    const current = await readTls(sources);
    return { changed, stop: followTls(sources, current, 5, log, onChange) };
  }
});
