import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface MadeCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A temporary directory for certificates; `remove` takes it away. */
export async function makeDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'moco-rollout-webhook-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Puts a new self-signed `tls.crt` and `tls.key`, for 127.0.0.1 unless told, into the directory, each file in one move. */
export async function putCertificate(
  directory: string,
  commonName: string,
  alternativeNames = 'IP:127.0.0.1',
): Promise<MadeCertificate> {
  const [cert, key] = [join(directory, 'next.crt'), join(directory, 'next.key')];
  const subject = ['-subj', `/CN=${commonName}`, '-addext', `subjectAltName=${alternativeNames}`];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await run('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-days', '2', ...subject]);
  const made = { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
  await rename(cert, join(directory, 'tls.crt'));
  await rename(key, join(directory, 'tls.key'));
  return made;
}
