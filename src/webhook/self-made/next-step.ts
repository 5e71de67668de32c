/** From when to when a certificate is good, in milliseconds since 1970. */
export interface Span {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** What can be used of what the Secret holds. */
export interface Usable {
  /** The authority whose key is there. `null`: there is none that could sign. */
  readonly authority: Span | null;
  /** `null`: none, or not with its key, for other names, or issued by no authority that is told to the API server. */
  readonly serving: (Span & { readonly byAuthority: boolean }) | null;
  /** Authorities that are told to the API server beside the one that signs. */
  readonly otherAuthorities: number;
}

export interface CertificateTimes {
  readonly authorityLifeMilliseconds: number;
  readonly servingLifeMilliseconds: number;
  /** How far back a new certificate begins, for whose clock is behind. */
  readonly backdateMilliseconds: number;
  /**
   * How long every webhook configuration and the Secret have to have been in agreement before something is relied on:
   * that API servers know of a new authority, or that no replica serves a certificate of the one before.
   */
  readonly settleMilliseconds: number;
}

const [hour, day] = [3_600_000, 86_400_000];

export const defaultTimes: CertificateTimes = {
  authorityLifeMilliseconds: 3650 * day,
  servingLifeMilliseconds: 90 * day,
  backdateMilliseconds: hour,
  settleMilliseconds: hour,
};

/**
 * - `newAuthority`: it is told to the API server beside that of the certificate that is served. Where none is served
 *   that is still good, it issues a new one at once.
 * - `newCertificate`: by the authority whose key is there.
 * - `forgetAuthorities`: the API server is told of no other than that any longer.
 */
export type CertificateStep = 'none' | 'newAuthority' | 'newCertificate' | 'forgetAuthorities';

/** A third of its life is left for whatever may hinder a renewal. */
const dueAfterPartOfLife = 2 / 3;

/**
 * What to do next about the Secret; one step at a time, each leaves something that works. `settledMilliseconds`: how
 * long the Secret has been as it is, and the webhook configurations as it says.
 */
export function nextStep(
  { authority, serving, otherAuthorities }: Usable,
  now: number,
  settledMilliseconds: number,
  { settleMilliseconds }: CertificateTimes,
): CertificateStep {
  const settled = settledMilliseconds >= settleMilliseconds;
  if (authority === null || !isValid(authority, now)) return 'newAuthority';
  if (serving === null || !isValid(serving, now)) return 'newCertificate';
  if (!serving.byAuthority) return settled ? 'newCertificate' : 'none';
  if (isDue(serving, now)) return 'newCertificate';
  if (otherAuthorities > 0) return settled ? 'forgetAuthorities' : 'none';
  return isDue(authority, now) ? 'newAuthority' : 'none';
}

export function isValid({ notBefore, notAfter }: Span, now: number): boolean {
  return notBefore <= now && now < notAfter;
}

function isDue({ notBefore, notAfter }: Span, now: number): boolean {
  return now >= notBefore + (notAfter - notBefore) * dueAfterPartOfLife;
}
