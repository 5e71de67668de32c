import { open } from 'node:fs/promises';
import PQueue from 'p-queue';
import type { Pod } from '../../support/nodes/objects.ts';
import { specOf } from './pod-spec.ts';

interface Host {
  readonly pod: Pod;
  readonly address: string;
  /** The file that is mounted as /etc/hosts of its containers. */
  readonly file: string;
}

/** The hosts files of pods: every pod's name under its headless Service, in place of a DNS server. */
export class Hosts {
  readonly #hosts = new Map<string, Host>();
  /** One after the other: the last one has everybody. */
  readonly #writes = new PQueue({ concurrency: 1 });

  /** Resolves once every file has it. */
  add(host: Host): Promise<void> {
    this.#hosts.set(host.pod.metadata.uid, host);
    return this.#write();
  }

  remove(uid: string): Promise<void> {
    this.#hosts.delete(uid);
    return this.#write();
  }

  #write(): Promise<void> {
    return this.#writes.add(async () => {
      const hosts = [...this.#hosts.values()];
      const names = hosts.map(lineOf);
      for (const { pod, address, file } of hosts) {
        await overwrite(file, ['127.0.0.1 localhost', `${address} ${pod.metadata.name}`, ...names, ''].join('\n'));
      }
    });
  }
}

function lineOf({ pod, address }: Host): string {
  const { name, namespace } = pod.metadata;
  const { hostname = name, subdomain = '' } = specOf(pod);
  const own = `${hostname}.${subdomain}.${namespace}`;
  return `${address} ${own}.svc ${own} ${own}.svc.cluster.local`;
}

/** In place: it is mounted in containers that run. What was longer before is cut off last. */
async function overwrite(path: string, text: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(text, 0);
    await file.truncate(Buffer.byteLength(text));
  } finally {
    await file.close();
  }
}
