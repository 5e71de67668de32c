import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtProgram } from '../go-tools/go-program.ts';
import type { ProgressOutput } from './build-progress.ts';
import { goBuildEnvironment, goFingerprint, isExecutable, requireGo } from './go.ts';

const importPaths = {
  etcd: 'go.etcd.io/etcd/server/v3',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
} as const;

type BinaryName = keyof typeof importPaths;

/** Shortest first: what is wrong with a toolchain shows early. */
const controlPlaneNames = ['etcd', 'kubectl', 'kube-controller-manager', 'kube-apiserver'] as const;

/** What a cluster has besides its control plane. */
const nodeNames = ['kube-scheduler', 'kube-proxy', 'kubelet'] as const;

/** Absolute paths. */
export type Binaries = Readonly<Record<(typeof controlPlaneNames)[number], string>>;

/** Absolute paths. */
export type NodeBinaries = Readonly<Record<(typeof nodeNames)[number], string>>;

/** The minor versions of Kubernetes that `modules` pins, the default first. */
const minorVersions = ['1.36', '1.37', '1.35'] as const;

/** Of 1.35 nobody needs nodes. */
const minorVersionsWithNodes: readonly string[] = ['1.36', '1.37'];

const cacheDirectory = fileURLToPath(new URL('../../../.cache/control-plane/', import.meta.url));

export interface BuildOptions {
  /** `KUBEBUILDER_ASSETS`: a directory with binaries that a person has already. */
  readonly assets?: string | undefined;
  readonly output?: ProgressOutput;
  /** Where the binaries are kept, a directory a version. */
  readonly cache?: string;
  /** What `go` is found and run in. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Ends a build that is under way, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The directory with the go.mod of the Kubernetes version that the environment variable `KUBERNETES` asks for: 1.36
 * unless it is set. Throws a sentence for a version that `modules` has not.
 */
function moduleDirectory({ KUBERNETES: asked }: NodeJS.ProcessEnv): string {
  const minor = minorVersions.find((version) => version === (asked || minorVersions[0]));
  if (minor === undefined) {
    throw new Error(`Expected KUBERNETES to be one of ${minorVersions.join(', ')}, got ${JSON.stringify(asked)}`);
  }
  return fileURLToPath(new URL(`modules/${minor}/`, import.meta.url));
}

type Place = Required<Omit<BuildOptions, 'assets' | 'signal'>> & Pick<BuildOptions, 'signal'>;

/** The Kubernetes version that is built in this environment, such as `v1.36.3`. */
export async function kubernetesVersion(environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const path = join(moduleDirectory(environment), 'go.mod');
  const version = /^\s*k8s\.io\/kubernetes (v\d+\.\d+\.\d+)/m.exec(await readFile(path, 'utf8'))?.[1];
  if (version === undefined) {
    throw new Error(`Expected ${path} to require k8s.io/kubernetes, found no such line`);
  }
  return version;
}

function buildFlags(version: string): string[] {
  const [major = '', minor = ''] = version.slice(1).split('.');
  const versions = [
    `-X k8s.io/component-base/version.gitVersion=${version}`,
    `-X k8s.io/component-base/version.gitMajor=${major}`,
    `-X k8s.io/component-base/version.gitMinor=${minor}`,
    `-X k8s.io/client-go/pkg/version.gitVersion=${version}`,
  ];
  return ['-mod=readonly', '-trimpath', '-ldflags', `-s -w ${versions.join(' ')}`];
}

async function missingFrom(directory: string, names: readonly BinaryName[]): Promise<BinaryName[]> {
  const found = await Promise.all(names.map((name) => isExecutable(join(directory, name))));
  return names.filter((_, index) => found[index] === false);
}

/** Builds the missing ones of `names`; instant if none is. */
async function built(names: readonly BinaryName[], { cache, output, environment, signal }: Place): Promise<string> {
  const version = await kubernetesVersion(environment);
  const module = moduleDirectory(environment);
  const flags = buildFlags(version);
  const directory = join(cache, `${version}-${await goFingerprint(module, flags)}`);
  const missing = await missingFrom(directory, names);
  if (missing.length > 0) {
    await requireGo(module, environment);
    output.write(
      `Building ${missing.join(', ')} ${version} from source: about 5 minutes the first time, none after.\n`,
    );
  }
  for (const [index, name] of missing.entries()) {
    const title = `${name}, ${index + 1} of ${missing.length}`;
    await builtProgram({
      name,
      importPath: importPaths[name],
      module,
      flags,
      directory,
      title,
      environment: { ...environment, ...goBuildEnvironment },
      output,
      signal,
    });
  }
  return directory;
}

async function fromAssets(assets: string, place: Place): Promise<Binaries> {
  const missing = await missingFrom(assets, controlPlaneNames);
  // envtest, which most such directories come from, has no controller manager.
  const buildable = missing.filter((name) => name === 'kube-controller-manager');
  if (missing.length > buildable.length) {
    const lacking = missing.filter((name) => name !== 'kube-controller-manager').join(', ');
    throw new Error(
      `Expected KUBEBUILDER_ASSETS (${assets}) to hold etcd, kube-apiserver and kubectl, it lacks ${lacking}`,
    );
  }
  const directory = buildable.length === 0 ? assets : await built(buildable, place);
  return pathsOf(controlPlaneNames, (name) => join(missing.includes(name) ? directory : assets, name));
}

function pathsOf<Name extends BinaryName>(
  names: readonly Name[],
  at: (name: Name) => string,
): Readonly<Record<Name, string>> {
  return Object.fromEntries(names.map((name) => [name, at(name)])) as Record<Name, string>;
}

/**
 * The four programs, built from the modules that go.mod pins unless they are there already. Says on standard error what
 * it builds. Throws a sentence when Go is missing, too old, or fails.
 */
export async function controlPlaneBinaries(options: BuildOptions = {}): Promise<Binaries> {
  const place = placeOf(options);
  const { assets = place.environment['KUBEBUILDER_ASSETS'] } = options;
  if (assets !== undefined && assets !== '') {
    return fromAssets(assets, place);
  }
  const directory = await built(controlPlaneNames, place);
  return pathsOf(controlPlaneNames, (name) => join(directory, name));
}

/** As {@link controlPlaneBinaries}, for what a cluster with nodes has besides. */
export async function nodeBinaries(options: Omit<BuildOptions, 'assets'> = {}): Promise<NodeBinaries> {
  const place = placeOf(options);
  const { KUBERNETES: asked } = place.environment;
  if (asked && !minorVersionsWithNodes.includes(asked)) {
    throw new Error(
      `Expected KUBERNETES to be one of ${minorVersionsWithNodes.join(', ')} for a cluster with nodes, got ${JSON.stringify(asked)}`,
    );
  }
  const directory = await built(nodeNames, place);
  return pathsOf(nodeNames, (name) => join(directory, name));
}

function placeOf({
  environment = process.env,
  signal,
  output = process.stderr,
  cache = cacheDirectory,
}: BuildOptions): Place {
  return { cache, output, environment, signal };
}
