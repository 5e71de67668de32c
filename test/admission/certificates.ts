import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackCertificate } from '../support/control-plane/certificates.ts';

export interface MadeCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A temporary directory for certificates; `remove` takes it away. */
export async function makeDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'moco-rollout-webhook-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Puts a new self-signed `tls.crt` and `tls.key` for 127.0.0.1 into the directory, each file in one move. */
export async function putCertificate(directory: string, commonName: string): Promise<MadeCertificate> {
  const { certificate: cert, key } = await loopbackCertificate(commonName);
  for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key })) {
    await writeFile(join(directory, 'next'), text);
    await rename(join(directory, 'next'), join(directory, name));
  }
  return { cert, key };
}
