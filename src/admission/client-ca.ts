import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CertificateError } from './certificate.ts';

const pemCertificate = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/**
 * Reads the certificates, in PEM, of which one has to have issued the API server's client certificate. Rejects with a
 * `CertificateError` where there is none or one can't be read: a server that takes nobody is better not started.
 */
export async function readClientCA(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is none' : (error as Error).message;
    throw new CertificateError(`Expected certificates in PEM at ${file}, given by --client-ca-file, but ${reason}.`);
  });
  const certificates = text.match(pemCertificate) ?? [];
  if (certificates.length === 0) {
    throw new CertificateError(`Expected certificates in PEM at ${file}, given by --client-ca-file, got none in it.`);
  }
  try {
    certificates.map((certificate) => new X509Certificate(certificate));
  } catch (error) {
    throw new CertificateError(
      `Expected certificates in PEM at ${file}, given by --client-ca-file, but one can't be used: ${(error as Error).message}.`,
    );
  }
  return text;
}
