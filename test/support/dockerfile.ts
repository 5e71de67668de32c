import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../../Dockerfile', import.meta.url));

interface Instruction {
  /** Such as `COPY`. */
  readonly word: string;
  readonly rest: string;
}

/** What the Dockerfile says, line by line. It has no continued lines. */
export async function dockerfile(): Promise<readonly Instruction[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return word === '' ? [] : [{ word, rest }];
  });
}

/** What its last stage says of the image besides its files. */
export async function imageConfig() {
  const all = await dockerfile();
  const last = all.slice(all.findLastIndex(({ word }) => word === 'FROM'));
  const the = (wanted: string): string => last.find(({ word }) => word === wanted)?.rest ?? '';
  return {
    User: the('USER'),
    WorkingDir: the('WORKDIR'),
    Env: last.filter(({ word }) => word === 'ENV').map(({ rest }) => rest),
    Entrypoint: JSON.parse(the('ENTRYPOINT')) as string[],
  };
}
