import { expect } from 'chai';
import { type PreflightOf, preflightPod } from '../../src/moco/preflight-pod.ts';
import { readPreflightPod } from '../../src/moco/preflight-result.ts';
import { of, template } from './preflight-objects.ts';

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
        message: 'a file is missing, which the volumes of the member may contain: another error',
      },
    ],
    'a sidecar of another program that is listed first': [
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

describe('the version that the new mysqld prints in a preflight', () => {
  /** What mysqld 9.7.4 of Debian prints (test/cluster/mysql.test.ts runs it). */
  const printed = (version: string): string =>
    [
      '2026-11-28T22:28:43.519107Z 0 [System] [MY-015017] [Server] MySQL Server Initialization - start.',
      `2026-11-28T22:28:43.525865Z 0 [System] [MY-013169] [Server] /usr/sbin/mysqld (mysqld ${version}) initializing of server in progress as process 1`,
      "mysqld: Can't create directory '/dev/null/none/' (OS errno 20 - Not a directory)",
      '2026-11-28T22:28:43.527946Z 0 [ERROR] [MY-013236] [Server] The designated data directory /dev/null/none/ is unusable.',
    ].join('\n');
  const withVersion = (
    state: object,
    phase = 'Running',
    mysqldState: object = { terminated: { exitCode: 0 } },
  ): unknown =>
    said({
      status: {
        phase,
        containerStatuses: [
          { name: 'mysqld', state: mysqldState },
          { name: 'version', state },
        ],
      },
    });
  const ended = (message?: string) => ({ terminated: { exitCode: 1, message } });
  const fetched = { kind: 'fetched' };

  it('is read from its log', () => {
    for (const [version, release] of [
      ['9.7.4-2', '9.7.4'],
      ['8.4.8', '8.4.8'],
      ['8.0.36-28', '8.0.36'],
      ['26.7.0', '26.7.0'],
    ] as const) {
      expect(withVersion(ended(printed(version)), 'Failed')).to.deep.equal({ ...fetched, version: release });
    }
  });

  it('is awaited while the container starts and runs, once the images are there', () => {
    for (const state of [{ running: {} }, { waiting: { reason: 'ContainerCreating' } }, { waiting: {} }]) {
      expect(withVersion(state)).to.deep.equal({ kind: 'awaitsVersion' });
      expect(withVersion(state, 'Failed')).to.deep.equal(fetched);
      expect(withVersion(state, 'Pending', { waiting: { reason: 'ErrImagePull', message: 'no' } })).to.deep.equal({
        kind: 'failing',
        message: 'no',
      });
    }
  });

  it('is not known if the container fails in any other way: the images are there all the same', () => {
    for (const state of [
      ended(),
      ended('exec format error'),
      ended('mysqld: unknown option'),
      ended(printed('10.11.6-MariaDB')),
      ended(printed('8.4')),
      ended(`${'x'.repeat(5000)}\n${printed('8.4.8')}`),
      ended(printed(`8.4.8${'-'.repeat(100)}`)),
      ended('8.4.8 (mysqld 8.4.8) initializing'),
      { waiting: { reason: 'CreateContainerConfigError', message: 'runs as root' } },
      { waiting: { reason: 'ErrImagePull', message: 'no' } },
      { terminated: { exitCode: 128, reason: 'StartError' } },
    ]) {
      expect(withVersion(state)).to.deep.equal(fetched);
    }
  });
});
