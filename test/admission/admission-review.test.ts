import { expect } from 'chai';
import { answerReview as answer, type ReviewAnswer } from '../../src/admission/answer.ts';
import { mutateStatefulSetPath, reviewers } from '../../src/admission/mutations.ts';
import { reviewOf, statefulSet } from './review.ts';

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

  const misplaced: Readonly<Record<string, readonly [changes: Record<string, unknown>, why: string]>> = {
    'another kind': [
      { kind: { group: '', version: 'v1', kind: 'Pod' } },
      'moco-rollout changed nothing: expected a StatefulSet of apps/v1, got Pod of v1',
    ],
    'another version': [
      { kind: { group: 'apps', version: 'v1beta2', kind: 'StatefulSet' } },
      'moco-rollout changed nothing: expected a StatefulSet of apps/v1, got StatefulSet of apps/v1beta2',
    ],
    'another operation': [{ operation: 'CREATE' }, 'moco-rollout changed nothing: expected UPDATE, got CREATE'],
    'a subresource': [
      { subResource: 'scale' },
      'moco-rollout changed nothing: expected the StatefulSet itself, got its scale',
    ],
    'no object': [{ object: undefined }, 'moco-rollout changed nothing: expected the object in the request, got none'],
    'a null object': [{ object: null }, 'moco-rollout changed nothing: expected the object in the request, got none'],
    'an object that is none': [
      { object: 'x' },
      'moco-rollout changed nothing: in the object, the whole is not right (Invalid input: expected object, received string)',
    ],
    'an object without a spec': [
      { object: { ...statefulSet, spec: undefined } },
      'moco-rollout changed nothing: in the object, spec is not right (Invalid input: expected object, received undefined)',
    ],
  };
  for (const [what, [changes, why]] of Object.entries(misplaced)) {
    it(`with ${what} is allowed and unchanged, with a reason`, () => {
      expect(responseTo(reviewOf(changes))).to.deep.equal({
        uid: reviewOf().request.uid,
        allowed: true,
        warnings: [why],
      });
    });
  }

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

function answerReview(body: unknown): ReviewAnswer {
  const reviewer = reviewers.get(mutateStatefulSetPath);
  if (reviewer === undefined) throw new Error(`expected a reviewer at ${mutateStatefulSetPath}`);
  return answer(body, reviewer);
}

function responseTo(body: unknown) {
  const answered = answerReview(body);
  if (answered.kind === 'malformed') throw new Error(answered.message);
  expect(answered.review).to.include({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' });
  return answered.review.response;
}
