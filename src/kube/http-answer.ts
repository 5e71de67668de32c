// What every client that is not one of the API server does with an answer, and with an error instead of one.

/** Several times what an agent of MOCO serves, and far more than a query needs to say what fails. */
const largestBodyBytes = 512 * 1024;

/** Rejects if the body is larger. */
export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > largestBodyBytes) throw new Error(`expected at most ${largestBodyBytes} bytes, got more`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The system's code where there is one: its message repeats the address. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && /^E[A-Z]+$/.test(code) ? code : error.message;
}
