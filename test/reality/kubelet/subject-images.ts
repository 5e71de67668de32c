import { copyFile, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeImageArchive } from '../../support/cluster/image-archive.ts';
import { goProgram } from '../../support/go-tools/go-program.ts';

const module = fileURLToPath(new URL('subject/', import.meta.url));
const known = ['1', '2', 'crash'];
const pulled = ['slow-1', 'slow-2', 'slow-3', 'slow-4'];

/** Paths of archives by the images' names: those that nodes know, and those that they have to pull. */
export async function subjectImages(): Promise<Readonly<Record<'known' | 'pulled', ReadonlyMap<string, string>>>> {
  const program = await goProgram({ name: 'subject', importPath: '.', module, cache: 'kubelet-subject' });
  const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-subject-'));
  const root = join(directory, 'root');
  await mkdir(root);
  await copyFile(program, join(root, 'subject'));
  const make = async (tag: string): Promise<readonly [string, string]> => {
    const name = `docker.io/library/subject:${tag}`;
    const archive = join(directory, `${tag}.tar`);
    const Entrypoint = tag === 'crash' ? ['/subject', 'crash'] : ['/subject'];
    await writeImageArchive({ layers: [root], names: [name], config: { Entrypoint, Labels: { tag } }, archive });
    return [name, archive];
  };
  return { known: new Map(await Promise.all(known.map(make))), pulled: new Map(await Promise.all(pulled.map(make))) };
}
