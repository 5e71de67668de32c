import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';

/** The webhook's certificate can't be used. The message is a sentence for the operator. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** A certificate chain and its key in PEM, known to belong together. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** When the first certificate of the chain ends. */
  readonly validTo: Date;
}

const certificateFile = 'tls.crt';
const keyFile = 'tls.key';

/**
 * Reads `tls.crt` and `tls.key` from a directory, as cert-manager and kubelet put them there. Rejects with a
 * `CertificateError` when one is missing, isn't PEM, or the two don't belong together, which is also how a pair looks
 * that is just being replaced.
 */
export async function readCertificate(directory: string): Promise<Certificate> {
  const cert = await readPart(directory, certificateFile);
  const key = await readPart(directory, keyFile);
  const certificate = decode(join(directory, certificateFile), 'a certificate in PEM', () => new X509Certificate(cert));
  const privateKey = decode(join(directory, keyFile), 'a private key in PEM without a passphrase', () =>
    createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError(
      `Expected ${keyFile} in ${directory} to be the key of ${certificateFile}, but the two don't belong together.`,
    );
  }
  decode(directory, 'a directory of a certificate chain and its key', () => createSecureContext({ cert, key }));
  return { cert, key, validTo: new Date(certificate.validTo) };
}

async function readPart(directory: string, file: string): Promise<string> {
  try {
    return await readFile(join(directory, file), 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is none' : (error as Error).message;
    throw new CertificateError(
      `Expected the webhook's ${file} in ${directory}, but ${reason}; put ${certificateFile} and ${keyFile} there, ` +
        'name another directory with --cert-dir, or run without the webhook with --webhook-bind-address=0.',
    );
  }
}

function decode<T>(path: string, expected: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CertificateError(
      `Expected ${path} to be ${expected}, but it can't be used: ${(error as Error).message}.`,
    );
  }
}

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
