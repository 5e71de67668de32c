import { delay } from '../base/delay.ts';
import type { Log, World } from '../base/world.ts';
import type { ApiClient } from './api-client.ts';

/**
 * The oldest supported minor version. It is the first with ValidatingAdmissionPolicy v1, which MOCO and config/users
 * use.
 */
const oldestMinor = 30;
/** The versions with the defect kubernetes/kubernetes#137409, which was fixed in 1.35.4. */
const flawed = { minor: 35, fixedPatch: 4 };
const requeueAfterMilliseconds = 60_000;

export interface Judgement {
  readonly supported: boolean;
  /** A message for users, or `null` if there is none. */
  readonly sentence: string | null;
}

/** `gitVersion` as the API server reports it, such as `v1.35.4` or `v1.33.2-gke.1000`. */
export function judgeKubernetes(gitVersion: string): Judgement {
  const [, major, minor, patch] = (/^v?(\d+)\.(\d+)\.(\d+)/.exec(gitVersion) ?? []).map(Number);
  if (
    major === undefined ||
    minor === undefined ||
    patch === undefined ||
    major < 1 ||
    (major === 1 && minor < oldestMinor)
  ) {
    return {
      supported: false,
      sentence: `expected Kubernetes 1.${oldestMinor} or newer, got ${gitVersion}: the controller waits until the API server is upgraded`,
    };
  }
  const isFlawed = major === 1 && minor === flawed.minor && patch < flawed.fixedPatch;
  return {
    supported: true,
    sentence: isFlawed
      ? `Kubernetes ${gitVersion} stops a rolling update by partitions at members that are already down (kubernetes/kubernetes#137409): upgrade to 1.${flawed.minor}.${flawed.fixedPatch}, or use the strategy OnDelete, which is not affected`
      : null,
  };
}

/**
 * Reads the version of the API server. This is also the program's first request. If it fails, the program does not
 * start.
 */
export async function kubernetesVersion(client: ApiClient, signal?: AbortSignal): Promise<string> {
  const path = '/version';
  const call = { method: 'GET', path, priority: 'read', ...(signal && { signal }) } as const;
  const { gitVersion } = await client.call<{ gitVersion: string }>(call);
  return gitVersion;
}

/**
 * Resolves once the API server has a supported version, or when aborted. Resolves at once if `gitVersion` is supported.
 * Logs each message once.
 */
export async function untilSupported(
  gitVersion: string,
  { client, world, log }: { readonly client: ApiClient; readonly world: World; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let version = gitVersion, logged = ''; !signal.aborted; ) {
    const { supported, sentence } = judgeKubernetes(version);
    if (sentence !== null && sentence !== logged) log.warn({ kubernetes: version }, sentence);
    if (supported) {
      if (version !== gitVersion) log.info({ kubernetes: version }, 'API server version is supported now');
      return;
    }
    logged = sentence ?? '';
    if (!(await delay(world, requeueAfterMilliseconds, signal))) return;
    // The API server may be unavailable during its whole upgrade.
    version = await kubernetesVersion(client, signal).catch(() => version);
  }
}
