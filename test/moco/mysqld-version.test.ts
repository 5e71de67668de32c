import { expect } from 'chai';
import { versionText } from '../../src/core/mysql-versions.ts';
import { differentBuilds, explainBuilds } from '../../src/moco/mysqld-builds.ts';
import { mysqldIn, versionOfImage } from '../../src/moco/mysqld-version.ts';
import { projectPod } from '../../src/moco/pod-projection.ts';
import { projectStatefulSet } from '../../src/moco/projections.ts';
import { pod, statefulSet } from '../controller/moco-objects.ts';

const shown = (image: string): string | null => {
  const version = versionOfImage(image);
  return version && versionText(version);
};

describe('the version in the tag of an image', () => {
  const images: Readonly<Record<string, string | null>> = {
    'mysql:8.4.8': '8.4.8',
    'mysql:8.4': '8.4',
    'ghcr.io/cybozu-go/moco/mysql:8.4.8.1': '8.4.8',
    'ghcr.io/cybozu-go/moco/mysql:8.0.42.1@sha256:ab': '8.0.42',
    'registry:5000/percona-server:8.0.36-28': '8.0.36',
    'registry:5000/mysql': null,
    'mysql@sha256:00': null,
    'mysql:lts': null,
    'mysql:8': null,
    'team/database:26.11.28': null,
    'team/database:1.2.3': null,
  };
  for (const [image, version] of Object.entries(images)) {
    it(`${image} is ${version ?? 'not known'}`, () => expect(shown(image)).to.equal(version));
  }

  it('is read in proportion to its length', () => {
    for (const hostile of [':'.repeat(100_000), `a${':b@'.repeat(50_000)}`, `:${'1'.repeat(100_000)}`])
      expect(shown(hostile)).to.equal(null);
  });

  it('is that of mysqld in pods and templates', () => {
    const tagged = { image: 'mysql:8.4.8', version: { version: '8.4.8', source: 'tag' } };
    expect(projectPod(pod(1) as Record<string, unknown>)?.mysqld).to.deep.equal(tagged);
    expect(projectStatefulSet(statefulSet() as Record<string, unknown>)?.mysqld).to.deep.equal(tagged);
    expect(mysqldIn({})).to.deep.equal({ image: null, version: null });
  });
});

describe('a mysqld that was killed', () => {
  const killedIn = (status: object): boolean | undefined =>
    projectPod({ ...pod(1), status: { containerStatuses: [{ name: 'mysqld', ...status }] } })?.mysqldKilled;
  const killed = { terminated: { exitCode: 137 } };

  it('shows by the exit code of its last run that has ended', () => {
    expect(killedIn({ state: killed })).to.equal(true);
    expect(killedIn({ state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: killed })).to.equal(true);
    expect(killedIn({ state: { running: {} }, lastState: killed })).to.equal(true);
    expect(killedIn({ state: { running: {} }, lastState: { terminated: { exitCode: 0 } } })).to.equal(false);
    expect(killedIn({ state: { running: {} } })).to.equal(false);
    expect(killedIn({ state: { terminated: { exitCode: 1 } }, lastState: killed })).to.equal(false);
  });
});

describe('different builds of one image', () => {
  const record = (ordinal: number, digest: string, revision = 'moco-test-1') => {
    const found = projectPod(pod(ordinal, { revision }) as Record<string, unknown>);
    if (found === null) throw new Error('expected a member');
    return { ...found, imageId: digest === '' ? null : `docker.io/library/mysql@sha256:${digest.repeat(64)}` };
  };

  it('are found within a revision alone', () => {
    expect(differentBuilds([record(0, 'a'), record(1, 'a'), record(2, '')])).to.deep.equal([]);
    expect(differentBuilds([record(0, 'a'), record(1, 'b', 'moco-test-2')])).to.deep.equal([]);
  });

  it('are named with their members', () => {
    const [found] = differentBuilds([record(2, 'b'), record(0, 'a'), record(1, 'a')]);
    expect(found && explainBuilds(found)).to.equal(
      `image mysql:8.4.8 is not the same build everywhere: moco-test-0, moco-test-1 run sha256:${'a'.repeat(64)}; moco-test-2 runs sha256:${'b'.repeat(64)}; ` +
        'pin the image by its digest, since a pod that moves may get an older mysqld',
    );
  });
});
