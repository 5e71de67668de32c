import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  isImportDeclaration,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  isTypeNode,
  type Node,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { changesOf } from './changes.ts';
import type { Mutant } from './mutant.ts';

/** Every mutant of these files, in the order of the source. The files are parsed by the project's own compiler. */
export function findMutants(files: readonly string[]): readonly Mutant[] {
  const api = new API({ cwd: process.cwd() });
  try {
    const config = resolve('tsconfig.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    return files.flatMap((file) => {
      const tree = project?.program.getSourceFile(resolve(file));
      if (!tree) throw new Error(`Expected ${file} to belong to tsconfig.json`);
      return mutantsOf(file, readFileSync(file, 'utf8'), tree);
    });
  } finally {
    api.close();
  }
}

function mutantsOf(file: string, source: string, tree: Node): readonly Mutant[] {
  const textOf = (node: Node): string => source.slice(node.getStart(), node.end);
  const found: Mutant[] = [];
  const visit = (node: Node): void => {
    // Types do not exist at run time.
    if (isTypeNode(node) || isInterfaceDeclaration(node) || isTypeAliasDeclaration(node) || isImportDeclaration(node)) {
      return;
    }
    for (const { kind, start, end, after } of changesOf(node, textOf)) {
      const line = source.slice(0, start).split('\n').length;
      found.push({ kind, file, line, before: source.slice(start, end), after, start, end });
    }
    node.forEachChild(visit);
  };
  visit(tree);
  return found.toSorted((a, b) => a.start - b.start || a.end - b.end);
}
