import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const validDays = 365;

/** Paths of a certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  /** What Kubernetes reads as groups from a client's certificate. */
  readonly organizations?: readonly string[];
}

/** `true`: a flag without a value. */
async function openssl(command: string, options: Readonly<Record<string, string | true>>): Promise<void> {
  const flags = Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`-${name}`] : [`-${name}`, value],
  );
  try {
    await run('openssl', [command, ...flags]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new Error('Expected the program `openssl` in PATH to make certificates with, found none', { cause: error });
    }
    const output = (error as { stderr?: string }).stderr ?? '';
    throw new Error(`openssl ${command} failed: ${output.trim()}`, { cause: error });
  }
}

// A separate configuration, so that the machine's openssl.cnf has no effect.
const configuration = (subject: Subject): string =>
  [
    '[req]',
    'prompt = no',
    'distinguished_name = subject',
    'x509_extensions = authority',
    '[subject]',
    `CN = ${subject.commonName}`,
    ...(subject.organizations ?? []).map((name, index) => `${index}.O = ${name}`),
    '[authority]',
    'basicConstraints = critical,CA:TRUE',
    'keyUsage = critical,keyCertSign,cRLSign,digitalSignature',
    'subjectKeyIdentifier = hash',
    '',
  ].join('\n');

function leafExtensions(alternativeNames: readonly string[]): string {
  const names = alternativeNames.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`);
  return [
    'basicConstraints = critical,CA:FALSE',
    'keyUsage = critical,digitalSignature',
    'extendedKeyUsage = serverAuth,clientAuth',
    ...(names.length === 0 ? [] : [`subjectAltName = ${names.join(',')}`]),
    '',
  ].join('\n');
}

/** An EC key (P-256) in PEM. */
export async function writePrivateKey(path: string): Promise<void> {
  await openssl('ecparam', { name: 'prime256v1', genkey: true, noout: true, out: path });
}

/** A certificate authority of its own in a directory, and what it signs. */
export class CertificateAuthority {
  readonly #directory: string;
  #issued = 0;
  /** The CA's certificate, PEM, for a kubeconfig or (as base64) a webhook's `caBundle`. */
  readonly bundle: string;

  private constructor(directory: string, bundle: string) {
    this.#directory = directory;
    this.bundle = bundle;
  }

  static async create(directory: string): Promise<CertificateAuthority> {
    const path = (name: string): string => join(directory, name);
    await writePrivateKey(path('ca.key'));
    await writeFile(
      path('ca.cnf'),
      configuration({ commonName: `moco-rollout-test-${randomBytes(4).toString('hex')}` }),
    );
    await openssl('req', {
      x509: true,
      new: true,
      sha256: true,
      days: String(validDays),
      key: path('ca.key'),
      out: path('ca.crt'),
      config: path('ca.cnf'),
    });
    return new CertificateAuthority(directory, await readFile(path('ca.crt'), 'utf8'));
  }

  get bundlePath(): string {
    return join(this.#directory, 'ca.crt');
  }

  /**
   * A certificate for a server or a client, signed by this authority.
   *
   * @param alternativeNames host names and IP addresses that a server answers under
   */
  async issue(subject: string | Subject, alternativeNames: readonly string[] = []): Promise<KeyPair> {
    const name = `issued-${this.#issued++}`;
    const path = (extension: string): string => join(this.#directory, `${name}.${extension}`);
    await writePrivateKey(path('key'));
    await writeFile(path('cnf'), configuration(typeof subject === 'string' ? { commonName: subject } : subject));
    await writeFile(path('ext'), leafExtensions(alternativeNames));
    await openssl('req', { new: true, sha256: true, key: path('key'), out: path('csr'), config: path('cnf') });
    await openssl('x509', {
      req: true,
      sha256: true,
      days: String(validDays),
      in: path('csr'),
      out: path('crt'),
      CA: this.bundlePath,
      CAkey: join(this.#directory, 'ca.key'),
      set_serial: `0x${randomBytes(8).toString('hex')}`,
      extfile: path('ext'),
    });
    return { certificate: path('crt'), key: path('key') };
  }
}

/** PEM texts of a certificate for 127.0.0.1 that is its own authority. */
export interface LoopbackCertificate {
  readonly certificate: string;
  readonly key: string;
}

export async function loopbackCertificate(commonName = 'loopback'): Promise<LoopbackCertificate> {
  const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-loopback-'));
  const [out, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  try {
    await writePrivateKey(key);
    await openssl('req', {
      x509: true,
      key,
      out,
      days: String(validDays),
      subj: `/CN=${commonName}`,
      addext: 'subjectAltName=IP:127.0.0.1',
    });
    return { certificate: await readFile(out, 'utf8'), key: await readFile(key, 'utf8') };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
