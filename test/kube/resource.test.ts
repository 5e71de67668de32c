import { expect } from 'chai';
import * as fc from 'fast-check';
import { isAtLeast } from '../../src/kube/raw-object.ts';
import { apiVersion, namespaces, path, pods, statefulSets } from '../../src/kube/resource.ts';

describe('the path of a resource', () => {
  for (const [what, given, expected] of [
    ['all pods', path(pods), '/api/v1/pods'],
    ['the pods of a namespace', path(pods, { namespace: 'n' }), '/api/v1/namespaces/n/pods'],
    ['one pod', path(pods, { namespace: 'n', name: 'p' }), '/api/v1/namespaces/n/pods/p'],
    [
      'the status of a StatefulSet',
      path(statefulSets, { namespace: 'n', name: 's', subresource: 'status' }),
      '/apis/apps/v1/namespaces/n/statefulsets/s/status',
    ],
    ['one namespace', path(namespaces, { name: 'n' }), '/api/v1/namespaces/n'],
    ['a name that means harm', path(pods, { namespace: 'n', name: '../a?b' }), '/api/v1/namespaces/n/pods/..%2Fa%3Fb'],
  ] as const) {
    it(`is that of ${what}`, () => expect(given).to.equal(expected));
  }

  for (const [what, make, expected] of [
    [
      'a namespace for what has none',
      () => path(namespaces, { namespace: 'n' }),
      'expected no namespace for a Namespace, got n',
    ],
    ['an empty name', () => path(pods, { namespace: 'n', name: '' }), 'expected a name for the Pod, got an empty one'],
    ['a pod without a namespace', () => path(pods, { name: 'p' }), 'expected a namespace for the Pod p, got none'],
    [
      'a status of nothing',
      () => path(pods, { subresource: 'status' }),
      'expected the name of a Pod for its status, got none',
    ],
  ] as const) {
    it(`refuses ${what}`, () => expect(make).to.throw(TypeError, expected));
  }

  it('has the apiVersion of its objects', () => {
    expect([apiVersion(pods), apiVersion(statefulSets)]).to.deep.equal(['v1', 'apps/v1']);
  });
});

describe('a resourceVersion', () => {
  it('compares as integers of any length', () => {
    const version = fc.bigInt({ min: 0n, max: 10n ** 40n });
    fc.assert(fc.property(version, version, (a, b) => isAtLeast(String(a), String(b)) === a >= b));
  });

  it('ignores leading zeros', () => {
    expect([isAtLeast('009', '10'), isAtLeast('010', '9'), isAtLeast('00', '0')]).to.deep.equal([false, true, true]);
  });

  it('equals only itself if it is not an integer', () => {
    expect([isAtLeast('x', 'x'), isAtLeast('x', '1'), isAtLeast('1', 'x'), isAtLeast('', '1')]).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
  });
});
