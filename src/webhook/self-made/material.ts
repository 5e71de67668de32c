import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Span, Usable } from './next-step.ts';

/** What the Secret holds, each in PEM, empty where it has none. */
export interface Material {
  /** Certificates of authorities: what the API server is told to trust. */
  readonly authorities: readonly string[];
  /** The key of one of them. */
  readonly authorityKey: string;
  readonly cert: string;
  readonly key: string;
}

/** The common name of the authorities that this program makes; it signs by no other. */
export const authorityName = 'moco-rollout-webhook-ca';

const files = { authorities: 'ca.crt', authorityKey: 'ca.key', cert: 'tls.crt', key: 'tls.key' } as const;
const pemCertificate = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** Of a Secret's `data`, whatever it is. */
export function materialOf(data: Readonly<Record<string, unknown>>): Material {
  const text = (file: string): string => {
    const value = data[file];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
  };
  return {
    authorities: (text(files.authorities).match(pemCertificate) ?? []).map((certificate) => `${certificate}\n`),
    authorityKey: text(files.authorityKey),
    cert: text(files.cert),
    key: text(files.key),
  };
}

export function dataOf(material: Material): Readonly<Record<string, string>> {
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  return {
    [files.authorities]: base64(bundleOf(material)),
    [files.authorityKey]: base64(material.authorityKey),
    [files.cert]: base64(material.cert),
    [files.key]: base64(material.key),
  };
}

/** What goes into `caBundle`, there in base64. */
export function bundleOf({ authorities }: Pick<Material, 'authorities'>): string {
  return authorities.join('');
}

/** What of it can be used as it is; nothing is too broken to be judged. */
export function usableOf(material: Material, dnsNames: readonly string[]): Usable {
  const signing = signingAuthority(material);
  const served = servedOf(material, dnsNames);
  return {
    authority: signing && spanOf(signing.certificate),
    serving: served && { ...spanOf(served.certificate), byAuthority: served.issuer === signing?.pem },
    otherAuthorities: material.authorities.length - (signing ? 1 : 0),
  };
}

/** The certificate that can be served, and which of the authorities has issued it; `null` where there is none such. */
export function servedOf(
  { authorities, cert, key }: Material,
  dnsNames: readonly string[],
): { readonly certificate: X509Certificate; readonly issuer: string } | null {
  const certificate = read(() => new X509Certificate(cert));
  const privateKey = read(() => createPrivateKey(key));
  if (certificate === null || privateKey === null || !certificate.checkPrivateKey(privateKey)) return null;
  if (!dnsNames.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined)) return null;
  const issuer = authorities.find((pem) =>
    hasIssued(
      read(() => new X509Certificate(pem)),
      certificate,
    ),
  );
  return issuer === undefined ? null : { certificate, issuer };
}

/** The authority whose key is there; `null` where that is none of this program's making. */
export function signingAuthority({
  authorities,
  authorityKey,
}: Material): { readonly pem: string; readonly certificate: X509Certificate; readonly key: KeyObject } | null {
  const key = read(() => createPrivateKey(authorityKey));
  if (key === null || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return null;
  for (const pem of authorities) {
    const certificate = read(() => new X509Certificate(pem));
    const isOwn = certificate?.ca === true && certificate.subject === `CN=${authorityName}`;
    if (certificate && isOwn && certificate.checkPrivateKey(key)) return { pem, certificate, key };
  }
  return null;
}

/** One that is trusted itself needs no issuer: cert-manager's that sign themselves are such. */
function hasIssued(issuer: X509Certificate | null, certificate: X509Certificate): boolean {
  if (issuer === null) return false;
  if (issuer.fingerprint256 === certificate.fingerprint256) return true;
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

export function spanOf({ validFromDate, validToDate }: X509Certificate): Span {
  return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
}

/** `null` for what OpenSSL can't read: broken text is a fact like others here. */
function read<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch {
    return null;
  }
}
