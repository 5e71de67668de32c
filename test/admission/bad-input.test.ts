import { expect } from 'chai';
import { bodyLimitBytes } from '../../src/admission/answer.ts';
import { mutatePartitionPath, mutateStatefulSetPath } from '../../src/admission/mutations.ts';
import { type RunningWebhook, startWebhook } from '../../src/admission/server.ts';
import { type MadeCertificate, makeDirectory, putCertificate } from './certificates.ts';
import { json, post, type Received, sentenceOf } from './post.ts';
import { reviewOf } from './review.ts';
import { atPartition, mocoStatefulSet, newTemplate } from './stateful-sets.ts';

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch?: string;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** What a path is asked, beyond which operation it is for. */
const paths = [
  { path: mutateStatefulSetPath, operation: 'UPDATE', other: 'CREATE', expected: 'UPDATE' },
  { path: mutatePartitionPath, operation: 'UPDATE', other: 'DELETE', expected: 'CREATE or UPDATE' },
] as const;

const labels = { 'app.kubernetes.io/created-by': 'moco', 'moco-rollout.io/strategy': 'OnDelete' };
const megabyte = 1024 * 1024;

describe('the webhook’s answer over TLS to an invalid request', () => {
  let directory: Awaited<ReturnType<typeof makeDirectory>>;
  let certificate: MadeCertificate;
  let webhook: RunningWebhook;
  const failures: string[] = [];
  const log = { info: () => {}, warn: () => {}, error: (_: object, message: string) => void failures.push(message) };

  before(async () => {
    directory = await makeDirectory();
    certificate = await putCertificate(directory.path, 'webhook');
    const address = { host: '127.0.0.1', port: 0 };
    webhook = await startWebhook({ address, certDir: directory.path, log });
  });

  afterEach(() => {
    expect(failures.splice(0)).to.deep.equal([]);
  });

  after(async () => {
    await webhook?.close(0);
    await directory?.remove();
  });

  for (const { path, operation, other, expected } of paths) {
    const misplaced: Readonly<Record<string, readonly [changes: Readonly<Record<string, unknown>>, why: string]>> = {
      'another kind': [
        { kind: { group: '', version: 'v1', kind: 'Pod' } },
        'expected a StatefulSet of apps/v1, got Pod of v1',
      ],
      'another operation': [{ operation: other }, `expected ${expected}, got ${other}`],
      'a subresource': [{ subResource: 'scale' }, 'expected the StatefulSet itself, got its scale'],
      'no object': [{ object: undefined }, 'expected the object in the request, got none'],
      'an object of null': [{ object: null }, 'expected the object in the request, got none'],
      'an object without metadata': [
        { object: { spec: {} } },
        'in the object, metadata is not right (Invalid input: expected object, received undefined)',
      ],
      'an object without a spec': [
        { object: { metadata: {} } },
        'in the object, spec is not right (Invalid input: expected object, received undefined)',
      ],
      'labels that are none': [
        { object: mocoStatefulSet({ metadata: { labels: 'x' } }) },
        'in the object, metadata.labels is not right (Invalid input: expected record, received string)',
      ],
      'owners that are none': [
        { object: mocoStatefulSet({ metadata: { ownerReferences: [null] } }) },
        'in the object, metadata.ownerReferences.0 is not right (Invalid input: expected object, received null)',
      ],
    };
    for (const [what, [changes, why]] of Object.entries(misplaced)) {
      it(`is at ${path}, for a request with ${what}: allowed, unchanged, and why`, async () => {
        const response = await reviewed(path, { operation, object: mocoStatefulSet(), ...changes });
        const warnings = [`moco-rollout changed nothing: ${why}`];
        expect(response).to.deep.equal({ uid: reviewOf().request.uid, allowed: true, warnings });
      });
    }

    it(`is at ${path}, for a body above ${bodyLimitBytes / megabyte} MiB, 413 with a sentence`, async () => {
      const received = await posted(path, ' '.repeat(bodyLimitBytes + 1));
      expect(received.status).to.equal(413);
      expect(sentenceOf(received)).to.match(/^Expected a body of at most \d+ bytes, .*; got more\.$/);
    });

    it(`is at ${path}, for objects of 3 MiB each, an ordinary one`, async () => {
      const filling = { template: { spec: { containers: [{ name: 'mysqld', image: 'x'.repeat(3 * megabyte) }] } } };
      const object = mocoStatefulSet({ metadata: { labels }, spec: filling });
      const response = await reviewed(path, { operation, object, oldObject: object });
      expect(response).to.have.property('auditAnnotations');
      expect(response).not.to.have.property('warnings');
    });
  }

  interface Numbers {
    readonly spec: Readonly<Record<string, unknown>>;
    readonly earlier: Readonly<Record<string, unknown>>;
    readonly because: string;
    readonly patch?: readonly object[];
    readonly warning?: string;
  }
  const partitionPath = '/spec/updateStrategy/rollingUpdate/partition';
  const outOfRange =
    'moco-rollout changed nothing: expected spec.updateStrategy.rollingUpdate.partition to be from 0 to spec.replicas';
  const noReplicas = 'moco-rollout changed nothing: expected spec.replicas to be a whole number from 0';
  const numbers: Readonly<Record<string, Numbers>> = {
    'replicas of null and another template': {
      spec: { replicas: null, updateStrategy: atPartition(0), ...newTemplate },
      earlier: { updateStrategy: atPartition(0) },
      because: 'changed',
      patch: [{ op: 'add', path: partitionPath, value: 1 }],
    },
    'replicas of −1': {
      spec: { replicas: -1 },
      earlier: {},
      because: 'replicas-unknown',
      warning: noReplicas,
    },
    'replicas in words': {
      spec: { replicas: 'three' },
      earlier: {},
      because: 'replicas-unknown',
      warning: noReplicas,
    },
    'a partition of −1': {
      spec: { updateStrategy: atPartition(-1) },
      earlier: {},
      because: 'partition-out-of-range',
      warning: outOfRange,
    },
    'a partition of −1 and another template': {
      spec: { updateStrategy: atPartition(-1), ...newTemplate },
      earlier: {},
      because: 'changed',
      patch: [{ op: 'add', path: partitionPath, value: 3 }],
    },
    'a partition above replicas': {
      spec: { updateStrategy: atPartition(4) },
      earlier: {},
      because: 'partition-out-of-range',
      warning: outOfRange,
    },
    'a partition of null': {
      spec: { updateStrategy: atPartition(null) },
      earlier: { updateStrategy: atPartition(1) },
      because: 'changed',
      patch: [{ op: 'add', path: partitionPath, value: 3 }],
    },
    'a partition where there was null': {
      spec: { updateStrategy: atPartition(1) },
      earlier: { updateStrategy: atPartition(null) },
      because: 'changed',
      patch: [{ op: 'add', path: partitionPath, value: 3 }],
    },
  };
  for (const [what, { spec, earlier, because, patch, warning }] of Object.entries(numbers)) {
    it(`is at ${mutatePartitionPath}, for ${what}: ${patch === undefined ? 'unchanged, and why' : 'patched'}`, async () => {
      const response = await reviewed(mutatePartitionPath, {
        object: mocoStatefulSet({ spec }),
        oldObject: mocoStatefulSet({ spec: earlier }),
      });
      expect(response.auditAnnotations).to.deep.equal({ partition: because });
      expect(response.warnings).to.deep.equal(warning === undefined ? undefined : [warning]);
      expect(patchOf(response)).to.deep.equal(patch);
    });
  }

  it(`is at ${mutatePartitionPath}, for an old object that can’t be read, as if all of it had changed`, async () => {
    for (const oldObject of [null, undefined, 'x', {}, { metadata: { labels: 1 }, spec: {} }]) {
      const object = mocoStatefulSet({ spec: { updateStrategy: atPartition(0) } });
      const response = await reviewed(mutatePartitionPath, { object, oldObject });
      expect(patchOf(response)).to.deep.equal([{ op: 'add', path: partitionPath, value: 3 }]);
    }
  });

  it('is 500 with a message for an extremely deep object, and the webhook continues', async () => {
    const deep = '{"a":'.repeat(200_000) + '1' + '}'.repeat(200_000);
    const object = mocoStatefulSet({ spec: { template: 'DEEP' } });
    const review = reviewOf({ object, oldObject: object });
    const received = await posted(mutatePartitionPath, JSON.stringify(review).replaceAll('"DEEP"', deep));
    expect(received.status).to.equal(500);
    expect(sentenceOf(received)).to.equal('An internal error occurred; the log of moco-rollout has it.');
    expect(failures.splice(0)).to.deep.equal(['the webhook failed to answer']);
    expect((await reviewed(mutateStatefulSetPath, {})).allowed).to.equal(true);
  });

  async function reviewed(path: string, changes: Readonly<Record<string, unknown>>): Promise<Response> {
    const { status, body, headers } = await posted(path, JSON.stringify(reviewOf(changes)));
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json');
    const review = JSON.parse(body) as { apiVersion: string; kind: string; response: Response };
    expect(review).to.include({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' });
    expect(review.response.uid).to.equal(reviewOf().request.uid);
    return review.response;
  }

  function posted(path: string, body: string): Promise<Received> {
    return post(webhook.address.port, certificate.cert, body, { path, headers: json });
  }
});

/** `undefined` where there is none. */
function patchOf({ patch }: Response): unknown {
  return patch === undefined ? undefined : JSON.parse(Buffer.from(patch, 'base64').toString());
}
