import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { loopbackCertificate } from '../control-plane/certificates.ts';
import type { MySQLCluster, StatefulSet } from './objects.ts';
import { isRecord } from './same.ts';
import { defaultCluster, type JsonPatchOperation, mutateStatefulSet } from './webhooks.ts';

export const statefulSetWebhookPath = '/mutate-apps-v1-statefulset';
export const clusterWebhookPath = '/mutate-moco-cybozu-com-v1beta2-mysqlcluster';

/** MOCO's webhooks, answering on loopback. */
export interface MocoWebhookServer {
  /** Such as `https://127.0.0.1:40123`. */
  readonly url: string;
  /** PEM, for `clientConfig.caBundle` in base64. */
  readonly ca: string;
  stop(): Promise<void>;
}

interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly object: unknown;
  readonly oldObject: unknown;
}

interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: 'JSONPatch';
  readonly patch?: string;
  readonly status?: { readonly code: number; readonly message: string };
}

const internalServerError = 500;
const badRequest = 400;
const notFound = 404;
/** Longer than the API server keeps an idle connection (Go: 90 s), so that it is never closed under a request. */
const keepAliveMilliseconds = 120_000;

/** Listens on a free port of 127.0.0.1. */
export async function startMocoWebhookServer(): Promise<MocoWebhookServer> {
  const { certificate, key } = await loopbackCertificate();
  const server = createServer(
    { cert: certificate, key, keepAliveTimeout: keepAliveMilliseconds },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        response.writeHead(badRequest).end(String(error));
      });
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, ca: certificate, stop: () => close(server) };
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const review: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (!isRecord(review) || !isRecord(review['request'])) {
    throw new Error('expected an AdmissionReview with a request, got something else');
  }
  const admission = review['request'] as unknown as AdmissionRequest;
  const admitted = admit(request.url?.split('?')[0] ?? '', admission);
  if (admitted === null) {
    response.writeHead(notFound).end();
    return;
  }
  const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: admitted };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** `null` for a path that is no webhook's. */
function admit(path: string, { uid, operation, object, oldObject }: AdmissionRequest): AdmissionResponse | null {
  switch (path) {
    case statefulSetWebhookPath:
      return admitStatefulSet(uid, object as StatefulSet, operation === 'UPDATE' ? (oldObject as StatefulSet) : null);
    case clusterWebhookPath:
      return patched(uid, defaultCluster(object as MySQLCluster));
    default:
      return null;
  }
}

function admitStatefulSet(uid: string, after: StatefulSet, before: StatefulSet | null): AdmissionResponse {
  const mutation = mutateStatefulSet(after, before);
  switch (mutation.outcome) {
    case 'unchanged':
      return patched(uid, []);
    case 'panic':
      return { uid, allowed: false, status: { code: internalServerError, message: mutation.message } };
    case 'rollingUpdate': {
      const path = '/spec/updateStrategy/rollingUpdate';
      const { rollingUpdate } = mutation;
      return patched(uid, [
        rollingUpdate === null ? { op: 'remove', path } : { op: 'add', path, value: rollingUpdate },
      ]);
    }
  }
}

function patched(uid: string, operations: readonly JsonPatchOperation[]): AdmissionResponse {
  return operations.length === 0
    ? { uid, allowed: true }
    : { uid, allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}
