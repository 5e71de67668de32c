import { expect } from 'chai';
import { answerReview as answer, type ReviewAnswer } from '../../src/admission/answer.ts';
import { mutatePartitionPath, mutateStatefulSetPath, reviewers } from '../../src/admission/mutations.ts';
import { reviewOf, statefulSet } from './review.ts';
import { atPartition, mocoStatefulSet } from './stateful-sets.ts';

describe('an AdmissionReview', () => {
  it('of a labelled StatefulSet is answered with a JSON patch and the uid of the request', () => {
    const response = responseTo(reviewOf());
    expect(response).to.include({ uid: reviewOf().request.uid, allowed: true, patchType: 'JSONPatch' });
    expect(JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString())).to.deep.equal([
      { op: 'add', path: '/spec/updateStrategy', value: { type: 'OnDelete' } },
    ]);
    expect(response.auditAnnotations).to.deep.equal({ strategy: 'labelled' });
  });

  it('is answered in the same bytes every time', () => {
    expect(JSON.stringify(answerReview(reviewOf()))).to.equal(JSON.stringify(answerReview(reviewOf())));
  });

  it('of a StatefulSet that is OnDelete already is answered without a patch', () => {
    const object = { ...statefulSet, spec: { ...statefulSet.spec, updateStrategy: { type: 'OnDelete' } } };
    expect(responseTo(reviewOf({ object }))).to.deep.equal({
      uid: reviewOf().request.uid,
      allowed: true,
      auditAnnotations: { strategy: 'already-on-delete' },
    });
  });

  it('is decided by the object alone, not by what was there before', () => {
    const { labels: _, ...metadata } = statefulSet.metadata;
    expect(responseTo(reviewOf({ object: { ...statefulSet, metadata } }))).to.not.have.any.keys('patch', 'warnings');
    expect(responseTo(reviewOf({ oldObject: null }))).to.have.property('patch');
  });

  it('of an object without labels or annotations is accepted', () => {
    const metadata = { name: 'moco-test', labels: null, annotations: null };
    expect(responseTo(reviewOf({ object: { ...statefulSet, metadata } }))).to.not.have.property('warnings');
  });

  const misplaced: Readonly<Record<string, readonly [changes: Record<string, unknown>, why: string, path?: string]>> = {
    'another kind': [
      { kind: { group: '', version: 'v1', kind: 'Pod' } },
      'expected a StatefulSet of apps/v1, got Pod of v1',
    ],
    'another version': [
      { kind: { group: 'apps', version: 'v1beta2', kind: 'StatefulSet' } },
      'expected a StatefulSet of apps/v1, got StatefulSet of apps/v1beta2',
    ],
    'another operation': [{ operation: 'CREATE' }, 'expected UPDATE, got CREATE'],
    'another operation than those of partitions': [
      { operation: 'DELETE' },
      'expected CREATE or UPDATE, got DELETE',
      mutatePartitionPath,
    ],
    'a subresource': [{ subResource: 'scale' }, 'expected the StatefulSet itself, got its scale'],
    'no object': [{ object: undefined }, 'expected an object in the request, got none'],
    'a null object': [{ object: null }, 'expected an object in the request, got none'],
    'an object that is none': [
      { object: 'x' },
      'in the object, the whole is not right (Invalid input: expected object, received string)',
    ],
    'an object without metadata': [
      { object: { spec: {} } },
      'in the object, metadata is not right (Invalid input: expected object, received undefined)',
    ],
    'an object without a spec': [
      { object: { ...statefulSet, spec: undefined } },
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
  for (const [what, [changes, why, path]] of Object.entries(misplaced)) {
    it(`with ${what} is allowed and unchanged, with a reason`, () => {
      expect(responseTo(reviewOf(changes), path)).to.deep.equal({
        uid: reviewOf().request.uid,
        allowed: true,
        warnings: [`moco-rollout changed nothing: ${why}`],
      });
    });
  }

  const numbers: Readonly<Record<string, readonly [spec: Record<string, unknown>, because: string, why: string]>> = {
    'replicas in words': [
      { replicas: 'three' },
      'replicas-unknown',
      'expected spec.replicas to be a whole number from 0',
    ],
    'a partition above replicas': [
      { updateStrategy: atPartition(4) },
      'partition-out-of-range',
      'expected spec.updateStrategy.rollingUpdate.partition to be from 0 to spec.replicas',
    ],
  };
  for (const [what, [spec, partition, why]] of Object.entries(numbers)) {
    it(`with ${what} is allowed and unchanged, with a reason and in the audit log`, () => {
      const changes = { object: mocoStatefulSet({ spec }), oldObject: mocoStatefulSet() };
      expect(responseTo(reviewOf(changes), mutatePartitionPath)).to.deep.equal({
        uid: reviewOf().request.uid,
        allowed: true,
        warnings: [`moco-rollout changed nothing: ${why}`],
        auditAnnotations: { partition },
      });
    });
  }

  it('with an old object that can’t be read is answered as if there were none', () => {
    const object = mocoStatefulSet({ spec: { updateStrategy: atPartition(0) } });
    for (const oldObject of [null, undefined, 'x', {}, { metadata: { labels: 1 }, spec: {} }]) {
      expect(responseTo(reviewOf({ object, oldObject }), mutatePartitionPath)).to.have.property('patch');
    }
  });

  const malformed: Readonly<Record<string, unknown>> = {
    null: null,
    'a string': 'AdmissionReview',
    'a list': [],
    'an empty object': {},
    'another apiVersion': { ...reviewOf(), apiVersion: 'admission.k8s.io/v1beta1' },
    'another kind': { ...reviewOf(), kind: 'Status' },
    'no request': { ...reviewOf(), request: undefined },
    'no uid': reviewOf({ uid: undefined }),
    'an empty uid': reviewOf({ uid: '' }),
    'no kind in the request': reviewOf({ kind: undefined }),
    'an unknown operation': reviewOf({ operation: 'PATCH' }),
  };
  for (const [what, body] of Object.entries(malformed)) {
    it(`that is or has ${what} is malformed, and the message names the place`, () => {
      const answered = answerReview(body);
      expect(answered.kind).to.equal('malformed');
      expect(answered)
        .to.have.property('message')
        .that.matches(/^Expected an AdmissionReview of admission\.k8s\.io\/v1, got one where .+\.$/);
    });
  }
});

function answerReview(body: unknown, path = mutateStatefulSetPath): ReviewAnswer {
  const reviewer = reviewers.get(path);
  if (reviewer === undefined) throw new Error(`expected a reviewer at ${path}`);
  return answer(body, reviewer);
}

function responseTo(body: unknown, path?: string) {
  const answered = answerReview(body, path);
  if (answered.kind === 'malformed') throw new Error(answered.message);
  expect(answered.review).to.include({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' });
  return answered.review.response;
}
