import { execFile } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { withoutWaiting } from '../docs/command-kind.ts';
import { commandsUnder } from '../docs/markdown.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { goTool } from '../support/go-tools/build.ts';
import { foreignKinds } from './foreign-kinds.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const ours = '--selector=app.kubernetes.io/part-of=moco-rollout';
const kinds =
  'deployment,service,networkpolicy,poddisruptionbudget,clusterrole,mutatingwebhookconfiguration,mutatingadmissionpolicy,crd';
const policy = 'mutatingadmissionpolicy.admissionregistration.k8s.io/moco-rollout-statefulset';
const webhook = 'mutatingwebhookconfiguration.admissionregistration.k8s.io/moco-rollout-mutating-webhook-configuration';

/** As a person does it: the document's commands in a shell, with kubectl and helm in PATH. */
describe('installing', () => {
  let controlPlane: ControlPlane;
  let environment: NodeJS.ProcessEnv;

  before(async () => {
    const helm = await goTool('helm');
    controlPlane = await startControlPlane({ audit: false });
    await controlPlane.apply(await controlPlane.fileOf(...foreignKinds));
    environment = {
      ...process.env,
      HOME: controlPlane.directory,
      KUBECONFIG: controlPlane.adminKubeconfig,
      PATH: [dirname(helm), dirname(controlPlane.binaries.kubectl), process.env['PATH']].join(delimiter),
    };
  });

  after(() => controlPlane?.stop());

  it('with kustomize, and uninstalling, which releases every cluster first', async () => {
    const before = await installed();
    for (const command of await commandsUnder('With kustomize', 'installing.md')) await shell(command);
    await shell('make deploy');
    expect(await installed()).to.include.members(['deployment.apps/moco-rollout-controller']);
    for (const command of await commandsUnder('With kustomize', 'uninstalling.md')) {
      expect(await shell(command)).to.match(/nothing to release[^]*kubectl delete -k[^]*deleted/);
    }
    expect(await installed()).to.deep.equal(before);
  });

  it('before Kubernetes 1.36, upgrading to it, and uninstalling', async () => {
    const before = await installed();
    const [install = '', upgrade = '', ...remove] = await commandsUnder('Before Kubernetes 1.36', 'installing.md');
    await shell(install);
    expect((await installed()).filter((name) => name.includes('mutating'))).to.deep.equal([webhook]);
    await shell(upgrade);
    expect(remove).to.have.length(2);
    for (const command of remove) await shell(command);
    expect((await installed()).filter((name) => name.includes('mutating'))).to.deep.equal([policy]);
    const undo = await commandsUnder('With kustomize, before Kubernetes 1.36', 'uninstalling.md');
    await shell(install);
    for (const command of undo) await shell(command);
    await shell('make undeploy');
    expect(await installed()).to.deep.equal(before);
  });

  it('with helm, turning the gate on later, and uninstalling', async () => {
    for (const command of await commandsUnder('With Helm', 'installing.md')) await shell(withoutWaiting(command));
    const args = [
      'get',
      'deployment',
      'moco-rollout-controller',
      '-n',
      'moco-rollout-system',
      '-o',
      'jsonpath={..args}',
    ];
    const flags = await controlPlane.kubectl(...args);
    expect(flags)
      .to.contain('--feature-gates=UpdateStrategyOnDelete=true')
      .and.to.contain('--default-strategy=Partition');
    for (const command of await commandsUnder('Who may do what', 'installing.md')) await shell(command);
    const may = ['auth', 'can-i', 'approve', 'mysqlrollouts.moco-rollout.io', '--as=somebody'];
    expect(await controlPlane.kubectl(...may, '--as-group=database-operators')).to.equal('yes\n');
    expect(await installed()).to.have.length.greaterThan(2);
    // Nobody runs the Job here.
    await shell('helm uninstall moco-rollout --namespace moco-rollout-system --no-hooks');
    expect(await installed()).to.have.members([
      'customresourcedefinition.apiextensions.k8s.io/mysqlrolloutpolicies.moco-rollout.io',
      'customresourcedefinition.apiextensions.k8s.io/mysqlrollouts.moco-rollout.io',
      'customresourcedefinition.apiextensions.k8s.io/mysqlrolloutsequences.moco-rollout.io',
    ]);
  });

  it('leaves no StatefulSet at OnDelete undetected: the documented query finds them', async () => {
    const [question = ''] = await commandsUnder('With Argo CD or Flux', 'uninstalling.md');
    expect(await shell(question.trim())).to.equal('');
    const labels = { 'moco-rollout.io/strategy': 'OnDelete' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'mysqld', image: 'mysql' }] } };
    const spec = { replicas: 0, serviceName: 'none', selector: { matchLabels: labels }, template };
    const metadata = { name: 'some', namespace: 'default', labels };
    const file = await controlPlane.fileOf({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec });
    await controlPlane.kubectl('apply', '-f', file);
    expect(await shell(question.trim())).to.equal('statefulset.apps/some\n');
  });

  async function installed(): Promise<readonly string[]> {
    const names = await controlPlane.kubectl('get', kinds, '--all-namespaces', ours, '-o', 'name');
    return names.split('\n').filter((name) => name !== '');
  }

  /** Rejects where it ends with another status than 0, with all that it said. */
  async function shell(command: string): Promise<string> {
    const { stdout } = await run('bash', ['-c', command], { cwd: root, env: environment });
    return stdout;
  }
});
