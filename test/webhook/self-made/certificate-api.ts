import { X509Certificate } from 'node:crypto';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../../src/kube/world.ts';
import { answer, reset, status } from '../../kube/fake-world.ts';

/** An object as JSON, free to change. */
export interface Raw {
  metadata: { name: string; resourceVersion: string; [field: string]: unknown };
  [field: string]: unknown;
}

interface Webhook {
  name: string;
  clientConfig: { caBundle?: string };
}

export const secretPath = '/api/v1/namespaces/system/secrets/certificate';
export const configurationPath =
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/moco-rollout-mutating-webhook-configuration';
export const partitionPath =
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/moco-rollout-partition-webhook-configuration';

type Happens = (request: ExchangeRequest) => void;

/** As much of an API server as a Secret and webhook configurations take: resourceVersions, JSON patches with tests. */
export class CertificateApi {
  readonly objects = new Map<string, Raw>();
  /** Everything that was taken, as `PUT /path`. */
  readonly writes: string[] = [];
  /** A status for a request that isn't allowed, `lost` for one that is carried out without an answer. */
  refuse: (request: ExchangeRequest) => number | 'lost' | null = () => null;
  /** Just before a request is answered. */
  before: Happens = () => {};
  /** Just after. */
  after: Happens = () => {};
  #version = 100;

  readonly exchange: Exchange = async (request) => {
    this.before(request);
    const refusal = this.refuse(request);
    if (typeof refusal === 'number') return answer(refusal, status(refusal, refusal === 403 ? 'Forbidden' : 'Other'));
    const response = this.#answer(request);
    this.after(request);
    return refusal === 'lost' ? reset() : response;
  };

  put(path: string, object: object): Raw {
    this.#version += 1;
    const raw = structuredClone(object) as Raw;
    raw.metadata = { ...raw.metadata, name: path.split('/').at(-1) ?? '', resourceVersion: String(this.#version) };
    this.objects.set(path, raw);
    return raw;
  }

  putConfiguration(path: string, ...names: readonly string[]): void {
    const webhooks = names.map((name) => ({
      name,
      clientConfig: { service: { name: 'webhook' } },
      sideEffects: 'None',
    }));
    this.put(path, { metadata: {}, webhooks });
  }

  webhooks(path = configurationPath): Webhook[] {
    return (this.objects.get(path)?.['webhooks'] ?? []) as Webhook[];
  }

  /** Certificates in PEM that a webhook is trusted by. */
  bundle(path = configurationPath, place = 0): readonly string[] {
    const text = Buffer.from(this.webhooks(path)[place]?.clientConfig.caBundle ?? '', 'base64').toString();
    return text.match(/-----BEGIN.*?-----END CERTIFICATE-----\n/gs) ?? [];
  }

  /** A file of the Secret as text; empty where there is none. */
  file(name: string): string {
    const data = (this.objects.get(secretPath)?.['data'] ?? {}) as Record<string, string>;
    return Buffer.from(data[name] ?? '', 'base64').toString();
  }

  setFile(name: string, text: string): void {
    const secret: Partial<Raw> = this.objects.get(secretPath) ?? { metadata: { name: '', resourceVersion: '' } };
    const data = { ...(secret['data'] as object | undefined), [name]: Buffer.from(text).toString('base64') };
    this.put(secretPath, { ...secret, data });
  }

  #answer({ method, path: target, body = '{}' }: ExchangeRequest): ExchangeResponse {
    const [path = ''] = target.split('?');
    const parsed = JSON.parse(body) as Raw;
    const place = method === 'POST' ? `${path}/${parsed.metadata.name}` : path;
    const before = this.objects.get(place);
    if (method === 'POST' && before) return answer(409, status(409, 'AlreadyExists'));
    if (method !== 'POST' && before === undefined) return answer(404, status(404, 'NotFound'));
    switch (method) {
      case 'GET':
        return answer(200, before);
      case 'PUT':
        if (parsed.metadata.resourceVersion !== before?.metadata.resourceVersion)
          return answer(409, status(409, 'Conflict'));
        break;
      case 'PATCH': {
        const patched = withPatch(before as Raw, parsed as unknown as readonly Operation[]);
        if (patched === null) return answer(422, status(422, 'Invalid'));
        this.writes.push(`${method} ${place}`);
        return answer(200, this.put(place, patched));
      }
      default:
    }
    this.writes.push(`${method} ${place}`);
    return answer(200, this.put(place, parsed));
  }
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/** `null` where a test fails. */
function withPatch(before: Raw, operations: readonly Operation[]): Raw | null {
  const object = structuredClone(before);
  for (const { op, path, value } of operations) {
    const keys = path.split('/').slice(1);
    const last = keys.pop() ?? '';
    const parent = keys.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], object);
    const fields = parent as Record<string, unknown>;
    if (op === 'test' && fields[last] !== value) return null;
    if (op === 'add') fields[last] = value;
  }
  return object;
}

const judged = new Map<string, boolean>();

/** As the API server judges: the certificate leads to one of the bundle, and is good at that time. */
export function isTrusted(cert: string, bundle: readonly string[], now: number): boolean {
  const certificate = new X509Certificate(cert);
  if (now < certificate.validFromDate.getTime() || now >= certificate.validToDate.getTime()) return false;
  return bundle.some((pem) => {
    const isOf = judged.get(cert + pem) ?? (cert === pem || certificate.verify(new X509Certificate(pem).publicKey));
    judged.set(cert + pem, isOf);
    return isOf;
  });
}
