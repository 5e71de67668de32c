import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';

// The certificates of the webhook server. They are read again when the files change.

export interface WebhookLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface TlsSources {
  /** The directory that contains `tls.crt` and `tls.key`. */
  readonly certDir: string;
  /**
   * The path of a file with CA certificates in PEM. Only clients with a certificate issued by one of these CAs are
   * served, such as an API server with a kubeconfig in its `--admission-control-config-file`.
   */
  readonly clientCaFile?: string;
}

export interface ServingTls {
  readonly certificate: Certificate;
  /** The CA certificates in PEM. If this is `null`, every client is served. */
  readonly clientCA: string | null;
}

/** Rejects with a `CertificateError`. */
export async function readTls({ certDir, clientCaFile }: TlsSources): Promise<ServingTls> {
  return {
    certificate: await readCertificate(certDir),
    clientCA: clientCaFile === undefined ? null : await readClientCA(clientCaFile),
  };
}

/** The options for a server, and for its `setSecureContext`. */
export function secureContext({ certificate: { cert, key }, clientCA }: ServingTls) {
  return { cert, key, minVersion: 'TLSv1.2', ...(clientCA === null ? {} : { ca: clientCA }) } as const;
}

/**
 * Reads the server's certificate and the client CA again at every poll, each on its own, because kubelet and
 * cert-manager may replace them at any time. An unusable file is reported once, and the previous content stays in use.
 * Returns a function that stops the polling.
 */
export function followTls(
  { certDir, clientCaFile }: TlsSources,
  current: ServingTls,
  pollMilliseconds: number,
  log: WebhookLog,
  onChange: (found: ServingTls) => void,
): () => void {
  let inUse = current;
  const problems = new Map<keyof ServingTls, string>();
  const look = async <Field extends keyof ServingTls>(
    field: Field,
    read: () => Promise<ServingTls[Field]>,
    changed: (found: ServingTls[Field]) => void,
    kept: string,
  ): Promise<void> => {
    try {
      const found = await read();
      problems.delete(field);
      if (isDeepStrictEqual(found, inUse[field])) return;
      inUse = { ...inUse, [field]: found };
      onChange(inUse);
      changed(found);
    } catch (error) {
      const problem = String(error);
      if (problems.get(field) !== problem) log.warn({ error }, kept);
      problems.set(field, problem);
    }
  };
  const renewed = ({ validTo }: Certificate): void =>
    log.info({ validTo: validTo.toISOString() }, 'Webhook loaded a new certificate');
  const another = (): void => log.info({}, 'Webhook loaded a new client CA');
  let isLooking = false;
  const lookAtBoth = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    await look(
      'certificate',
      () => readCertificate(certDir),
      renewed,
      'Failed to load a new certificate; the webhook keeps the current one',
    );
    if (clientCaFile !== undefined) {
      const kept = 'Failed to load a new client CA; the webhook keeps the current one';
      await look('clientCA', () => readClientCA(clientCaFile), another, kept);
    }
    isLooking = false;
  };
  const poll = setInterval(() => void lookAtBoth(), pollMilliseconds);
  poll.unref();
  return () => clearInterval(poll);
}

/** The webhook's certificate is unusable. The message is a sentence for the operator. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** A certificate chain and the private key that belongs to it, both in PEM. */
interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** The time at which the first certificate of the chain expires. */
  readonly validTo: Date;
}

const certificateFile = 'tls.crt';
const keyFile = 'tls.key';

/**
 * Reads `tls.crt` and `tls.key` from a directory, as cert-manager and kubelet put them there. Rejects with a
 * `CertificateError` if a file is missing or not PEM, or if the two files do not belong together, as may happen while a
 * pair is being replaced.
 */
export async function readCertificate(directory: string): Promise<Certificate> {
  const cert = await readPart(directory, certificateFile);
  const key = await readPart(directory, keyFile);
  const [certPath, keyPath] = [join(directory, certificateFile), join(directory, keyFile)];
  const certificate = decode(certPath, 'a certificate in PEM', () => new X509Certificate(cert));
  const privateKey = decode(keyPath, 'a private key in PEM without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError(
      `Expected ${keyFile} in ${directory} to be the key of ${certificateFile}, but they do not match.`,
    );
  }
  decode(directory, 'a directory with a certificate chain and its key', () => createSecureContext({ cert, key }));
  return { cert, key, validTo: certificate.validToDate };
}

function readPart(directory: string, file: string): Promise<string> {
  return readOr(join(directory, file), (reason) => {
    const remedy = 'name another directory with --cert-dir, or run without the webhook with --webhook-bind-address=0';
    return `Expected the webhook's ${file} in ${directory}, but ${reason}; put ${certificateFile} and ${keyFile} there, ${remedy}.`;
  });
}

/** Reads a file. Rejects with a `CertificateError` that says why the file cannot be read. */
async function readOr(file: string, sentence: (reason: string) => string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CertificateError(sentence(code === 'ENOENT' ? 'there is none' : message));
  }
}

function decode<T>(path: string, expected: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw new CertificateError(`Expected ${path} to be ${expected}, but it can't be used: ${message}.`);
  }
}

const pemBegin = '-----BEGIN CERTIFICATE-----';
const pemEnd = '-----END CERTIFICATE-----';

/** The PEM certificates in a text. */
function pemCertificates(text: string): readonly string[] {
  const [, ...blocks] = text.split(pemBegin);
  return blocks.flatMap((block) => {
    const end = block.indexOf(pemEnd);
    return end === -1 ? [] : [`${pemBegin}${block.slice(0, end)}${pemEnd}`];
  });
}

/**
 * Reads the PEM certificates of the CAs that may have issued the API server's client certificate. Rejects with a
 * `CertificateError` if there is no certificate or if one cannot be read, because a server that would accept no client
 * should not start.
 */
export async function readClientCA(file: string): Promise<string> {
  const expected = `Expected certificates in PEM at ${file}, given by --client-ca-file,`;
  const text = await readOr(file, (reason) => `${expected} but ${reason}.`);
  const certificates = pemCertificates(text);
  if (certificates.length === 0) throw new CertificateError(`${expected} but it contains none.`);
  try {
    certificates.map((certificate) => new X509Certificate(certificate));
  } catch (error) {
    throw new CertificateError(`${expected} but one can't be used: ${(error as Error).message}.`);
  }
  return text;
}
