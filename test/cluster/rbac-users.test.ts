import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { path, type ResourceKind } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { configDirectory } from '../config/manifests.ts';
import { rightOf } from '../config/rights.ts';
import { type AskedRight, askedRight } from '../support/control-plane/audit-rights.ts';
import { until } from '../support/control-plane/until.ts';
import { cli, type Ended } from './cli-program.ts';
import { useRollouts } from './rollout-fixture.ts';

/** A person, and what docs/installing.md binds: `namespaced` in the namespace, `everywhere` in the whole cluster. */
interface Person {
  readonly namespaced?: string;
  readonly everywhere?: string;
}

const people = {
  stranger: {},
  view: { namespaced: 'view' },
  edit: { namespaced: 'edit' },
  operator: { namespaced: 'moco-rollout-operator' },
  enforcer: { everywhere: 'moco-rollout-enforcer' },
  'operator of all': { everywhere: 'moco-rollout-operator' },
  'cluster-admin': { everywhere: 'cluster-admin' },
} satisfies Readonly<Record<string, Person>>;

type Name = keyof typeof people;

const looking: readonly Name[] = ['view', 'edit', 'operator', 'operator of all', 'cluster-admin'];
const setting: readonly Name[] = ['edit', 'operator', 'operator of all', 'cluster-admin'];
const operating: readonly Name[] = ['operator', 'operator of all', 'cluster-admin'];
const everywhere: readonly Name[] = ['operator of all', 'cluster-admin'];
const owning: readonly Name[] = ['cluster-admin'];

interface Line {
  readonly argv: readonly string[];
  readonly may: readonly Name[];
  /** For who may, where it is not 0. */
  readonly status?: 1;
}

/** While the rollout is complete, then while one member is stale. The last ones release the cluster. */
const complete: readonly Line[] = [
  { argv: ['status'], may: looking },
  { argv: ['status', 'x'], may: looking },
  { argv: ['get', 'x', '-o', 'yaml'], may: looking },
  { argv: ['wait', 'x'], may: looking },
  { argv: ['report', 'x'], may: looking },
  { argv: ['diagnose', 'x'], may: looking },
  { argv: ['status', '-A'], may: everywhere },
  { argv: ['sequence'], may: everywhere },
  { argv: ['report', '--fleet'], may: everywhere },
  { argv: ['plan', '--fleet'], may: everywhere },
  { argv: ['freeze', '--reason', 'an incident'], may: ['enforcer', 'cluster-admin'] },
];
const because = ['--reason', 'known to be harmless'];
const stale: readonly Line[] = [
  { argv: ['plan', 'x'], may: looking },
  { argv: ['history', 'x'], may: looking },
  { argv: ['undo', 'x'], may: looking },
  { argv: ['pause', 'x'], may: setting },
  { argv: ['resume', 'x'], may: setting },
  { argv: ['pin', 'moco-x-0', ...because], may: setting },
  { argv: ['unpin', 'moco-x-0'], may: setting },
  // It has not failed, which only somebody learns who may read it.
  { argv: ['restore', 'moco-x-0', '--yes'], may: looking, status: 1 },
  { argv: ['unrestore', 'moco-x-0'], may: setting },
  { argv: ['approve', 'x'], may: operating },
  { argv: ['override', 'x', 'ForeignDemote', '--for', '30m', ...because], may: operating },
  { argv: ['override', 'x', 'ForeignDemote', '--clear'], may: setting },
  { argv: ['release', 'x', '--timeout=2m'], may: owning },
  { argv: ['adopt', 'x'], may: owning },
];

/** Asked for and done without, with a word about it where something is missing then. */
const doneWithout = [
  'get leases in coordination.k8s.io',
  'list leases in coordination.k8s.io',
  // Whether a member can come back. A dry run asks whether its next pod would be admitted.
  'get nodes',
  'list nodes',
  'get persistentvolumes',
  'create pods',
  'list mysqlrolloutpolicies in moco-rollout.io',
  // Whether a cluster that is not found is elsewhere.
  'list mysqlclusters in moco.cybozu.com',
  // What `diagnose` bundles.
  'list deployments in apps',
  'list mysqlrolloutsequences in moco-rollout.io',
];

describe('the command line under the roles of config/users', () => {
  const { scenario, stage } = useRollouts();

  scenario('does what each role allows, and says what was done and what was refused', {}, async (cluster) => {
    const { namespace } = cluster;
    const { controlPlane } = stage();
    await controlPlane.kubectl('apply', '-f', join(configDirectory, 'users'));
    for (const [name, { namespaced, everywhere: whole }] of Object.entries<Person>(people)) {
      const user = userOf(namespace, name);
      if (namespaced !== undefined) await bind('rolebinding', user, namespaced, `--namespace=${namespace}`);
      if (whole !== undefined) await bind('clusterrolebinding', user, whole);
    }
    const kubeconfigs = new Map<string, string>();
    for (const name of Object.keys(people)) {
      kubeconfigs.set(name, await controlPlane.kubeconfigForUser(userOf(namespace, name), ['people']));
    }
    const run = (name: string, argv: readonly string[]): Promise<Ended> =>
      cli(kubeconfigs.get(name) ?? '', isOfAll(argv) ? argv : [...argv, '-n', namespace]);
    // The API server puts the rights of Kubernetes' own roles together in its own time, and so it does policies.
    for (const name of looking) await until(`${name} may look`, async () => (await run(name, ['status'])).status === 0);
    await freezing(namespace);

    const get = <T>(kind: ResourceKind): Promise<T> =>
      stage().client.call({ method: 'GET', path: path(kind, { namespace, name: 'x' }), priority: 'disrupt' });
    const settings = async (): Promise<string> =>
      JSON.stringify([
        (await get<{ spec?: object }>(rolloutKind)).spec,
        (await get<{ metadata: { annotations?: object } }>(clusterKind)).metadata.annotations,
      ]);
    const refused: Record<string, Set<string>> = {};
    const play = async (lines: readonly Line[]): Promise<void> => {
      for (const { argv, may, status: expected = 0 } of lines) {
        for (const name of Object.keys(people) as readonly Name[]) {
          const before = await settings();
          const files = argv[0] === 'diagnose' ? [`--directory=${join(controlPlane.directory, randomUUID())}`] : [];
          const { status, out, err } = await run(name, [...argv, ...files]);
          const what = `${name}: ${argv.join(' ')}: ${out}${err}`;
          if (may.includes(name)) expect(status, what).to.equal(expected);
          else {
            expect([status, out.replace('0 of 1 released\n', '')], what).to.deep.equal([1, '']);
            expect(err, what).to.match(/forbidden|has not|may not/i);
            expect(await settings(), what).to.equal(before);
            if (!isOfAll(argv)) (refused[name] ??= new Set()).add(argv[0] ?? '');
          }
        }
      }
    };
    await play(complete);
    const unfrozen = await run('enforcer', ['unfreeze']);
    expect([unfrozen.status, unfrozen.err]).to.deep.equal([0, '']);
    await cluster.setting({ partition: 3 });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('PartitionReached');
    // Somebody who may set it, and may not read what else pauses it.
    await bind('rolebinding', userOf(namespace, 'setter'), await setterRole(namespace), `--namespace=${namespace}`);
    kubeconfigs.set('setter', await controlPlane.kubeconfigForUser(userOf(namespace, 'setter'), ['people']));
    const resumed = await run('setter', ['resume', 'x']);
    expect([resumed.status, resumed.out]).to.deep.equal([0, `${namespace}/x: resumed\n`]);
    expect(resumed.err).to.match(/^warning: it is unknown whether something else still pauses x: .*forbidden/);
    await play(stale);
    const asked = await rightsAsked(userOf(namespace, 'operator of all'));
    const ofOwner = ['patch mysqlclusters in moco.cybozu.com'];
    const without = asked.filter(({ role }) => role === null).map(rightOf);
    expect(without.filter((right) => ![...doneWithout, ...ofOwner].includes(right))).to.deep.equal([]);
    await checksAgree(run, refused);
  });

  /** What `check` says about the commands for one cluster is what came of them. */
  async function checksAgree(
    run: (name: string, argv: readonly string[]) => Promise<Ended>,
    refused: Readonly<Record<string, ReadonlySet<string>>>,
  ): Promise<void> {
    for (const name of Object.keys(people)) {
      const { out, err } = await run(name, ['check', '-o', 'json']);
      const findings = JSON.parse(out || '[]') as readonly { about: string; result: string; sentence: string }[];
      const { result, sentence = err } = findings.find(({ about }) => about === 'your rights') ?? {};
      const denied = [...(refused[name] ?? [])];
      if (denied.includes('status')) {
        expect(result, `${name}: ${sentence}`).to.equal('failed');
        continue;
      }
      expect(result, `${name}: ${sentence}`).to.equal('ok');
      const [, but = ''] = sentence.split(', but not ');
      const missing = but
        .replaceAll(/ \([^)]*\)/g, '')
        .split(/, |; /)
        .filter((command) => command !== '');
      // Who may look is told that a member has not failed. `unfreeze` was played by one person only.
      expect(
        missing.filter((command) => command !== 'restore' && command !== 'unfreeze'),
        `${name}: ${sentence}`,
      ).to.have.members(denied);
    }
  }

  /** A user-made role that grants the settings, but not the reads that a decision needs. */
  async function setterRole(namespace: string): Promise<string> {
    const name = `${namespace}-setter`;
    const resources = '--resource=mysqlrollouts.moco-rollout.io,mysqlclusters.moco.cybozu.com';
    await stage().controlPlane.kubectl('create', 'clusterrole', name, '--verb=get,patch', resources);
    return name;
  }

  /** By a policy that selects no cluster. */
  async function freezing(namespace: string): Promise<void> {
    const { controlPlane } = stage();
    const [operator, enforcer] = [userOf(namespace, 'operator of all'), userOf(namespace, 'enforcer')];
    const name = `${namespace}-freeze`;
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': name } };
    const spec = { namespaceSelector, enforced: { paused: true } };
    const kind = 'MySQLRolloutPolicy';
    const file = await controlPlane.fileOf({ apiVersion: 'moco-rollout.io/v1alpha1', kind, metadata: { name }, spec });
    const refusal = (user: string, ...argv: readonly string[]): Promise<string | undefined> =>
      controlPlane.kubectl(...argv, '-f', file, `--as=${user}`).then(
        () => undefined,
        (error: Error) => error.message,
      );
    const creating = ['create', '--dry-run=server'];
    const refused = await until('the policy enforced.moco-rollout.io is in force', () =>
      refusal(operator, ...creating),
    );
    expect(refused).to.contain(`${operator} has not; ClusterRole moco-rollout-enforcer has it`);
    expect(await refusal(enforcer, 'create')).to.equal(undefined);
    expect(await refusal(operator, 'delete')).to.contain('the verb enforce');
    expect(await refusal(enforcer, 'delete')).to.equal(undefined);
  }

  async function bind(
    kind: 'rolebinding' | 'clusterrolebinding',
    user: string,
    role: string,
    ...more: readonly string[]
  ): Promise<void> {
    const flags = [`--clusterrole=${role}`, `--user=${user}`, ...more];
    await stage().controlPlane.kubectl('create', kind, `${user}-${role}`, ...flags);
  }

  async function rightsAsked(user: string): Promise<readonly AskedRight[]> {
    const events = (await stage().controlPlane.audit()).filter((event) => event.user.username === user);
    return events.map((event) => askedRight(event, () => true)).filter((right) => right !== null);
  }
});

const isOfAll = (argv: readonly string[]): boolean => argv.includes('-A') || argv.includes('--fleet');

const userOf = (namespace: string, name: string): string => `${namespace}-${name.replaceAll(' ', '-')}`;
