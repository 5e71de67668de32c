import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A document of this project, with its path from the root. */
export interface Markdown {
  readonly path: string;
  readonly text: string;
}

/** Every document for people. */
export async function documents(): Promise<readonly Markdown[]> {
  const paths: string[] = [];
  for (const pattern of ['*.md', '{docs,src,test,hack,config}/**/*.md']) {
    for await (const path of glob(pattern, { cwd: root })) paths.push(path);
  }
  return Promise.all(paths.toSorted().map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}

/** A line of a shell block. */
export interface DocumentedCommand {
  readonly document: string;
  /** The heading above it, without number signs. */
  readonly heading: string;
  readonly command: string;
}

/** How a shell command begins in a block without a language. */
const programs = /^(?:[A-Z]+=\S+ )*(?:make|kubectl|helm|node|npm|docker|go|hack\/\S+) /;

/** Every line of a shell block, without comments at the end. */
export async function documentedCommands(): Promise<readonly DocumentedCommand[]> {
  return (await documents()).flatMap(({ path, text }) =>
    text.split(/^(?=#+ )/m).flatMap((section) => {
      const heading = /^#+ (.*)/.exec(section)?.[1] ?? '';
      return fencesOf(section)
        .flatMap(({ language, lines }) =>
          language === 'sh' ? lines : language === '' ? lines.filter((line) => programs.test(line)) : [],
        )
        .map((line) => ({ document: path, heading, command: line.replace(/\s+# .*$/, '').trim() }));
    }),
  );
}

interface Fence {
  readonly language: string;
  readonly lines: readonly string[];
}

export function fencesOf(text: string): readonly Fence[] {
  return [...text.matchAll(/^ *```(\w*)\n([^]*?)^ *```$/gm)].map(([, language = '', content = '']) => ({
    language,
    lines: content.trim().split('\n'),
  }));
}

/** The commands under a heading of a document in `docs`, line by line: the document's own, so that it can't say others. */
export async function commandsUnder(heading: string, name: string): Promise<readonly string[]> {
  const text = await readFile(join(root, 'docs', name), 'utf8');
  const section = text.split(/^(?=#)/m).find((part) => part.slice(0, part.indexOf('\n')).endsWith(` ${heading}`)) ?? '';
  const commands = [...section.matchAll(/^ *```sh\n([^]*?)```/gm)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
  if (commands.length === 0) throw new Error(`expected commands under "${heading}" in docs/${name}, got none`);
  return commands;
}
