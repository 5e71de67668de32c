import { expect } from 'chai';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

// What the API server answers to a dry run that creates a pod whose name exists (docs/decisions/0032).

const pod = (more: object = {}, containers: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'one' },
  spec: {
    containers: [{ name: 'one', image: 'example/one:1', resources: { requests: { cpu: '1' } }, ...containers }],
    ...more,
  },
});

describe('a dry run that creates a pod whose name exists', () => {
  const controlPlane = useControlPlane();
  let namespace: string;

  const applied = async (object: object, ...flags: readonly string[]): Promise<string> => {
    const file = await controlPlane().fileOf(object);
    return controlPlane()
      .kubectl('-n', namespace, 'create', '-f', file, ...flags)
      .catch(String);
  };
  const dryRun = (object: object): Promise<string> => applied(object, '--dry-run=server');

  beforeEach(async () => {
    namespace = await freshNamespace(controlPlane(), 'dry-run');
    expect(await applied(pod())).to.contain('created');
  });

  it('is answered with AlreadyExists if admission has nothing against it', async () => {
    expect(await dryRun(pod())).to.match(/AlreadyExists.*"one" already exists/s);
  });

  it('is refused by PodSecurity before its name is checked', async () => {
    await controlPlane().kubectl('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted');
    expect(await dryRun(pod()))
      .to.contain('violates PodSecurity "restricted:latest"')
      .and.not.contain('AlreadyExists');
  });

  it('is refused by a quota, which counts the pod that exists', async () => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'small' } };
    await applied({ ...quota, spec: { hard: { pods: '1', 'requests.cpu': '1500m' } } });
    let answer = '';
    for (let tries = 0; tries < 100 && !answer.includes('used: '); tries += 1) {
      answer = await dryRun(pod());
    }
    expect(answer).to.contain(
      'exceeded quota: small, requested: pods=1,requests.cpu=1, used: pods=1,requests.cpu=1, limited: pods=1,requests.cpu=1500m',
    );
  });

  it('is refused for an invalid field', async () => {
    expect(await dryRun(pod({}, { imagePullPolicy: 'Sometimes' })))
      .to.contain('imagePullPolicy: Unsupported value')
      .and.not.contain('AlreadyExists');
  });
});
