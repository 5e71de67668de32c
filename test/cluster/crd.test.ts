import { expect } from 'chai';
import { rolloutKind, rolloutSpec } from '../../src/api/rollout.ts';
import { policyKind, projectPolicy } from '../../src/api/rollout-policy.ts';
import { sequenceKind, sequenceSpec } from '../../src/api/rollout-sequence.ts';
import { problemOf } from '../../src/api/schema.ts';
import { builtInStrategy } from '../../src/api/settings.ts';
import { settingsOf } from '../../src/controller/facts/settings-in-force.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { apiVersion, type ResourceKind } from '../../src/kube/resource.ts';
import { refusedSettings } from '../api/refused-settings.ts';
import { readOne } from '../config/manifests.ts';
import { accessWith, type Connected } from '../support/object-client.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

/** An object that a test creates, of its kind. */
interface Written {
  readonly of: ResourceKind;
  readonly name: string;
  readonly spec?: object | undefined;
}

const at = '2026-01-02T03:04:05Z';

const override = (rule: string, until = at) => ({ rule, until, reason: 'the backup of tonight may be lost' });

const maintenanceWindow = (fields: Readonly<Record<string, string | number>>) => ({
  schedule: '0 1 * * TUE-THU',
  duration: '4h',
  ...fields,
});
const blackout = (until: string) => ({ from: '2026-12-20T00:00:00+09:00', until, reason: 'end of the year' });

const rollout = (name: string, spec?: object): Written => ({ of: rolloutKind, name, spec });
const policy = (spec: object): Written => ({ of: policyKind, name: 'some', spec });
const sequence = (spec: object): Written => ({ of: sequenceKind, name: 'some', spec });

describe('the API server and MySQLRollout', () => {
  const controlPlane = useControlPlane();
  let access: Connected;
  let namespace: string;

  before(async () => {
    access = accessWith(controlPlane().adminKubeconfig);
    namespace = await freshNamespace(controlPlane(), 'crd');
  });

  after(() => access?.connection.close());

  for (const plural of ['mysqlrollouts', 'mysqlrolloutpolicies', 'mysqlrolloutsequences']) {
    it(`find the schema of ${plural} structural`, async () => {
      const definition = JSON.parse(await kubectl('get', 'crd', `${plural}.moco-rollout.io`, '-o', 'json'));
      const conditions = definition.status.conditions as { type: string; status: string }[];
      const holding = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
      expect(holding).to.have.members(['NamesAccepted', 'Established']);
    });
  }

  it('accept a MySQLRollout without a spec, as the controller creates it, and the samples', async () => {
    expect(await tryOut(rollout('bare'))).to.equal('taken');
    const sample = await readOne('MySQLRollout', 'samples');
    expect(await tryOut(rollout('test', sample['spec'] as object))).to.equal('taken');
    const policySample = await readOne('MySQLRolloutPolicy', 'samples');
    expect(await tryOut(policy(policySample['spec'] as object))).to.equal('taken');
  });

  const columns: Readonly<Record<string, readonly [Written, string]>> = {
    mro: [rollout('some'), 'NAME PHASE STRATEGY UPDATED REPLICAS PRIMARY HOLD AGE'],
    mrop: [
      policy({ priority: 7, settings: { strategy: 'Partition', paused: true }, enforced: { paused: true } }),
      'NAME PRIORITY STRATEGY ENFORCED-PAUSED CLUSTERS MEMBERS READABLE AGE\nsome 7 Partition true',
    ],
  };
  for (const [shortName, [object, shown]] of Object.entries(columns)) {
    it(`know ${shortName} as a short name, and show its columns`, async () => {
      await create(object);
      const text = await kubectl('get', shortName, 'some');
      await kubectl('delete', shortName, 'some');
      expect(text.replaceAll(/ +/g, ' ')).to.include(shown);
    });
  }

  it('explain every field', async () => {
    // kubectl wraps lines at a width of its own.
    const explained = async (field: string): Promise<string> =>
      (await kubectl('explain', field)).replaceAll(/\s+/g, ' ');
    expect(await explained('mysqlrollout.spec.partition'))
      .to.contain('keep their revision')
      .and.to.contain('Defaults to 0');
    expect(await explained('mysqlrollout.spec.overrides.until')).to.contain('in force again');
    expect(await explained('mysqlrolloutpolicy.spec.selector')).to.contain('by their labels');
  });

  const taken: Readonly<Record<string, readonly unknown[]>> = {
    maxUnavailable: [1, 1000, '1%', '9%', '10%', '99%', '100%'],
    nodeMaintenance: ['Ignore', 'Evacuate'],
    rolloutsDuringMaintenance: ['Proceed', 'Wait'],
    lostMembers: ['UpdateOnceVerified', 'KeepRevision'],
    restore: [
      { revision: 'moco-test-7966559688', members: [0] },
      { revision: 'r', members: [999, 1] },
    ],
    overrides: [[], [override('BackupRunning'), override('RevisionFlapping', '2026-01-02T03:04:05.678+09:00')]],
    maintenanceWindows: [
      [],
      [maintenanceWindow({ timeZone: 'Asia/Tokyo' }), maintenanceWindow({ schedule: '30 1,13 1-7 */2 5#2' })],
      ['0 1 31 JAN,feb *', '0 1 31 2 MON', '0 23 L * *', '5 0 15W 1-12/3 ?'].map((schedule) =>
        maintenanceWindow({ schedule }),
      ),
      ['1m', '9999m', '1h30m', 5400].map((duration) => maintenanceWindow({ duration })),
    ],
    checks: [
      [],
      [check({}), check({ name: 'a-2', query: 'up{pod=~"moco-$name-[0-9]+$"}\n== 0' })],
      [check({ query: 'label_replace(up, "a", "${1}-$2", "pod", "(.*)-(.*)")' })],
      Array.from({ length: 16 }, (_, index) => check({ name: `check-${index}`, query: 'x'.repeat(1024) })),
    ],
    blackouts: [[], [blackout('2027-01-04T00:00:00Z'), blackout('2026-12-19T15:00:01Z')]],
    inPlace: [
      { metadata: [] },
      { metadata: ['team', 'example.com/team', 'example.com/*', 'e*', `${'a'.repeat(253)}/${'b'.repeat(63)}`] },
    ],
  };
  for (const [field, values] of Object.entries(taken)) {
    it(`accept what the program accepts as ${field}`, async () => {
      for (const value of values) {
        expect(await tryOut(rollout('taken', { [field]: value }))).to.equal('taken');
        expect(problemOf(rolloutSpec, { [field]: value }, 'spec')).to.equal(null);
      }
    });
  }

  /** What the schema refuses the program refuses as well, should it come all the same. */
  const refuses = (
    specs: Readonly<Record<string, readonly [spec: object, reason: RegExp]>>,
    objectOf: (spec: object) => Written,
    readProblem: (spec: object) => string | null | undefined,
  ): void => {
    for (const [what, [spec, reason]] of Object.entries(specs)) {
      it(`refuse ${what}, and so does the program`, async () => {
        expect(await tryOut(objectOf(spec))).to.match(reason);
        // Those fields would have been left out.
        if (!reason.source.startsWith('unknown field')) expect(readProblem(spec)).to.match(/^(\S+: )?expected /);
      });
    }
  };

  for (const { title, spec, answer } of refusedSettings) {
    if (answer === undefined) continue;
    // What the program makes of it is tested where its settings are.
    it(`refuse ${title}`, async () => {
      expect(await tryOut(rollout('refused', spec))).to.match(answer);
    });
  }

  refuses(
    {
      'a deadline shorter than minReadySeconds': [
        { minReadySeconds: 10, progressDeadlineSeconds: 10 },
        /progressDeadlineSeconds must be more than minReadySeconds/,
      ],
      'a field that does not exist': [{ pauses: true }, /unknown field "spec\.pauses"/],
    },
    (spec) => rollout('refused', spec),
    (spec) => problemIn(spec, {}),
  );

  const refusedOfMany: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'a policy that approves': [
      { settings: { approvedRevision: 'a' } },
      /unknown field "spec\.settings\.approvedRevision"/,
    ],
    'a priority beyond 32 bits': [{ priority: 2 ** 31 }, /spec\.priority/],
    'a deadline before ready in settings': [
      { settings: { minReadySeconds: 10, progressDeadlineSeconds: 10 } },
      /progressDeadlineSeconds must be more than minReadySeconds/,
    ],
    'In without a value': [
      { selector: { matchExpressions: [{ key: 'tier', operator: 'In' }] } },
      /In and NotIn need at least one value/,
    ],
    'Exists with a value': [
      { selector: { matchExpressions: [{ key: 'tier', operator: 'Exists', values: ['db'] }] } },
      /Exists and DoesNotExist take none/,
    ],
  };
  refuses(refusedOfMany, policy, (spec) => problemIn({}, spec));

  const sequencesRefused: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'a sequence without stages': [{ stages: [] }, /spec\.stages.*at least 1/],
    'two stages of the same name': [
      { stages: [{ name: 'a', selector: {} }, { name: 'a' }] },
      /spec\.stages\[1\].*(Duplicate|different)/,
    ],
    'a stage without a selector before another one': [
      { stages: [{ name: 'a' }, { name: 'b' }] },
      /only the last stage can leave out the selector/,
    ],
    'a name that no stage may have': [{ stages: [{ name: '(others)' }] }, /spec\.stages\[0\]\.name/],
    'a percentage above all of them': [
      { stages: [{ name: 'a', maxConcurrent: '101%' }] },
      /maxConcurrent.*should match/,
    ],
    'no cluster at a time': [{ stages: [{ name: 'a', maxConcurrent: 0 }] }, /maxConcurrent/],
    'a duration in days': [{ stages: [{ name: 'a', soakDuration: '1d' }] }, /soakDuration.*should match/],
    'a negative duration': [
      { settleDuration: -1, stages: [{ name: 'a' }] },
      /settleDuration.*greater than or equal to 0/,
    ],
    'an empty duration': [{ settleDuration: '', stages: [{ name: 'a' }] }, /settleDuration.*(at least 1|should match)/],
  };
  refuses(sequencesRefused, sequence, (spec) => problemOf(sequenceSpec, spec, 'spec'));

  it('accept every kind of duration and concurrency in a sequence, and the sample', async () => {
    for (const settleDuration of [0, 90, '0s', '1h30m', '720h', 9_999_999]) {
      for (const maxConcurrent of [1, 10_000, '1%', '100%']) {
        const spec = { settleDuration, stages: [{ name: 'a', maxConcurrent, soakDuration: settleDuration }] };
        if (maxConcurrent === 1 || settleDuration === 0) expect(await tryOut(sequence(spec))).to.equal('taken');
        expect(problemOf(sequenceSpec, spec, 'spec')).to.equal(null);
      }
    }
    const sample = await readOne('MySQLRolloutSequence', 'samples');
    expect(await tryOut(sequence(sample['spec'] as object))).to.equal('taken');
  });

  it('accept selectors with every operator, and positive and negative priorities', async () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['db'] },
      { key: 'tier', operator: 'NotIn', values: ['web'] },
      { key: 'team', operator: 'Exists' },
      { key: 'example.com/scratch', operator: 'DoesNotExist', values: [] },
    ];
    const selector = { matchLabels: { app: 'mysql' }, matchExpressions };
    for (const priority of [-(2 ** 31), 0, 2 ** 31 - 1]) {
      expect(await tryOut(policy({ priority, selector, namespaceSelector: selector }))).to.equal('taken');
    }
    expect(await tryOut(policy({ selector: {}, namespaceSelector: {} }))).to.equal('taken');
  });

  it('take a share of the slots for namespaces, and not for some clusters of them', async () => {
    const named = { matchLabels: { team: 'a' } };
    expect(await tryOut(policy({ namespaceSelector: named, maxNamespaceShare: 20 }))).to.equal('taken');
    for (const [spec, answer] of [
      [{ selector: named, maxNamespaceShare: 20 }, /use namespaceSelector instead of selector/],
      [{ maxNamespaceShare: 0 }, /maxNamespaceShare.*greater than or equal to 1/],
      [{ maxNamespaceShare: 101 }, /maxNamespaceShare.*less than or equal to 100/],
    ] as const) {
      const refused = await tryOut(policy(spec));
      expect(refused).to.match(answer);
    }
  });

  function kubectl(...flags: readonly string[]): Promise<string> {
    return controlPlane().kubectl('--namespace', namespace, ...flags);
  }

  function create({ of, name, spec }: Written, query: { readonly dryRun?: 'All' } = {}): Promise<unknown> {
    const body = { apiVersion: apiVersion(of), kind: of.kind, metadata: { name }, spec };
    const place = of.namespaced ? { namespace } : {};
    return access.client.create(of, place, body, { query: { ...query, fieldValidation: 'Strict' } });
  }

  /** Everything that a creation does but the object. Resolves to `taken`, or to the refusal. */
  function tryOut(object: Written): Promise<string> {
    return create(object, { dryRun: 'All' }).then(() => 'taken', String);
  }
});

function check(more: object): object {
  return { name: 'errant', query: 'errant{namespace="$namespace", name="$name"} > 0', ...more };
}

/** What the program has against the settings of one cluster and of many. */
function problemIn(own: object, many: object): string | null | undefined {
  // A policy that decides no field holds no cluster.
  const spec = { settings: { paused: false }, ...many };
  const record = projectPolicy({ metadata: { name: 'some' }, spec });
  const cluster = { namespace: 'default', labels: {}, namespaceLabels: {} };
  const defaults = { policy: defaultPolicy, strategy: builtInStrategy };
  return settingsOf({ rollout: own, policies: [record], cluster }, defaults, 0).problem;
}
