import { readFileSync } from 'node:fs';

/** How the image runs the program. */
export interface Image {
  readonly environment: Readonly<Record<string, string>>;
  /** Node's own. */
  readonly nodeFlags: readonly string[];
}

/** Throws if the Dockerfile's last stage has no ENTRYPOINT as JSON. Each instruction has one line. */
export function imageOf(dockerfile: string): Image {
  const lines = dockerfile.split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const restsOf = (word: string): readonly string[] =>
    last.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const [entryPoint] = restsOf('ENTRYPOINT');
  if (!entryPoint?.startsWith('[')) throw new Error(`Expected an ENTRYPOINT as JSON, got ${entryPoint ?? 'none'}.`);
  const command = JSON.parse(entryPoint) as readonly string[];
  return {
    environment: Object.fromEntries(
      restsOf('ENV').map((pair) => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    ),
    nodeFlags: command.filter((part) => part.startsWith('--')),
  };
}

export const theImage = imageOf(readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8'));
