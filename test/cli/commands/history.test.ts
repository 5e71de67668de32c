import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { mergePatchOf, restored } from '../../../src/cli/cluster/template-revisions.ts';
import { controllerRevisions } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { revisionAfter, revisionBefore } from '../../controller/moco-objects.ts';
import { addWholeCluster } from '../../controller/whole-clusters.ts';
import { type FakeCluster, useFakeCluster } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';

const labels = { 'app.kubernetes.io/instance': 'test' };

interface Template {
  readonly image: string;
  readonly password?: string;
  readonly agent?: string;
  readonly memory?: string;
  readonly sidecar?: boolean;
  readonly restartedAt?: string;
}

/** As Kubernetes keeps it: with what MOCO and the API server have added. */
function template({
  image,
  password = 'one',
  agent = 'agent:1',
  memory = '1Gi',
  sidecar,
  restartedAt,
}: Template): object {
  return {
    $patch: 'replace',
    metadata: { labels, ...(restartedAt && { annotations: { 'kubectl.kubernetes.io/restartedAt': restartedAt } }) },
    spec: {
      containers: [
        {
          name: 'mysqld',
          image,
          imagePullPolicy: 'IfNotPresent',
          env: [{ name: 'PASSWORD', value: password }],
          resources: { limits: { memory } },
        },
        { name: 'agent', image: agent, imagePullPolicy: 'IfNotPresent' },
        ...(sidecar ? [{ name: 'shipper', image: 'shipper:1', imagePullPolicy: 'IfNotPresent' }] : []),
      ],
      initContainers: [{ name: 'moco-init', image, imagePullPolicy: 'IfNotPresent' }],
    },
  };
}

function keep({ server }: FakeCluster, name: string, revision: number, data: Template): void {
  server.create(controllerRevisions, {
    metadata: { name, labels, creationTimestamp: `2026-07-01T1${revision}:00:00Z` },
    revision,
    data: { spec: { template: template(data) } },
  });
}

/** Three revisions, and the MySQLCluster that the newest one is of. */
function keepRevisions(cluster: FakeCluster): void {
  keep(cluster, 'moco-test-older', 1, { image: 'mysql:8.4.7', sidecar: true });
  keep(cluster, revisionBefore, 2, { image: 'mysql:8.4.8' });
  keep(cluster, revisionAfter, 3, { image: 'mysql:8.4.9', password: 'two', agent: 'agent:2' });
  const mysqld = {
    name: 'mysqld',
    image: 'mysql:8.4.9',
    env: [{ name: 'PASSWORD', value: 'two' }],
    resources: { limits: { memory: '1Gi' } },
  };
  cluster.server.change(clusterKind, 'test', { spec: { podTemplate: { spec: { containers: [mysqld] } } } });
}

describe('history and undo', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    keepRevisions(cluster);
  });

  it('lists every kept revision with its changes', async () => {
    const { status, out, err } = await cluster.run('history', 'test');
    expect([status, err]).to.deep.equal([0, '']);
    expectGolden('history.txt', out);
    expect(out).not.to.contain('two');
  });

  it('shows the full difference of a revision, by number or hash', async () => {
    const byNumber = await cluster.run('history', 'test', '--revision', '3');
    expect([byNumber.status, byNumber.err]).to.deep.equal([0, '']);
    expectGolden('history-revision.txt', byNumber.out);
    expect((await cluster.run('history', 'test', '--revision', '7966559688')).out).to.equal(byNumber.out);
  });

  it('lists the existing revisions for an unknown one', async () => {
    const { status, err } = await cluster.run('history', 'test', '--revision', '9');
    expect(status).to.equal(1);
    expect(err).to.equal(
      'error: revision 9 is no longer kept; existing revisions: 1 (older), 2 (5897fd84f8), 3 (7966559688)\n',
    );
  });

  it('undo prints a patch for kubectl', async () => {
    const { status, out, err } = await cluster.run('undo', 'test');
    expect([status, err]).to.deep.equal([0, '']);
    expectGolden('undo.txt', out);
    expect(load(out)).to.deep.equal({
      spec: {
        podTemplate: {
          spec: {
            containers: [
              {
                name: 'mysqld',
                image: 'mysql:8.4.8',
                env: [{ name: 'PASSWORD', value: 'one' }],
                resources: { limits: { memory: '1Gi' } },
              },
            ],
          },
        },
      },
    });
    expect(cluster.server.writes).to.deep.equal([]);
  });

  it('undo restores what was removed, and names changes outside of the MySQLCluster', async () => {
    const { out } = await cluster.run('undo', 'test', '--to-revision', '1');
    const { spec } = load(out) as { spec: { podTemplate: { spec: { containers: { name: string }[] } } } };
    expect(spec.podTemplate.spec.containers.map(({ name }) => name)).to.deep.equal(['mysqld', 'shipper']);
    expect(out).to.contain(
      '# Not restored, because it does not come from the podTemplate: spec.containers[agent].image',
    );
  });

  it('undo prints a command for each selected cluster whose rollout is not complete', async () => {
    const none = await cluster.run('undo', '--all');
    expect(none).to.deep.equal({ status: 0, out: '', err: '' });
    await cluster.bench.start().work();
    const { status, out, err } = await cluster.run('undo', '--all', '-A');
    expect([status, err]).to.deep.equal([0, '']);
    const byName = cluster.requests.filter(({ path }) => path.includes('/mysqlrollouts/'));
    expect(byName, 'lists, however many clusters there are').to.deep.equal([]);
    const [command = '', ...comments] = out.trimEnd().split('\n').toReversed();
    expect(comments.every((line) => line.startsWith('# '))).to.equal(true);
    const [, patch = ''] =
      /^kubectl patch mysqlcluster test -n default --type=merge --patch='(.*)'$/.exec(command) ?? [];
    expect(JSON.parse(patch)).to.deep.equal(load((await cluster.run('undo', 'test')).out));
  });

  describe('undo for several clusters, run by a shell', () => {
    let directory: string;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'moco-rollout-undo-'));
      const recorder = `#!/bin/sh\nfor one in "$@"; do printf '%s\\0' "$one"; done >>'${directory}/arguments'\n`;
      await writeFile(join(directory, 'kubectl'), recorder, { mode: 0o755 });
    });

    afterEach(async () => {
      await rm(directory, { recursive: true, force: true });
    });

    /** The arguments of each call of kubectl, and the files that were made beside. */
    async function calls(script: string): Promise<{ readonly calls: readonly string[][]; readonly made: string[] }> {
      const env = { PATH: `${directory}:${process.env['PATH']}` };
      await promisify(execFile)('sh', ['-c', script], { cwd: directory, env });
      const recorded = (await readFile(join(directory, 'arguments'), 'utf8')).split('\0').slice(0, -1);
      const starts = recorded.flatMap((one, index) => (one === 'patch' ? [index] : []));
      const made = (await readdir(directory)).filter((file) => !['kubectl', 'arguments'].includes(file));
      return { calls: starts.map((start, index) => recorded.slice(start, starts[index + 1])), made };
    }

    for (const [what, hostile] of Object.entries({
      quotes: `'; touch made; echo '`,
      'a double quote and a variable': `"; touch made; echo "$HOME`,
      'commands in place of values': '$(touch made) `touch made`',
      'ends of lines': 'a\ntouch made\n# b\r\ntouch made',
      backslashes: String.raw`\'; touch made; \\`,
      'what a terminal obeys': '\u001B[2J\u202E; touch made',
    })) {
      it(`hands the patch to kubectl as one word with ${what} in it`, async () => {
        await cluster.bench.start().work();
        keep(cluster, 'moco-test-hostile', 2, { image: 'mysql:8.4.8', password: hostile });
        cluster.server.change(controllerRevisions, revisionBefore, {
          data: { spec: { template: template({ image: `mysql:8.4.8`, password: hostile }) } },
        });
        const expected = load((await cluster.run('undo', 'test')).out);
        const { out, status } = await cluster.run('undo', '--all');
        expect(status).to.equal(0);
        const ran = await calls(out);
        expect(ran.made).to.deep.equal([]);
        expect(ran.calls).to.have.lengthOf(1);
        const [words = []] = ran.calls;
        expect(words.slice(0, -1)).to.deep.equal(['patch', 'mysqlcluster', 'test', '-n', 'default', '--type=merge']);
        const patch = JSON.parse((words.at(-1) ?? '').replace(/^--patch=/, '')) as unknown;
        expect(patch).to.deep.equal(expected);
        expect(JSON.stringify(patch)).to.contain(JSON.stringify(hostile).slice(1, -1));
      });
    }

    it('runs nothing that is in the comments, whatever a manager or a key is called', async () => {
      await cluster.bench.start().work();
      const manager = 'argocd\ntouch made\r\ntouch made';
      cluster.server.change(clusterKind, 'test', {
        metadata: { managedFields: [{ manager, fieldsV1: { 'f:spec': { 'f:podTemplate': {} } } }] },
      });
      const changed = template({ image: 'mysql:8.4.9', password: 'two' }) as { metadata: { labels: object } };
      const annotations = { 'x\ntouch made': 'y' };
      cluster.server.change(controllerRevisions, revisionAfter, {
        data: { spec: { template: { ...changed, metadata: { ...changed.metadata, annotations } } } },
      });
      const { out } = await cluster.run('undo', '--all');
      expect(out).to.contain('touch made');
      const ran = await calls(out);
      expect([ran.made, ran.calls.length]).to.deep.equal([[], 1]);
    });
  });

  it('undo continues with other clusters', async () => {
    addWholeCluster(cluster.server, { name: 'other' });
    const { status, out, err } = await cluster.run('undo', 'other', 'test');
    expect([status, out.match(/^kubectl/gm)]).to.deep.equal([1, ['kubectl']]);
    expect(err).to.match(/^error: /);
  });

  it('undo reports that there is nothing to restore', async () => {
    cluster.server.change(controllerRevisions, revisionAfter, {
      data: { spec: { template: template({ image: 'mysql:8.4.8', restartedAt: 'now' }) } },
    });
    const { status, out, err } = await cluster.run('undo', 'test');
    expect([status, out]).to.deep.equal([1, '']);
    expect(err).to.contain('metadata.annotations').and.to.contain('`kubectl rollout restart`');
  });

  it('undo names the field manager of the MySQLCluster', async () => {
    cluster.server.change(clusterKind, 'test', {
      metadata: { managedFields: [{ manager: 'argocd-controller', fieldsV1: { 'f:spec': { 'f:podTemplate': {} } } }] },
    });
    expect((await cluster.run('undo', 'test')).out).to.contain('the repository that Argo CD applies');
  });
});

describe('undo of a MySQLCluster that a tool applies', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    keepRevisions(cluster);
  });

  const flux = (kind: string, name: string) => ({
    labels: { [`${kind}.toolkit.fluxcd.io/name`]: name, [`${kind}.toolkit.fluxcd.io/namespace`]: 'flux-system' },
  });
  const tracked = (id: string) => ({ annotations: { 'argocd.argoproj.io/tracking-id': id } });
  const ofHelm = { 'meta.helm.sh/release-name': 'orders', 'meta.helm.sh/release-namespace': 'shop' };
  const cases: readonly (readonly [metadata: object, name: string, command: string])[] = [
    [
      flux('kustomize', 'databases'),
      'Kustomization flux-system/databases (Flux)',
      'flux suspend kustomization databases -n flux-system',
    ],
    [flux('helm', 'orders'), 'HelmRelease flux-system/orders (Flux)', 'flux suspend helmrelease orders -n flux-system'],
    [
      tracked('orders:moco.cybozu.com/MySQLCluster:default/test'),
      'Application orders (Argo CD)',
      'argocd app set orders --sync-policy none',
    ],
    [
      tracked('team-a_orders:moco.cybozu.com/MySQLCluster:default/test'),
      'Application team-a/orders (Argo CD)',
      'argocd app set team-a/orders --sync-policy none',
    ],
    [{ annotations: ofHelm }, 'Helm release shop/orders', 'helm rollback orders -n shop'],
  ];
  for (const [metadata, name, command] of cases) {
    it(`names ${name}, and the command that keeps the patch`, async () => {
      cluster.server.change(clusterKind, 'test', { metadata });
      const { out } = await cluster.run('undo', 'test');
      expect(out).to.contain(`# The MySQLCluster comes from ${name}: `).and.to.contain(`\`${command}\``);
      expect(out).not.to.contain('If the MySQLCluster is in a Git repository');
    });
  }

  it('takes no label for a name that could be another word of a command', async () => {
    cluster.server.change(clusterKind, 'test', { metadata: tracked('orders --sync-policy=auto; x:a/b:c/d') });
    expect((await cluster.run('undo', 'test')).out)
      .to.contain('If the MySQLCluster is in a Git repository')
      .and.not.to.contain('argocd app set');
  });
});

describe('restoring a template', () => {
  const own = { spec: { containers: [{ name: 'a', image: '2', args: ['x', 'y'] }], nodeSelector: { zone: 'b' } } };
  const now = {
    spec: {
      containers: [{ name: 'a', image: '2', args: ['x', 'y'], policy: 'p' }],
      nodeSelector: { zone: 'b' },
      grace: 2,
    },
  };

  it('restores the order of what it sets itself', () => {
    const order = (...names: readonly string[]) => names.map((name) => ({ name }));
    expect(restored(order('c', 'own', 'a'), order('a', 'b', 'c'), order('c', 'b', 'a'))).to.deep.equal(
      order('a', 'own', 'c'),
    );
    expect(restored(order('c', 'a'), order('a', 'b', 'c'), order('a', 'c'))).to.deep.equal(order('c', 'a', 'b'));
  });

  it('removes what the change has added, in lists and maps', () => {
    const before = { spec: { containers: [{ name: 'a', image: '1', policy: 'p' }], grace: 1 } };
    const after = restored(own, before, now);
    expect(after).to.deep.equal({ spec: { containers: [{ name: 'a', image: '1' }] } });
    expect(mergePatchOf(own, after)).to.deep.equal({
      spec: { containers: [{ name: 'a', image: '1' }], nodeSelector: null },
    });
  });

  it('changes nothing if nothing has changed', () => {
    expect(restored(own, now, now)).to.equal(own);
    expect(mergePatchOf(own, own)).to.equal(undefined);
  });

  it('replaces lists without names as a whole', () => {
    const before = {
      spec: {
        containers: [{ name: 'a', image: '2', args: ['x'], policy: 'p' }],
        nodeSelector: { zone: 'b' },
        grace: 2,
      },
    };
    expect(restored(own, before, now)).to.deep.equal({
      spec: { ...own.spec, containers: [{ name: 'a', image: '2', args: ['x'] }] },
    });
  });
});
