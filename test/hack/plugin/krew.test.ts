import { expect } from 'chai';
import { parse } from 'yaml';
import { krewManifest, type Packed } from '../../../hack/plugin/krew.ts';
import { platforms } from '../../../hack/plugin/platforms.ts';
import manifest from '../../../package.json' with { type: 'json' };

interface Plugin {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly homepage?: string;
    readonly shortDescription: string;
    readonly description: string;
    readonly caveats: string;
    readonly platforms: readonly {
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
    }[];
  };
}

const packed = (): readonly Packed[] =>
  platforms.map((platform, index) => ({ platform, file: `${platform.name}.tar.gz`, sha256: String(index).repeat(64) }));

const longestLine = (text: string): number => Math.max(...text.split('\n').map(({ length }) => length));

/** What krew 0.5 and the checks of its index ask for: "Writing Krew plugin manifests" in its documentation. */
describe("krew's manifest", () => {
  let text: string;
  let plugin: Plugin;

  before(() => {
    text = krewManifest(packed(), 'https://some.invalid/v1/', 'https://some.invalid');
    plugin = parse(text) as Plugin;
  });

  it('has the kind and version that krew reads, and the name of the plugin', () => {
    expect(plugin).to.include({ apiVersion: 'krew.googlecontainertools.github.com/v1alpha2', kind: 'Plugin' });
    expect(plugin.metadata.name).to.equal('moco-rollout');
    expect(Object.keys(manifest.bin)).to.include(`kubectl-${plugin.metadata.name.replaceAll('-', '_')}`);
    expect(plugin.spec.version).to.equal(`v${manifest.version}`);
  });

  it('has texts that fit krew’s output', () => {
    const { shortDescription, description, caveats } = plugin.spec;
    expect(shortDescription)
      .to.match(/^[A-Z][^\r\n]{10,49}$/)
      .and.not.match(/\.$|kubectl|plugin/i);
    expect(longestLine(description)).to.be.at.most(80);
    expect(longestLine(caveats)).to.be.at.most(80);
  });

  it('has exactly one archive for each platform', () => {
    expect(plugin.spec.platforms).to.have.length(platforms.length);
    for (const os of ['linux', 'darwin']) {
      for (const arch of ['amd64', 'arm64']) {
        const fitting = plugin.spec.platforms.filter(({ selector: { matchLabels: wanted } }) =>
          Object.entries(wanted).every(([key, value]) => ({ os, arch })[key] === value),
        );
        expect(fitting, `${os} ${arch}`).to.have.length(1);
      }
    }
    for (const one of plugin.spec.platforms) {
      expect(one.sha256).to.match(/^[a-f0-9]{64}$/);
      expect(one.uri).to.match(/^https:\/\/some\.invalid\/v1\/[\w-]+\.tar\.gz$/);
      expect(one.bin).to.equal('kubectl-moco_rollout');
      expect(Object.keys(one.selector.matchLabels)).to.include('os');
    }
  });

  it('has no homepage without one given, and is refused if an archive is missing', () => {
    expect((parse(krewManifest(packed(), 'https://some.invalid', undefined)) as Plugin).spec).not.to.have.property(
      'homepage',
    );
    expect(() => krewManifest(packed().slice(1), 'https://some.invalid', undefined)).to.throw(
      'an archive for every platform',
    );
  });
});
