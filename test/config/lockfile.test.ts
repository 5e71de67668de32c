import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly hasInstallScript?: boolean;
}

describe('the lock file', () => {
  let packages: readonly (readonly [path: string, locked: LockedPackage])[];

  before(async () => {
    const file = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
    const lock = JSON.parse(await readFile(file, 'utf8')) as { packages: Readonly<Record<string, LockedPackage>> };
    packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  });

  it('has a checksum of every dependency, and of every tool but for foreign platforms', () => {
    const without = packages.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true);
    // npm leaves these out of a lock file that was made where they could not be installed (npm/cli#4460).
    const foreign = ({ dev, optional, os }: LockedPackage): boolean => dev === true && optional === true && !!os;
    expect(without.filter(([, locked]) => !foreign(locked)).map(([path]) => path)).to.deep.equal([]);
    expect(packages.length - without.length).to.be.greaterThan(100);
  });

  it('installs packages only from the configured registry', () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).to.deep.equal([]);
    expect(
      packages.filter(([, { version }]) => !/^\d+\.\d+\.\d+/.test(version ?? '')).map(([path]) => path),
    ).to.deep.equal([]);
  });

  it('has one package with an install script, which is not a production dependency', () => {
    const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripts.map(([path, { dev }]) => [path, dev])).to.deep.equal([['node_modules/esbuild', true]]);
  });
});
