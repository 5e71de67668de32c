import { expect } from 'chai';
import type { Flag } from '../../src/options/flag.ts';
import { flags, type Options } from '../../src/options/flags.ts';
import { parseOptions } from '../../src/options/options.ts';

const expectedUrl =
  'an http or https address without user, query and fragment, such as https://prometheus.example:9090';

describe('options', () => {
  it('have the defaults of Kubernetes’ own programs', () => {
    expect(optionsOf([])).to.deep.equal({
      kubeconfigPath: null,
      featureGates: {
        UpdateStrategyOnDelete: false,
        InPlaceUpdate: false,
        NodeMaintenance: false,
        ReplicationFacts: false,
        EvictionRequests: false,
      },
      namespaces: [],
      webhookBindAddress: null,
      certDir: '/tmp/k8s-webhook-server/serving-certs',
      clientCaFile: null,
      metricsBindAddress: { host: null, port: 8080 },
      healthProbeBindAddress: { host: null, port: 8081 },
      leaderElect: false,
      leaderElectionNamespace: null,
      leaseDurationMilliseconds: 15_000,
      renewDeadlineMilliseconds: 10_000,
      retryPeriodMilliseconds: 2000,
      maxConcurrentReconciles: 8,
      kubeApiQps: 100,
      kubeApiBurst: 200,
      mocoLeaseNamespace: 'moco-system',
      mocoLeaseName: 'moco',
      partitionDriver: 'moco',
      leavingNodeTaints: [
        'karpenter.sh/disrupted',
        'ToBeDeletedByClusterAutoscaler',
        'node.kubernetes.io/out-of-service',
      ],
      leavingNodeAnnotations: [],
      maxConcurrentRollouts: 5,
      maxNamespaceShare: 50,
      verifyFirstCluster: true,
      maxFailingRollouts: 3,
      releaseStalledSlots: false,
      disruptionIntervalMilliseconds: 0,
      partitionUpdateIntervalMilliseconds: 0,
      defaultStrategy: 'OnDelete',
      minReadySeconds: 5,
      replicaDelayGraceSeconds: 30,
      silentMemberGraceSeconds: 120,
      confirmationTimeoutMilliseconds: 2000,
      dryRunPods: true,
      evictionRequestTimeoutMilliseconds: 3_600_000,
      maxOverrideMilliseconds: 86_400_000,
      mysqlSecretName: 'moco-{name}',
      mysqlTls: 'Prefer',
      mysqlCaFile: null,
      prometheusUrl: null,
      prometheusCaFile: null,
      prometheusTokenFile: null,
      prometheusBasicAuthFile: null,
      prometheusHeadersFile: null,
      prometheusProxyUrl: null,
      logLevel: 'info',
      logFormat: 'json',
    });
  });

  const given: readonly (readonly [argv: readonly string[], expected: Partial<Options>])[] = [
    [['--kubeconfig=/a'], { kubeconfigPath: '/a' }],
    [['--kubeconfig', '/a'], { kubeconfigPath: '/a' }],
    [['--kubeconfig=a=b'], { kubeconfigPath: 'a=b' }],
    [['--kubeconfig=/a', '--kubeconfig=/b'], { kubeconfigPath: '/b' }],
    [
      ['--feature-gates=UpdateStrategyOnDelete=true'],
      {
        featureGates: {
          UpdateStrategyOnDelete: true,
          InPlaceUpdate: false,
          NodeMaintenance: false,
          ReplicationFacts: false,
          EvictionRequests: false,
        },
      },
    ],
    [
      ['--feature-gates', 'UpdateStrategyOnDelete=T'],
      {
        featureGates: {
          UpdateStrategyOnDelete: true,
          InPlaceUpdate: false,
          NodeMaintenance: false,
          ReplicationFacts: false,
          EvictionRequests: false,
        },
      },
    ],
    [
      ['--feature-gates=InPlaceUpdate=true'],
      {
        featureGates: {
          UpdateStrategyOnDelete: false,
          InPlaceUpdate: true,
          NodeMaintenance: false,
          ReplicationFacts: false,
          EvictionRequests: false,
        },
      },
    ],
    [
      ['--feature-gates='],
      {
        featureGates: {
          UpdateStrategyOnDelete: false,
          InPlaceUpdate: false,
          NodeMaintenance: false,
          ReplicationFacts: false,
          EvictionRequests: false,
        },
      },
    ],
    [
      ['--feature-gates=UpdateStrategyOnDelete=true', '--feature-gates=UpdateStrategyOnDelete=false'],
      {
        featureGates: {
          UpdateStrategyOnDelete: false,
          InPlaceUpdate: false,
          NodeMaintenance: false,
          ReplicationFacts: false,
          EvictionRequests: false,
        },
      },
    ],
    [['--namespaces=a, b,a'], { namespaces: ['a', 'b'] }],
    [['--webhook-bind-address=127.0.0.1:0'], { webhookBindAddress: { host: '127.0.0.1', port: 0 } }],
    [['--webhook-bind-address=[::1]:9443'], { webhookBindAddress: { host: '::1', port: 9443 } }],
    [['--client-ca-file=/a', '--webhook-bind-address=:9443'], { clientCaFile: '/a' }],
    [['--client-ca-file='], { clientCaFile: null }],
    [['--metrics-bind-address=0'], { metricsBindAddress: null }],
    [
      ['--health-probe-bind-address', 'localhost:65535'],
      { healthProbeBindAddress: { host: 'localhost', port: 65_535 } },
    ],
    [['--leader-elect'], { leaderElect: true }],
    [['--leader-elect=false'], { leaderElect: false }],
    [['--leader-elect', '--log-level=debug'], { leaderElect: true, logLevel: 'debug' }],
    [['--lease-duration=1m30.5s'], { leaseDurationMilliseconds: 90_500 }],
    [['--retry-period=500ms'], { retryPeriodMilliseconds: 500 }],
    [['--kube-api-qps=0.5'], { kubeApiQps: 0.5 }],
    [['--min-ready-seconds=0'], { minReadySeconds: 0 }],
    [['--replica-delay-grace-seconds=3600'], { replicaDelayGraceSeconds: 3600 }],
    [['--default-strategy=Partition'], { defaultStrategy: 'Partition' }],
    [
      ['--prometheus-url=http://prometheus.example:9090/'],
      { prometheusUrl: 'http://prometheus.example:9090', prometheusCaFile: null, prometheusTokenFile: null },
    ],
    [
      ['--prometheus-url=https://[::1]/a/', '--prometheus-ca-file=/ca', '--prometheus-token-file=/token'],
      { prometheusUrl: 'https://[::1]/a', prometheusCaFile: '/ca', prometheusTokenFile: '/token' },
    ],
    [['--prometheus-url='], { prometheusUrl: null }],
    [['--log-format=text'], { logFormat: 'text' }],
  ];
  for (const [argv, expected] of given) {
    it(`read ${argv.join(' ')}`, () => {
      expect(optionsOf(argv)).to.deep.include(expected);
    });
  }

  const refused: readonly (readonly [argv: readonly string[], message: string])[] = [
    [['--featuregates=x'], 'Expected one of the known flags, got `--featuregates`; did you mean --feature-gates?'],
    [['--zzz'], 'Expected one of the known flags, got `--zzz`; `--help` lists them.'],
    [['--kubeconfig'], 'Expected a value after `--kubeconfig`, got nothing.'],
    [['run'], 'Expected flags only, got `run`; every flag starts with two dashes.'],
    [['--prometheus-url=https://me:secret@a'], `Expected --prometheus-url to be ${expectedUrl}, got \`https://a\`.`],
    [
      ['--prometheus-url=http://a', '--prometheus-basic-auth-file=/login'],
      'Expected --prometheus-url to be an https address with --prometheus-basic-auth-file, got http://a.',
    ],
    [
      ['--prometheus-url=https://a', '--prometheus-basic-auth-file=/login', '--prometheus-token-file=/token'],
      'Expected either --prometheus-token-file or --prometheus-basic-auth-file, got both.',
    ],
    [['--prometheus-headers-file=/headers'], 'Expected a --prometheus-url with --prometheus-headers-file, got none.'],
    [
      ['--prometheus-url=http://a', '--prometheus-token-file=/token'],
      'Expected --prometheus-url to be an https address with --prometheus-token-file, got http://a.',
    ],
    [
      ['--prometheus-ca-file=/ca'],
      'Expected --prometheus-url to be an https address with --prometheus-ca-file, got none.',
    ],
    [
      ['--feature-gates=OnDelete=true'],
      'In --feature-gates: unknown feature gate `OnDelete`; the known ones are UpdateStrategyOnDelete, InPlaceUpdate, NodeMaintenance, ReplicationFacts, EvictionRequests.',
    ],
    [
      ['--feature-gates=UpdateStrategyOnDelete=yes'],
      'In --feature-gates: expected the feature gate UpdateStrategyOnDelete to be true or false, got `yes`; write UpdateStrategyOnDelete=true.',
    ],
    [
      ['--feature-gates=UpdateStrategyOnDelete'],
      'In --feature-gates: expected the feature gate UpdateStrategyOnDelete to be true or false, got nothing; write UpdateStrategyOnDelete=true.',
    ],
    [
      ['--feature-gates=constructor=true'],
      'In --feature-gates: unknown feature gate `constructor`; the known ones are UpdateStrategyOnDelete, InPlaceUpdate, NodeMaintenance, ReplicationFacts, EvictionRequests.',
    ],
    [
      ['--lease-duration=10s'],
      'Expected --lease-duration to be longer than --renew-deadline, got 10000 ms and 10000 ms.',
    ],
    [
      ['--renew-deadline=2s'],
      'Expected --renew-deadline to be longer than 1.2 times --retry-period, got 2000 ms and 2000 ms.',
    ],
    [
      ['--leader-elect', '--kubeconfig=x'],
      'Expected --leader-election-namespace with --leader-elect and --kubeconfig, got none; only a pod has a namespace to use instead.',
    ],
    [
      ['--feature-gates=EvictionRequests=true'],
      'Expected the feature gate NodeMaintenance with EvictionRequests: it moves members that have to leave. Write --feature-gates=NodeMaintenance=true,EvictionRequests=true.',
    ],
    [
      ['--cert-dir=', '--webhook-bind-address=:9443'],
      'Expected --cert-dir to be a directory, got nothing; to run without the webhook pass --webhook-bind-address=0.',
    ],
    [['--client-ca-file=/a'], 'Expected a webhook with --client-ca-file, got --webhook-bind-address=0 and /a.'],
    [
      ['--webhook-bind-address=:9443', '--metrics-bind-address=:9443'],
      'Expected --webhook-bind-address and --metrics-bind-address to differ, got :9443 for both.',
    ],
  ];
  for (const [argv, message] of refused) {
    it(`refuse ${argv.join(' ')} with a sentence`, () => {
      expect(parseOptions(argv)).to.deep.equal({ kind: 'usage-error', message });
    });
  }

  /** What a flag with such a value expects, and what it does not take. */
  const kinds: Readonly<Record<string, readonly [expected: string, others: readonly string[]]>> = {
    '[bool]': ['true or false', ['', ' ', 'maybe', '-1']],
    '<keys>': [
      'up to 32 keys separated by commas, such as example.com/a,example.com/b=c',
      ['a,,b', 'a b', '-a', 'a/b/c', `${'a,'.repeat(32)}a`],
    ],
    '<duration>': [
      'a duration above zero such as 15s, 1m30s or 500ms',
      ['', ' ', 'soon', '5', '0s', '-1s', '1e9s', '15 s'],
    ],
    '<address>': ['HOST:PORT, :PORT, or 0 to listen nowhere', ['', ' ', 'here', '8080', ':-1', ':65536', '::1:80']],
    '<url>': [expectedUrl, [' ', 'prometheus:9090', 'ftp://a', 'file:///a', 'http://', 'https://a?b', 'https://a#b']],
    '<name>': ['the name of a namespace', [' ', '-1', 'A', 'a/b', '../a', 'a'.repeat(64)]],
    '<namespace>': ['the name of a namespace', ['', ' ', '-1', 'A', 'a/b', '../a', 'a'.repeat(64)]],
    '<object>': ['the name of an object of Kubernetes', ['', ' ', '-1', 'A', 'a/b', '..', 'a'.repeat(254)]],
    '<names>': ['names of namespaces separated by commas, such as a,b', ['-1', 'A', 'a/b', 'a b', 'a,', 'a,,b']],
    // Any text may name a file.
    '<path>': ['', []],
    '<file>': ['', []],
    '<secret>': ['', []],
    '<directory>': ['', []],
    // See above.
    '<gates>': ['', []],
  };

  function kindOf({ placeholder, schema }: Flag<unknown>): (typeof kinds)[string] | undefined {
    const { enum: choices, minimum, maximum, anyOf } = schema;
    const texts = ['', ' ', 'few', '-1', '1e3', '1e999', 'Infinity'];
    if (Array.isArray(choices)) return [`one of ${choices.join(', ')}`, ['', ' ', 'none']];
    if (typeof minimum === 'number' && typeof maximum === 'number') {
      const beyond = [...(minimum > 0 ? [minimum - 1] : []), maximum + 1].map(String);
      return [`a whole number from ${minimum} to ${maximum}`, [...texts, '1.5', ...beyond]];
    }
    if (placeholder === '<number>') return ['a number above zero', [...texts, '0']];
    if (anyOf !== undefined) return ['a duration such as 15s, 1m30s or 500ms, or 0 for none', ['', 'soon', '5', '-1s']];
    return kinds[placeholder];
  }

  for (const flag of Object.values<Flag<unknown>>(flags)) {
    it(`refuse what makes no sense for --${flag.name}`, () => {
      const [expected, others] = kindOf(flag) ?? ['a kind that this test knows', [flag.placeholder]];
      for (const text of others) {
        const message = `Expected --${flag.name} to be ${expected}, got \`${text}\`.`;
        expect(parseOptions([`--${flag.name}=${text}`])).to.deep.equal({ kind: 'usage-error', message });
      }
    });
  }

  it('refuse durations of more than ten years', () => {
    for (const text of ['87601h', '99999999999999999999h'])
      expect(parseOptions([`--retry-period=${text}`])).to.deep.equal({
        kind: 'usage-error',
        message: `Expected --retry-period to be a duration of at most 87600h, got \`${text}\`.`,
      });
  });

  it('refuse facts that are older than ten seconds', () => {
    expect(optionsOf(['--confirmation-timeout=10s']).confirmationTimeoutMilliseconds).to.equal(10_000);
    expect(parseOptions(['--confirmation-timeout=10001ms'])).to.deep.equal({
      kind: 'usage-error',
      message: 'Expected --confirmation-timeout to be a duration of at most 10s, got `10001ms`.',
    });
  });

  it('let several listeners have port 0', () => {
    const chosen = ['--webhook-bind-address=:0', '--metrics-bind-address=:0', '--health-probe-bind-address=:0'];
    expect(optionsOf(chosen).metricsBindAddress).to.deep.equal({ host: null, port: 0 });
  });

  it('show every flag with its default, and every gate with its stage, in --help', () => {
    const parsed = parseOptions(['--help', '--min-ready-seconds=1']);
    expect(parsed).to.include({ kind: 'help' });
    const text = parsed.kind === 'help' ? parsed.text : '';
    expect(text).to.contain('UpdateStrategyOnDelete=true|false (ALPHA - default=false)');
    for (const flag of ['--kubeconfig', '--namespaces', '--leader-election-namespace', '--log-format']) {
      expect(text).to.contain(flag);
    }
    expect(text).to.match(/--lease-duration <duration>\s[^-]*\(default 15s\)/);
    expect(Math.max(...text.split('\n').map((line) => line.length))).to.be.at.most(100);
  });

  it('show the version', () => {
    expect(parseOptions(['--version']))
      .to.have.property('text')
      .that.matches(/^moco-rollout \d+\.\d+\.\d+$/);
  });
});

function optionsOf(argv: readonly string[]): Options {
  const parsed = parseOptions(argv);
  if (parsed.kind !== 'options') throw new Error(JSON.stringify(parsed));
  return parsed.options;
}
