import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';

// Runs in the network of a cluster: what a containerd asks of a registry when it pulls (the OCI distribution specification),
// as slow as the process that starts it says, and ends with that process.

/** A file that is served by its digest. */
export interface Blob {
  readonly path: string;
  readonly mediaType: string;
}

export interface Serve {
  readonly kind: 'serve';
  readonly host: string;
  readonly port: number;
  readonly blobs: Readonly<Record<string, Blob>>;
  /** Digests of manifests by `repository:tag`. */
  readonly tags: Readonly<Record<string, string>>;
}

export interface Pace {
  readonly kind: 'pace';
  /** 0: nothing gets further until another pace. `null`: without a limit. */
  readonly bytesPerSecond: number | null;
}

/** Another pace counts after that. */
const longestStepMilliseconds = 100;
let bytesPerSecond: number | null = null;

process.on('message', (order: Serve | Pace) => {
  if (order.kind === 'pace') bytesPerSecond = order.bytesPerSecond;
  else serve(order);
});
process.on('disconnect', () => process.exit(0));

function serve({ host, port, blobs, tags }: Serve): void {
  const server = createServer(({ method, url = '' }, response) => {
    const [path = ''] = url.split('?');
    const [, repository = '', kind = '', reference = ''] = /^[/]v2[/](.+)[/](manifests|blobs)[/](.+)$/.exec(path) ?? [];
    const digest = reference.includes(':') ? reference : tags[`${repository}:${reference}`];
    const blob = digest === undefined ? undefined : blobs[digest];
    if (path === '/v2/') response.end();
    else if (digest === undefined || blob === undefined)
      refuse(response, kind === 'blobs' ? 'BLOB_UNKNOWN' : 'MANIFEST_UNKNOWN');
    else void send(response, digest, blob, method !== 'HEAD').catch(() => response.destroy());
  });
  server.listen(port, host, () => process.send?.({ kind: 'serving' }));
}

function refuse(response: ServerResponse, code: string): void {
  response.writeHead(404, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ errors: [{ code }] }));
}

async function send(
  response: ServerResponse,
  digest: string,
  { path, mediaType }: Blob,
  whole: boolean,
): Promise<void> {
  const { size } = await stat(path);
  response.writeHead(200, { 'Content-Type': mediaType, 'Content-Length': size, 'Docker-Content-Digest': digest });
  if (whole) await pipeline(createReadStream(path), paced(), response);
  else response.end();
}

function paced(): Transform {
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      for (let left = chunk.length; left > 0; ) {
        if (bytesPerSecond === null) break;
        const milliseconds = Math.min(longestStepMilliseconds, (left / bytesPerSecond) * 1000);
        await delay(milliseconds);
        left -= ((bytesPerSecond ?? 0) * milliseconds) / 1000;
      }
      done(null, chunk);
    },
  });
}
