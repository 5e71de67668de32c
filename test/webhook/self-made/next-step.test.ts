import { expect } from 'chai';
import {
  type CertificateStep,
  type CertificateTimes,
  nextStep,
  type Usable,
} from '../../../src/webhook/self-made/next-step.ts';

const now = 1_000_000;
const times: CertificateTimes = {
  authorityLifeMilliseconds: 9_000,
  servingLifeMilliseconds: 900,
  backdateMilliseconds: 90,
  settleMilliseconds: 60,
};

/** A certificate that began so long ago and ends so much later. */
const span = (ago: number, left: number) => ({ notBefore: now - ago, notAfter: now + left });
const fresh = span(90, 900);
const authority = span(90, 9_000);
const serving = { ...fresh, byAuthority: true };
const good: Usable = { authority, serving, otherAuthorities: 0 };
const rotating: Usable = { ...good, serving: { ...serving, byAuthority: false }, otherAuthorities: 1 };

const cases: Readonly<Record<string, readonly [usable: Usable, settled: number, expected: CertificateStep]>> = {
  'nothing where everything is fresh': [good, 0, 'none'],
  'nothing just before two thirds of its life': [{ ...good, serving: { ...serving, ...span(599, 301) } }, 0, 'none'],
  'a new certificate at two thirds of its life': [
    { ...good, serving: { ...serving, ...span(600, 300) } },
    0,
    'newCertificate',
  ],
  'a new certificate where it has ended': [{ ...good, serving: { ...serving, ...span(900, 0) } }, 0, 'newCertificate'],
  'a new certificate where it has not begun, by this clock': [
    { ...good, serving: { ...serving, ...span(-1, 900) } },
    0,
    'newCertificate',
  ],
  'a new certificate where none can be used': [{ ...good, serving: null }, 0, 'newCertificate'],
  'a new authority where there is nothing': [
    { authority: null, serving: null, otherAuthorities: 0 },
    0,
    'newAuthority',
  ],
  'a new authority where its key is lost, whatever is served': [
    { ...good, authority: null, otherAuthorities: 1 },
    0,
    'newAuthority',
  ],
  'a new authority where it has ended': [{ ...good, authority: span(9_000, 0) }, 0, 'newAuthority'],
  'a new authority where it has not begun, by this clock': [{ ...good, authority: span(-1, 9_000) }, 0, 'newAuthority'],
  'nothing just before two thirds of the authority’s life': [{ ...good, authority: span(5_999, 3_001) }, 0, 'none'],
  'a new authority at two thirds of its life': [{ ...good, authority: span(6_000, 3_000) }, 0, 'newAuthority'],
  'first a new certificate where both are due': [
    { ...good, authority: span(6_000, 3_000), serving: { ...serving, ...span(600, 300) } },
    0,
    'newCertificate',
  ],
  'nothing while a new authority may not be known everywhere': [rotating, 59, 'none'],
  'a certificate of the new authority once it is known everywhere': [rotating, 60, 'newCertificate'],
  'a certificate of the new authority at once where the one before has ended': [
    { ...rotating, serving: { ...span(900, 0), byAuthority: false } },
    0,
    'newCertificate',
  ],
  'nothing while the certificate before may still be served': [{ ...good, otherAuthorities: 1 }, 59, 'none'],
  'the authority before is forgotten once it is served nowhere': [
    { ...good, otherAuthorities: 1 },
    60,
    'forgetAuthorities',
  ],
  'the authority before is forgotten before another one is made': [
    { ...good, authority: span(6_000, 3_000), otherAuthorities: 1 },
    60,
    'forgetAuthorities',
  ],
};

describe('what is done next about the webhook’s own certificate', () => {
  for (const [sentence, [usable, settled, expected]] of Object.entries(cases)) {
    it(`is ${sentence}`, () => {
      expect(nextStep(usable, now, settled, times)).to.equal(expected);
    });
  }
});
