import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The commands under a heading of a document in `docs`, line by line: the document's own, so that it can't say others. */
export async function commandsUnder(heading: string, name: string): Promise<readonly string[]> {
  const document = fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
  const text = await readFile(document, 'utf8');
  const section = text.split(/^(?=#)/m).find((part) => part.slice(0, part.indexOf('\n')).endsWith(` ${heading}`)) ?? '';
  const commands = [...section.matchAll(/^ *```sh\n([^]*?)```/gm)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
  if (commands.length === 0) throw new Error(`expected commands under "${heading}" in docs/${name}, got none`);
  return commands;
}
