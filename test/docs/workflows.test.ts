import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { pluginName } from '../../hack/plugin/krew.ts';
import manifest from '../../package.json' with { type: 'json' };
import { root } from './markdown.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string | number | boolean>>;
}

interface Job {
  readonly needs?: readonly string[];
  /** Another workflow, instead of steps. */
  readonly uses?: string;
  readonly permissions?: object;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions: object;
  readonly on: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Updates {
  readonly updates: readonly {
    readonly 'package-ecosystem': string;
    readonly directory?: string;
    readonly directories?: readonly string[];
  }[];
}

/** The manifest of each ecosystem. */
const manifests: Readonly<Record<string, string>> = {
  npm: 'package-lock.json',
  gomod: 'go.mod',
  docker: 'Dockerfile',
  'github-actions': '.github/workflows',
};

const workflows = ['build.yml', 'ci.yml', 'codeql.yml', 'dependency-review.yml', 'release.yml', 'scorecard.yml'];

const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

async function isThere(path: string): Promise<boolean> {
  return access(join(root, path)).then(
    () => true,
    () => false,
  );
}

const stepsOf = ({ jobs }: Workflow): readonly Step[] => Object.values(jobs).flatMap(({ steps = [] }) => steps);

describe('the CI workflow', () => {
  let workflow: Workflow;
  let steps: readonly Step[];

  before(async () => {
    workflow = parse(await text('.github/workflows/ci.yml')) as Workflow;
    steps = stepsOf(workflow);
  });

  it('runs the commands of .ci/run', async () => {
    const commands = (await text('.ci/run')).split('\n').filter((line) => line.startsWith('make '));
    expect(commands).to.include.members(['make check', 'make test']);
    expect(steps.map(({ run }) => run)).to.include.members(commands);
  });

  it('uses the required Node and Go, with read permissions only', async () => {
    expect(workflow.permissions).to.deep.equal({ contents: 'read' });
    const versions = (name: string): readonly string[] =>
      steps.flatMap((step) => (step.with?.[name] === undefined ? [] : [String(step.with[name])]));
    for (const version of versions('node-version')) expect(manifest.engines.node).to.equal(`>=${version}.0.0`);
    const [go] = versions('go-version');
    const versionsOfKubernetes = ['1.36', '1.37', '1.35'].map((minor) => `control-plane/modules/${minor}`);
    for (const folder of [...versionsOfKubernetes, 'cluster/programs', 'go-tools', 'real-moco']) {
      expect(await text(`test/support/${folder}/go.mod`)).to.match(new RegExp(`^go ${go}(\\.\\d+)?$`, 'm'));
    }
  });

  it('and Dependabot cover every kind of dependency', async () => {
    const { updates } = parse(await text('.github/dependabot.yml')) as Updates;
    expect(updates.map((one) => one['package-ecosystem'])).to.have.members(Object.keys(manifests));
    for (const one of updates) {
      for (const directory of one.directories ?? [one.directory ?? '']) {
        const path = join(directory, manifests[one['package-ecosystem']] ?? '').replace(/^\//, '');
        expect(await isThere(path), path).to.equal(true);
      }
    }
  });

  it('and the others start only what exists, and contain no address', async () => {
    const makefile = await text('Makefile');
    for (const name of workflows) {
      const file = await text(`.github/workflows/${name}`);
      expect(file, name).not.to.match(/https?:\/\//);
      const commands = stepsOf(parse(file) as Workflow).map(({ run = '' }) => run);
      for (const [, target = ''] of commands.join('\n').matchAll(/\bmake ([a-z_-]+)/g)) {
        expect(makefile, target).to.match(new RegExp(`^${target}:`, 'm'));
      }
      for (const [path] of commands.join('\n').matchAll(/(?<!dist\/)\b(?:hack|config)\/[\w./-]*\w/g)) {
        expect(await isThere(path), path).to.equal(true);
      }
    }
  });
});

it('the workflows name every action by a commit, and its version beside it', async () => {
  for (const name of workflows) {
    const used = [...(await text(`.github/workflows/${name}`)).matchAll(/uses: (?!\.\/)(.*)/g)].map(([, one]) => one);
    expect(used.length, name).to.be.greaterThan(1);
    for (const one of used) expect(one, name).to.match(/^[\w-]+(?:\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

it('the workflows leave no token in what they check out, where code of npm could read it', async () => {
  for (const name of workflows) {
    for (const step of stepsOf(parse(await text(`.github/workflows/${name}`)) as Workflow)) {
      if (step.uses?.startsWith('actions/checkout@')) expect(step.with?.['persist-credentials'], name).to.equal(false);
    }
  }
});

const ownCode = /checkout|\bmake |hack\/|npm/;

describe('the release workflow', () => {
  let release: Workflow;
  let build: Workflow;
  let commands: string;

  before(async () => {
    release = parse(await text('.github/workflows/release.yml')) as Workflow;
    build = parse(await text('.github/workflows/build.yml')) as Workflow;
    commands = [...stepsOf(build), ...stepsOf(release)].map(({ run = '' }) => run).join('\n');
  });

  it('needs the CI workflow and the check for advisories before it builds', async () => {
    expect(release.on).to.deep.equal({ push: { tags: ['v*'] } });
    expect(release.jobs['ci']?.uses).to.equal('./.github/workflows/ci.yml');
    expect((parse(await text('.github/workflows/ci.yml')) as Workflow).on).to.have.property('workflow_call');
    expect(release.jobs['build']?.needs).to.deep.equal(['ci', 'advisories', 'version']);
    expect(release.jobs['build']?.uses).to.equal('./.github/workflows/build.yml');
    expect(release.jobs['publish']?.needs).to.deep.equal(['build', 'version']);
    expect(JSON.stringify(release.jobs['advisories'])).to.contain('make audit');
  });

  it('publishes image, chart, plugin, SBOM and licences with the version of package.json', () => {
    expect(commands).to.match(/docker buildx build [^]* --output type=oci,dest=image\.tar/);
    expect(JSON.stringify(release.jobs['version'])).to.match(/\$GITHUB_REF_NAME.*package\.json/);
    for (const made of [
      ...['checksums.txt', `${pluginName}.yaml`, '*.tar.gz'].map((name) => `dist/plugin/${name}`),
      'dist/sbom.cdx.json',
      'dist/licences.txt',
      'dist/chart/*.tgz',
    ]) {
      expect(commands).to.contain(made);
    }
    // `make build`, which make sbom begins with, empties dist.
    expect(commands.indexOf('make sbom')).to.be.lessThan(commands.indexOf('hack/plugin/main.ts --address'));
  });

  it('packages the chart with the published image, and signs both and every file', () => {
    const order = [
      /docker buildx build [^]* --output type=oci/,
      /hack\/release\/chart\.ts --repository "\$IMAGE" --digest "\$DIGEST"/,
      /helm package dist\/chart\/moco-rollout /,
      /skopeo copy [^\n]* oci-archive:image\.tar "docker:\/\/\$IMAGE@\$DIGEST"/,
      /helm push files\/\*\.tgz "oci:/,
      /cosign sign --yes "\$IMAGE@\$IMAGE_DIGEST" "\$CHART@\$CHART_DIGEST"/,
      /cd files\n *for file in \*; do cosign sign-blob /,
      /skopeo copy [^\n]* "docker:\/\/\$IMAGE:\$\{GITHUB_REF_NAME#v\}"/,
      /gh release create [^]* files\/\*/,
    ].map((command) => commands.search(command));
    expect(order).to.not.include(-1);
    expect(order).to.deep.equal(order.toSorted((a, b) => a - b));
  });

  it('attests where the image, the chart and the files come from', () => {
    const subjects = (build.jobs['signatures']?.steps ?? [])
      .filter(({ uses = '' }) => uses.startsWith('actions/attest@'))
      .map((step) => step.with?.['subject-name'] ?? step.with?.['subject-path']);
    expect(subjects).to.deep.equal([
      '${{ vars.IMAGE }}',
      '${{ needs.push.outputs.chart }}',
      'files/*\n!files/*.sigstore.json\n',
    ]);
  });

  it('has the notes of its version only, and refuses a version without any before it publishes', () => {
    expect(JSON.stringify(release.jobs['version'])).to.contain('hack/release/notes.ts');
    expect(commands).to.match(/notes\.ts [^\n]*>notes\.md/);
    expect(commands).to.contain('--notes-file notes.md');
  });

  it('gives an identity to the job that signs alone, which runs no code of the repository', () => {
    const permissions = ({ permissions: all, jobs }: Workflow): object => ({
      all,
      ...Object.fromEntries(
        Object.entries(jobs).flatMap(([name, { permissions: granted }]) => (granted ? [[name, granted]] : [])),
      ),
    });
    const signing = { contents: 'read', 'id-token': 'write', attestations: 'write' };
    expect(permissions(build)).to.deep.equal({ all: { contents: 'read' }, signatures: signing });
    expect(permissions(release)).to.deep.equal({
      all: { contents: 'read' },
      build: signing,
      publish: { contents: 'write' },
    });
    const { steps = [] } = build.jobs['signatures'] ?? {};
    expect(JSON.stringify(steps)).not.to.match(ownCode);
  });

  it('gives the password of the registry to no job that runs code of the repository or of npm', () => {
    const jobs = Object.entries(build.jobs).filter(([, job]) => JSON.stringify(job).includes('IMAGE_PASSWORD'));
    expect(jobs.map(([name]) => name)).to.deep.equal(['push', 'signatures']);
    for (const [name, job] of jobs) expect(JSON.stringify(job), name).not.to.match(ownCode);
  });

  it('lets no job that runs code of the repository or of npm write anything, releases included', () => {
    for (const { jobs } of [build, release]) {
      for (const [name, { uses, permissions = {}, ...job }] of Object.entries(jobs)) {
        const writes = Object.values(permissions).includes('write');
        // Another workflow hands its own jobs what they may do.
        if (uses === undefined && writes) expect(JSON.stringify(job), name).not.to.match(ownCode);
      }
    }
  });

  it('compares Node in the image with the list that its project has signed', () => {
    expect(commands.match(/hack\/release\/verify-node\.sh tree\/linux_(?:amd64|arm64)\//g)).to.have.length(2);
  });
});
