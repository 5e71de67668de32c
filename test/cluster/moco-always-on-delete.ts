import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createdByLabel, createdByMoco } from '../../src/moco/names.ts';
import { loopbackCertificate } from '../support/control-plane/certificates.ts';

/** The second webhook of the recordings: every StatefulSet of MOCO's is at OnDelete, a new one too, label or not. */
export interface AlwaysOnDelete {
  /** A MutatingWebhookConfiguration; its name sorts after MOCO's. */
  readonly configuration: object;
  stop(): Promise<void>;
}

const patch = [{ op: 'replace', path: '/spec/updateStrategy', value: { type: 'OnDelete' } }];

export async function startAlwaysOnDelete(): Promise<AlwaysOnDelete> {
  const { certificate, key } = await loopbackCertificate();
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { request: { uid: string } };
      const answer = {
        uid: review.request.uid,
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      };
      const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    configuration: {
      metadata: { name: 'moco-second-webhook' },
      webhooks: [
        {
          name: 'always-on-delete.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          reinvocationPolicy: 'IfNeeded',
          clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(certificate).toString('base64') },
          objectSelector: { matchLabels: { [createdByLabel]: createdByMoco } },
          rules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['statefulsets'] },
          ],
        },
      ],
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
