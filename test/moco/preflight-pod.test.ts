import { expect } from 'chai';
import {
  imagesOf,
  type PreflightOf,
  preflightName,
  preflightPod,
  readPreflightPod,
} from '../../src/moco/preflight-pod.ts';

const mysqld = (image: string): object => ({
  name: 'mysqld',
  image,
  args: ['--defaults-file=/etc/mysql/my.cnf'],
  env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'moco-test', key: 'a' } } }],
  securityContext: { runAsUser: 10_000 },
  resources: { requests: { memory: '64Gi' } },
  volumeMounts: [
    { name: 'mysql-conf', mountPath: '/etc/mysql' },
    { name: 'mysql-conf-d', mountPath: '/etc/mysql-conf.d' },
    { name: 'my-cnf-secret', mountPath: '/mysql-credentials', readOnly: true },
    { name: 'mysql-data', mountPath: '/var/lib/mysql' },
  ],
});
const template = (image: string): object => ({
  metadata: { labels: { 'app.kubernetes.io/created-by': 'moco', 'app.kubernetes.io/instance': 'test' } },
  spec: {
    serviceAccountName: 'moco-test',
    imagePullSecrets: [{ name: 'registry' }],
    tolerations: [{ key: 'databases', operator: 'Exists' }],
    securityContext: { fsGroup: 10_000 },
    nodeSelector: { disk: 'ssd' },
    priorityClassName: 'databases',
    initContainers: [
      { name: 'copy-moco-init', image: 'agent:1' },
      { name: 'moco-init', image },
    ],
    containers: [
      mysqld(image),
      { name: 'agent', image: 'agent:1' },
      { name: 'own', image: 'own', imagePullPolicy: 'Never' },
    ],
    volumes: [
      { name: 'mysql-conf', configMap: { name: 'moco-test.abc' } },
      { name: 'mysql-conf-d', emptyDir: {} },
      { name: 'my-cnf-secret', secret: { secretName: 'moco-my-cnf-test' } },
      { name: 'files', image: { reference: 'files:2' } },
    ],
  },
});
const of = (more: Partial<PreflightOf> = {}): PreflightOf => ({
  namespace: 'default',
  clusterName: 'test',
  rollout: { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', name: 'test', uid: 'uid-1' },
  node: 'n-1',
  revision: 'moco-test-2',
  template: template('mysql:2') as PreflightOf['template'],
  templateBefore: template('mysql:1') as PreflightOf['template'],
  about: 'images',
  timeoutSeconds: 300,
  ...more,
});
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
});

/** A pod whose container of mysqld is in this state. */
const inState = (phase: string, state: object, more: object = {}): object => ({
  status: { phase, containerStatuses: [{ name: 'mysqld', state }], ...more },
});
const waiting = (reason: string, message?: string): object => inState('Pending', { waiting: { reason, message } });
const ended = (phase: string, exitCode: number, message?: string, reason = 'Error'): object =>
  inState(phase, { terminated: { exitCode, message, reason } });
/** One that has reached its deadline in this state. */
const overdue = (state: object): object => inState('Failed', state, { reason: 'DeadlineExceeded' });
const said = (pod: object, checks = false): unknown => readPreflightPod(pod as Record<string, unknown>, checks);

describe('what the pod of a preflight says', () => {
  it('is of the revision, unless the image is named that the pod itself runs', () => {
    const kindOf = (message: string, more: Partial<PreflightOf> = {}): unknown => {
      const pod = { ...preflightPod(of(more)), ...waiting('ErrImagePull', message) };
      return readPreflightPod(pod, more.about === 'configuration').kind;
    };
    const words = {
      'Back-off pulling image "mysql:1": ErrImagePull: 401 Unauthorized': 'unknown',
      'failed to pull and unpack image "docker.io/library/mysql:1": failed to resolve reference': 'unknown',
      'initializing source docker://docker.io/library/mysql:1: reading manifest': 'unknown',
      'image pull failed for mysql:1: the registry is unavailable': 'unknown',
      'Back-off pulling image "mysql:2"': 'failing',
      'failed to pull and unpack image "docker.io/library/mysql:2": 429': 'failing',
      'Back-off pulling image "mysql:1.1"': 'failing',
      'somebody/mysql:1 is missing': 'failing',
      'the registry has no time': 'failing',
    };
    for (const [message, kind] of Object.entries(words)) expect(kindOf(message), message).to.equal(kind);
    expect(kindOf('Back-off pulling image "mysql:2"', { about: 'configuration' })).to.equal('failing');
    const same = { templateBefore: template('mysql:2') as PreflightOf['template'] };
    expect(kindOf('Back-off pulling image "mysql:2"', same)).to.equal('failing');
  });

  it('names variables and no values, whatever mysqld says', () => {
    const words = {
      "unknown variable 'report_password=hunter2'.": "unknown variable 'report_password=…'",
      "unknown variable 'a=b' to 'hunter2'.": "unknown variable 'a=…'",
      "unknown option '--report_password hunter2'.": "unknown option '--report_password'",
      "unknown option '--skip-x'": "unknown option '--skip-x'",
      "ambiguous option '--log=hunter2' (log-bin, log-error)": "ambiguous option '--log'",
      "option '--port' requires an argument": "option '--port' requires an argument",
      "Error while setting value 'hunter2' to 'a' to 'sql_mode'.": "Error while setting value '…' to 'sql_mode'",
      "Error while setting value 'a' to 'b' hunter2": 'another error (MY-000067)',
      "Variable 'sql_mode' can't be set to the value of 'hunter2'":
        "Variable 'sql_mode' can't be set to the value of '…'",
      "Unknown character set: 'hunter2'": "Unknown character set: '…'",
      "Incorrect unsigned integer value: 'hunter2'.": 'another error (MY-000067)',
      'Unknown/unsupported storage engine: hunter2': 'another error (MY-000067)',
      'hunter2 [MY-000001] [ERROR] hunter2': 'another error (MY-000067)',
    };
    for (const [given, message] of Object.entries(words)) {
      const log = `2026-11-26T00:24:15.4Z 0 [ERROR] [MY-000067] [Server] ${given}`;
      expect(said(ended('Failed', 1, log), true), given).to.deep.equal({ kind: 'ConfigurationRefused', message });
    }
    const twice = `mysqld: hunter2\nmysqld: hunter3\nmysqld: unknown option '--a'`;
    const message = "another error; unknown option '--a'";
    expect(said(ended('Failed', 1, twice), true)).to.deep.equal({ kind: 'ConfigurationRefused', message });
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

  const cases: Readonly<Record<string, readonly [object, boolean, object]>> = {
    'an image that is missing': [
      waiting('ImagePullBackOff', 'Back-off pulling image "a": not found'),
      false,
      { kind: 'failing', message: 'Back-off pulling image "a": not found' },
    ],
    'an image that is never pulled': [
      waiting('ErrImageNeverPull', 'is not present'),
      false,
      { kind: 'ImageUnavailable', message: 'is not present' },
    ],
    'a name that is none': [
      waiting('InvalidImageName'),
      true,
      { kind: 'ImageUnavailable', message: 'InvalidImageName' },
    ],
    'a node without image volumes': [
      waiting('CreateContainerError', 'failed to mount'),
      false,
      { kind: 'unknown', message: 'failed to mount' },
    ],
    'a pull that continues': [waiting('ContainerCreating'), false, { kind: 'running', message: null }],
    'a pod that was just created': [{}, false, { kind: 'running', message: null }],
    'no room': [
      { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: 'no room' }] } },
      false,
      { kind: 'running', message: 'no room' },
    ],
    'all is there': [ended('Succeeded', 0, undefined, 'Completed'), true, { kind: 'fetched' }],
    'its own program does not start, with the images there': [
      ended('Failed', 128, 'exec', 'StartError'),
      false,
      { kind: 'fetched' },
    ],
    'all is there, and the kubelet has not said so of the pod yet': [
      ended('Running', 0, undefined, 'Completed'),
      true,
      { kind: 'fetched' },
    ],
    'a refused configuration': [
      ended('Failed', 1, "2026-11-26T00:24:15.4Z 0 [ERROR] [MY-000067] [Server] unknown variable 'x_pwd=hunter'2'.\n"),
      true,
      { kind: 'ConfigurationRefused', message: "unknown variable 'x_pwd=…'" },
    ],
    'a refused configuration, among other words': [
      ended(
        'Failed',
        1,
        `2026-11-26T00:24:15.1Z 0 [Warning] [MY-011070] [Server] 'binlog_format' is deprecated.
2026-11-26T00:24:15.9Z 0 [ERROR] [MY-000058] [Server] Unknown suffix 'l' used for variable 'innodb_buffer_pool_size' (value 'lots').
2026-11-26T00:24:15.9Z 0 [ERROR] [MY-000077] [Server] mysqld: Error while setting value 'NOPE' to 'innodb_flush_method'.
mysqld: Can't get stat of '/nope' (OS errno 2 - No such file or directory)
2026-11-26T00:24:15.9Z 0 [ERROR] [MY-010119] [Server] Aborting
`,
      ),
      true,
      {
        kind: 'ConfigurationRefused',
        message:
          "Unknown suffix used for variable 'innodb_buffer_pool_size'; Error while setting value '…' to 'innodb_flush_method'",
      },
    ],
    'a refused configuration without a word': [
      ended('Failed', 1),
      true,
      { kind: 'ConfigurationRefused', message: 'mysqld --validate-config names no error (Error, exit code 1)' },
    ],
    'a refusal in words that name no error': [
      ended('Failed', 1, 'hunter2'),
      true,
      { kind: 'ConfigurationRefused', message: 'mysqld --validate-config names no error (Error, exit code 1)' },
    ],
    'a file of a volume that the pod does not have': [
      ended('Failed', 1, "mysqld: Can't get stat of '/nope' (OS errno 2 - No such file or directory)\n"),
      true,
      {
        kind: 'unknown',
        message: 'a file is missing, and the preflight has no volumes of the member: another error',
      },
    ],
    'a sidecar of somebody else that is listed first': [
      {
        status: {
          phase: 'Running',
          containerStatuses: [
            { name: 'proxy', state: { running: {} } },
            { name: 'mysqld', state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } },
          ],
        },
      },
      false,
      { kind: 'failing', message: 'not found' },
    ],
    'a check that was killed': [
      ended('Failed', 137, undefined, 'OOMKilled'),
      true,
      { kind: 'unknown', message: 'OOMKilled, exit code 137' },
    ],
    'a check that does not start': [
      ended('Failed', 128, 'no such file', 'StartError'),
      true,
      { kind: 'unknown', message: 'no such file' },
    ],
    'a check that runs': [inState('Running', { running: {} }), true, { kind: 'running', message: null }],
    'an eviction': [
      { status: { phase: 'Failed', reason: 'Evicted', message: 'short of memory' } },
      false,
      { kind: 'unknown', message: 'short of memory' },
    ],
    'its deadline': [overdue({ waiting: { reason: 'ContainerCreating' } }), false, { kind: 'timedOut' }],
    'its deadline, with an image that is missing': [
      overdue({ waiting: { reason: 'ImagePullBackOff', message: 'not found' } }),
      false,
      { kind: 'failing', message: 'not found' },
    ],
    'its deadline, after which the check was killed': [
      overdue({ terminated: { exitCode: 137, reason: 'Error' } }),
      true,
      { kind: 'timedOut' },
    ],
  };
  for (const [name, [pod, checks, expected]] of Object.entries(cases)) {
    it(name, () => expect(said(pod, checks)).to.deep.equal(expected));
  }
});
