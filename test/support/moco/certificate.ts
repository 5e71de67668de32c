import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** PEM texts of a certificate for 127.0.0.1 that is its own authority. */
export interface LoopbackCertificate {
  readonly certificate: string;
  readonly key: string;
}

const validDays = 7;

/** Created by `openssl`, which must be installed, in a temporary directory. */
export async function loopbackCertificate(): Promise<LoopbackCertificate> {
  const directory = await mkdtemp(join(tmpdir(), 'moco-webhook-'));
  const certificatePath = join(directory, 'tls.crt');
  const keyPath = join(directory, 'tls.key');
  try {
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${validDays}`.split(' ');
    const subject = ['-subj', '/CN=moco-webhook', '-addext', 'subjectAltName=IP:127.0.0.1'];
    await promisify(execFile)('openssl', [...words, ...subject, '-keyout', keyPath, '-out', certificatePath]);
    return { certificate: await readFile(certificatePath, 'utf8'), key: await readFile(keyPath, 'utf8') };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
