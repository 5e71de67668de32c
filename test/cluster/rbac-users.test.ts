import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { configDirectory, readManifests } from '../config/manifests.ts';
import { rightOf, rightsOf } from '../config/rights.ts';
import { type AskedRight, askedRight } from '../support/control-plane/audit-rights.ts';
import { until } from '../support/control-plane/until.ts';
import { cli } from './cli-program.ts';
import { useRollouts } from './rollout-fixture.ts';

type Role = 'viewer' | 'editor' | 'operator';

interface Person {
  readonly roles: readonly Role[];
  readonly commands: readonly (readonly string[])[];
}

const looking = [
  ['status', '-A'],
  ['plan', 'x'],
  ['history', 'x'],
  ['report', 'x'],
  ['wait', 'x'],
];

/** What the plugin is asked for by people of each role. */
const people: Readonly<Record<string, Person>> = {
  vera: { roles: ['viewer'], commands: looking },
  ed: {
    roles: ['viewer', 'editor'],
    commands: [
      ['pause', 'x'],
      ['resume', 'x'],
    ],
  },
  otto: {
    roles: ['operator'],
    commands: [
      ...looking,
      ['pin', 'moco-x-2', '--reason', 'a look at it'],
      ['unpin', 'moco-x-2'],
      ['unrestore', 'moco-x-2'],
      ['override', 'x', 'BackupRunning', '--for', '30m', '--reason', 'known to be harmless'],
      ['override', 'x', 'BackupRunning', '--clear'],
    ],
  },
};

/** What Kubernetes' own role `view` has of what the plugin looks at; who isn't an operator has MOCO's clusters by MOCO. */
const others = {
  view: 'pods,persistentvolumeclaims,namespaces,statefulsets.apps,controllerrevisions.apps,poddisruptionbudgets.policy,jobs.batch',
  moco: 'mysqlclusters.moco.cybozu.com',
};
/** Asked for and done without, with a word about it where something is missing then. */
const doneWithout = [
  'get leases in coordination.k8s.io',
  'list events in events.k8s.io',
  // Whether a member can come back. A dry run asks whether its next pod would be admitted.
  'get nodes',
  'list nodes',
  'get persistentvolumes',
  'create pods',
];

const inForceDeadlineMilliseconds = 60_000;

describe('the command line under the roles of config/users', () => {
  const { scenario, stage } = useRollouts();

  scenario(
    'does what each role is there for, and asks for no more than that',
    { spec: { backupPolicyName: 'daily' } },
    async (cluster) => {
      const { controlPlane } = stage();
      await controlPlane.kubectl('apply', '-f', join(configDirectory, 'users'));
      for (const [name, resources] of Object.entries(others)) {
        const looks = ['--verb=get,list,watch', `--resource=${resources}`];
        await controlPlane.kubectl('create', 'clusterrole', `${cluster.namespace}-${name}`, ...looks);
      }
      const granted = await grantedTo();
      for (const [person, { roles, commands }] of Object.entries(people)) {
        const user = `${cluster.namespace}-${person}`;
        const more = roles.includes('operator') ? ['view'] : ['view', 'moco'];
        const names = [
          ...roles.map((role) => `moco-rollout-${role}`),
          ...more.map((name) => `${cluster.namespace}-${name}`),
        ];
        for (const name of names) await bind(user, name);
        const kubeconfig = await controlPlane.kubeconfigForUser(user, ['people']);
        for (const argv of commands) {
          const inNamespace = argv.includes('-A') ? argv : [...argv, '-n', cluster.namespace];
          const { status, out, err } = await cli(kubeconfig, inNamespace);
          expect(status, `${person}: ${argv.join(' ')}: ${out}${err}`).to.equal(0);
        }
        const asked = await rightsAsked(user);
        const may = roles.flatMap((role) => granted.get(`moco-rollout-${role}`) ?? []);
        const ours = asked.filter(({ role }) => role?.startsWith('ClusterRole moco-rollout-')).map(rightOf);
        expect(
          ours.filter((right) => !may.includes(right)),
          person,
        ).to.deep.equal([]);
        expect(ours, person).to.include('get mysqlrollouts in moco-rollout.io');
        const refused = asked.filter(({ role }) => role === null).map(rightOf);
        expect(
          refused.filter((right) => !doneWithout.includes(right)),
          person,
        ).to.deep.equal([]);
      }
      await freezing(cluster.namespace);
    },
  );

  /** By a policy that selects no cluster. */
  async function freezing(namespace: string): Promise<void> {
    const { controlPlane } = stage();
    const [operator, enforcer] = [`${namespace}-otto`, `${namespace}-emma`];
    await bind(enforcer, 'moco-rollout-enforcer');
    const name = `${namespace}-freeze`;
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': name } };
    const spec = { namespaceSelector, enforced: { paused: true } };
    const file = join(controlPlane.directory, `${name}.yaml`);
    const kind = 'MySQLRolloutPolicy';
    await writeFile(file, stringify({ apiVersion: 'moco-rollout.io/v1alpha1', kind, metadata: { name }, spec }));
    const refusal = (user: string, ...argv: readonly string[]): Promise<string | undefined> =>
      controlPlane.kubectl(...argv, '-f', file, `--as=${user}`).then(
        () => undefined,
        (error: Error) => error.message,
      );
    const creating = ['create', '--dry-run=server'];
    const overdue = () => 'Expected the policy enforced.moco-rollout.io to be in force';
    const refused = await until(() => refusal(operator, ...creating), inForceDeadlineMilliseconds, overdue);
    expect(refused).to.contain(`${operator} has not; ClusterRole moco-rollout-enforcer has it`);
    expect(await refusal(enforcer, 'create')).to.equal(undefined);
    expect(await refusal(operator, 'delete')).to.contain('the verb enforce');
    expect(await refusal(enforcer, 'delete')).to.equal(undefined);
  }

  async function bind(user: string, role: string): Promise<void> {
    const flags = [`--clusterrole=${role}`, `--user=${user}`];
    await stage().controlPlane.kubectl('create', 'clusterrolebinding', `${user}-${role}`, ...flags);
  }

  async function rightsAsked(user: string): Promise<readonly AskedRight[]> {
    const events = (await stage().controlPlane.audit()).filter((event) => event.user.username === user);
    return events.map((event) => askedRight(event, () => true)).filter((right) => right !== null);
  }
});

async function grantedTo(): Promise<ReadonlyMap<string, readonly string[]>> {
  const roles = (await readManifests('users')).filter(({ kind }) => kind === 'ClusterRole');
  return new Map(roles.map((role) => [role.metadata.name, rightsOf([role])]));
}
