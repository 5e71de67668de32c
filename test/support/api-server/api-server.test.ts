import { expect } from 'chai';
import { path } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { sampleCluster } from '../moco/sample.ts';
import type { ApiAnswer } from './api-answer.ts';
import { ApiServer } from './api-server.ts';

const namespace = 'default';
const place = path(clusterKind, { namespace, name: 'test' });

describe('the API server in memory', () => {
  let server: ApiServer;
  const patch = (body: object, query = ''): ApiAnswer =>
    server.handle({
      method: 'PATCH',
      path: place,
      query: new URLSearchParams(query),
      contentType: 'application/merge-patch+json',
      body: { ...body },
      actor: 'somebody',
    });

  beforeEach(() => {
    server = new ApiServer(() => 0);
    const body = { ...sampleCluster({ name: 'test', namespace }) };
    server.handle({ method: 'POST', path: path(clusterKind, { namespace }), body, actor: 'somebody' });
  });

  it('answers a dry run with its result, and stores nothing', () => {
    const { revision } = server.store;
    const { code, body } = patch({ metadata: { labels: { a: 'b' } } }, 'dryRun=All');
    expect(code).to.equal(200);
    expect(body['metadata']).to.deep.include({ labels: { a: 'b' } });
    expect(server.store.revision).to.equal(revision);
    expect(server.store.get(clusterKind, namespace, 'test')?.metadata.labels).to.equal(undefined);
  });

  it('refuses a dry run as it would refuse the write', () => {
    expect(patch({ metadata: { uid: 'another' } }, 'dryRun=All').code).to.equal(409);
  });
});
