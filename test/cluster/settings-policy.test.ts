import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { rolloutKind } from '../../src/api/rollout.ts';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { apiVersion, type ResourceKind } from '../../src/kube/resource.ts';
import { configDirectory } from '../config/manifests.ts';
import { fencesOf, root } from '../docs/markdown.ts';
import { until } from '../support/control-plane/until.ts';
import { accessWith, type Connected } from '../support/object-client.ts';
import { freshNamespace, useOwnControlPlane } from './control-plane-fixture.ts';

const window = (schedule: string) => ({ schedule, duration: '4h' });
const [night, noon] = [window('0 1 * * *'), window('0 12 * * *')];
const blackout = (reason: string) => ({ from: '2026-12-20T00:00:00Z', until: '2026-12-27T00:00:00Z', reason });
const check = (name: string) => ({ name, query: 'up == 0' });
const overrides = [{ rule: 'BackupRunning', until: '2026-01-02T03:04:05Z', reason: 'none is needed today' }];
const [approved, enforced] = [{ approvedRevision: 'moco-test-1' }, { paused: true }];

/** Who has which of the verbs, each with what `edit` has of MySQLRollouts. */
const people = { editor: '', approver: 'approve', overrider: 'override', querier: 'query' } as const;
/** Who has a role of config/users in the whole cluster. */
const holders = ['operator', 'enforcer'] as const;
type Person = keyof typeof people | (typeof holders)[number];
const everybody = Object.keys(people) as readonly (keyof typeof people)[];

/** What a person makes of a spec, and who beside them may do the same. */
interface Case {
  readonly before: object | null;
  readonly after: object | null;
  /** `editor` of a MySQLRollout and `operator` of a MySQLRolloutPolicy: everybody. */
  readonly takes: Person | 'overrider and querier';
}

const cases: Readonly<Record<string, Case>> = {
  'to approve a revision': { before: {}, after: approved, takes: 'approver' },
  'to approve one from the beginning': { before: null, after: approved, takes: 'approver' },
  'to pause beside an approval': { before: approved, after: { ...approved, paused: true }, takes: 'editor' },
  'to remove an approval': { before: approved, after: {}, takes: 'approver' },
  'to begin an override': { before: {}, after: { overrides }, takes: 'overrider' },
  'to create one with an override': { before: null, after: { overrides }, takes: 'overrider' },
  'to pause beside an override': { before: { overrides }, after: { overrides, paused: true }, takes: 'editor' },
  'to end an override': { before: { overrides }, after: {}, takes: 'editor' },
  'to create one without settings': { before: null, after: {}, takes: 'editor' },
  'to pause': { before: {}, after: { paused: true }, takes: 'editor' },
  'to ask for approvals': { before: {}, after: { primaryUpdatePolicy: 'Manual' }, takes: 'editor' },
  'to ask for none any more': {
    before: { primaryUpdatePolicy: 'Manual' },
    after: { primaryUpdatePolicy: 'Automatic' },
    takes: 'approver',
  },
  'to leave the question to other sources': { before: { primaryUpdatePolicy: 'Manual' }, after: {}, takes: 'approver' },
  'to ask for none from the beginning': {
    before: null,
    after: { primaryUpdatePolicy: 'Automatic' },
    takes: 'approver',
  },
  'to delete one that asks for approvals': {
    before: { primaryUpdatePolicy: 'Manual' },
    after: null,
    takes: 'approver',
  },
  'to delete one that is paused': { before: { paused: true }, after: null, takes: 'editor' },
  'to set windows': { before: {}, after: { maintenanceWindows: [night] }, takes: 'editor' },
  'to remove one of two windows': {
    before: { maintenanceWindows: [night, noon] },
    after: { maintenanceWindows: [night] },
    takes: 'editor',
  },
  'to add a window': {
    before: { maintenanceWindows: [night] },
    after: { maintenanceWindows: [night, noon] },
    takes: 'overrider',
  },
  'to remove the windows': { before: { maintenanceWindows: [night] }, after: {}, takes: 'overrider' },
  'to empty the windows': {
    before: { maintenanceWindows: [night] },
    after: { maintenanceWindows: [] },
    takes: 'overrider',
  },
  'to have no windows, whatever policies say': { before: {}, after: { maintenanceWindows: [] }, takes: 'overrider' },
  'to delete one with windows': { before: { maintenanceWindows: [night] }, after: null, takes: 'overrider' },
  'to add a blackout': {
    before: { blackouts: [blackout('a')] },
    after: { blackouts: [blackout('a'), blackout('b')] },
    takes: 'editor',
  },
  'to remove a blackout': {
    before: { blackouts: [blackout('a'), blackout('b')] },
    after: { blackouts: [blackout('a')] },
    takes: 'overrider',
  },
  'to have no blackouts, whatever policies say': { before: null, after: { blackouts: [] }, takes: 'overrider' },
  'to add a check': { before: {}, after: { checks: [check('a')] }, takes: 'querier' },
  'to remove a check': { before: { checks: [check('a')] }, after: {}, takes: 'overrider' },
  'to change the query of a check': {
    before: { checks: [check('a')] },
    after: { checks: [{ ...check('a'), query: 'vector(0) > 1' }] },
    takes: 'overrider and querier',
  },
};

/** The same where a MySQLRolloutPolicy has a window, a blackout and a check by default. */
const casesWithDefaults: typeof cases = {
  'to pause': { before: {}, after: { paused: true }, takes: 'editor' },
  'to replace the windows of a policy': { before: {}, after: { maintenanceWindows: [noon] }, takes: 'overrider' },
  'to replace the blackouts of a policy from the beginning': {
    before: null,
    after: { blackouts: [blackout('a')] },
    takes: 'overrider',
  },
  'to replace the checks of a policy': { before: {}, after: { checks: [check('b')] }, takes: 'overrider and querier' },
  'to remove one of two windows of its own': {
    before: { maintenanceWindows: [night, noon] },
    after: { maintenanceWindows: [night] },
    takes: 'editor',
  },
};

const usual = { settings: { paused: true } };
const selector = { matchLabels: { a: 'b' } };

/** Of MySQLRolloutPolicies. */
const casesOfMany: typeof cases = {
  'to create one that enforces nothing': { before: null, after: usual, takes: 'operator' },
  'to change one that enforces nothing': { before: usual, after: { settings: { paused: false } }, takes: 'operator' },
  'to delete one that enforces nothing': { before: usual, after: null, takes: 'operator' },
  'to create one that enforces a setting': { before: null, after: { enforced }, takes: 'enforcer' },
  'to enforce a setting from now on': { before: usual, after: { ...usual, enforced }, takes: 'enforcer' },
  'to label one that enforces a setting': { before: { enforced }, after: { enforced }, takes: 'operator' },
  'to change what it enforces': { before: { enforced }, after: { enforced: { paused: false } }, takes: 'enforcer' },
  'to change for whom': { before: { enforced }, after: { enforced, selector }, takes: 'enforcer' },
  'to enforce nothing any more': { before: { enforced }, after: usual, takes: 'enforcer' },
  'to delete one that enforces a setting': { before: { enforced }, after: null, takes: 'enforcer' },
};

const clusterSpec = {
  replicas: 3,
  podTemplate: { spec: { containers: [{ name: 'mysqld', image: 'example/mysql:1' }] } },
  volumeClaimTemplates: [
    {
      metadata: { name: 'mysql-data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ],
};

interface Created {
  readonly metadata: { readonly name: string };
}

describe('the policies of settings', () => {
  const controlPlane = useOwnControlPlane();
  const access = new Map<Person | 'admin', Connected>();
  let namespace: string;
  let made = 0;

  before(async () => {
    namespace = await freshNamespace(controlPlane(), 'settings');
    access.set('admin', accessWith(controlPlane().adminKubeconfig));
    for (const person of [...everybody, ...holders])
      access.set(person, accessWith(await controlPlane().kubeconfigForUser(person, ['people'])));
    await kubectl('apply', '-f', join(configDirectory, 'users'));
    await bind();
    await until('the policy settings.moco-rollout.io is in force', async () => {
      const refused = await change('editor', null, { approvedRevision: 'x' });
      return refused?.includes('the verb approve') ?? false;
    });
  });

  after(async () => {
    for (const { connection } of access.values()) await connection.close();
  });

  async function bind(): Promise<void> {
    for (const [person, verb] of Object.entries(people)) {
      const verbs = ['get', 'create', 'update', 'patch', 'delete', ...(verb === '' ? [] : [verb])];
      await kubectl('create', 'role', person, `--verb=${verbs.join(',')}`, '--resource=mysqlrollouts.moco-rollout.io');
      await kubectl('create', 'rolebinding', person, `--role=${person}`, `--user=${person}`);
    }
    await until('everybody may write one', async () => {
      const refusals = await Promise.all(everybody.map((person) => change(person, null, {})));
      return refusals.every((refused) => refused === null);
    });
  }

  for (const [what, one] of Object.entries(cases)) asks(what, one);

  describe('where a MySQLRolloutPolicy has defaults', () => {
    let plain: string;

    before(async () => {
      plain = namespace;
      namespace = await freshNamespace(controlPlane(), 'defaults');
      await kubectl('label', 'namespace', namespace, 'windows=ours');
      const settings = { maintenanceWindows: [night], blackouts: [blackout('ours')], checks: [check('ours')] };
      const policy = {
        apiVersion: 'moco-rollout.io/v1alpha1',
        kind: 'MySQLRolloutPolicy',
        metadata: { name: 'ours' },
        spec: { namespaceSelector: { matchLabels: { windows: 'ours' } }, settings },
      };
      await kubectl('create', '-f', await controlPlane().fileOf(policy));
      await bind();
      await until('the policy settings-defaults.moco-rollout.io is in force', async () => {
        const refused = await change('editor', null, { maintenanceWindows: [noon] });
        return refused?.includes('of MySQLRolloutPolicy ours') ?? false;
      });
    });

    after(() => {
      namespace = plain;
    });

    for (const [what, one] of Object.entries(casesWithDefaults)) asks(what, one);
  });

  it('takes no author of a pause but who writes it', async () => {
    const paused = (by: string) => ({ paused: true, pause: { reason: 'x', by } });
    const refusal = /spec\.pause\.by is the name of who writes the pause, editor, or left out/;
    expect(await change('editor', {}, paused('ada'))).to.match(refusal);
    expect(await change('editor', null, paused('ada'))).to.match(refusal);
    expect(await change('editor', {}, paused('editor'))).to.equal(null);
    expect(await change('editor', {}, { paused: true, pause: { until: '2026-12-24T06:00:00Z' } })).to.equal(null);
    expect(await change('editor', { paused: true, pause: { reason: 'x' } }, {})).to.equal(null);
    const policy = {
      apiVersion: 'moco-rollout.io/v1alpha1',
      kind: 'MySQLRolloutPolicy',
      metadata: { name: 'paused-by-others' },
      spec: { enforced: paused('ada') },
    };
    const creating = kubectl('create', '--dry-run=server', '-f', await controlPlane().fileOf(policy));
    expect(
      await creating.then(
        () => null,
        (error: Error) => error.message,
      ),
    ).to.contain('pause.by is the name of who writes the pause');
  });

  it('lets the garbage collector delete one that asks for approvals', async () => {
    const { name } = (await create('admin', { primaryUpdatePolicy: 'Manual' })).metadata;
    const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:masters'];
    const as = [`--as=${collector}`, ...groups.map((group) => `--as-group=${group}`)];
    await kubectl('delete', 'mysqlrollout', name, ...as);
  });

  function asks(what: string, { before, after, takes }: Case): void {
    const verb = takes === 'editor' ? 'no verb of its own' : takes;
    it(`requires ${what}: ${verb}`, async () => {
      for (const person of everybody) {
        const refused = await change(person, before, after);
        if (takes === 'editor' || takes === person) expect(refused, person).to.equal(null);
        else
          expect(refused, person).to.match(
            /has the verb (approve|override|query) on mysqlrollouts.* has not; ClusterRole moco-rollout-/s,
          );
      }
    });
  }

  describe('of MySQLRolloutPolicies', () => {
    before(async () => {
      for (const role of holders)
        await kubectl('create', 'clusterrolebinding', role, `--clusterrole=moco-rollout-${role}`, `--user=${role}`);
      await until('the policy enforced.moco-rollout.io is in force', async () => {
        const refused = await change('operator', null, { enforced }, policyKind);
        const isBound = (await change('enforcer', null, { enforced }, policyKind)) === null;
        return isBound && (refused?.includes('the verb enforce') ?? false);
      });
    });

    for (const [what, { before, after, takes }] of Object.entries(casesOfMany)) {
      it(`requires ${what}: ClusterRole moco-rollout-${takes}`, async () => {
        expect(await change('enforcer', before, after, policyKind)).to.equal(null);
        const refused = await change('operator', before, after, policyKind);
        if (takes === 'operator') expect(refused).to.equal(null);
        else expect(refused).to.match(/the verb enforce .* which operator has not; ClusterRole moco-rollout-enforcer/);
      });
    }
  });

  describe('and the policy for the labels of stages, in docs/how-to/roll-out-in-stages.md,', () => {
    before(async () => {
      const document = await readFile(join(root, 'docs/how-to/roll-out-in-stages.md'), 'utf8');
      const [example] = fencesOf(document).filter(({ lines }) =>
        lines.some((line) => line.includes('labels-of-stages')),
      );
      const objects = parseAllDocuments(example?.lines.join('\n') ?? '').map((one) => one.toJS() as object);
      await kubectl('apply', '-f', await controlPlane().fileOf(...objects));
      await kubectl('create', 'clusterrole', 'clusters', '--verb=*', '--resource=mysqlclusters.moco.cybozu.com');
      await kubectl(
        'create',
        'clusterrole',
        'sequences',
        '--verb=*',
        '--resource=mysqlrolloutsequences.moco-rollout.io',
      );
      await kubectl('create', 'clusterrolebinding', 'clusters', '--clusterrole=clusters', '--user=ada', '--user=grace');
      await kubectl('create', 'clusterrolebinding', 'sequences', '--clusterrole=sequences', '--user=grace');
      await until('it is in force', async () =>
        (await labelled('ada', 'tier=canary')).includes('users who may update'),
      );
    });

    /** The API server's error if a person labels a cluster that has `tier: normal`; empty if it accepts. */
    async function labelled(person: string, ...labels: readonly string[]): Promise<string> {
      made += 1;
      const name = `c-${made}`;
      const metadata = { name, namespace, labels: { tier: 'normal' } };
      const cluster = { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', metadata, spec: clusterSpec };
      await kubectl('create', '-f', await controlPlane().fileOf(cluster));
      return kubectl('label', '--overwrite', 'mysqlcluster', name, ...labels, `--as=${person}`).then(
        () => '',
        (error: Error) => error.message,
      );
    }

    it('lets only users who may update sequences set, change and remove them', async () => {
      for (const change of ['env=production', 'tier=canary', 'tier-']) {
        expect(await labelled('ada', change), change).to.contain(
          'only users who may update MySQLRolloutSequences may set',
        );
        expect(await labelled('grace', change), change).to.equal('');
      }
    });

    it('lets every editor set other labels', async () => {
      expect(await labelled('ada', 'team=shop', 'tier=normal')).to.equal('');
    });
  });

  /** What the API server refuses with, or `null`. */
  async function change(
    person: Person,
    before: object | null,
    after: object | null,
    kind: ResourceKind = rolloutKind,
  ): Promise<string | null> {
    const found = before === null ? null : await create('admin', before, kind);
    return changed(person, found, after, kind).then(
      () => null,
      (error: Error) => error.message,
    );
  }

  function changed(person: Person, found: Created | null, spec: object | null, kind: ResourceKind): Promise<unknown> {
    if (found === null) return create(person, spec ?? {}, kind);
    const { client } = of(person);
    const { metadata } = found;
    const place = { ...within(kind), name: metadata.name };
    if (spec === null) return client.remove(kind, place);
    const labels = { changed: 'yes' };
    return client.replace(kind, place, { ...found, metadata: { ...metadata, labels }, spec });
  }

  function create(person: Person | 'admin', spec: object, kind: ResourceKind = rolloutKind): Promise<Created> {
    made += 1;
    const body = { apiVersion: apiVersion(kind), kind: kind.kind, metadata: { name: `r-${made}` }, spec };
    return of(person).client.create(kind, within(kind), body);
  }

  const within = (kind: ResourceKind) => (kind.namespaced ? { namespace } : {});

  const of = (person: Person | 'admin'): Connected => access.get(person) ?? expect.fail(`no access of ${person}`);

  const kubectl = (...args: readonly string[]): Promise<string> => controlPlane().kubectl('-n', namespace, ...args);
});
