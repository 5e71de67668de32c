import { fileURLToPath } from 'node:url';
import { goProgram } from '../../support/go-tools/go-program.ts';

const module = fileURLToPath(new URL('../agent/', import.meta.url));

/** Where the image of MOCO's agent has its programs. */
const paths = { 'moco-agent': 'moco-agent', 'moco-init': 'moco-init', cp: 'bin/cp' } as const;

/** The programs of MOCO's agent by their place in its image, built from source unless they have been before. */
export async function agentPrograms(): Promise<Readonly<Record<string, string>>> {
  const programs: Record<string, string> = {};
  for (const [name, path] of Object.entries(paths)) {
    const importPath = `github.com/cybozu-go/moco-agent/cmd/${name}`;
    programs[path] = await goProgram({ name, importPath, module, cache: 'moco-agent' });
  }
  return programs;
}
