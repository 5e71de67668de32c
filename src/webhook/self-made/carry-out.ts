import { authorityName, type Material, servedOf, signingAuthority, spanOf } from './material.ts';
import { type CertificateStep, type CertificateTimes, isValid } from './next-step.ts';
import type { CertifiedKey, Validity } from './x509.ts';

export interface Making {
  /** Which the certificate is for. */
  readonly dnsNames: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly times: CertificateTimes;
}

/** Whom the certificate is said to be of. Who it is for stands among its alternative names alone. */
const servingName = 'moco-rollout-webhook';

/**
 * What the Secret is to hold after a step. `held` is what this process has seen there before: where the Secret was
 * deleted or spoiled, what is served stays good until the API server knows of another authority.
 */
export async function carryOut(
  step: Exclude<CertificateStep, 'none'>,
  stored: Material,
  held: Material | null,
  making: Making,
): Promise<Material> {
  switch (step) {
    case 'newAuthority':
      return withNewAuthority([stored, ...(held ? [held] : [])], making);
    case 'newCertificate':
      return { ...stored, ...(await newCertificate(stored, making)) };
    case 'forgetAuthorities':
      return { ...stored, authorities: [signerOf(stored).pem] };
  }
}

async function withNewAuthority(candidates: readonly Material[], making: Making): Promise<Material> {
  const { dnsNames, now, times } = making;
  const { makeAuthority } = await import('./x509.ts');
  const made = await makeAuthority(authorityName, validity(now, times, times.authorityLifeMilliseconds));
  for (const { cert, key, ...candidate } of candidates) {
    const served = servedOf({ cert, key, ...candidate }, dnsNames);
    if (served && isValid(spanOf(served.certificate), now)) {
      return { authorities: [made.cert, served.issuer], authorityKey: made.key, cert, key };
    }
  }
  const alone = { authorities: [made.cert], authorityKey: made.key, cert: '', key: '' };
  return { ...alone, ...(await newCertificate(alone, making)) };
}

async function newCertificate(material: Material, { dnsNames, now, times }: Making): Promise<CertifiedKey> {
  const { certificate, key } = signerOf(material);
  const { makeServing } = await import('./x509.ts');
  const { notBefore, notAfter } = validity(now, times, times.servingLifeMilliseconds);
  const span = { notBefore, notAfter: Math.min(notAfter, spanOf(certificate).notAfter) };
  return makeServing({ name: authorityName, key }, servingName, dnsNames, span);
}

function signerOf(material: Material): NonNullable<ReturnType<typeof signingAuthority>> {
  const signer = signingAuthority(material);
  if (signer === null) throw new Error('expected an authority that can sign, got a Secret without one');
  return signer;
}

function validity(now: number, { backdateMilliseconds }: CertificateTimes, lifeMilliseconds: number): Validity {
  return { notBefore: now - backdateMilliseconds, notAfter: now + lifeMilliseconds };
}
