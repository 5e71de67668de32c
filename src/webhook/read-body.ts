import type { IncomingMessage } from 'node:http';

export type BodyRead = { readonly kind: 'body'; readonly bytes: Buffer } | { readonly kind: 'too-large' };

/**
 * Reads a request's body up to a limit. Beyond it `too-large` comes at once, by the header if there is one; what still
 * arrives is let go by, since a client that is cut off while it sends may never read the answer. Rejects when the
 * client goes away.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<BodyRead> {
  const announcedBytes = Number(request.headers['content-length'] ?? 0);
  const chunks = announcedBytes > limitBytes ? null : await readChunks(request, limitBytes);
  if (chunks !== null) return { kind: 'body', bytes: Buffer.concat(chunks) };
  // Only now, since nothing flows while the iteration still listens.
  request.resume();
  return { kind: 'too-large' };
}

/** `null` beyond the limit. */
async function readChunks(request: IncomingMessage, limitBytes: number): Promise<readonly Buffer[] | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > limitBytes) return null;
    chunks.push(chunk as Buffer);
  }
  return chunks;
}
