import {
  createHash,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { promisify } from 'node:util';
import {
  Boolean as Asn1Boolean,
  Set as Asn1Set,
  type BaseBlock,
  BitString,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  UTCTime,
  Utf8String,
} from 'asn1js';

// Certificates of X.509 version 3 as RFC 5280 lays them out: ECDSA on P-256 with SHA-256. Loaded only by who makes one.

/** A certificate and its private key, both in PEM. */
export interface CertifiedKey {
  readonly cert: string;
  readonly key: string;
}

/** Milliseconds since 1970; certificates know whole seconds. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** An authority that signs, by its common name. */
export interface Issuer {
  readonly name: string;
  readonly key: KeyObject;
}

const serialBytes = 16;
/** Times up to 2049 are written with two digits of the year, later ones with four (RFC 5280, 4.1.2.5). */
const firstLongYear = 2050;

const oid = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
} as const;

/** Bits of keyUsage from the first on: digitalSignature is 0, keyCertSign 5, cRLSign 6 (RFC 5280, 4.2.1.3). */
const keyUsage = {
  digitalSignature: { bits: 0b1000_0000, unusedBits: 7 },
  certificatesAndTheirRevocation: { bits: 0b0000_0110, unusedBits: 1 },
} as const;
/** Of a name in subjectAltName: dNSName (RFC 5280, 4.2.1.6). */
const dnsNameTag = 2;
const contextSpecific = 3;

/** A certificate authority that can sign servers' certificates and no further authority. */
export async function makeAuthority(commonName: string, validity: Validity): Promise<CertifiedKey> {
  const key = await newKey();
  return certified(commonName, key, { name: commonName, key }, validity, [
    extension(oid.basicConstraints, true, sequence(new Asn1Boolean({ value: true }), new Integer({ value: 0 }))),
    extension(oid.keyUsage, true, usage(keyUsage.certificatesAndTheirRevocation)),
    extension(oid.subjectKeyIdentifier, false, octets(keyIdentifier(key))),
  ]);
}

/** A server's certificate for DNS names; the common name of a subject has at most 64 letters. */
export async function makeServing(
  issuer: Issuer,
  commonName: string,
  dnsNames: readonly string[],
  validity: Validity,
): Promise<CertifiedKey> {
  const key = await newKey();
  const names = dnsNames.map((name) => tagged(dnsNameTag, Buffer.from(name, 'ascii')));
  return certified(commonName, key, issuer, validity, [
    extension(oid.basicConstraints, true, sequence()),
    extension(oid.keyUsage, true, usage(keyUsage.digitalSignature)),
    extension(oid.extendedKeyUsage, false, sequence(new ObjectIdentifier({ value: oid.serverAuthentication }))),
    extension(oid.authorityKeyIdentifier, false, sequence(tagged(0, keyIdentifier(issuer.key)))),
    extension(oid.subjectAlternativeName, false, sequence(...names)),
  ]);
}

function certified(
  subject: string,
  subjectKey: KeyObject,
  issuer: Issuer,
  { notBefore, notAfter }: Validity,
  extensions: readonly BaseBlock[],
): CertifiedKey {
  const algorithm = (): BaseBlock => sequence(new ObjectIdentifier({ value: oid.ecdsaWithSha256 }));
  const toBeSigned = sequence(
    explicit(0, new Integer({ value: 2 })),
    new Integer({ valueHex: serialNumber() }),
    algorithm(),
    distinguishedName(issuer.name),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(subject),
    fromBER(publicKeyInfo(subjectKey)).result,
    explicit(3, sequence(...extensions)),
  );
  const signature = sign('sha256', der(toBeSigned), { key: issuer.key, dsaEncoding: 'der' });
  const certificate = sequence(toBeSigned, algorithm(), new BitString({ valueHex: bytes(signature) }));
  return {
    cert: new X509Certificate(der(certificate)).toString(),
    key: subjectKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

async function newKey(): Promise<KeyObject> {
  return (await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })).privateKey;
}

function publicKeyInfo(key: KeyObject): Uint8Array {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

/** RFC 7093, 2 (4): of the whole SubjectPublicKeyInfo. */
function keyIdentifier(key: KeyObject): Uint8Array {
  return createHash('sha256').update(publicKeyInfo(key)).digest().subarray(0, 20);
}

/** Above zero, and of as few bytes as DER wants it to be: the first bit is off, another of its byte is on. */
function serialNumber(): ArrayBuffer {
  const random = randomBytes(serialBytes);
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes(random);
}

function time(milliseconds: number): BaseBlock {
  const date = new Date(Math.floor(milliseconds / 1000) * 1000);
  return date.getUTCFullYear() < firstLongYear
    ? new UTCTime({ valueDate: date })
    : new GeneralizedTime({ valueDate: date });
}

function distinguishedName(commonName: string): BaseBlock {
  const attribute = sequence(new ObjectIdentifier({ value: oid.commonName }), new Utf8String({ value: commonName }));
  return sequence(new Asn1Set({ value: [attribute] }));
}

function extension(id: string, critical: boolean, value: BaseBlock): BaseBlock {
  return sequence(
    new ObjectIdentifier({ value: id }),
    ...(critical ? [new Asn1Boolean({ value: true })] : []),
    octets(der(value)),
  );
}

function usage({ bits, unusedBits }: { readonly bits: number; readonly unusedBits: number }): BaseBlock {
  return new BitString({ valueHex: bytes(Uint8Array.of(bits)), unusedBits });
}

function sequence(...value: readonly BaseBlock[]): BaseBlock {
  return new Sequence({ value: [...value] });
}

function octets(value: Uint8Array): BaseBlock {
  return new OctetString({ valueHex: bytes(value) });
}

/** `[n] IMPLICIT` of a primitive value. */
function tagged(tagNumber: number, value: Uint8Array): BaseBlock {
  return new Primitive({ idBlock: { tagClass: contextSpecific, tagNumber }, valueHex: bytes(value) });
}

/** `[n] EXPLICIT`. */
function explicit(tagNumber: number, value: BaseBlock): BaseBlock {
  return new Constructed({ idBlock: { tagClass: contextSpecific, tagNumber }, value: [value] });
}

function der(block: BaseBlock): Uint8Array {
  return new Uint8Array(block.toBER());
}

/** A copy that is not a part of a larger buffer, as the library takes them. */
function bytes(value: Uint8Array): ArrayBuffer {
  return Uint8Array.from(value).buffer;
}
