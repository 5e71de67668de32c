import type { IncomingMessage } from 'node:http';

export type BodyRead = { readonly kind: 'body'; readonly bytes: Buffer } | { readonly kind: 'too-large' };

/**
 * Reads a request's body up to a limit. Beyond it `too-large` comes at once, by the header if there is one; what still
 * arrives is let go by, since a client that is cut off while it sends may never read the answer. Rejects when the
 * client goes away.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<BodyRead> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return tooLarge(request);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > limitBytes) return tooLarge(request);
    chunks.push(chunk as Buffer);
  }
  return { kind: 'body', bytes: Buffer.concat(chunks) };
}

function tooLarge(request: IncomingMessage): BodyRead {
  request.resume();
  return { kind: 'too-large' };
}
