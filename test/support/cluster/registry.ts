import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { addresses } from './addresses.ts';
import type { Cluster } from './cluster.ts';
import { registries } from './node-files.ts';
import type { Blob, Pace, Serve } from './registry-server.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('registry-server.ts', import.meta.url));
const port = 5000;
const ociImage = 'application/vnd.oci.image';

/** A registry in a cluster's network that every node pulls every image from. It ends with this process. */
export class Registry {
  readonly #server: ChildProcess;

  private constructor(server: ChildProcess) {
    this.#server = server;
  }

  /** @param archives paths of image archives by the images' names, such as `docker.io/library/mysql:8.4.4` */
  static async start(cluster: Cluster, archives: ReadonlyMap<string, string>): Promise<Registry> {
    const { blobs, tags } = await contentsOf(cluster, archives);
    const [command, ...flags] = cluster.network;
    const server = spawn(command, [...flags, process.execPath, program], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    server.unref();
    server.channel?.unref();
    server.send({ kind: 'serve', host: addresses.controlPlane, port, blobs, tags } satisfies Serve);
    await once(server, 'message');
    for (const node of cluster.nodes) {
      const directory = join(node.directory, registries, '_default');
      const url = `http://${addresses.controlPlane}:${port}`;
      await mkdir(directory, { recursive: true });
      await writeFile(
        join(directory, 'hosts.toml'),
        `server = "${url}"\n[host."${url}"]\ncapabilities = ["pull", "resolve"]\n`,
      );
    }
    return new Registry(server);
  }

  /** How fast what is pulled comes from now on. 0: not at all, until another pace; `null`, as at first: without a limit. */
  pace(bytesPerSecond: number | null): void {
    this.#server.send({ kind: 'pace', bytesPerSecond } satisfies Pace);
  }

  async stop(): Promise<void> {
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    const exited = once(this.#server, 'exit');
    this.#server.ref();
    this.#server.kill('SIGKILL');
    await exited;
  }
}

interface Contents {
  readonly blobs: Record<string, Blob>;
  readonly tags: Record<string, string>;
}

async function contentsOf(cluster: Cluster, archives: ReadonlyMap<string, string>): Promise<Contents> {
  const contents: Contents = { blobs: {}, tags: {} };
  for (const [index, [name, archive]] of [...archives].entries()) {
    const directory = join(cluster.directory, 'registry', String(index));
    await mkdir(directory, { recursive: true });
    await run('tar', ['--directory', directory, '--extract', '--file', archive]);
    await add(contents, directory, name);
  }
  return contents;
}

/** An image of an unpacked archive, whose layers are not compressed: their digests are those that its configuration has. */
async function add({ blobs, tags }: Contents, directory: string, name: string): Promise<void> {
  const [manifest] = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as [
    { Config: string; Layers: string[] },
  ];
  const config = await readFile(join(directory, manifest.Config), 'utf8');
  const { rootfs } = JSON.parse(config) as { rootfs: { diff_ids: readonly string[] } };
  const describe = async (file: string, digest: string, mediaType: string) => {
    const path = join(directory, file);
    blobs[digest] = { path, mediaType };
    return { mediaType, digest, size: (await stat(path)).size };
  };
  const document = JSON.stringify({
    schemaVersion: 2,
    mediaType: `${ociImage}.manifest.v1+json`,
    config: await describe(manifest.Config, digestOf(config), `${ociImage}.config.v1+json`),
    layers: await Promise.all(
      manifest.Layers.map((layer, index) => describe(layer, rootfs.diff_ids[index] ?? '', `${ociImage}.layer.v1.tar`)),
    ),
  });
  await writeFile(join(directory, 'oci.json'), document);
  const { digest } = await describe('oci.json', digestOf(document), `${ociImage}.manifest.v1+json`);
  tags[name.slice(name.indexOf('/') + 1)] = digest;
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
