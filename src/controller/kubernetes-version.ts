import type { ApiClient } from '../kube/api-client.ts';
import { delay } from '../kube/delay.ts';
import type { Log } from '../kube/log.ts';
import type { World } from '../kube/world.ts';

/** ValidatingAdmissionPolicy, which MOCO and config/users have, is v1 from there on. */
const oldestMinor = 30;
/** kubernetes/kubernetes#137409: fixed by 1.35.4. */
const flawed = { minor: 35, fixedPatch: 4 };
const lookAgainMilliseconds = 60_000;

export interface Judgement {
  /** Whether anything may be done with it. */
  readonly supported: boolean;
  /** A sentence for people, or `null` where there is nothing to say. */
  readonly sentence: string | null;
}

/** `gitVersion` as the API server tells it, such as `v1.35.4` or `v1.33.2-gke.1000`. */
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
      sentence: `expected Kubernetes 1.${oldestMinor} or newer, the API server says that it is ${gitVersion}: nothing is done until it is newer`,
    };
  }
  const isFlawed = major === 1 && minor === flawed.minor && patch < flawed.fixedPatch;
  return {
    supported: true,
    sentence: isFlawed
      ? `Kubernetes ${gitVersion} counts members that are down already when it rolls a StatefulSet out by partitions, and stops at them (kubernetes/kubernetes#137409): upgrade to 1.${flawed.minor}.${flawed.fixedPatch}, or use the strategy OnDelete, which it does not concern`
      : null,
  };
}

/** Also the first sign of life of the API server: where there is none, there is nothing to start for. */
export async function kubernetesVersion(client: ApiClient, signal: AbortSignal): Promise<string> {
  const path = '/version';
  const { gitVersion } = await client.call<{ gitVersion: string }>({ method: 'GET', path, lane: 'read', signal });
  return gitVersion;
}

/**
 * Resolves once the API server is of a version that anything may be done with, at once where `gitVersion` is one, or
 * when aborted. Says each sentence once.
 */
export async function untilSupported(
  gitVersion: string,
  { client, world, log }: { readonly client: ApiClient; readonly world: World; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let version = gitVersion, said = ''; !signal.aborted; ) {
    const { supported, sentence } = judgeKubernetes(version);
    if (sentence !== null && sentence !== said) log.warn({ kubernetes: version }, sentence);
    if (supported) {
      if (version !== gitVersion) log.info({ kubernetes: version }, 'the API server is of a supported version now');
      return;
    }
    said = sentence ?? '';
    if (!(await delay(world, lookAgainMilliseconds, signal))) return;
    // It may be away for as long as its upgrade takes.
    version = await kubernetesVersion(client, signal).catch(() => version);
  }
}
