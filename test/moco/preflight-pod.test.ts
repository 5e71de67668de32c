import { expect } from 'chai';
import { imagesOf, type PreflightOf, preflightName, preflightPod } from '../../src/moco/preflight-pod.ts';
import { mysqld, of, template } from './preflight-objects.ts';

interface Volume {
  readonly name: string;
  readonly [source: string]: unknown;
}
interface Spec {
  readonly [field: string]: unknown;
  readonly containers: readonly [{ readonly [field: string]: unknown; readonly volumeMounts: readonly Volume[] }];
  readonly volumes: readonly Volume[];
}
const specOf = (more: Partial<PreflightOf> = {}): Spec => preflightPod(of(more))['spec'] as Spec;

describe('the pod of a preflight', () => {
  it('mounts every image of the new template and runs none of them', () => {
    const { containers, volumes } = specOf();
    expect(volumes).to.deep.equal([
      { name: 'image-0', image: { reference: 'agent:1', pullPolicy: 'IfNotPresent' } },
      { name: 'image-1', image: { reference: 'mysql:2', pullPolicy: 'IfNotPresent' } },
      { name: 'image-2', image: { reference: 'own', pullPolicy: 'Never' } },
      { name: 'image-3', image: { reference: 'files:2', pullPolicy: 'IfNotPresent' } },
    ]);
    const [container] = containers;
    expect(container).to.deep.include({
      image: 'mysql:1',
      args: ['--version'],
    });
    expect(container).to.have.deep.property('securityContext', {
      runAsUser: 10_000,
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    // The kubelet only waits for volumes that a container mounts.
    expect(container.volumeMounts.map(({ name }) => name)).to.deep.equal(volumes.map(({ name }) => name));
  });

  it('runs the new mysqld beside, without any data directory, if its version is not known', () => {
    const { containers, volumes } = specOf({ asksVersion: true });
    expect(containers).to.have.length(2);
    const [first, second] = containers as unknown as Spec['containers'][0][];
    expect([first]).to.deep.equal(specOf().containers);
    expect(second).to.deep.include({
      name: 'version',
      image: 'mysql:2',
      imagePullPolicy: 'IfNotPresent',
      args: ['--no-defaults', '--initialize', '--datadir=/dev/null/none'],
      terminationMessagePolicy: 'FallbackToLogsOnError',
    });
    // It has what confines the other one, and starts once every image is there.
    for (const field of ['securityContext', 'resources']) expect(second?.[field]).to.deep.equal(first?.[field]);
    expect(second?.volumeMounts.map(({ name }) => name)).to.deep.equal(volumes.map(({ name }) => name));
    expect(specOf({ asksVersion: true, about: 'configuration' })).to.deep.equal(specOf({ about: 'configuration' }));
  });

  it('goes where the next pod of the member may go, with its secrets to pull, and asks for little', () => {
    const spec = specOf();
    expect(spec).to.deep.include({
      serviceAccountName: 'moco-test',
      imagePullSecrets: [{ name: 'registry' }],
      tolerations: [{ key: 'databases', operator: 'Exists' }],
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      activeDeadlineSeconds: 360,
    });
    expect(JSON.stringify(spec['affinity'])).to.contain('"metadata.name","operator":"In","values":["n-1"]');
    expect(spec['nodeName']).to.equal(undefined);
    // Without a limit what it writes could fill the disk of the node, and the kubelet would evict members.
    const [mysqld] = spec.containers;
    expect(mysqld['resources']).to.deep.equal({
      requests: { cpu: '10m', memory: '32Mi', 'ephemeral-storage': '0' },
      limits: { cpu: '1', memory: '256Mi', 'ephemeral-storage': '256Mi' },
    });
    // With the priority of a member it would evict others for an image.
    expect(spec['priorityClassName']).to.equal(undefined);
    expect(JSON.stringify(spec)).not.to.contain('64Gi').and.not.to.contain('secretKeyRef');
  });

  it('has no label of a member, and a name that no member can have', () => {
    const { metadata } = preflightPod(of()) as {
      metadata: { labels: object; name: string; ownerReferences: object[] };
    };
    expect(metadata.labels).to.deep.equal({
      'app.kubernetes.io/managed-by': 'moco-rollout',
      'moco-rollout.io/preflight': 'test',
    });
    expect(metadata.name).to.match(/^moco-rollout-preflight-[0-9a-f]{16}$/);
    expect(metadata.name).to.equal(preflightName('uid-1', 'moco-test-2', 'n-1', 'images'));
    expect(
      new Set([
        metadata.name,
        preflightName('uid-1', 'moco-test-2', 'n-2', 'images'),
        preflightName('uid-1', 'moco-test-3', 'n-1', 'images'),
      ]),
    ).to.have.length(3);
    expect(metadata.ownerReferences[0]).to.deep.include({ kind: 'MySQLRollout', uid: 'uid-1', controller: true });
  });

  it('asks no registry for the image that runs already, and for that of the new mysqld as a member does', () => {
    const always = (image: string) => ({
      spec: { containers: [{ name: 'mysqld', image, imagePullPolicy: 'Always' }] },
    });
    const templates = { template: always('mysql:2'), templateBefore: always('mysql:1') };
    const policies = (['images', 'configuration'] as const).map(
      (about) => specOf({ ...templates, about }).containers[0]['imagePullPolicy'],
    );
    expect(policies).to.deep.equal(['IfNotPresent', 'Always']);
  });

  it('checks the configuration by the new mysqld, with ConfigMaps alone', () => {
    const { containers, volumes } = specOf({ about: 'configuration' });
    const [container] = containers;
    expect(container).to.deep.include({
      image: 'mysql:2',
      args: ['--defaults-file=/etc/mysql/my.cnf', '--validate-config'],
      terminationMessagePolicy: 'FallbackToLogsOnError',
    });
    expect(volumes).to.deep.equal([
      { name: 'mysql-conf', configMap: { name: 'moco-test.abc' } },
      { name: 'mysql-conf-d', emptyDir: {} },
      { name: 'my-cnf-secret', emptyDir: {} },
      { name: 'mysql-data', emptyDir: {} },
    ]);
    expect(container.volumeMounts).to.deep.equal((mysqld('') as { volumeMounts: object[] }).volumeMounts);
  });

  it('asks the registry each time for images that the kubelet always pulls', () => {
    const images = imagesOf({
      spec: {
        containers: [
          { image: 'a:1', imagePullPolicy: 'IfNotPresent' },
          { image: 'a:1', imagePullPolicy: 'Always' },
          { image: 'b' },
          { image: 'c:latest', imagePullPolicy: 'IfNotPresent' },
          { image: 'd:1', imagePullPolicy: 'Never' },
          { image: 'e:1', imagePullPolicy: 'Never' },
          { image: 'e:1' },
        ],
      },
    });
    expect(images).to.deep.equal([
      { image: 'a:1', pullPolicy: 'Always' },
      { image: 'b', pullPolicy: 'Always' },
      { image: 'c:latest', pullPolicy: 'IfNotPresent' },
      { image: 'd:1', pullPolicy: 'Never' },
      { image: 'e:1', pullPolicy: 'IfNotPresent' },
    ]);
  });

  it('depends on the secrets of both templates, each once', () => {
    const withSecrets = (image: string, ...names: readonly string[]) => ({
      spec: { ...(template(image) as { spec: object }).spec, imagePullSecrets: names.map((name) => ({ name })) },
    });
    const templates = {
      template: withSecrets('b/mysql:2', 'b', 'c'),
      templateBefore: withSecrets('a/mysql:1', 'a', 'c'),
    };
    expect(specOf(templates)['imagePullSecrets']).to.deep.equal([{ name: 'b' }, { name: 'c' }, { name: 'a' }]);
    expect(specOf({ ...templates, about: 'configuration' })['imagePullSecrets']).to.deep.equal([
      { name: 'b' },
      { name: 'c' },
    ]);
  });
});
