import { stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { type Platform, platforms } from './platforms.ts';

/** An archive, and its checksum. */
export interface Packed {
  readonly platform: Platform;
  readonly file: string;
  readonly sha256: string;
}

export const pluginName = 'moco-rollout';
export const executableName = 'kubectl-moco_rollout';

/** krew's list truncates longer texts. */
const shortDescription = 'Watch and steer rollouts of MOCO MySQL clusters';

const description = `Shows the progress of rolling updates of MySQL clusters that MOCO runs: what
they wait for and why, what happens next, and what they changed. Pauses,
approves and holds rollouts, and gives clusters back to MOCO. Accesses the API
server with your own rights. The controller moco-rollout runs in the cluster.
`;

const caveats = `On Linux nothing else is needed. On macOS it needs Node 24 in PATH.
krew installs only the plugin. For shell completion, run in a PATH directory:
  kubectl moco-rollout completion > kubectl_complete-moco_rollout
  chmod +x kubectl_complete-moco_rollout
`;

/**
 * The manifest by which krew installs the archives from `address`. Its format is described in krew's documentation:
 * "Writing Krew plugin manifests".
 */
export function krewManifest(archives: readonly Packed[], address: string, homepage: string | undefined): string {
  const missing = platforms.filter((platform) => !archives.some((archive) => archive.platform === platform));
  if (missing.length > 0) throw new Error(`expected an archive for every platform, got ${archives.length}`);
  const plugin = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: pluginName },
    spec: {
      version: `v${manifest.version}`,
      ...(homepage !== undefined && { homepage }),
      shortDescription,
      description,
      caveats,
      platforms: archives.map(({ platform, file, sha256 }) => ({
        selector: { matchLabels: platform.selector },
        uri: `${address.replace(/\/$/, '')}/${file}`,
        sha256,
        bin: executableName,
      })),
    },
  };
  return stringify(plugin, { lineWidth: 0 });
}
