import { expect } from 'chai';
import { anything, assert, constantFrom, integer, oneof, property, record } from 'fast-check';
import type { PolicyRecord, RolloutPolicySpec } from '../../src/controller/policy-resource.ts';
import { builtInStrategy, type DefaultWishes, type Said, type Wishes, wishesOf } from '../../src/controller/wishes.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { milliseconds } from '../../src/moco/timestamp.ts';
import { flagNames } from '../../src/options/flags.ts';

const now = milliseconds('2026-01-02T03:04:05Z') ?? Number.NaN;
const builtIn: DefaultWishes = { policy: defaultPolicy, strategy: builtInStrategy };

function policy(name: string, spec: unknown): PolicyRecord {
  return { namespace: '', name, uid: name, resourceVersion: '1', generation: 1, spec };
}

function wishes(
  rollout: object | undefined,
  policies: readonly PolicyRecord[] = [],
  defaults: DefaultWishes = builtIn,
  cluster: Partial<Said['cluster']> = {},
): Wishes {
  const selectable = { namespace: 'default', labels: { tier: 'db' }, namespaceLabels: { team: 'a' }, ...cluster };
  return wishesOf({ rollout, policies, cluster: selectable }, defaults, now);
}

describe('the wishes for a cluster', () => {
  it('are the defaults where nobody says anything', () => {
    for (const spec of [undefined, {}]) {
      const { policy: taken, strategy, problem } = wishes(spec);
      expect({ taken, strategy, problem }).to.deep.equal({ taken: defaultPolicy, strategy: 'OnDelete', problem: null });
    }
    expect(wishes({}).sources).to.deep.equal({
      strategy: { value: 'OnDelete', source: 'default' },
      paused: { value: 'false', source: 'default' },
      repairWhilePaused: { value: 'false', source: 'default' },
      maxUnavailable: { value: '1', source: 'default' },
      partition: { value: '0', source: 'default' },
      minReadySeconds: { value: '5', source: 'default' },
      progressDeadlineSeconds: { value: '600', source: 'default' },
      switchoverTimeoutSeconds: { value: '90', source: 'default' },
      failoverGraceSeconds: { value: '180', source: 'default' },
      primaryUpdatePolicy: { value: 'Automatic', source: 'default' },
    });
  });

  it('are those of the flags where only these differ from what is built in', () => {
    const {
      policy: taken,
      strategy,
      sources,
    } = wishes({}, [], {
      policy: { ...defaultPolicy, minReadySeconds: 17 },
      strategy: 'Partition',
    });
    expect([taken.minReadySeconds, strategy]).to.deep.equal([17, 'Partition']);
    expect(sources).to.deep.include({
      strategy: { value: 'Partition', source: 'flag --default-strategy' },
      minReadySeconds: { value: '17', source: 'flag --min-ready-seconds' },
      partition: { value: '0', source: 'default' },
    });
    const named = Object.values(sources).flatMap(({ source }) =>
      source.startsWith('flag --') ? [source.slice(7)] : [],
    );
    expect(flagNames).to.include.members(named);
  });

  /** Each field with two values that differ from the default and from each other. */
  type Common = Exclude<keyof RolloutPolicySpec, 'selector' | 'namespaceSelector' | 'weight'>;
  const values: Readonly<Record<Common, readonly [unknown, unknown]>> = {
    strategy: ['Partition', 'OnDelete'],
    paused: [true, false],
    repairWhilePaused: [true, false],
    maxUnavailable: ['34%', 2],
    partition: [2, 0],
    minReadySeconds: [30, 0],
    progressDeadlineSeconds: [3600, 6],
    switchoverTimeoutSeconds: [30, 600],
    failoverGraceSeconds: [60, 3600],
    primaryUpdatePolicy: ['Manual', 'Automatic'],
  };
  for (const [field, [one, other]] of Object.entries(values)) {
    it(`take ${field} from a policy, and before that from the MySQLRollout`, () => {
      const of = (result: Wishes) => ({
        value: field === 'strategy' ? result.strategy : result.policy[field as keyof RolloutPolicy],
        source: result.sources[field],
      });
      const policies = [policy('production', { [field]: one })];
      const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
      expect(of(wishes({}, policies))).to.deep.equal({
        value: one,
        source: { value: shown(one), source: 'MySQLRolloutPolicy/production' },
      });
      expect(of(wishes({ [field]: other }, policies))).to.deep.equal({
        value: other,
        source: { value: shown(other), source: 'MySQLRollout' },
      });
    });
  }

  it('are taken field by field, each for itself', () => {
    const { policy: taken, sources } = wishes(
      { paused: false, partition: 0 },
      [policy('production', { paused: true, minReadySeconds: 0 })],
      { policy: { ...defaultPolicy, minReadySeconds: 17, partition: 3, paused: true }, strategy: 'OnDelete' },
    );
    expect(taken).to.deep.equal({ ...defaultPolicy, paused: false, partition: 0, minReadySeconds: 0 });
    expect(sources).to.deep.include({
      paused: { value: 'false', source: 'MySQLRollout' },
      minReadySeconds: { value: '0', source: 'MySQLRolloutPolicy/production' },
    });
  });

  it('never turn the mode, which is the operator’s', () => {
    const spec = { mode: 'OnDelete', strategy: 'OnDelete' };
    const defaults = { ...builtIn, policy: { ...defaultPolicy, mode: 'Observe' } as const };
    expect(wishes(spec, [policy('all', { mode: 'OnDelete' })], defaults).policy.mode).to.equal('Observe');
  });

  it('show what only the MySQLRollout can say where it does, without the reasons', () => {
    const { policy: taken, sources } = wishes({
      approvedRevision: 'moco-test-7966559688',
      heldMembers: [
        { ordinal: 2, reason: 'a debugger' },
        { ordinal: 0, reason: 'a backup' },
      ],
      overrides: [{ rule: 'BackupRunning', until: '2026-01-02T03:34:05Z', reason: 'tonight’s may be lost' }],
    });
    expect(taken).to.deep.include({
      approvedRevision: 'moco-test-7966559688',
      heldOrdinals: [0, 2],
      overrides: [{ rule: 'BackupRunning', remainingSeconds: 1800 }],
    });
    expect(sources).to.deep.include({
      approvedRevision: { value: 'moco-test-7966559688', source: 'MySQLRollout' },
      heldMembers: { value: '[0,2]', source: 'MySQLRollout' },
      overrides: { value: '[{"rule":"BackupRunning","until":"2026-01-02T03:34:05Z"}]', source: 'MySQLRollout' },
    });
  });

  it('are not said for many clusters at once where they are of one cluster alone', () => {
    const said = { approvedRevision: 'r', heldMembers: [{ ordinal: 1, reason: 'x' }], overrides: [] };
    const { policy: taken, sources } = wishes({}, [policy('all', said)]);
    expect(taken).to.deep.equal(defaultPolicy);
    expect(sources).to.not.have.any.keys('approvedRevision', 'heldMembers', 'overrides');
  });

  it('count what is left of an override by the wall clock, in whatever zone its end is written', () => {
    const remaining = (until: string): number | undefined =>
      wishes({ overrides: [{ rule: 'BackupRunning', until, reason: 'x' }] }).policy.overrides[0]?.remainingSeconds;
    expect(remaining('2026-01-02T03:04:06.500Z')).to.equal(1.5);
    expect(remaining('2026-01-02T12:04:05+09:00')).to.equal(0);
    expect(remaining('2025-01-02t03:04:05z')).to.be.below(-31_000_000);
  });

  it('contradict each other where a rollout would stall before a member counts as ready', () => {
    expect(wishes({ minReadySeconds: 600 }).problem).to.equal(
      'expected progressDeadlineSeconds (default) to be more than minReadySeconds (MySQLRollout), got 600 and 600',
    );
    expect(wishes({ minReadySeconds: 700 }, [policy('slow', { progressDeadlineSeconds: 700 })]).problem).to.contain(
      'progressDeadlineSeconds (MySQLRolloutPolicy/slow)',
    );
    expect(wishes({ minReadySeconds: 700, progressDeadlineSeconds: 701 }).problem).to.equal(null);
  });

  it('do not contradict each other where only a flag is unwise, which would stop every cluster', () => {
    const defaults = { ...builtIn, policy: { ...defaultPolicy, minReadySeconds: 3600 } };
    expect(wishes({ paused: true }, [], defaults).problem).to.equal(null);
  });
});

describe('wishes that can’t be read', () => {
  const wholeFrom0 = 'a whole number from 0 to 2147483647';
  const budget = 'a whole number from 1 to 1000, or a percentage from "1%" to "100%"';
  const override = { rule: 'BackupRunning', until: '2026-01-02T03:04:05Z', reason: 'x' };
  const unreadable: Readonly<Record<string, readonly [spec: object, says: string]>> = {
    'a strategy of Kubernetes’ own': [
      { strategy: 'RollingUpdate' },
      'expected spec.strategy to be OnDelete or Partition, got "RollingUpdate"',
    ],
    'a pause that is a word': [{ paused: 'yes' }, 'expected spec.paused to be true or false, got "yes"'],
    'repairs that are a number': [
      { repairWhilePaused: 1 },
      'expected spec.repairWhilePaused to be true or false, got 1',
    ],
    'nobody who may be away': [{ maxUnavailable: 0 }, `expected spec.maxUnavailable to be ${budget}, got 0`],
    'no part that may be away': [{ maxUnavailable: '0%' }, `expected spec.maxUnavailable to be ${budget}, got "0%"`],
    'more than all that may be away': [
      { maxUnavailable: '101%' },
      `expected spec.maxUnavailable to be ${budget}, got "101%"`,
    ],
    'a number as a text': [{ maxUnavailable: '2' }, `expected spec.maxUnavailable to be ${budget}, got "2"`],
    'a partition below zero': [{ partition: -1 }, `expected spec.partition to be ${wholeFrom0}, got -1`],
    'half a partition': [{ partition: 0.5 }, `expected spec.partition to be ${wholeFrom0}, got 0.5`],
    'a partition beyond 32 bits': [
      { partition: 2 ** 31 },
      `expected spec.partition to be ${wholeFrom0}, got 2147483648`,
    ],
    'seconds as a text': [
      { minReadySeconds: '5' },
      'expected spec.minReadySeconds to be a whole number from 0 to 3600, got "5"',
    ],
    'nothing where a number has to be': [
      { minReadySeconds: null },
      'expected spec.minReadySeconds to be a whole number from 0 to 3600, got null',
    ],
    'no time for progress': [
      { progressDeadlineSeconds: 0 },
      'expected spec.progressDeadlineSeconds to be a whole number from 1 to 86400, got 0',
    ],
    'no time for a switchover': [
      { switchoverTimeoutSeconds: 0 },
      'expected spec.switchoverTimeoutSeconds to be a whole number from 1 to 3600, got 0',
    ],
    'less time for a failover than MOCO needs': [
      { failoverGraceSeconds: 59 },
      'expected spec.failoverGraceSeconds to be a whole number from 60 to 3600, got 59',
    ],
    'another way with the primary': [
      { primaryUpdatePolicy: 'Never' },
      'expected spec.primaryUpdatePolicy to be Automatic or Manual, got "Never"',
    ],
    'an approval of nothing': [
      { approvedRevision: '' },
      'expected spec.approvedRevision to be a text of 1 to 253 characters, got ""',
    ],
    'held members that are no list': [{ heldMembers: 2 }, 'expected spec.heldMembers to be a list, got 2'],
    'a held member that is a number': [{ heldMembers: [2] }, 'expected spec.heldMembers[0] to be an object, got 2'],
    'a held member without an ordinal': [
      { heldMembers: [{ reason: 'x' }] },
      'expected spec.heldMembers[0].ordinal to be a whole number from 0 to 999, got nothing',
    ],
    'a held member without a reason': [
      { heldMembers: [{ ordinal: 1, reason: 'x' }, { ordinal: 2 }] },
      'expected spec.heldMembers[1].reason to be a text of 1 to 256 characters, got nothing',
    ],
    'a member that is held twice': [
      {
        heldMembers: [
          { ordinal: 1, reason: 'x' },
          { ordinal: 1, reason: 'y' },
        ],
      },
      'expected spec.heldMembers to have each ordinal once, got 1 twice',
    ],
    'an override until a day': [
      { overrides: [{ ...override, until: '2026-01-02' }] },
      'expected spec.overrides[0].until to be a moment such as 2026-01-02T03:04:05Z, got "2026-01-02"',
    ],
    'an override until a day that there is not': [
      { overrides: [{ ...override, until: '2026-13-02T03:04:05Z' }] },
      'expected spec.overrides[0].until to be a moment such as 2026-01-02T03:04:05Z, got "2026-13-02T03:04:05Z"',
    ],
    'an override without an end': [
      { overrides: [{ rule: 'BackupRunning', reason: 'x' }] },
      'expected spec.overrides[0].until to be a moment such as 2026-01-02T03:04:05Z, got nothing',
    ],
    'an override without a reason': [
      { overrides: [{ ...override, reason: '' }] },
      'expected spec.overrides[0].reason to be a text of 1 to 256 characters, got ""',
    ],
    'two overrides of one rule': [
      { overrides: [override, override] },
      'expected spec.overrides to have each rule once, got "BackupRunning" twice',
    ],
  };
  for (const [what, [spec, says]] of Object.entries(unreadable)) {
    it(`are a problem with a name where there is ${what}`, () => {
      expect(wishes(spec)).to.deep.equal({ policy: defaultPolicy, strategy: null, sources: {}, problem: says });
    });
  }

  it('are a problem where there is an override of a rule that guards the data, which names those that can be', () => {
    const says = wishes({ overrides: [{ ...override, rule: 'NotEnoughAcknowledging' }] }).problem;
    expect(says).to.match(
      /^expected spec\.overrides\[0\]\.rule to be .*BackupRunning.*, got "NotEnoughAcknowledging"$/,
    );
  });

  it('are a problem where the spec is no object', () => {
    expect(wishes([] as object).problem).to.equal('expected spec to be an object, got []');
  });

  it('never throw, and are taken within their ranges or not at all', () => {
    const value = oneof(anything(), integer(), constantFrom('OnDelete', 'Manual', '50%', true, [], {}));
    const spec = record(
      Object.fromEntries(
        [...Object.keys(wishes({}).sources), 'heldMembers', 'overrides', 'approvedRevision'].map((key) => [key, value]),
      ),
      { requiredKeys: [] },
    );
    assert(
      property(spec, spec, (own, many) => {
        const { policy: taken, problem } = wishes(own, [policy('all', many)]);
        if (problem !== null) expect(taken).to.deep.equal(defaultPolicy);
        expect(taken.partition).to.be.within(0, 2 ** 31 - 1);
        expect(taken.minReadySeconds).to.be.within(0, 3600);
        expect(taken.failoverGraceSeconds).to.be.within(60, 3600);
        expect(taken.paused).to.be.a('boolean');
      }),
    );
  });
});

describe('the policy that counts for a cluster', () => {
  const slow = (name: string, special: object = {}) => policy(name, { minReadySeconds: 60, ...special });
  const quick = (name: string, special: object = {}) => policy(name, { minReadySeconds: 1, ...special });
  const sourceOf = (result: Wishes) => result.sources['minReadySeconds']?.source ?? result.problem;

  it('is the one of the highest weight, and no other says anything', () => {
    const many = [quick('light', { weight: -1, partition: 2 }), slow('heavy', { weight: 7 }), quick('middle')];
    for (const policies of [many, many.toReversed()]) {
      const { policy: taken, sources } = wishes({}, policies);
      expect(taken).to.deep.equal({ ...defaultPolicy, minReadySeconds: 60 });
      expect(sources['partition']?.source).to.equal('default');
    }
  });

  it('is unknown where two of the highest weight select the cluster, and both are named', () => {
    const rivals = [slow('b', { weight: 7 }), quick('light'), quick('a', { weight: 7 })];
    const tie = wishes({ minReadySeconds: 3 }, rivals);
    expect(tie).to.deep.include({ policy: defaultPolicy, strategy: null });
    expect(tie.problem).to.equal(
      'expected one MySQLRolloutPolicy of the highest weight to select this cluster, got MySQLRolloutPolicy/a and MySQLRolloutPolicy/b, all of weight 7; change the weight of all but one',
    );
    const more = wishes({}, [...rivals, quick('c', { weight: 7 }), quick('d', { weight: 7 })]);
    expect(more.problem).to.contain('got MySQLRolloutPolicy/a and MySQLRolloutPolicy/b and 2 more');
  });

  it('has weight 0 where it says none', () => {
    expect(wishes({}, [slow('a'), quick('b', { weight: 0 })]).problem).to.contain('all of weight 0');
  });

  it('is known where only lighter ones are as heavy as each other, or the rivals select other clusters', () => {
    expect(sourceOf(wishes({}, [slow('heavy', { weight: 1 }), quick('a'), quick('b')]))).to.contain('/heavy');
    const elsewhere = { selector: { matchLabels: { tier: 'web' } } };
    expect(sourceOf(wishes({}, [slow('here'), quick('there', elsewhere)]))).to.contain('/here');
  });

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
    it(`is ${selected ? '' : 'not '}one ${what}`, () => {
      expect(sourceOf(wishes({}, [slow('some', special)]))).to.equal(selected ? 'MySQLRolloutPolicy/some' : 'default');
    });
  }

  const unreadable: Readonly<Record<string, readonly [spec: unknown, says: string]>> = {
    'whose spec is a text': ['all', 'expected spec to be an object, got "all"'],
    'of a weight that is none': [
      { weight: 1.5 },
      'expected spec.weight to be a whole number from -2147483648 to 2147483647, got 1.5',
    ],
    'whose selector is a text': [{ selector: 'tier=db' }, 'expected spec.selector to be an object, got "tier=db"'],
    'with a label that is a number': [
      { selector: { matchLabels: { tier: 1 } } },
      'expected spec.selector.matchLabels["tier"] to be a text, got 1',
    ],
    'with a requirement on no label': [
      { selector: { matchExpressions: [{ operator: 'Exists' }] } },
      'expected spec.selector.matchExpressions[0].key to be a text of 1 to 317 characters, got nothing',
    ],
    'with an operator that there is not': [
      { namespaceSelector: expression('tier', 'Like', ['d']) },
      'expected spec.namespaceSelector.matchExpressions[0].operator to be In or NotIn or Exists or DoesNotExist, got "Like"',
    ],
    'with In of nothing': [
      { selector: expression('tier', 'In') },
      'expected spec.selector.matchExpressions[0].values to be at least one value for In, got []',
    ],
    'with Exists of something': [
      { selector: expression('tier', 'Exists', ['db']) },
      'expected spec.selector.matchExpressions[0].values to be left out for Exists, got ["db"]',
    ],
    'that says what nobody can read': [
      { minReadySeconds: -1 },
      'expected spec.minReadySeconds to be a whole number from 0 to 3600, got -1',
    ],
  };
  for (const [what, [spec, says]] of Object.entries(unreadable)) {
    it(`is unknown with one ${what}, whose name is said`, () => {
      const result = wishes({}, [
        policy('good', {}),
        policy('odd', typeof spec === 'object' ? { weight: 1, ...spec } : spec),
      ]);
      expect(result).to.deep.equal({
        policy: defaultPolicy,
        strategy: null,
        sources: {},
        problem: `MySQLRolloutPolicy/odd: ${says}`,
      });
    });
  }

  it('is known in spite of a wish that can’t be read, of one that doesn’t count', () => {
    const odd = policy('odd', { weight: -1, minReadySeconds: 'long' });
    expect(sourceOf(wishes({}, [slow('good'), odd]))).to.equal('MySQLRolloutPolicy/good');
  });

  describe('where the namespace’s labels may not be read', () => {
    const blind = { namespaceLabels: null };
    it('is unknown with one that selects by them', () => {
      const policies = [slow('some', { namespaceSelector: { matchLabels: { team: 'a' } } })];
      expect(wishes({}, policies, builtIn, blind).problem).to.equal(
        "expected to know the labels of namespace default, by which MySQLRolloutPolicy/some selects, and can't read them; let the controller get, list and watch namespaces, or select by kubernetes.io/metadata.name alone",
      );
    });

    it('is known where the cluster’s own labels rule that one out', () => {
      const special = { selector: { matchLabels: { tier: 'web' } }, namespaceSelector: expression('team', 'Exists') };
      expect(sourceOf(wishes({}, [slow('some', special)], builtIn, blind))).to.equal('default');
    });

    it('is known where namespaces are selected by name, or not at all', () => {
      const byName = (name: string) => ({
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
      });
      for (const [special, selected] of [
        [{}, true],
        [byName('default'), true],
        [byName('other'), false],
        [{ namespaceSelector: expression('kubernetes.io/metadata.name', 'In', ['default']) }, true],
      ] as const) {
        const source = sourceOf(wishes({}, [slow('some', special)], builtIn, blind));
        expect(source).to.equal(selected ? 'MySQLRolloutPolicy/some' : 'default');
      }
    });
  });
});

function expression(key: string, operator: string, values?: readonly string[]): object {
  return { matchExpressions: [{ key, operator, ...(values && { values }) }] };
}
