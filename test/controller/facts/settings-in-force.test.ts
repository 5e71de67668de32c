import { expect } from 'chai';
import { anything, assert, constantFrom, integer, oneof, property, record } from 'fast-check';
import { noMaintenance } from '../../../src/api/maintenance-settings.ts';
import { type PolicyRecord, projectPolicy } from '../../../src/api/rollout-policy.ts';
import { builtInStrategy, type CommonSettings } from '../../../src/api/settings.ts';
import { milliseconds } from '../../../src/base/json.ts';
import { namespaceShare } from '../../../src/controller/facts/policy-layers.ts';
import {
  type DefaultSettings,
  decidingPolicies,
  type Settings,
  type SettingsSources,
  settingsOf,
} from '../../../src/controller/facts/settings-in-force.ts';
import { defaultPolicy } from '../../../src/core/policy.ts';
import { flags } from '../../../src/options/flags.ts';
import { refusedSettings } from '../../api/refused-settings.ts';

const now = milliseconds('2026-01-02T03:04:05Z') ?? Number.NaN;
const builtIn: DefaultSettings = { policy: defaultPolicy, strategy: builtInStrategy };

/** Each field with two values that differ from the default and from each other. */
const values: Readonly<Record<Exclude<keyof CommonSettings, 'pause'>, readonly [unknown, unknown]>> = {
  strategy: ['Partition', 'OnDelete'],
  paused: [true, false],
  repairWhilePaused: [true, false],
  maxUnavailable: ['34%', 2],
  partition: [2, 0],
  minReadySeconds: [30, 0],
  progressDeadlineSeconds: [3600, 6],
  switchoverTimeoutSeconds: [30, 600],
  failoverGraceSeconds: [60, 3600],
  maxReplicaDelaySeconds: [10, 3600],
  replicaDelayGraceSeconds: [0, 60],
  longWriteGraceSeconds: [0, 600],
  longWritePolicy: ['Hold', 'Proceed'],
  preflight: ['Nodes', 'Never'],
  preflightTimeoutSeconds: [60, 900],
  primaryUpdatePolicy: ['Manual', 'Automatic'],
  nodeMaintenance: ['Evacuate', 'Switchover'],
  rolloutsDuringMaintenance: ['Wait', 'Proceed'],
  lostMembers: ['KeepRevision', 'UpdateOnceVerified'],
  maintenanceWindows: [[{ schedule: '0 1 * * TUE-THU', duration: '4h', timeZone: 'Asia/Tokyo' }], []],
  blackouts: [[{ from: '2026-12-20T00:00:00Z', until: '2027-01-04T00:00:00Z', reason: 'end of the year' }], []],
  expectedMemberSeconds: [60, 3600],
  checks: [[{ name: 'errant', query: 'x' }], []],
  inPlace: [
    {
      mode: 'Only',
      containers: ['slow-log'],
      metadata: ['team'],
      restartWindows: [{ schedule: '0 1 * * *', duration: '4h' }],
    },
    { primary: 'InPlace' },
  ],
};
/** The status has no queries. */
const namesOf = (checks: unknown): unknown => (checks as { name: string }[]).map(({ name }) => ({ name }));
const valid: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(values).map(([field, [value]]) => [field, value]),
);

function policy(name: string, spec: unknown): PolicyRecord {
  return projectPolicy({ metadata: { name, uid: name, resourceVersion: '1', generation: 1 }, spec });
}

function settings(
  rollout: object | undefined,
  policies: readonly PolicyRecord[] = [],
  defaults: DefaultSettings = builtIn,
  cluster: Partial<SettingsSources['cluster']> = {},
): Settings {
  const selectable = { namespace: 'default', labels: { tier: 'db' }, namespaceLabels: { team: 'a' }, ...cluster };
  return settingsOf({ rollout, policies, cluster: selectable }, defaults, now);
}

describe('the settings for a cluster', () => {
  it('are the defaults if no setting is made', () => {
    for (const spec of [undefined, {}]) {
      const { policy: taken, strategy, problem } = settings(spec);
      expect({ taken, strategy, problem }).to.deep.equal({ taken: defaultPolicy, strategy: 'OnDelete', problem: null });
    }
    expect(settings({}).sources).to.deep.equal({
      strategy: { value: 'OnDelete', source: 'default' },
      paused: { value: false, source: 'default' },
      repairWhilePaused: { value: false, source: 'default' },
      maxUnavailable: { value: 1, source: 'default' },
      partition: { value: 0, source: 'default' },
      minReadySeconds: { value: 5, source: 'default' },
      progressDeadlineSeconds: { value: 600, source: 'default' },
      switchoverTimeoutSeconds: { value: 90, source: 'default' },
      failoverGraceSeconds: { value: 180, source: 'default' },
      longWriteGraceSeconds: { value: 60, source: 'default' },
      longWritePolicy: { value: 'Proceed', source: 'default' },
      preflight: { value: 'Never', source: 'default' },
      preflightTimeoutSeconds: { value: 300, source: 'default' },
      maxReplicaDelaySeconds: { value: 1, source: 'default' },
      replicaDelayGraceSeconds: { value: 30, source: 'default' },
      primaryUpdatePolicy: { value: 'Automatic', source: 'default' },
      nodeMaintenance: { value: 'Ignore', source: 'default' },
      rolloutsDuringMaintenance: { value: 'Proceed', source: 'default' },
      lostMembers: { value: 'UpdateOnceVerified', source: 'default' },
    });
  });

  it('are those of the flags if only these differ from the defaults', () => {
    const {
      policy: taken,
      strategy,
      sources,
    } = settings({}, [], { policy: { ...defaultPolicy, minReadySeconds: 17 }, strategy: 'Partition' });
    expect([taken.minReadySeconds, strategy]).to.deep.equal([17, 'Partition']);
    expect(sources).to.deep.include({
      strategy: { value: 'Partition', source: 'flag --default-strategy' },
      minReadySeconds: { value: 17, source: 'flag --min-ready-seconds' },
      partition: { value: 0, source: 'default' },
    });
    const named = Object.values(sources).flatMap(({ source }) =>
      source.startsWith('flag --') ? [source.slice(7)] : [],
    );
    expect(Object.values(flags).map(({ name }) => name)).to.include.members(named);
  });

  const selections: Readonly<Record<string, object>> = {
    z: { priority: 1 },
    high: { priority: 1000 },
    a: {},
    b: { priority: 0 },
  };
  const placed = (name: string, fields: object): object =>
    ['b', 'a', 'z'].includes(name)
      ? { ...selections[name], settings: fields }
      : { priority: -1, ...selections[name], enforced: fields };
  for (const [field, [one, other]] of Object.entries(values)) {
    it(`take ${field} from the first source that sets it`, () => {
      // The last place first.
      const order = ['b', 'a', 'z', null, 'lowest', 'low', 'high'];
      let rollout: object = {};
      const policies: PolicyRecord[] = [];
      for (const [index, name] of order.entries()) {
        const value = index % 2 === 0 ? one : other;
        if (name === null) rollout = { [field]: value };
        else policies.unshift(policy(name, placed(name, { [field]: value })));
        const result = settings(rollout, policies);
        const { inPlaceUpdates } = result.policy;
        const { restartWindows, ...maintenance } = result.maintenance;
        const all = {
          ...result.policy,
          ...maintenance,
          checks: result.checks,
          strategy: result.strategy,
          inPlace: { ...inPlaceUpdates, restartWindows },
        };
        // What an object leaves out has its default.
        const whole =
          field === 'inPlace' ? { ...defaultPolicy.inPlaceUpdates, restartWindows: [], ...(value as object) } : value;
        expect(all[field as keyof typeof all]).to.deep.equal(whole);
        expect(result.sources[field as keyof typeof result.sources]).to.deep.equal({
          value: field === 'checks' ? namesOf(value) : value,
          source: name === null ? 'MySQLRollout' : `MySQLRolloutPolicy/${name}`,
          ...(name !== null && index > 3 && { enforced: true }),
        });
      }
    });
  }

  it('are resolved one by one', () => {
    const { policy: taken, sources } = settings(
      { paused: false, partition: 0 },
      [policy('production', { settings: { paused: true, minReadySeconds: 0 } })],
      { policy: { ...defaultPolicy, minReadySeconds: 17, partition: 3, paused: true }, strategy: 'OnDelete' },
    );
    expect(taken).to.deep.equal({ ...defaultPolicy, paused: false, partition: 0, minReadySeconds: 0 });
    expect(sources).to.deep.include({
      paused: { value: false, source: 'MySQLRollout' },
      minReadySeconds: { value: 0, source: 'MySQLRolloutPolicy/production' },
    });
  });

  it('keep their strategy if another policy freezes everything', () => {
    const {
      policy: taken,
      strategy,
      sources,
    } = settings(
      { paused: false },
      [
        policy('production', { settings: { strategy: 'OnDelete' } }),
        policy('freeze', { priority: 1000, enforced: { paused: true } }),
      ],
      { ...builtIn, strategy: 'Partition' },
    );
    expect([taken.paused, strategy]).to.deep.equal([true, 'OnDelete']);
    expect(sources).to.deep.include({
      strategy: { value: 'OnDelete', source: 'MySQLRolloutPolicy/production' },
      paused: { value: true, source: 'MySQLRolloutPolicy/freeze', enforced: true },
    });
  });

  it('never change the mode, which only the operator sets', () => {
    const spec = { mode: 'OnDelete', strategy: 'OnDelete' };
    const defaults = { ...builtIn, policy: { ...defaultPolicy, mode: 'MOCO' } as const };
    expect(settings(spec, [policy('all', { settings: { mode: 'OnDelete' } })], defaults).policy.mode).to.equal('MOCO');
  });

  it('show what only the MySQLRollout can set, without the reasons', () => {
    const { policy: taken, sources } = settings({
      approvedRevision: 'moco-test-7966559688',
      pinnedMembers: [
        { ordinal: 2, reason: 'a debugger' },
        { ordinal: 0, reason: 'a backup' },
      ],
      restore: { revision: 'moco-test-7966559688', members: [2, 1] },
      overrides: [{ rule: 'BackupRunning', until: '2026-01-02T03:34:05Z', reason: 'tonight’s may be lost' }],
    });
    expect(taken).to.deep.include({
      approvedRevision: 'moco-test-7966559688',
      pinnedOrdinals: [0, 2],
      restore: { revision: 'moco-test-7966559688', ordinals: [1, 2] },
      overrides: [{ rule: 'BackupRunning', remainingSeconds: 1800 }],
    });
    expect(sources).to.deep.include({
      approvedRevision: { value: 'moco-test-7966559688', source: 'MySQLRollout' },
      pinnedMembers: { value: [0, 2], source: 'MySQLRollout' },
      restore: { value: { revision: 'moco-test-7966559688', members: [1, 2] }, source: 'MySQLRollout' },
      overrides: { value: [{ rule: 'BackupRunning', until: '2026-01-02T03:34:05Z' }], source: 'MySQLRollout' },
    });
  });

  it('of one cluster cannot be set for many clusters', () => {
    const restore = { revision: 'r', members: [1] };
    const said = { approvedRevision: 'r', pinnedMembers: [{ ordinal: 1, reason: 'x' }], restore, overrides: [] };
    const { policy: taken, sources } = settings({}, [policy('all', { settings: said, enforced: said })]);
    expect(taken).to.deep.equal(defaultPolicy);
    expect(sources).to.not.have.any.keys('approvedRevision', 'pinnedMembers', 'restore', 'overrides');
  });

  it('compute the remaining time of an override by the wall clock, in any time zone', () => {
    const remaining = (until: string): number | undefined =>
      settings({ overrides: [{ rule: 'BackupRunning', until, reason: 'x' }] }).policy.overrides[0]?.remainingSeconds;
    expect(remaining('2026-01-02T03:04:06.500Z')).to.equal(1.5);
    expect(remaining('2026-01-02T12:04:05+09:00')).to.equal(0);
    expect(remaining('2025-01-02t03:04:05z')).to.be.below(-31_000_000);
  });

  it('let an override begin as long before its end as it may last, and show it while it lasts', () => {
    const at = (until: string) => {
      const read = settings({ overrides: [{ rule: 'BackupRunning', until, reason: 'x', by: 'ada' }] });
      if (read.problem !== null) throw new Error(read.problem);
      const { policy: taken, sources, overriddenTooLong } = read;
      return { starts: taken.overrides[0]?.startsInSeconds, shown: sources.overrides?.value, overriddenTooLong };
    };
    const shown = (until: string) => [{ rule: 'BackupRunning', until, by: 'ada' }];
    const day = '2026-01-03T03:04:05Z';
    expect(at(day)).to.deep.equal({ starts: undefined, shown: shown(day), overriddenTooLong: [] });
    expect(at('2026-01-03T03:05:05Z')).to.deep.equal({
      starts: 60,
      shown: undefined,
      overriddenTooLong: ['BackupRunning'],
    });
    expect(at('2026-01-02T03:04:05Z'), 'it has ended').to.deep.equal({
      starts: undefined,
      shown: undefined,
      overriddenTooLong: [],
    });
  });

  it('contradict each other if a rollout would stall before a member counts as ready', () => {
    expect(settings({ minReadySeconds: 600 }).problem).to.equal(
      'expected progressDeadlineSeconds (default) to be more than minReadySeconds (MySQLRollout), got 600 and 600',
    );
    expect(
      settings({ minReadySeconds: 700 }, [policy('slow', { settings: { progressDeadlineSeconds: 700 } })]).problem,
    ).to.contain('progressDeadlineSeconds (MySQLRolloutPolicy/slow)');
    expect(settings({ minReadySeconds: 700, progressDeadlineSeconds: 701 }).problem).to.equal(null);
  });

  it('do not contradict each other because of a flag, which would stop every cluster', () => {
    const defaults = { ...builtIn, policy: { ...defaultPolicy, minReadySeconds: 3600 } };
    expect(settings({ paused: true }, [], defaults).problem).to.equal(null);
  });
});

describe('what is said about a pause', () => {
  const said = { reason: 'incident 4711', by: 'ada', until: '2026-01-02T04:04:05Z' };
  const ended = { ...said, until: '2026-01-02T03:04:05Z' };

  it('is known with its source, its end and its author', () => {
    const found = settings({ paused: true, pause: said });
    expect(found.policy).to.deep.include({
      paused: true,
      pausedBy: 'spec.paused of the MySQLRollout',
      pause: { reason: 'incident 4711', author: 'ada', until: said.until, remainingSeconds: 3600 },
    });
    expect(found.sources.pause).to.deep.equal({ value: { by: 'ada', until: said.until }, source: 'MySQLRollout' });
  });

  it('is that of the source that pauses', () => {
    const freeze = policy('freeze', { enforced: { paused: true, pause: said } });
    const found = settings({ paused: true, pause: { reason: 'of the cluster' } }, [freeze]);
    expect(found.policy.pause?.reason).to.equal('incident 4711');
    const bare = policy('freeze', { enforced: { paused: true } });
    expect(settings({ paused: true, pause: said }, [bare]).policy.pause).to.equal(undefined);
    expect(settings({ paused: true }, [policy('x', { settings: { pause: said } })]).policy.pause).to.equal(undefined);
  });

  it('ends the pause at its end, so that the next source decides', () => {
    const almost = { ...said, until: '2026-01-02T03:04:06Z' };
    expect(settings({ paused: true, pause: almost }).policy.paused).to.equal(true);
    const found = settings({ paused: true, pause: ended });
    expect([found.policy.paused, found.policy.pause, found.sources.paused]).to.deep.equal([
      false,
      undefined,
      { value: false, source: 'default' },
    ]);
    const freeze = policy('freeze', { enforced: { paused: true, pause: ended } });
    expect(settings({}, [freeze]).policy.paused).to.equal(false);
    expect(settings({ paused: true }, [freeze]).policy).to.deep.include({
      paused: true,
      pausedBy: 'spec.paused of the MySQLRollout',
    });
  });

  it('keeps the pause if it is invalid', () => {
    for (const until of ['2020', 'yesterday', 1, null]) {
      const found = settings({ paused: true, pause: { until } });
      expect([found.policy.paused, found.problem]).to.deep.equal([
        true,
        `expected spec.pause.until to be a time such as 2026-01-02T03:04:05Z, got ${JSON.stringify(until)}`,
      ]);
    }
  });
});

describe('invalid settings', () => {
  for (const { title, spec, message } of refusedSettings) {
    it(`are a named problem: ${title}`, () => {
      expect(settings(spec)).to.deep.equal({
        // A pause that can't be read counts as one.
        policy: { ...defaultPolicy, paused: 'paused' in spec },
        maintenance: noMaintenance,
        checks: [],
        strategy: null,
        sources: {},
        problem: message,
      });
    });
  }

  it('keep a valid pause', () => {
    expect(settings({ paused: true, partition: -1 }).policy.paused).to.equal(true);
    expect(settings({ paused: false, partition: -1 }).policy.paused).to.equal(false);
  });

  const odd = { minReadySeconds: 'long' };
  const good = { minReadySeconds: 7 };
  const selected: Readonly<
    Record<string, readonly [rollout: object, policies: readonly PolicyRecord[], from: string]>
  > = {
    'a MySQLRollout, where a policy enforces the field': [
      odd,
      [policy('p', { enforced: good })],
      'MySQLRolloutPolicy/p',
    ],
    'a policy’s settings, where the MySQLRollout has the field': [
      good,
      [policy('p', { priority: 9, settings: odd })],
      'MySQLRollout',
    ],
    'a policy, where one before it has the field': [
      {},
      [policy('p', { priority: -1, settings: odd }), policy('first', { settings: good })],
      'MySQLRolloutPolicy/first',
    ],
    'a selector, where the MySQLRollout has the field': [
      good,
      [policy('p', { selector: 'tier=db', settings: odd })],
      'MySQLRollout',
    ],
    'a priority, where a policy enforces the field': [
      {},
      [policy('p', { priority: 'high', settings: odd }), policy('first', { enforced: good })],
      'MySQLRolloutPolicy/first',
    ],
    'a whole part of a policy, where another part of it has every field': [
      { ...Object.fromEntries(Object.keys(values).map((field) => [field, valid[field]])), ...good },
      [policy('p', { settings: 'all' })],
      'MySQLRollout',
    ],
  };
  for (const [what, [rollout, policies, from]] of Object.entries(selected)) {
    it(`do not include ${what}`, () => {
      const { sources, problem } = settings(rollout, policies);
      expect([problem, sources['minReadySeconds']?.source]).to.deep.equal([null, from]);
    });
  }

  it('include a spec that is not an object', () => {
    expect(settings([] as object).problem).to.equal('expected spec to be an object, got []');
  });

  it('never throw, and are used within their ranges or not at all', () => {
    const value = oneof(anything(), integer(), constantFrom('OnDelete', 'Manual', '50%', true, [], {}));
    const spec = record(
      Object.fromEntries(
        [...Object.keys(settings({}).sources), 'pinnedMembers', 'restore', 'overrides', 'approvedRevision'].map(
          (key) => [key, value],
        ),
      ),
      { requiredKeys: [] },
    );
    assert(
      property(spec, spec, (own, many) => {
        const { policy: taken, problem } = settings(own, [policy('all', { settings: many })]);
        if (problem !== null) expect({ ...taken, paused: false }).to.deep.equal(defaultPolicy);
        expect(taken.partition).to.be.within(0, 2 ** 31 - 1);
        expect(taken.minReadySeconds).to.be.within(0, 3600);
        expect(taken.failoverGraceSeconds).to.be.within(60, 3600);
        expect(taken.paused).to.be.a('boolean');
      }),
    );
  });
});

describe('a policy', () => {
  const slow = (name: string, special: object = {}) => policy(name, { settings: { minReadySeconds: 60 }, ...special });
  const sourceOf = (result: Settings) => result.sources['minReadySeconds']?.source ?? result.problem;

  const selectors: Readonly<Record<string, readonly [special: object, selected: boolean]>> = {
    'without selectors': [{}, true],
    'with empty selectors': [{ selector: {}, namespaceSelector: {} }, true],
    'with the cluster’s labels': [{ selector: { matchLabels: { tier: 'db' } } }, true],
    'with a label that the cluster lacks': [{ selector: { matchLabels: { tier: 'db', zone: 'a' } } }, false],
    'with the namespace’s labels': [{ namespaceSelector: { matchLabels: { team: 'a' } } }, true],
    'with those of another namespace': [{ namespaceSelector: { matchLabels: { team: 'b' } } }, false],
    'with the cluster’s labels in another namespace': [
      { selector: { matchLabels: { tier: 'db' } }, namespaceSelector: { matchLabels: { team: 'b' } } },
      false,
    ],
    'with In': [{ selector: expression('tier', 'In', ['web', 'db']) }, true],
    'with In of other values': [{ selector: expression('tier', 'In', ['web']) }, false],
    'with NotIn': [{ namespaceSelector: expression('team', 'NotIn', ['a']) }, false],
    'with NotIn of a label that is missing': [{ namespaceSelector: expression('zone', 'NotIn', ['a']) }, true],
    'with Exists': [{ selector: expression('tier', 'Exists') }, true],
    'with DoesNotExist': [{ selector: expression('tier', 'DoesNotExist') }, false],
  };
  for (const [what, [special, selected]] of Object.entries(selectors)) {
    it(`${what} ${selected ? 'selects' : 'does not select'} the cluster`, () => {
      expect(sourceOf(settings({}, [slow('some', special)]))).to.equal(
        selected ? 'MySQLRolloutPolicy/some' : 'default',
      );
    });
  }

  const unreadable: Readonly<Record<string, readonly [spec: unknown, says: string]>> = {
    'whose spec is a text': ['all', 'expected spec to be an object, got "all"'],
    'whose settings are a text': [{ settings: 'all' }, 'expected spec.settings to be an object, got "all"'],
    'of an invalid priority': [
      { priority: 1.5 },
      'expected spec.priority to be a whole number from -2147483648 to 2147483647, got 1.5',
    ],
    'whose selector is a text': [{ selector: 'tier=db' }, 'expected spec.selector to be an object, got "tier=db"'],
    'with a label that is a number': [
      { selector: { matchLabels: { tier: 1 } } },
      'expected spec.selector.matchLabels.tier to be a text, got 1',
    ],
    'with a requirement on no label': [
      { selector: { matchExpressions: [{ operator: 'Exists' }] } },
      'expected spec.selector.matchExpressions[0].key to be a text of 1 to 317 characters, got nothing',
    ],
    'with an unknown operator': [
      { namespaceSelector: expression('tier', 'Like', ['d']) },
      'expected spec.namespaceSelector.matchExpressions[0].operator to be In or NotIn or Exists or DoesNotExist, got "Like"',
    ],
    'with In of nothing': [
      { selector: expression('tier', 'In') },
      'expected spec.selector.matchExpressions[0].values to be at least one value for In and NotIn, and none for Exists and DoesNotExist, got nothing',
    ],
    'with Exists of something': [
      { selector: expression('tier', 'Exists', ['db']) },
      'expected spec.selector.matchExpressions[0].values to be at least one value for In and NotIn, and none for Exists and DoesNotExist, got ["db"]',
    ],
    'with an invalid setting': [
      { settings: { minReadySeconds: -1 } },
      'expected spec.settings.minReadySeconds to be a whole number from 0 to 3600, got -1',
    ],
  };
  for (const [what, [spec, says]] of Object.entries(unreadable)) {
    it(`${what} is a problem for the clusters that it could select, and is named`, () => {
      const odd = policy('odd', typeof spec === 'object' ? { settings: { minReadySeconds: 1 }, ...spec } : spec);
      const { strategy, sources, problem } = settings({}, [slow('z', { priority: -1 }), odd]);
      expect({ strategy, sources, problem }).to.deep.equal({
        strategy: null,
        sources: {},
        problem: `MySQLRolloutPolicy/odd: ${says}`,
      });
    });
  }

  it('with one invalid selector is no problem for a cluster that its other selector excludes', () => {
    const elsewhere = { matchLabels: { team: 'b' } };
    for (const selection of [
      { selector: 'tier=db', namespaceSelector: elsewhere },
      { selector: { matchLabels: { tier: 'web' } }, namespaceSelector: 'team=a' },
    ]) {
      expect(sourceOf(settings({}, [slow('odd', selection)]))).to.equal('default');
    }
  });

  it('without settings is no problem, whatever it selects', () => {
    expect(settings({}, [policy('odd', { selector: 'tier=db' })]).problem).to.equal(null);
  });

  it('is read live before a step only if it decides a field', () => {
    const many = [
      policy('enforcing', { enforced: { paused: true } }),
      policy('second', { priority: -1, enforced: { paused: true } }),
      slow('first', { priority: 1 }),
      slow('later'),
      slow('elsewhere', { priority: 9, selector: { matchLabels: { tier: 'web' } } }),
    ];
    const cluster = { namespace: 'default', labels: { tier: 'db' }, namespaceLabels: {} };
    expect([...decidingPolicies({ policies: many, cluster })]).to.have.members([
      'MySQLRolloutPolicy/enforcing',
      'MySQLRolloutPolicy/first',
    ]);
  });

  describe('without the right to read the namespace’s labels', () => {
    const blind = { namespaceLabels: null };
    it('is a problem if it selects by them', () => {
      const policies = [slow('some', { namespaceSelector: { matchLabels: { team: 'a' } } })];
      expect(settings({}, policies, builtIn, blind).problem).to.equal(
        'MySQLRolloutPolicy/some: cannot read the labels of namespace default, which it selects by; let the controller get, list and watch namespaces, or select by kubernetes.io/metadata.name alone',
      );
    });

    it('is no problem if the cluster’s own labels exclude it', () => {
      const special = { selector: { matchLabels: { tier: 'web' } }, namespaceSelector: expression('team', 'Exists') };
      expect(sourceOf(settings({}, [slow('some', special)], builtIn, blind))).to.equal('default');
    });

    it('selects namespaces by name', () => {
      const byName = (name: string) => ({
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
      });
      for (const [special, selected] of [
        [{}, true],
        [byName('default'), true],
        [byName('other'), false],
        [{ namespaceSelector: expression('kubernetes.io/metadata.name', 'In', ['default']) }, true],
      ] as const) {
        const source = sourceOf(settings({}, [slow('some', special)], builtIn, blind));
        expect(source).to.equal(selected ? 'MySQLRolloutPolicy/some' : 'default');
      }
    });
  });
});

function expression(key: string, operator: string, values?: readonly string[]): object {
  return { matchExpressions: [{ key, operator, ...(values && { values }) }] };
}

describe('the share of the slots that policies set for a namespace', () => {
  const inA = { namespace: 'shop', namespaceLabels: { team: 'a' } };
  const share = (name: string, percent: unknown, more: object = {}) =>
    policy(name, { ...more, maxNamespaceShare: percent });
  const teamA = { namespaceSelector: { matchLabels: { team: 'a' } } };
  const teamB = { namespaceSelector: { matchLabels: { team: 'b' } } };

  const cases: Readonly<Record<string, readonly [policies: readonly PolicyRecord[], decides: string | null]>> = {
    'is none without a policy that sets one': [[policy('other', { settings: { paused: true } })], null],
    'is none if no policy selects the namespace': [[share('b', 20, teamB)], null],
    'is that of the policy with the highest priority': [
      [share('low', 90), share('high', 20, { ...teamA, priority: 1 })],
      '20 high',
    ],
    'is that of the first policy by name at the same priority': [[share('b', 90), share('a', 20)], '20 a'],
    'is the least if the share cannot be read': [[share('odd', 'half', { priority: 1 }), share('a', 90)], '1 odd'],
    'is not raised by a policy that may not select the namespace': [
      [share('odd', 90, { namespaceSelector: 'team=a', priority: 1 }), share('a', 20)],
      '20 a',
    ],
  };
  for (const [what, [policies, decides]] of Object.entries(cases)) {
    it(what, () => {
      const found = namespaceShare(policies, inA);
      expect(found && `${found.percent} ${found.source.split('/')[1]}`).to.equal(decides);
    });
  }
});
