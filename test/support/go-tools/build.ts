import { fileURLToPath } from 'node:url';
import { goProgram } from './go-program.ts';

/** Programs that tests use and that go.mod beside this pins. */
const importPaths = {
  helm: 'helm.sh/helm/v4/cmd/helm',
  // The Lua that Argo CD runs health checks with.
  glua: 'github.com/yuin/gopher-lua/cmd/glua',
} as const;

type GoToolName = keyof typeof importPaths;

export const goToolNames = Object.keys(importPaths) as readonly GoToolName[];

const module = fileURLToPath(new URL('.', import.meta.url));

/** The path of one of them, built from source unless it has been before. */
export function goTool(name: GoToolName): Promise<string> {
  return goProgram({ name, importPath: importPaths[name], module, cache: 'go-tools' });
}
