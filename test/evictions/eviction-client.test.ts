import { expect } from 'chai';
import { applyEntry } from '../../src/evictions/eviction-client.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { answer, FakeWorld, status } from '../kube/fake-world.ts';
import { activeEviction, startedAt } from './objects.ts';

const entry = { heartbeatAt: startedAt, expectedAt: null, completedAt: null, message: 'waits' };

/** Applies an entry to an API server that answers so. */
async function applied(code: number, body: unknown, given: Parameters<typeof applyEntry>[2] = entry) {
  const world = new FakeWorld(async () => answer(code, body));
  const client = new ApiClient({ world, qps: 100, burst: 100 });
  const result = await applyEntry(client, activeEviction(), given, new AbortController().signal);
  return { result, requests: world.requests };
}

describe('the entry of this program in an Eviction', () => {
  it('is applied to the status, and to this Eviction alone', async () => {
    const { result, requests } = await applied(200, {});
    expect(result).to.equal(true);
    const [request] = requests;
    expect(request?.method).to.equal('PATCH');
    expect(request?.path).to.equal(
      '/apis/lifecycle.k8s.io/v1alpha1/namespaces/shop/evictions/pod-1-moco-test-0/status?fieldManager=moco-rollout&force=true&fieldValidation=Strict',
    );
    expect(request?.headers['content-type']).to.equal('application/apply-patch+yaml');
    expect(JSON.parse(request?.body ?? '')).to.deep.equal({
      apiVersion: 'lifecycle.k8s.io/v1alpha1',
      kind: 'Eviction',
      metadata: { namespace: 'shop', name: 'pod-1-moco-test-0', uid: 'eviction' },
      status: {
        responders: [{ name: 'moco-rollout.io/responder', heartbeatTime: '2026-01-02T03:04:05Z', message: 'waits' }],
      },
    });
  });

  it('has the times of an estimate and of the completion without fractions of a second', async () => {
    const completed = { ...entry, expectedAt: startedAt + 60_000, completedAt: startedAt + 1000 };
    const { requests } = await applied(200, {}, completed);
    const [written] = (JSON.parse(requests[0]?.body ?? '') as { status: { responders: object[] } }).status.responders;
    expect(written).to.include({
      expectedCompletionTime: '2026-01-02T03:05:05Z',
      completionTime: '2026-01-02T03:04:06Z',
    });
  });

  it('has nowhere to go once the Eviction is gone or is another one', async () => {
    expect((await applied(404, status(404, 'NotFound'))).result).to.equal(false);
    const another = status(422, 'Invalid', { details: { causes: [{ field: 'metadata.uid' }] } });
    expect((await applied(422, another)).result).to.equal(false);
  });

  it('is an error where the API server refuses it', async () => {
    let thrown: unknown;
    await applied(422, status(422, 'Invalid')).catch((error: unknown) => (thrown = error));
    expect(thrown).to.be.instanceOf(ApiError);
  });
});
